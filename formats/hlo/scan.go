package hlo

import (
	"fmt"
	"strings"

	"collsim/formats/internal/foreign"
)

// parser is the text of a module on its way to one.
type parser struct {
	file string
	text string
	pos  int
	line int // of pos, from 1
}

// fail is what is wrong at a line.
func (p *parser) fail(line int, format string, args ...any) error {
	return &foreign.Error{File: p.file, Line: line, Text: fmt.Sprintf(format, args...)}
}

// step goes on by some bytes.
func (p *parser) step(n int) {
	p.line += strings.Count(p.text[p.pos:p.pos+n], "\n")
	p.pos += n
}

// skip goes on behind blanks and comments, over ends of lines if these count for nothing.
func (p *parser) skip(lines bool) {
	for p.pos < len(p.text) {
		rest := p.text[p.pos:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' && lines:
			p.step(1)
		case strings.HasPrefix(rest, "/*"):
			if end := strings.Index(rest, "*/"); end >= 0 {
				p.step(end + 2)
			} else {
				p.step(len(rest))
			}
		case strings.HasPrefix(rest, "//"):
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				p.step(end)
			} else {
				p.step(len(rest))
			}
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

// accept goes on behind a text if it stands here.
func (p *parser) accept(text string) bool {
	if !strings.HasPrefix(p.text[p.pos:], text) {
		return false
	}
	p.step(len(text))
	return true
}

// next is what stands here, in errors.
func (p *parser) next() string {
	rest, _, _ := strings.Cut(p.text[p.pos:], "\n")
	if rest == "" && p.pos == len(p.text) {
		return "the end of the file"
	} else if rest == "" {
		return "the end of the line"
	}
	return fmt.Sprintf("%.40q", rest)
}

// isName reports whether a byte is one of a name's.
func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' ||
		c == '.' || c == '-'
}

// name reads a name, of instructions and computations with or without its %.
func (p *parser) name(what string) (string, error) {
	p.accept("%")
	end := p.pos
	for end < len(p.text) && isName(p.text[end]) &&
		!strings.HasPrefix(p.text[end:], "->") {
		end++
	}
	if end == p.pos {
		return "", p.fail(p.line, "%s is expected, not %s", what, p.next())
	}
	name := p.text[p.pos:end]
	p.step(end - p.pos)
	return name, nil
}

// value reads a value up to a comma, a closing bracket or the end of the line, which it is not in
// brackets or quotes.
func (p *parser) value() (string, error) {
	from, line := p.pos, p.line
	for depth := 0; p.pos < len(p.text); {
		switch c := p.text[p.pos]; {
		case c == '"':
			if err := p.quoted(); err != nil {
				return "", err
			}
			continue
		case strings.HasPrefix(p.text[p.pos:], "/*"):
			p.skip(false)
			continue
		case c == '(' || c == '[' || c == '{':
			depth++
		case depth == 0 && (c == ',' || c == '\n' || c == ')' || c == ']' || c == '}'):
			return strings.TrimSpace(p.text[from:p.pos]), nil
		case c == ')' || c == ']' || c == '}':
			depth--
		}
		p.step(1)
	}
	text := strings.TrimSpace(p.text[from:])
	if text == "" || strings.ContainsAny(text, "([{") {
		return "", p.fail(line, "a value that begins here does not end")
	}
	return text, nil
}

// quoted goes on behind a text in quotes.
func (p *parser) quoted() error {
	line := p.line
	for i := p.pos + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			p.step(i + 1 - p.pos)
			return nil
		}
	}
	return p.fail(line, "quotes that open here are not closed")
}

// split cuts a list at its commas, outside of brackets and quotes, without its comments.
func split(list string) (items []string) {
	p := parser{text: list, line: 1}
	for p.skip(true); p.pos < len(p.text); p.skip(true) {
		from := p.pos
		for p.pos < len(p.text) && p.peek() != ',' {
			at := p.pos
			if _, err := p.value(); err != nil || p.pos == at {
				p.pos = min(max(p.pos, at+1), len(p.text)) // an end of line, or what is not balanced
			}
		}
		items = append(items, strings.TrimSpace(uncommented(list[from:p.pos])))
		if p.pos < len(p.text) {
			p.pos++
		}
	}
	return items
}

// uncommented is a text without its comments.
func uncommented(text string) string {
	for {
		before, rest, found := strings.Cut(text, "/*")
		_, after, closed := strings.Cut(rest, "*/")
		if !found || !closed {
			return text
		}
		text = before + " " + after
	}
}
