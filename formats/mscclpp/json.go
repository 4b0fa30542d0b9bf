package mscclpp

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

// decoder walks JSON token by token, strictly, and knows the current line. It keeps the first
// error; after it every method does nothing.
type decoder struct {
	json  *json.Decoder
	lines *lineReader
	file  string
	err   error
	line  int // of the last token
}

// lineReader records the ends of lines that the decoder has read and not yet passed.
type lineReader struct {
	from  io.Reader
	read  int64
	ends  []int64
	count int // number of lines passed
}

func newDecoder(r io.Reader, file string) *decoder {
	lines := &lineReader{from: r, count: 1}
	d := &decoder{json: json.NewDecoder(lines), lines: lines, file: file, line: 1}
	d.json.UseNumber()
	return d
}

// Read records the ends of lines.
func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset. REQUIRES: offsets of successive calls do not fall.
func (l *lineReader) at(offset int64) int {
	passed := 0
	for passed < len(l.ends) && l.ends[passed] < offset {
		passed++
	}
	l.count += passed
	l.ends = l.ends[passed:]
	return l.count
}

// fail makes an error on the current line.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = &foreign.Error{File: d.file, Line: d.line, Text: fmt.Sprintf(format, args...)}
	}
}

// token returns the next token, nil after an error.
func (d *decoder) token() json.Token {
	if d.err != nil {
		return nil
	}
	t, err := d.json.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		d.line = d.lines.at(syntax.Offset)
		d.fail("%v", err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		d.line = d.lines.at(d.lines.read)
		d.fail("the file ends in the middle")
	case err != nil:
		d.fail("%v", err)
	}
	d.line = d.lines.at(d.json.InputOffset())
	return t
}

// field is a key of an object, and the function that reads its value.
type field struct {
	name string
	need bool
	read func()
}

// object reads an object with these fields, each at most once.
func (d *decoder) object(what string, fields []field) {
	if !d.open('{', what) {
		return
	}
	var seen uint64
	for d.err == nil && d.json.More() {
		key, _ := d.token().(string)
		i := indexOf(fields, key)
		switch {
		case d.err != nil:
			return
		case i < 0:
			names := make([]string, len(fields))
			for j, f := range fields {
				names[j] = f.name
			}
			d.unknown("key "+quote(key)+" of "+what, key, names)
			return
		case seen&(1<<i) != 0:
			d.fail("%s has a second %q", what, key)
			return
		}
		seen |= 1 << i
		fields[i].read()
	}
	d.token()
	for i, f := range fields {
		if f.need && seen&(1<<i) == 0 {
			d.fail("%s lacks %q", what, f.name)
		}
	}
}

func indexOf(fields []field, name string) int {
	for i := range fields {
		if fields[i].name == name {
			return i
		}
	}
	return -1
}

// unknown refuses a name and suggests others.
func (d *decoder) unknown(what, name string, known []string) {
	d.fail("%s is none; known are %s", what, strings.Join(known, ", "))
	e, ok := d.err.(*foreign.Error)
	if near := nearest.To(name, known, 2); ok && len(near) > 0 && e.Hint == "" {
		e.Hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
}

// open reads the beginning of an object or array.
func (d *decoder) open(brace json.Delim, what string) bool {
	t := d.token()
	if d.err == nil && t != brace {
		d.fail("%s is %s; %q was expected", what, show(t), brace.String())
	}
	return d.err == nil
}

// array reads an array; read reads an element.
func (d *decoder) array(what string, read func()) {
	if !d.open('[', what) {
		return
	}
	for d.err == nil && d.json.More() {
		read()
	}
	d.token()
}

// text reads a string into s.
func (d *decoder) text(what string, s *string) {
	t := d.token()
	if text, ok := t.(string); ok {
		*s = text
	} else {
		d.fail("%s is %s; a string was expected", what, show(t))
	}
}

// flag reads a boolean into b.
func (d *decoder) flag(what string, b *bool) {
	t := d.token()
	if value, ok := t.(bool); ok {
		*b = value
	} else {
		d.fail("%s is %s; true or false was expected", what, show(t))
	}
}

// number reads an integer from least to most into n.
func (d *decoder) number(what string, n *int64, least, most int64) {
	t := d.token()
	number, ok := t.(json.Number)
	value, err := strconv.ParseInt(number.String(), 10, 64)
	if !ok || err != nil || value < least || value > most {
		d.fail("%s is %s; an integer from %d to %d was expected", what, show(t), least, most)
		return
	}
	*n = value
}

// size reads a message size into n; they go up to 2⁶⁴−1.
func (d *decoder) size(what string, n *uint64) {
	t := d.token()
	number, ok := t.(json.Number)
	value, err := strconv.ParseUint(number.String(), 10, 64)
	if !ok || err != nil {
		d.fail("%s is %s; a size in bytes was expected", what, show(t))
		return
	}
	*n = value
}

// numbers reads a list of integers from 0 to most.
func (d *decoder) numbers(what string, list *[]int32, most int64) {
	d.array(what, func() {
		var n int64
		d.number(what, &n, 0, most)
		*list = append(*list, int32(n))
	})
}

// show describes a token in words.
func show(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case string:
		return quote(t)
	case json.Delim:
		return map[json.Delim]string{'{': "an object", '[': "a list"}[t]
	}
	return fmt.Sprint(t)
}

// quote quotes a string of the file, cut if it is long.
func quote(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}
