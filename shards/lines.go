package shards

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Point is a point by its ID and the digest of what it means.
type Point struct{ ID, Digest string }

// Lines holds the lines of files of results.
type Lines struct {
	results map[Point]Line // never iterated, like the other
	skipped map[Point]string
}

// Line is the line of a result.
type Line struct {
	Text     []byte
	Warnings []string // what a reader of the result might stumble over
}

// record holds what is read of a line.
type record struct {
	Digest   string          `json:"digest"`
	Warnings []string        `json:"warnings"`
	Result   *identity       `json:"result"`
	Skipped  *identity       `json:"skipped"`
	Summary  json.RawMessage `json:"summary"`
}

type identity struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// NewLines holds the lines of no file.
func NewLines() *Lines {
	return &Lines{results: map[Point]Line{}, skipped: map[Point]string{}}
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
			err = l.add(text)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
}

func (l *Lines) add(text []byte) error {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("a line of collsim FILE --jsonl is expected: %w", err)
	}
	switch {
	case r.Summary != nil:
		return nil // a merge writes its own
	case r.Digest == "" || r.Result == nil && r.Skipped == nil:
		return fmt.Errorf("a result with its digest is expected, as collsim FILE --jsonl writes it")
	case r.Skipped != nil:
		l.skipped[Point{r.Skipped.ID, r.Digest}] = r.Skipped.Why
		return nil
	}
	at := Point{r.Result.ID, r.Digest}
	if has, there := l.results[at]; there && !bytes.Equal(has.Text, text) {
		return fmt.Errorf("%s: this line differs from an earlier one of the same point", at.ID)
	}
	l.results[at] = Line{text, r.Warnings}
	return nil
}

// Result returns the line of a point, and whether there is one.
func (l *Lines) Result(p Point) (line Line, is bool) {
	line, is = l.results[p]
	return line, is
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
