package unit

import (
	"fmt"
	"math"
	"strings"
)

// grammar describes the accepted spellings of one kind of quantity. All values count its smallest
// unit.
type grammar struct {
	what     string     // "a time"
	smallest string     // "picoseconds"
	example  string     // "1.5 us"
	list     string     // the units, as an error lists them
	most     string     // the limit, as an error names it
	limit    int64      // values are below it
	positive bool       // zero is refused
	bare     string     // the unit of a number alone; empty: a unit is required
	bases    []multiple // units without prefix
	prefixed bool       // K, M, G, T and Ki, Mi, Gi, Ti may stand before a base
}

// multiple is a unit: num/den of the smallest one.
type multiple struct {
	name     string
	num, den int64
}

// The tables below are constants in all but syntax; nothing assigns to them.
var (
	times = grammar{
		what: "a time", smallest: "picoseconds", example: "1.5 us", list: "one of ps, ns, us, ms, s",
		most: "2305843 s", limit: 2305843 * int64(Second), // the whole seconds below Forever
		bases: []multiple{
			{"ps", int64(Picosecond), 1}, {"ns", int64(Nanosecond), 1},
			{"us", int64(Microsecond), 1}, {"ms", int64(Millisecond), 1}, {"s", int64(Second), 1},
			{"\u00b5s", int64(Microsecond), 1}, // micro sign
			{"\u03bcs", int64(Microsecond), 1}, // Greek mu
		},
	}
	sizes = grammar{
		what: "a size", smallest: "bytes", example: "64 MiB", bare: "B", prefixed: true,
		list: "one of B, KiB, MiB, GiB, TiB, KB, MB, GB, TB", most: "2^63 bytes", limit: math.MaxInt64,
		bases: []multiple{{"B", 1, 1}},
	}
	rates = grammar{
		what: "a rate", smallest: "bytes per second", example: "100 Gbit/s", prefixed: true,
		list: "one of GB/s, GiB/s, Gbit/s (or with K, M, T)", positive: true,
		most: "2^63 bytes per second", limit: math.MaxInt64,
		bases: []multiple{{"B/s", 1, 1}, {"bit/s", 1, 8}, {"b/s", 1, 8}, {"bps", 1, 8}},
	}
	shares = grammar{
		what: "a share", smallest: "ten-thousandths of a percent", example: "50 %",
		list: `it as "50 %"`, positive: true, most: "1000000 %", limit: 10_000 * int64(whole),
		bases: []multiple{{"%", int64(whole), 100}},
	}
	prefixes = []multiple{
		{"", 1, 1}, {"K", 1e3, 1}, {"k", 1e3, 1}, {"M", 1e6, 1}, {"G", 1e9, 1}, {"T", 1e12, 1},
		{"Ki", 1 << 10, 1}, {"Mi", 1 << 20, 1}, {"Gi", 1 << 30, 1}, {"Ti", 1 << 40, 1},
	}
)

// find returns the unit with a name.
func (g *grammar) find(name string) (multiple, bool) {
	for _, b := range g.bases {
		head, ok := strings.CutSuffix(name, b.name)
		if !ok {
			continue
		}
		for _, p := range prefixes {
			if head == p.name && (head == "" || g.prefixed) {
				return multiple{name, p.num * b.num, b.den}, true
			}
		}
	}
	return multiple{}, false
}

// unknown explains an unknown unit and suggests what may have been meant. Where two readings are in
// use ("64M", "GBps") it names both and takes neither.
func (g *grammar) unknown(n number, name string) (text, hint string) {
	if head, ok := strings.CutSuffix(name, "Bps"); ok && g.hasPrefix(head) {
		return "the unit " + quote(name) + " is used for bits and for bytes",
			fmt.Sprintf("write %s %sbit/s or %s %sB/s", n, head, n, head)
	}
	if name != "" && g.hasPrefix(name) {
		prefix := strings.ToUpper(name)
		first, second := prefix+"iB", prefix+"B"
		if g == &rates {
			first, second = prefix+"bit/s", prefix+"B/s"
		}
		return g.reading(n, first) + " or " + g.reading(n, second) + "?", ""
	}
	text = "unknown unit " + quote(name)
	if likely := g.ignoringCase(name); len(likely) > 0 {
		return text, "did you mean " + strings.Join(likely, " or ") + "?"
	}
	return text, "write " + g.list
}

// hasPrefix reports whether g has prefixes and s is one of a single letter.
func (g *grammar) hasPrefix(s string) bool {
	return g.prefixed && len(s) == 1 && strings.Contains("KkMmGgTt", s)
}

// reading formats a number in a unit: "64 MiB (67108864)".
func (g *grammar) reading(n number, name string) string {
	text := n.String() + " " + name
	if m, ok := g.find(name); ok {
		if v, why := g.value(n, m); why == "" {
			text += fmt.Sprintf(" (%d)", v)
		}
	}
	return text
}

// ignoringCase lists the units whose names differ from name in case only ("gb/s" has two), or that
// lack only "per second".
func (g *grammar) ignoringCase(name string) []string {
	var likely []string
	for _, b := range g.bases {
		for _, p := range prefixes {
			full := p.name + b.name
			if p.name != "" && (!g.prefixed || p.name == "k") {
				continue
			}
			if strings.EqualFold(full, name) || strings.EqualFold(full, name+"/s") {
				likely = append(likely, full)
			}
		}
	}
	return likely
}
