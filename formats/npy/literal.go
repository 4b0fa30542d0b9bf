package npy

import (
	"fmt"
	"strings"

	"collsim/formats/internal/tensor"
)

// literal is a value in the subset of Python's syntax that headers of .npy use.
type literal struct {
	kind  byte // 's' string, 'i' integer, 'n' name, '(' tuple, '[' list, '{' dict
	text  string
	items []literal // of a tuple or list; of a dict key, value, key, value …
}

// maxDepth bounds the nesting of structured types.
const maxDepth = 32

// parser parses a literal; at is its position.
type parser struct {
	text string
	at   int
}

// parseLiteral parses a whole text as one literal.
func parseLiteral(text string) (literal, error) {
	p := &parser{text: text}
	v, err := p.value(0)
	if err == nil && p.peek() != 0 {
		err = p.unexpected("nothing more")
	}
	return v, err
}

// peek returns the next byte that is not a blank, or 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) unexpected(want string) error {
	p.peek()
	if p.at == len(p.text) {
		return tensor.Failed("its header ends at byte %d; %s is expected", p.at, want)
	}
	return tensor.Failed("its header has %.16q at byte %d; %s is expected", p.text[p.at:], p.at, want)
}

func (p *parser) value(depth int) (literal, error) {
	if depth > maxDepth {
		return literal{}, tensor.Failed("its header is nested more than %d deep", maxDepth)
	}
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		return p.quoted()
	case c == '(':
		return p.sequence(')', depth)
	case c == '[':
		return p.sequence(']', depth)
	case c == '{':
		return p.dict(depth)
	case c == '-' || isDigit(c):
		return p.integer()
	case isLetter(c):
		start := p.at
		for p.at < len(p.text) && (isLetter(p.text[p.at]) || isDigit(p.text[p.at])) {
			p.at++
		}
		return literal{kind: 'n', text: p.text[start:p.at]}, nil
	}
	return literal{}, p.unexpected("a Python value")
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// quoted parses a string. A backslash escapes the next character and stays in the text: no
// supported type has one in its name.
func (p *parser) quoted() (literal, error) {
	quote := p.text[p.at]
	for end := p.at + 1; end < len(p.text); end++ {
		switch p.text[end] {
		case '\\':
			end++
		case quote:
			v := literal{kind: 's', text: p.text[p.at+1 : end]}
			p.at = end + 1
			return v, nil
		}
	}
	return literal{}, p.unexpected("a string that ends")
}

// integer parses an integer; Python 2 wrote an L behind some.
func (p *parser) integer() (literal, error) {
	start := p.at
	if p.text[p.at] == '-' {
		p.at++
	}
	digits := p.at
	for p.at < len(p.text) && isDigit(p.text[p.at]) {
		p.at++
	}
	v := literal{kind: 'i', text: p.text[start:p.at]}
	if p.at == digits || p.at > digits+1 && p.text[digits] == '0' {
		p.at = start
		return literal{}, p.unexpected("an integer")
	}
	if p.at < len(p.text) && p.text[p.at] == 'L' {
		p.at++
	}
	return v, nil
}

// sequence parses a tuple or a list. As in Python, (3) is 3 and (3,) is a tuple.
func (p *parser) sequence(end byte, depth int) (literal, error) {
	start := p.at
	v := literal{kind: p.text[p.at]}
	p.at++
	comma := false
	for p.peek() != end {
		item, err := p.value(depth + 1)
		if err != nil {
			return literal{}, err
		}
		v.items = append(v.items, item)
		if comma = p.peek() == ','; comma {
			p.at++
		} else if p.peek() != end {
			return literal{}, p.unexpected(fmt.Sprintf("a comma or '%c'", end))
		}
	}
	p.at++
	if v.kind == '(' && len(v.items) == 1 && !comma {
		return v.items[0], nil
	}
	v.text = p.text[start:p.at]
	return v, nil
}

func (p *parser) dict(depth int) (literal, error) {
	start := p.at
	v := literal{kind: '{'}
	p.at++
	for p.peek() != '}' {
		key, err := p.value(depth + 1)
		if err != nil {
			return literal{}, err
		}
		if p.peek() != ':' {
			return literal{}, p.unexpected("a colon")
		}
		p.at++
		value, err := p.value(depth + 1)
		if err != nil {
			return literal{}, err
		}
		v.items = append(v.items, key, value)
		if p.peek() == ',' {
			p.at++
		} else if p.peek() != '}' {
			return literal{}, p.unexpected("a comma or '}'")
		}
	}
	p.at++
	v.text = p.text[start:p.at]
	return v, nil
}
