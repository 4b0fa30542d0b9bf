package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encode writes a value as encoding/json does, indented by two blanks and with a newline at the
// end. It leaves <, > and & unescaped, since links are named a->b.
func encode(v Value) ([]byte, error) {
	if x, found := v.infinite(); found {
		return nil, fmt.Errorf("JSON has no number %v", x)
	}
	return append(v.spelt(nil, "\n"), '\n'), nil
}

// encodeLine writes a value in one line, without blanks, and with a newline at the end.
func encodeLine(v Value) ([]byte, error) {
	if x, found := v.infinite(); found {
		return nil, fmt.Errorf("JSON has no number %v", x)
	}
	return append(v.spelt(nil, ""), '\n'), nil
}

// infinite finds a number that JSON cannot hold.
func (v Value) infinite() (x float64, found bool) {
	if math.IsNaN(v.number) || math.IsInf(v.number, 0) {
		return v.number, true
	}
	for _, one := range v.list {
		if x, found := one.infinite(); found {
			return x, true
		}
	}
	for _, m := range v.members {
		if x, found := m.value.infinite(); found {
			return x, true
		}
	}
	return 0, false
}

// spelt appends a value in JSON. line is a newline and the indent of the lines that it writes; if
// it is empty, there are no blanks and no lines.
func (v Value) spelt(b []byte, line string) []byte {
	switch v.kind {
	case isBool:
		return strconv.AppendBool(b, v.whole == 1)
	case isInt:
		return strconv.AppendInt(b, v.whole, 10)
	case isNumber:
		return appendNumber(b, v.number)
	case isText:
		return appendText(b, v.text)
	case isList:
		return within(b, "[]", line, v.list, func(b []byte, one Value, line string) []byte {
			return one.spelt(b, line)
		})
	case isObject:
		return within(b, "{}", line, v.members, func(b []byte, m member, line string) []byte {
			b = append(appendText(b, m.name), ':')
			if line != "" {
				b = append(b, ' ')
			}
			return m.value.spelt(b, line)
		})
	}
	return append(b, "null"...)
}

// within appends items in brackets, one a line.
func within[T any](b []byte, brackets, line string, items []T,
	each func(b []byte, item T, line string) []byte) []byte {
	b = append(b, brackets[0])
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if line == "" {
			b = each(b, item, "")
			continue
		}
		b = each(append(append(b, line...), "  "...), item, line+"  ")
	}
	if len(items) > 0 {
		b = append(b, line...)
	}
	return append(b, brackets[1])
}

// appendNumber spells a float as JavaScript does: with an exponent below 1e-6 and from 1e21 on.
func appendNumber(b []byte, x float64) []byte {
	abs := math.Abs(x)
	if abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, x, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, x, 'e', -1, 64)
	if n := len(b); b[n-2] == '0' && b[n-3] == '-' { // e-09 is e-9
		b = append(b[:n-2], b[n-1])
	}
	return b
}

// appendText quotes a text. It escapes U+2028 and U+2029, which end lines in JavaScript, and
// replaces invalid UTF-8 by U+FFFD.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for i, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c < ' ':
			if short := strings.IndexRune("\b\f\n\r\t", c); short >= 0 {
				b = append(b, '\\', "bfnrt"[short])
			} else {
				b = fmt.Appendf(b, `\u%04x`, c)
			}
		case c == '\u2028' || c == '\u2029',
			c == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return append(b, '"')
}
