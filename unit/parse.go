package unit

import (
	"fmt"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// ParseError explains why a text is not a time, a size, a rate or a share. A caller that knows the
// file and the line prints Text and Hint itself.
type ParseError struct {
	Value string // the text
	Text  string // the error, or what was expected
	Hint  string // how to write it, or empty
}

// Error returns one line: package, value, error, and the hint if there is one.
func (e *ParseError) Error() string {
	text := quote(e.Value) + ": " + e.Text
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// quote quotes a text, shortened to one line.
func quote(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%.40q…", s)
	}
	return fmt.Sprintf("%q", s)
}

// ParseTime parses a time of at least zero: a decimal number and one of ps, ns, us (or µs), ms, s,
// with or without a space between. The value is exact; a fraction of a picosecond, or Forever and
// later, is a *ParseError.
func ParseTime(s string) (Time, error) {
	v, err := parse(s, &times)
	return Time(v), err
}

// ParseBytes parses a size of at least zero: a decimal number and a unit, or a whole number alone,
// which is bytes. Units are B, KiB, MiB, GiB, TiB (powers of 1024) and KB, MB, GB, TB (powers of
// 1000). "64M" is a *ParseError that names both readings; so is a fraction of a byte.
func ParseBytes(s string) (Bytes, error) {
	v, err := parse(s, &sizes)
	return Bytes(v), err
}

// ParseRate parses a positive rate: a decimal number and a unit of bytes (B/s, KB/s … TB/s, KiB/s …
// TiB/s) or of bits per second (bit/s, Kbit/s … Tbit/s; Gb/s and Gbps are the same), or the word
// "unlimited". "GBps", which people use for both, is a *ParseError; so are zero and a fraction of a
// byte per second.
func ParseRate(s string) (Rate, error) {
	if strings.TrimSpace(s) == unlimited {
		return Unlimited, nil
	}
	v, err := parse(s, &rates)
	return Rate(v), err
}

// ParseShare parses a positive percentage with at most four decimals: "50 %" or "12.5%".
func ParseShare(s string) (Share, error) {
	v, err := parse(s, &shares)
	return Share(v), err
}

// parse parses a number and a unit and returns the exact value in the smallest unit of g, or a
// *ParseError.
func parse(s string, g *grammar) (int64, error) {
	v, text, hint := g.read(strings.TrimSpace(s))
	if text != "" {
		return 0, &ParseError{Value: s, Text: text, Hint: hint}
	}
	return v, nil
}

// read does what parse does, with the parts of the error; text is empty if there is none.
func (g *grammar) read(s string) (v int64, text, hint string) {
	if strings.HasPrefix(s, "-") {
		return 0, g.what + " cannot be negative", ""
	}
	n, name, ok := split(s)
	if !ok {
		return 0, "a number and a unit are expected, as in " + quote(g.example), ""
	}
	if len(n.whole)+len(n.frac) > maxDigits {
		return 0, fmt.Sprintf("a number has at most %d digits", maxDigits), ""
	}
	if name == "" && (g.bare == "" || n.frac != "") {
		return 0, "the unit is missing", "write " + g.list
	}
	if name == "" {
		name = g.bare
	}
	m, ok := g.find(name)
	if !ok {
		text, hint = g.unknown(n, name)
		return 0, text, hint
	}
	v, text = g.value(n, m)
	return v, text, ""
}

// maxDigits bounds the work for a number; no exact value of any unit needs as many.
const maxDigits = 60

// number is a decimal number as written: "1.5" is {"1", "5"}.
type number struct{ whole, frac string }

func (n number) String() string {
	if n.frac == "" {
		return n.whole
	}
	return n.whole + "." + n.frac
}

// split splits "1.5 us" into 1.5 and "us". It refuses a sign, an exponent, a missing digit on
// either side of the point and a separator of thousands. Digits are ASCII only.
func split(s string) (n number, name string, ok bool) {
	n.whole, s = digits(s)
	if n.whole == "" {
		return n, "", false
	}
	if strings.HasPrefix(s, ".") {
		if n.frac, s = digits(s[1:]); n.frac == "" {
			return n, "", false
		}
	}
	name = strings.TrimLeft(s, " \t")
	if strings.ContainsAny(name, ".,_+-'0123456789") {
		return n, "", false
	}
	return n, name, true
}

// digits splits the leading decimal digits off s.
func digits(s string) (head, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}

// value returns n times m exactly, or the reason why there is no such value.
func (g *grammar) value(n number, m multiple) (v int64, why string) {
	if whole, err := strconv.ParseUint(n.whole, 10, 64); err == nil && n.frac == "" && m.den == 1 {
		high, low := bits.Mul64(whole, uint64(m.num))
		if high == 0 && low > 0 && low < uint64(g.limit) {
			return int64(low), "" // the usual case
		}
	}
	num, ok := new(big.Int).SetString(n.whole+n.frac, 10)
	if !ok {
		panic("unit: split let something else than digits through")
	}
	num.Mul(num, big.NewInt(m.num))
	den := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(n.frac))), nil)
	den.Mul(den, big.NewInt(m.den))
	num, rest := num.QuoRem(num, den, new(big.Int))
	switch {
	case num.Cmp(big.NewInt(g.limit)) >= 0:
		return 0, "too large: " + g.what + " is below " + g.most
	case rest.Sign() != 0:
		return 0, "not a whole number of " + g.smallest
	case num.Sign() == 0 && g.positive:
		return 0, g.what + " must be more than zero"
	}
	return num.Int64(), ""
}
