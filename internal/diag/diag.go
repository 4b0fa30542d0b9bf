// Package diag holds the one type of error that has a place in what a user wrote. Readers of
// scenarios, schedules, tables and machines return it, and the command prints it or encodes it as
// JSON. Nobody takes its text apart.
package diag

import (
	"fmt"
	"strings"
)

// Problem says what is wrong with an input, where, and how to put it right. It is printed as
//
//	ring.toml:6: topology.ranks = "8": a whole number is expected
//	  write 8 without quotes
type Problem struct {
	File  string // as the caller named it, or another file's name, or "--set", "--only"
	Line  int    // from 1; 0 where the problem concerns the whole file
	Key   string // path of the key, as "collective[1].bytes", or such as "column 3"; may be empty
	Value string // as it was written, shortened; empty where only the key matters
	Text  string // what is wrong; what was expected
	Hint  string // how to put it right, or empty
}

// Error prints the problem, and its hint on a line of its own.
func (p *Problem) Error() string {
	text := p.about()
	if p.Line > 0 {
		text = fmt.Sprintf("%s:%d: %s", p.File, p.Line, text)
	} else if p.File != "" {
		text = p.File + ": " + text
	}
	if p.Hint != "" {
		text += "\n  " + p.Hint
	}
	return text
}

// Within returns line, key, value and text, for callers that have named the file.
func (p *Problem) Within() string {
	if p.Line > 0 {
		return fmt.Sprintf("line %d: %s", p.Line, p.about())
	}
	return p.about()
}

// about returns key, value and text.
func (p *Problem) about() string {
	var b strings.Builder
	if b.WriteString(p.Key); p.Value != "" {
		if p.Key != "" {
			b.WriteString(" = ")
		}
		b.WriteString(p.Value)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	return b.String() + p.Text
}
