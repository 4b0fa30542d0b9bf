package hlo

import (
	"fmt"
	"strings"

	"collsim/formats/internal/foreign"
)

// parser parses the text of a module.
type parser struct {
	file string
	text string
	pos  int
	line int // of pos, from 1
	into *module
	// bounded says that some lengths are bounds.
	bounded bool
}

// fail makes an error at a line.
func (p *parser) fail(line int, format string, args ...any) error {
	return &foreign.Error{File: p.file, Line: line, Text: fmt.Sprintf(format, args...)}
}

// step advances by n bytes and counts lines.
func (p *parser) step(n int) {
	p.line += strings.Count(p.text[p.pos:p.pos+n], "\n")
	p.pos += n
}

// skip skips blanks and comments, and with lines also ends of lines.
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

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

// accept consumes a text if it comes next.
func (p *parser) accept(text string) bool {
	if !strings.HasPrefix(p.text[p.pos:], text) {
		return false
	}
	p.step(len(text))
	return true
}

// next returns the rest of the line, for errors.
func (p *parser) next() string {
	rest, _, _ := strings.Cut(p.text[p.pos:], "\n")
	if rest == "" && p.pos == len(p.text) {
		return "the end of the file"
	} else if rest == "" {
		return "the end of the line"
	}
	return fmt.Sprintf("%.40q", rest)
}

// isName reports whether a byte may be part of a name.
func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' ||
		c == '.' || c == '-'
}

// name parses a name, with or without a leading %.
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

// value parses a value. It ends before a comma, a closing bracket or the end of the line, outside
// of brackets and quotes.
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

// quoted skips a text in quotes.
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

// split splits a list at commas outside of brackets and quotes, without its comments.
func split(list string) (items []string) {
	p := parser{text: list, line: 1}
	for p.skip(true); p.pos < len(p.text); p.skip(true) {
		from := p.pos
		for p.pos < len(p.text) && p.peek() != ',' {
			at := p.pos
			if _, err := p.value(); err != nil || p.pos == at {
				// past an end of line, or an unbalanced bracket
				p.pos = min(max(p.pos, at+1), len(p.text))
			}
		}
		items = append(items, strings.TrimSpace(uncommented(list[from:p.pos])))
		if p.pos < len(p.text) {
			p.pos++
		}
	}
	return items
}

// uncommented removes the comments from a text.
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
