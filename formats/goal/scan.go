package goal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/formats/internal/opgraph"
	"collsim/unit"
)

type tokenKind uint8

const (
	word tokenKind = iota
	number
	sign // one of { } : -
	lineEnd
)

// token is a piece of a line, in the memory of the line.
type token struct {
	kind tokenKind
	text []byte
}

func (t token) is(text string) bool { return t.kind != lineEnd && string(t.text) == text }

// String returns the token as an error names it.
func (t token) String() string {
	if t.kind == lineEnd {
		return "the end of the line"
	}
	return fmt.Sprintf("%q", t.text)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// class is the lexical class of a byte.
type class uint8

const (
	meaningless class = iota
	blank
	letter
	numeral
	single // a token of its own
	back   // ends the line
)

var classes = func() (of [256]class) {
	for c := range of {
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			of[c] = letter
		case digit(byte(c)):
			of[c] = numeral
		}
	}
	of[' '], of['\t'], of['\n'], of['\r'] = blank, blank, blank, back
	of['{'], of['}'], of[':'], of['-'] = single, single, single, single
	return of
}()

// inWord reports for each byte whether it may be part of a word.
var inWord = func() (is [256]bool) {
	for c, class := range classes {
		is[c] = class == letter || class == numeral || c == '_'
	}
	return is
}()

// scan splits a line into tokens, without comments.
func (r *reader) scan(line []byte) (err error) {
	r.all, err = r.cut(r.all[:0], line)
	r.tokens = r.all
	return err
}

// cut appends the tokens of a line.
func (r *reader) cut(to []token, line []byte) ([]token, error) {
	for i := 0; i < len(line); {
		c, from := line[i], i
		if r.comment > 0 {
			end := bytes.Index(line[i:], []byte("*/"))
			if end < 0 {
				return to, nil
			}
			r.comment, i = 0, i+end+2
			continue
		}
		is := classes[c]
		switch {
		case is == blank || is == back && starts(line[i:], "\r\n"):
			i++
		case is == letter:
			for i < len(line) && inWord[line[i]] {
				i++
			}
			to = append(to, token{word, line[from:i]})
		case is == numeral:
			for i < len(line) && digit(line[i]) {
				i++
			}
			to = append(to, token{number, line[from:i]})
		case is == single:
			i++
			to = append(to, token{sign, line[from:i]})
		case starts(line[i:], "//"):
			return to, nil
		case starts(line[i:], "/*"):
			r.comment, i = r.line, i+2
		default:
			return to, r.fail("the character %q has no meaning here", c)
		}
	}
	return to, nil
}

func starts(line []byte, with string) bool {
	return len(line) >= len(with) && string(line[:len(with)]) == with
}

// next returns the next token of the line, for errors.
func (r *reader) next() token {
	if len(r.tokens) == 0 {
		return token{kind: lineEnd}
	}
	return r.tokens[0]
}

// need consumes an expected token.
func (r *reader) need(text string) error {
	if !r.next().is(text) {
		return r.fail("%q is expected, not %v", text, r.next())
	}
	r.tokens = r.tokens[1:]
	return nil
}

// end checks that the line ends.
func (r *reader) end() error {
	if len(r.tokens) > 0 {
		return r.fail("%v: the end of the line is expected", r.next())
	}
	return nil
}

// number consumes a number between from and to.
func (r *reader) number(what string, from, to int64) (int64, error) {
	t := r.next()
	if t.kind != number {
		if t.is("-") && len(r.tokens) > 1 {
			t.text = slices.Concat(t.text, r.tokens[1].text)
		}
		return 0, r.fail("%s is expected, not %v", what, t)
	}
	r.tokens = r.tokens[1:]
	n := int64(0)
	for i := range len(t.text) {
		if n = 10*n + int64(t.text[i]-'0'); n > to {
			return 0, r.fail("%s is expected, from %d to %d, not %s", what, from, to, t.text)
		}
	}
	if n < from {
		return 0, r.fail("%s is expected, from %d to %d, not %s", what, from, to, t.text)
	}
	return n, nil
}

// operation reports whether a word begins an operation.
func (t token) operation() bool { return t.is("send") || t.is("recv") || t.is("calc") }

// operation parses send, recv or calc.
func (r *reader) operation() (op opgraph.Op, err error) {
	verb := r.tokens[0]
	r.tokens = r.tokens[1:]
	op.Line = int32(min(r.line, 1<<31-1))
	if verb.is("calc") {
		const most = int64(unit.Forever-1) / psPerUnit
		n, err := r.number("a time in nanoseconds", 0, most)
		if err != nil {
			return op, err
		}
		op.Kind, op.Amount = opgraph.Calc, n*psPerUnit
		return op, r.options(&op, "cpu")
	}
	op.Kind = opgraph.Send
	preposition := "to"
	if verb.is("recv") {
		op.Kind, preposition = opgraph.Recv, "from"
	}
	if op.Amount, err = r.number("a size", 0, collective.MaxElements); err != nil {
		return op, err
	}
	if err = r.need("b"); err != nil {
		return op, err
	}
	if err = r.need(preposition); err != nil {
		return op, err
	}
	if op.Kind == opgraph.Recv && r.next().is("-") {
		return op, r.fail("a receive from any source: what it matches depends on timing, so that " +
			"nothing can be proven of it; name the rank that sends")
	}
	peer, err := r.number("a rank", 0, 1<<31-1)
	if err != nil {
		return op, err
	}
	op.Peer = int32(peer)
	return op, r.options(&op, "tag", "cpu", "nic")
}

// options parses optional fields; each is 0 if absent.
func (r *reader) options(op *opgraph.Op, names ...string) error {
	for _, name := range names {
		if !r.next().is(name) {
			continue
		}
		r.tokens = r.tokens[1:]
		most := int64(255)
		if name == "tag" {
			if most = 1<<32 - 2; r.next().is("-") {
				return r.fail("any tag: what this matches depends on timing, so that nothing can be " +
					"proven of it; give the tag")
			}
		}
		n, err := r.number(name, 0, most)
		if err != nil {
			return err
		}
		switch name {
		case "tag":
			op.Tag = n
		case "cpu":
			op.CPU = uint8(n)
		case "nic":
			op.NIC = uint8(n)
		}
	}
	if t := r.next(); t.kind == word {
		return r.fail("%v: only %s may follow, in this order", t, strings.Join(names, ", "))
	}
	return nil
}
