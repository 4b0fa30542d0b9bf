package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// Text returns the machine as a file that Read reads. All figures are its own: one that is taken
// over from another machine says so in its source.
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

// With returns the machine with figures in place of its own of the same name, or beside them.
// Figures of several machines are those of the last one.
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
