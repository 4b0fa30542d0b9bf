package scenarios

import (
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/nearest"
	"collsim/unit"
)

// change is a link's new bandwidth: a rate, or a share of what it has.
type change struct {
	rate  unit.Rate  // 0: the share holds
	share unit.Share // 0: the rate holds
}

// operator is op with the factor of premulsum.
type operator struct {
	op     collective.Op
	factor float64
}

// read turns one value into what the key's kind stands for: string (text, file, choice), int64,
// float64, bool, unit.Bytes, unit.Rate, unit.Time, unit.Share, change, operator, dtype.Type,
// Algorithm, or what readList returns.
func (k *Key) read(n *node) (any, *problem) {
	if k.listed() {
		return k.readList(n)
	}
	if n.shape != scalar {
		return nil, k.notOne(n)
	}
	switch k.kind {
	case aFlag:
		return truth(n)
	case aWhole:
		return k.whole(n)
	case aFactor:
		return k.factor(n)
	case aSize, aRate, aTime, aChange, aShare:
		return k.quantity(n)
	}
	s, ok := n.value.(string)
	if is, truth := n.value.(bool); truth && slices.Contains(k.Values, "true") {
		s, ok = strconv.FormatBool(is), true // "stage", say, or true
	}
	if !ok && len(k.Values) > 0 {
		return nil, &problem{"a " + k.name() + " in quotes is expected",
			"known: " + strings.Join(k.Values, ", ")}
	}
	if !ok {
		return nil, &problem{k.article() + " in quotes is expected", `write "` + shown(n.raw) + `"`}
	}
	switch k.kind {
	case aChoice:
		return k.choice(s)
	case anOperator:
		op, factor, err := collective.ParseOp(s)
		if err != nil {
			return nil, k.noneOf(s, err)
		}
		return operator{op, factor}, nil
	case aDataType:
		t, err := dtype.Parse(s)
		if err != nil {
			return nil, k.noneOf(s, nil)
		}
		return t, nil
	case anAlgorithm:
		return parseAlgorithm(s)
	case aFigure:
		return k.figure(s)
	case aFile:
		if p := fileName(s); p != nil {
			return nil, p
		}
	case anAddress:
		if text := Address(s); text != "" {
			return nil, &problem{text, `for example "10.0.0.1:7000"`}
		}
	}
	return k.text(s)
}

// fileName says what is wrong with the name of a file, or nil. Control characters would act on the
// terminal that shows the name.
func fileName(s string) *problem {
	if at := strings.IndexFunc(s, unicode.IsControl); at >= 0 {
		c, _ := utf8.DecodeRuneInString(s[at:])
		return &problem{text: fmt.Sprintf("%U is a control character; a file has a name without", c)}
	}
	return nil
}

// Address says what is wrong with the address of a machine and a port; empty if nothing is.
func Address(s string) string {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "host:port is expected"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Sprintf("port %q: a number from 0 to 65535 is expected", port)
	}
	return ""
}

// article returns the kind with its article: "a rate", "an operator".
func (k *Key) article() string {
	word := words[k.kind]
	switch {
	case k.kind == aText:
		return word
	case strings.Contains("aeio", word[:1]):
		return "an " + word
	}
	return "a " + word
}

// notOne refuses a list or a table where one value is expected.
func (k *Key) notOne(n *node) *problem {
	found := "a list"
	if n.shape == table {
		found = "a table"
	}
	p := &problem{text: "one value is expected, not " + found}
	if k.Sweep && n.shape == array && len(n.items) > 0 && !k.Axis {
		p.hint = fmt.Sprintf("to try several, put \"%s\" = %s under [sweep]", k.Path, shown(n.raw))
	}
	return p
}

func truth(n *node) (any, *problem) {
	if v, ok := n.value.(bool); ok {
		return v, nil
	}
	p := &problem{text: "true or false is expected"}
	if s, ok := n.value.(string); ok && (s == "true" || s == "false") {
		p.hint = "write " + s + " without quotes"
	}
	return nil, p
}

func (k *Key) whole(n *node) (any, *problem) {
	switch v := n.value.(type) {
	case int64:
		if v < k.min || v > k.max {
			return nil, &problem{text: k.expected()}
		}
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return nil, &problem{"a whole number is expected", fmt.Sprintf("write %.0f", v)}
		}
	case string:
		if _, err := strconv.ParseInt(v, 10, 64); err == nil {
			return nil, &problem{"a whole number is expected", "write " + v + " without quotes"}
		}
	}
	return nil, &problem{text: "a whole number is expected"}
}

func (k *Key) factor(n *node) (any, *problem) {
	var v float64
	switch given := n.value.(type) {
	case int64:
		v = float64(given)
	case float64:
		v = given
	default:
		return nil, &problem{text: "a number is expected"}
	}
	if !(v >= float64(k.min) && v <= float64(k.max)) { // so that NaN is refused
		return nil, &problem{text: k.expected()}
	}
	return v, nil
}

