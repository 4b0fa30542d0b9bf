package msccl

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"collsim/formats/internal/foreign"
	"collsim/internal/nearest"
)

// scanner returns the elements of a file one by one, with their lines.
type scanner struct {
	file string
	xml  *xml.Decoder
}

// shape lists the attributes of an element: first those that are required.
type shape struct {
	name  string
	attrs []string
	need  int // number of required attributes
}

// maxAttrs bounds the attributes of a shape.
const maxAttrs = 16

// element is one start tag.
type element struct {
	name   string
	shape  *shape
	line   int
	values [maxAttrs]string // in the order of the shape's attributes
	has    [maxAttrs]bool
}

// fail makes an error at a line.
func (s *scanner) fail(line int, format string, args ...any) *foreign.Error {
	return &foreign.Error{File: s.file, Line: line, Text: fmt.Sprintf(format, args...)}
}

// line returns the line of the next token.
func (s *scanner) line() int {
	line, _ := s.xml.InputPos()
	return line
}

// token returns the next token that is neither a comment nor white space, and its line.
func (s *scanner) token() (xml.Token, int, error) {
	for {
		line := s.line()
		t, err := s.xml.RawToken()
		if err != nil {
			return nil, line, s.syntax(line, err)
		}
		switch t := t.(type) {
		case xml.Comment:
			continue
		case xml.ProcInst:
			if t.Target == "xml" {
				continue
			}
			return nil, line, s.fail(line, "<?%.40s …?>: only elements are expected", t.Target)
		case xml.Directive:
			return nil, line, s.fail(line, "<!%.40s…>: only elements are expected", t)
		case xml.CharData:
			text := strings.TrimSpace(string(t))
			if text == "" {
				continue
			}
			return nil, line, s.fail(line, "text %.40q between elements: none is expected", text)
		}
		return t, line, nil
	}
}

// syntax converts an error of the XML parser; io.EOF is unchanged.
func (s *scanner) syntax(line int, err error) error {
	var wrong *xml.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.As(err, &wrong):
		return s.fail(wrong.Line, "no well-formed XML: %s", wrong.Msg)
	}
	return s.fail(line, "cannot be read: %v", err)
}

// open parses the attributes of a start tag, which must have one of the shapes.
func (s *scanner) open(t xml.StartElement, line int, shapes ...*shape) (*element, error) {
	for _, sh := range shapes {
		if t.Name.Local == sh.name && t.Name.Space == "" {
			return s.attributes(t, line, sh)
		}
	}
	names := make([]string, len(shapes))
	for i, sh := range shapes {
		names[i] = sh.name
	}
	err := s.fail(line, "element <%.40s>: expected <%s>", full(t.Name), strings.Join(names, ">, <"))
	err.Hint = meant(t.Name.Local, names)
	return nil, err
}

func (s *scanner) attributes(t xml.StartElement, line int, sh *shape) (*element, error) {
	e := &element{name: sh.name, shape: sh, line: line}
	for i := range t.Attr {
		name := full(t.Attr[i].Name)
		at := sh.index(name)
		switch {
		case at < 0:
			err := s.fail(line, "attribute %.40q of <%s>: it has %s", name, sh.name,
				strings.Join(sh.attrs, ", "))
			err.Hint = meant(name, sh.attrs)
			return nil, err
		case e.has[at]:
			return nil, s.fail(line, "attribute %q of <%s> is given twice", name, sh.name)
		}
		e.values[at], e.has[at] = t.Attr[i].Value, true
	}
	for i, name := range sh.attrs[:sh.need] {
		if !e.has[i] {
			return nil, s.fail(line, "<%s> has no attribute %q, which is required", sh.name, name)
		}
	}
	return e, nil
}

func full(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}

func (sh *shape) index(name string) int {
	for i, a := range sh.attrs {
		if a == name {
			return i
		}
	}
	return -1
}

// children calls f with every element inside e; f must consume it.
func (s *scanner) children(e *element, f func(t xml.StartElement, line int) error) error {
	for {
		t, line, err := s.token()
		if err == io.EOF {
			return s.fail(line, "the file ends within <%s> of line %d", e.name, e.line)
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := f(t, line); err != nil {
				return err
			}
		case xml.EndElement:
			if t.Name.Local != e.name || t.Name.Space != "" {
				return s.fail(line, "</%.40s> ends <%s> of line %d", full(t.Name), e.name, e.line)
			}
			return nil
		}
	}
}

// leaf consumes an element without content.
func (s *scanner) leaf(e *element) error {
	return s.children(e, func(t xml.StartElement, line int) error {
		return s.fail(line, "element <%.40s> within <%s>, which has none inside", full(t.Name),
			e.name)
	})
}

// text returns an attribute's value, "" if it is absent.
func (e *element) text(name string) string {
	if i := e.shape.index(name); i >= 0 {
		return e.values[i]
	}
	return ""
}

func (e *element) given(name string) bool {
	i := e.shape.index(name)
	return i >= 0 && e.has[i]
}

// limits holds the least and the greatest value of a number, and its value if absent.
type limits struct{ from, to, missing int64 }

// number parses an attribute as an integer.
func (s *scanner) number(e *element, name string, l limits) (int64, error) {
	i := e.shape.index(name)
	if i < 0 || !e.has[i] {
		return l.missing, nil
	}
	n, err := strconv.ParseInt(e.values[i], 10, 64)
	if err != nil || n < l.from || n > l.to {
		return 0, s.fail(e.line, "%s=\"%.40s\" of <%s>: a whole number from %d to %d is expected",
			name, e.values[i], e.name, l.from, l.to)
	}
	return n, nil
}

// meant returns a hint at the nearest of some names, "" if none is near.
func meant(name string, names []string) string {
	if near := nearest.To(name, names, 1); len(near) > 0 {
		return fmt.Sprintf("did you mean %q?", near[0])
	}
	return ""
}
