// Package strictjson reads a JSON document element by element, in memory of its nesting depth.
// Every error names its line and what was expected. Unknown keys, keys given twice and numbers out
// of range are errors. The package knows no format.
package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"collsim/formats/internal/foreign"
	"collsim/internal/nearest"
)

// Reader reads a document.
type Reader struct {
	file    string
	what    string // name of the document in errors: "file"
	lines   *Lines
	decoder *json.Decoder
	token   json.Token // read ahead, valid if held
	held    bool
	line    int
	depth   int
}

// maxDepth bounds the depth of nesting.
const maxDepth = 64

// New makes a reader of a document; file is its name in errors.
func New(r io.Reader, file string) *Reader {
	counted := &Lines{R: r}
	d := json.NewDecoder(counted)
	d.UseNumber()
	return &Reader{file: file, what: "file", lines: counted, decoder: d}
}

// NewPart makes a reader of a part of a file, such as its header. Its errors use the description in
// what for the part, and give no file name.
func NewPart(r io.Reader, what string) *Reader {
	part := New(r, "")
	part.what = what
	return part
}

// Offset returns the end of the last element, in bytes.
func (r *Reader) Offset() int64 { return r.decoder.InputOffset() }

// Line returns the line of the last element.
func (r *Reader) Line() int { return r.line }

// Errorf makes an error at the last element.
func (r *Reader) Errorf(format string, args ...any) error {
	return &foreign.Error{File: r.file, Line: r.line, Text: fmt.Sprintf(format, args...)}
}

// Unknown makes the error of a key, or another name, that is none of the legal ones.
func (r *Reader) Unknown(what, name string, legal ...string) error {
	e := &foreign.Error{File: r.file, Line: r.line, Text: fmt.Sprintf(
		"%s %.40q: one of %s is expected", what, name, strings.Join(legal, ", "))}
	if near := nearest.To(name, legal, 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "?"
	}
	return e
}

// Object reads an object. It calls each with every key; each must read the value.
func (r *Reader) Object(each func(key string) error) error {
	if err := r.open('{', "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for {
		t, err := r.next()
		if err != nil {
			return err
		}
		if t == json.Delim('}') {
			r.depth--
			return nil
		}
		key := t.(string) // the decoder allows strings only
		if seen[key] {
			return r.Errorf("key %.40q is given twice", key)
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
}

// Array reads an array. It calls each with the index of every element; each must read the element.
func (r *Reader) Array(each func(i int) error) error {
	if err := r.open('[', "an array"); err != nil {
		return err
	}
	for i := 0; ; i++ {
		t, err := r.next()
		if err != nil {
			return err
		}
		if t == json.Delim(']') {
			r.depth--
			return nil
		}
		r.token, r.held = t, true
		if err := each(i); err != nil {
			return err
		}
	}
}

// String reads a string.
func (r *Reader) String() (string, error) {
	t, err := r.next()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", r.expected("a string", t)
	}
	return s, nil
}

// Int reads a whole number from low to high.
func (r *Reader) Int(low, high int64) (int64, error) {
	t, err := r.next()
	if err != nil {
		return 0, err
	}
	text, ok := t.(json.Number)
	n, err := strconv.ParseInt(string(text), 10, 64)
	if !ok || err != nil || n < low || n > high {
		return 0, r.expected(fmt.Sprintf("a whole number from %d to %d", low, high), t)
	}
	return n, nil
}

// Float reads a number that is not negative.
func (r *Reader) Float() (float64, error) {
	t, err := r.next()
	if err != nil {
		return 0, err
	}
	text, ok := t.(json.Number)
	if !ok {
		return 0, r.expected("a number", t)
	}
	x, err := text.Float64()
	if err != nil || x < 0 {
		return 0, r.expected("a number that is not negative", t)
	}
	return x, nil
}

// Bool reads true or false.
func (r *Reader) Bool() (bool, error) {
	t, err := r.next()
	if err != nil {
		return false, err
	}
	b, ok := t.(bool)
	if !ok {
		return false, r.expected("true or false", t)
	}
	return b, nil
}

// Null reads null if that comes next, and reports whether it did.
func (r *Reader) Null() (bool, error) {
	t, err := r.next()
	if err != nil {
		return false, err
	}
	if t != nil {
		r.token, r.held = t, true
	}
	return t == nil, nil
}

// Composite reports whether an object or an array follows.
func (r *Reader) Composite() (bool, error) {
	t, err := r.next()
	if err != nil {
		return false, err
	}
	r.token, r.held = t, true
	_, ok := t.(json.Delim)
	return ok, nil
}

// Skip reads a value of any kind.
func (r *Reader) Skip() error {
	t, err := r.next()
	if err != nil {
		return err
	}
	if _, ok := t.(json.Delim); !ok {
		return nil
	}
	r.token, r.held = t, true
	if t == json.Delim('[') {
		return r.Array(func(int) error { return r.Skip() })
	}
	return r.Object(func(string) error { return r.Skip() })
}

// End checks that nothing follows.
func (r *Reader) End() error {
	t, err := r.decoder.Token()
	if err == io.EOF {
		return nil
	}
	r.line = r.lines.At(r.decoder.InputOffset())
	if err != nil {
		return r.broken(err)
	}
	return r.expected("the end of the "+r.what, t)
}

func (r *Reader) open(delim json.Delim, want string) error {
	t, err := r.next()
	if err != nil {
		return err
	}
	if t != delim {
		return r.expected(want, t)
	}
	if r.depth++; r.depth > maxDepth {
		return r.Errorf("more than %d values inside one another", maxDepth)
	}
	return nil
}

// next returns the next token; the decoder handles commas and colons.
func (r *Reader) next() (json.Token, error) {
	if r.held {
		r.held = false
		return r.token, nil
	}
	t, err := r.decoder.Token()
	r.line = r.lines.At(r.decoder.InputOffset())
	if err != nil {
		return nil, r.broken(err)
	}
	return t, nil
}

// broken returns an error of the decoder with its line.
func (r *Reader) broken(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		r.line = r.lines.Last()
		return r.Errorf("the %s ends in the middle of a value", r.what)
	case errors.As(err, &syntax):
		return r.Errorf("this is no JSON: %v", err)
	}
	return r.Errorf("%v", err)
}

func (r *Reader) expected(want string, t json.Token) error {
	switch t := t.(type) {
	case json.Delim:
		name := "an object"
		if t == '[' || t == ']' {
			name = "an array"
		}
		return r.Errorf("%s is expected, this is %s", want, name)
	case string:
		return r.Errorf("%s is expected, this is %.40q", want, t)
	case nil:
		return r.Errorf("%s is expected, this is null", want)
	}
	return r.Errorf("%s is expected, this is %.40v", want, t)
}
