package shards

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
)

// Point is a point by its ID and the digest of what it means.
type Point struct{ ID, Digest string }

// Lines holds the lines of files of results.
type Lines struct {
	results map[Point]int // in all; never iterated, like the other
	skipped map[Point]string
	all     []Line
}

// Line is the line of a result, of a program, or of a point that was skipped.
type Line struct {
	Point
	Text     []byte
	Warnings []string // what a reader of the result might stumble over
	Scenario string   // the file that it is of, as it was given
	At       string   // "a.jsonl:3"
}

// record holds what is read of a line.
type record struct {
	Scenario string          `json:"scenario"`
	Digest   string          `json:"digest"`
	Warnings []string        `json:"warnings"`
	Result   *identity       `json:"result"`
	Program  *identity       `json:"program"`
	Skipped  *identity       `json:"skipped"`
	Summary  json.RawMessage `json:"summary"`
}

type identity struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// NewLines holds the lines of no file.
func NewLines() *Lines {
	return &Lines{results: map[Point]int{}, skipped: map[Point]string{}}
}

// Read adds the lines of a file. A last line without an end is left out: a task was killed. A line
// that differs from an earlier one of the same point is an error.
func (l *Lines) Read(name string, r io.Reader) error {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = l.add(text, fmt.Sprintf("%s:%d", name, n))
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
}

func (l *Lines) add(text []byte, at string) error {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("a line of collsim FILE --jsonl is expected: %w", err)
	}
	of := cmp.Or(r.Result, r.Program, r.Skipped)
	switch {
	case r.Summary != nil:
		return nil // a merge writes its own
	case r.Digest == "" || of == nil:
		return fmt.Errorf("a result with its digest is expected, as collsim FILE --jsonl writes it")
	}
	line := Line{Point{of.ID, r.Digest}, text, r.Warnings, r.Scenario, at}
	if of == r.Skipped {
		if _, again := l.skipped[line.Point]; !again {
			l.all = append(l.all, line)
		}
		l.skipped[line.Point] = of.Why
		return nil
	}
	if n, there := l.results[line.Point]; there {
		if !bytes.Equal(l.all[n].Text, text) {
			return fmt.Errorf("%s: this line differs from %s, of the same point", of.ID, l.all[n].At)
		}
		return nil
	}
	l.results[line.Point] = len(l.all)
	l.all = append(l.all, line)
	return nil
}

// All lists the lines, each once, in their order.
func (l *Lines) All() []Line { return l.all }

// Result returns the line of a point, and whether there is one.
func (l *Lines) Result(p Point) (line Line, is bool) {
	n, is := l.results[p]
	if !is {
		return Line{}, false
	}
	return l.all[n], true
}

// Skipped returns why a point was skipped, and whether it was.
func (l *Lines) Skipped(p Point) (why string, is bool) {
	why, is = l.skipped[p]
	return why, is
}

// Has reports whether a point is done.
func (l *Lines) Has(p Point) bool {
	_, result := l.results[p]
	_, skipped := l.skipped[p]
	return result || skipped
}
