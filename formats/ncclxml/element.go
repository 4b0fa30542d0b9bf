package ncclxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"collsim/formats/system"
	"collsim/unit"
)

// Limits of a file. NCCL itself reads 256 elements of 16 attributes; its dumps of whole racks have
// a few thousand.
const (
	maxBytes      = 16 << 20
	maxElements   = 1 << 14
	maxDepth      = 64
	maxAttributes = 64
	maxValue      = 4096
)

// element is a tag with its contents.
type element struct {
	name string
	at   map[string]string
	kids []*element
	line int
}

// Error describes an error in a file, and its place.
type Error = system.Error

// parse parses the elements of a file. The XML reader refuses entities defined in the file, and
// anything but UTF-8.
func parse(file string, data []byte) (*element, error) {
	if len(data) > maxBytes {
		return nil, system.Errorf(file, 0, "has %d bytes; a topology file has at most %d",
			len(data), maxBytes)
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	var root *element
	var open []*element
	count := 0
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		fail := func(format string, args ...any) (*element, error) {
			return nil, system.Errorf(file, line, format, args...)
		}
		var syntax *xml.SyntaxError
		switch {
		case errors.Is(err, io.EOF) && root == nil:
			return fail("has no element; <system> is expected")
		case errors.Is(err, io.EOF):
			return root, nil
		case errors.As(err, &syntax):
			return nil, system.Errorf(file, syntax.Line, "%s", "no XML: "+syntax.Msg)
		case err != nil:
			return fail("no XML: %s", strings.TrimPrefix(err.Error(), "xml: "))
		}
		switch t := token.(type) {
		case xml.StartElement:
			if count++; count > maxElements {
				return fail("has more than %d elements", maxElements)
			}
			if len(open) == maxDepth {
				return fail("has elements more than %d deep", maxDepth)
			}
			e, why := newElement(t, line)
			switch {
			case why != "":
				return fail("%s", why)
			case len(open) > 0:
				parent := open[len(open)-1]
				parent.kids = append(parent.kids, e)
			case root != nil:
				return fail("<%.40s> follows <%.40s>; one element is expected", e.name, root.name)
			default:
				root = e
			}
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

// newElement converts a tag; the text is the reason why it is refused.
func newElement(t xml.StartElement, line int) (*element, string) {
	e := &element{name: t.Name.Local, at: map[string]string{}, line: line}
	if len(t.Attr) > maxAttributes {
		return nil, fmt.Sprintf("<%.40s> has %d attributes; the limit is %d", e.name, len(t.Attr),
			maxAttributes)
	}
	for _, a := range t.Attr {
		if len(a.Value) > maxValue {
			return nil, fmt.Sprintf("<%.40s %.40s> has %d bytes; the limit is %d", e.name, a.Name.Local,
				len(a.Value), maxValue)
		}
		if _, twice := e.at[a.Name.Local]; twice {
			return nil, fmt.Sprintf("<%.40s> has %.40s twice", e.name, a.Name.Local)
		}
		e.at[a.Name.Local] = a.Value
	}
	return e, ""
}

// number parses an attribute: decimal, or hexadecimal after 0x. If it is empty or absent, it
// returns other.
func (e *element) number(file, key string, other int) (int, error) {
	text := strings.TrimSpace(e.at[key])
	if text == "" {
		return other, nil
	}
	n, err := strconv.ParseInt(text, 0, 32)
	if err != nil {
		if n, err = strconv.ParseInt(strings.TrimLeft(text, "0"), 10, 32); err != nil {
			return 0, system.Errorf(file, e.line, "<%s %s=%.40q>: a number is expected", e.name, key,
				e.at[key])
		}
	}
	return int(n), nil
}

// microseconds parses an attribute that is a time without a unit, 0 if absent.
func (e *element) microseconds(file, key string) (unit.Time, error) {
	text := strings.TrimSpace(e.at[key])
	if text == "" {
		return 0, nil
	}
	t, err := unit.ParseTime(text + " us")
	if err != nil || t > unit.Second {
		return 0, system.Errorf(file, e.line, "<%s %s=%.40q>: microseconds are expected", e.name, key,
			e.at[key])
	}
	return t, nil
}