// quantity reads a size, a rate, a time or a change, with the words of package unit where it is
// none.
func (k *Key) quantity(n *node) (any, *problem) {
	s, ok := n.value.(string)
	if whole, isInt := n.value.(int64); isInt && k.kind == aSize {
		s, ok = strconv.FormatInt(whole, 10), true
	}
	if !ok {
		return nil, &problem{k.article() + " in quotes, with its unit, is expected",
			"for example " + k.Example}
	}
	if s == notKnown {
		return nil, &problem{"the calibration that wrote this could not tell; " + k.article() +
			" is expected", "give it here, or by --set " + k.Path + "=VALUE"}
	}
	v, size, err := k.parse(s)
	var parse *unit.ParseError
	switch {
	case errors.As(err, &parse):
		return nil, &problem{parse.Text, parse.Hint}
	case err != nil:
		return nil, &problem{text: err.Error()}
	case size == math.MaxInt64 && !k.unlimited:
		return nil, &problem{text: "a link has a limit; " + k.bounds() + " is expected"}
	case size == math.MaxInt64:
	case size < k.min || k.max > 0 && size > k.max:
		return nil, &problem{text: k.expected()}
	}
	return v, nil
}

// parse reads s as the key's kind of quantity; size is its value in the smallest unit.
func (k *Key) parse(s string) (v any, size int64, err error) {
	switch k.kind {
	case aSize:
		b, err := unit.ParseBytes(s)
		return b, int64(b), err
	case aTime:
		t, err := unit.ParseTime(s)
		return t, int64(t), err
	case aShare:
		share, err := unit.ParseShare(s)
		return share, int64(share), err
	case aChange:
		if strings.Contains(s, "%") {
			share, err := unit.ParseShare(s)
			return change{share: share}, 0, err
		}
		r, err := unit.ParseRate(s)
		return change{rate: r}, int64(r), err
	}
	r, err := unit.ParseRate(s)
	return r, int64(r), err
}

// expected says the bounds of a key in an error.
func (k *Key) expected() string { return "out of range; " + k.bounds() + " is expected" }

// bounds returns the range of a key in words, empty where there is none.
func (k *Key) bounds() string {
	switch {
	case k.max == 0:
		return ""
	case k.max == k.min:
		return strconv.FormatInt(k.min, 10)
	case k.max == math.MaxInt64:
		return "at least " + strconv.FormatInt(k.min, 10)
	}
	switch k.kind {
	case aSize:
		if k.min > 0 {
			return unit.Bytes(k.min).String() + " to " + unit.Bytes(k.max).String()
		}
		return "at most " + unit.Bytes(k.max).String()
	case aShare:
		if k.min > 0 {
			return unit.Share(k.min).String() + " to " + unit.Share(k.max).String()
		}
		return "at most " + unit.Share(k.max).String()
	case aRate, aChange:
		return "at most " + unit.Rate(k.max).String()
	case aTime:
		return "at most " + unit.Time(k.max).String()
	}
	return fmt.Sprintf("%d to %d", k.min, k.max)
}

// choice reads one of the key's values; "-" and "_" count as equal.
func (k *Key) choice(s string) (any, *problem) {
	folded := strings.ReplaceAll(s, "_", "-")
	for _, v := range k.Values {
		if strings.ReplaceAll(v, "_", "-") == folded {
			return v, nil
		}
	}
	return nil, k.noneOf(s, nil)
}

// noneOf refuses a word that is none of the key's values. err may know better what is wrong, where
// the word begins as one of them.
func (k *Key) noneOf(s string, err error) *problem {
	base, _, called := strings.Cut(s, "(")
	if err != nil && s == collective.PremulSum.String() {
		return &problem{text: err.Error()}
	}
	if err != nil && called && slices.Contains(k.Values, strings.ToLower(base)) {
		return &problem{text: "only premulsum has a parameter, as in premulsum(factor=0.5)"}
	}
	what := k.name()
	hint := "known: " + strings.Join(k.Values, ", ")
	if k.Path == machineKey {
		hint = "known: " + strings.Join(presetNames("topology"), ", ") +
			"; machines: collsim list machines"
	}
	if whole := partOf(s, k.Values); len(whole) > 0 {
		hint = "did you mean " + either(whole) + "?"
	} else if near := nearest.To(s, k.Values, 1); len(near) > 0 {
		hint = "did you mean " + quoted(near[0]) + "?"
	} else if table := k.in.elsewhere(k, s); table != "" {
		hint = quoted(s) + " is for " + table + "; " + hint
	}
	return &problem{"no " + what + " of that name", hint}
}

// partOf returns the few values that have a word as a part between dashes: h100-sxm and h100-pcie
// have h100.
func partOf(word string, values []string) (found []string) {
	for _, v := range values {
		parts := strings.Split(v, "-")
		if len(parts) > 1 && slices.Contains(parts, strings.ToLower(word)) {
			found = append(found, v)
		}
	}
	if len(found) > 4 {
		return nil
	}
	return found
}

// elsewhere returns the header of a table whose key of the same name has a value, or nothing.
func (s *schema) elsewhere(k *Key, value string) string {
	for i := range s.keys {
		if o := &s.keys[i]; o.name() == k.name() && slices.Contains(o.Values, value) {
			return s.section(o.table()).header()
		}
	}
	return ""
}

// maxText bounds names, descriptions and file names, in bytes.
const maxText = 4096

// text reads a name, a description or a file's name: some text, on one line but for description.
func (k *Key) text(s string) (any, *problem) {
	switch {
	case len(s) > maxText:
		return nil, &problem{text: fmt.Sprintf("at most %d bytes of text are expected", maxText)}
	case strings.TrimSpace(s) == "" && k.name() != "description":
		return nil, &problem{text: "empty; " + k.article() + " is expected"}
	case strings.ContainsAny(s, "\n\r\x00") && k.name() != "description":
		return nil, &problem{text: "one line of text is expected"}
	}
	return s, nil
}
