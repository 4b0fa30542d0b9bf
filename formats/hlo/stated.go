package hlo

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Stated gives a value to the instructions of a name, in which * stands for any text.
type Stated struct {
	Name  string
	Value string
}

// stated returns the first value for an instruction, and whether there is one. It remembers the
// instruction, for errors.
func (e *emitter) stated(i *instr, list []Stated, known *[]string) (value string, given bool) {
	if !slices.Contains(*known, i.name) {
		*known = append(*known, i.name)
	}
	for _, s := range list {
		if fits, _ := path.Match(s.Name, i.name); fits {
			return s.Value, true
		}
	}
	return "", false
}

// unstated returns an error if a value is for no instruction that has been met.
func (e *emitter) unstated(key, what string, list []Stated, known []string) error {
	for _, s := range list {
		fits := false
		for _, name := range known {
			ok, _ := path.Match(s.Name, name)
			fits = fits || ok
		}
		if fits {
			continue
		}
		there := "none is executed"
		if len(known) > 0 {
			there = "there are " + shortened(known)
		}
		return e.parser.fail(1, "%s %q: no %s has this name; %s", key, s.Name+"="+s.Value, what, there)
	}
	return nil
}

// shortened lists some names of many.
func shortened(names []string) string {
	const shown = 8
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
