package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// Text returns the machine as a file for Read. All figures become its own; the source of one that
// was taken from another machine says so.
func (m *Machine) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "about = %s\n", strconv.Quote(m.About))
	for _, f := range m.Figures {
		source := f.Source
		if f.Of != "" {
			source += " (as " + f.Of + ")"
		}
		fmt.Fprintf(&b, "%s = { is = %s, ", f.Name, strconv.Quote(f.Is))
		if f.Sheet != "" {
			fmt.Fprintf(&b, "sheet = %s, ", strconv.Quote(f.Sheet))
		}
		fmt.Fprintf(&b, "source = %s }\n", strconv.Quote(source))
	}
	return b.String()
}

// With returns the machine with figures that replace its own of the same name, or add to them. Of
// figures with the same name the last counts.
func (m *Machine) With(name, about string, figures []Figure) (*Machine, error) {
	changed := *m
	changed.About = about
	changed.Figures = nil
	all := append(m.Figures[:len(m.Figures):len(m.Figures)], figures...)
	for _, k := range kinds() {
		var last *Figure
		for i := range all {
			if all[i].Name == k.name {
				last = &all[i]
			}
		}
		if last != nil {
			changed.Figures = append(changed.Figures, *last)
		}
	}
	return Read(name, []byte(changed.Text()))
}
