package report

import (
	"cmp"
	"fmt"
	"strings"

	"collsim/compare"
	tables "collsim/formats/measured"
	"collsim/internal/prose"
	"collsim/run"
	"collsim/unit"
)

// mostDiffering is the number of calls that a summary lists as those that differ most.
const mostDiffering = 3

// CompareText prints two tables side by side: a line for each call that both have, the median and
// the 90th percentile of the ratios, the calls that differ most, and what one side has alone.
func CompareText(r *compare.Report) string {
	var b strings.Builder
	comment(&b, "A  "+r.A)
	comment(&b, "B  "+r.B)
	b.WriteString("#\n")
	rows := [][]string{{"size", "A", "B", "B / A", "busbw A", "busbw B", "call"},
		{"(B)", "(us)", "(us)", "", "(GB/s)", "(GB/s)", ""}}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		rows = append(rows, []string{fmt.Sprint(int64(p.A.Size)), us(p.A.Time), us(p.B.Time),
			fmt.Sprintf("%.3f", p.Ratio), busText(&p.A.Row), busText(&p.B.Row), PairText(p)})
	}
	if len(r.Pairs) > 0 {
		b.WriteString(prose.Table{Widths: []int{12, 10, 10, 7, 8, 8, -1}, Marked: 2,
			Rows: rows}.String())
		b.WriteString("#\n")
	}
	writeLines(&b, "# ", ratioLines(r))
	return b.String()
}

// BitsText prints how the bits of results compare with those of another file.
func BitsText(with string, r *run.Report) string {
	var b strings.Builder
	comment(&b, "A  "+with)
	comment(&b, "B  "+r.Scenario.File)
	b.WriteString("#\n")
	rows := [][]string{{"result of B", "elements", "differ", "ranks", "ranks agree"}}
	for _, one := range r.Results {
		c := one.Comparison
		if c == nil || c.Why != "" {
			continue
		}
		agree := "yes"
		if !one.RanksAgree {
			agree = "no"
		}
		rows = append(rows, []string{one.Point.ID, fmt.Sprint(c.Elements), fmt.Sprint(c.Different),
			fmt.Sprint(c.Ranks), agree})
	}
	table := prose.Table{Widths: []int{-1, 10, 10, 7, 12}, Marked: 1, Rows: rows}
	b.WriteString(table.String() + "#\n")
	writeLines(&b, "# ", compareLines(r.Results))
	return b.String()
}

// busText formats the bus bandwidth of a call, if its table has one.
func busText(r *tables.Row) string {
	if r.BusBW == 0 {
		return missing
	}
	return fmt.Sprintf("%.2f", r.BusBW)
}

// callText describes a call without its size: "all_reduce float, 16 ranks, ring, in place".
func callText(r *tables.Row) string {
	var parts []string
	name := "call"
	if r.Kind != 0 {
		name = r.Kind.String()
	}
	if r.Type != "" {
		name += " " + r.Type
	}
	parts = append(parts, name)
	if r.Ranks > 0 {
		parts = append(parts, prose.Plural(r.Ranks, "rank"))
	}
	if way := strings.TrimSpace(r.Algorithm + " " + r.Protocol); way != "" {
		parts = append(parts, way)
	}
	if r.InPlace {
		parts = append(parts, "in place")
	}
	return strings.Join(parts, ", ")
}

// PairText describes the call of a pair by the side that states more.
func PairText(p *compare.Pair) string {
	a, b := callText(&p.A.Row), callText(&p.B.Row)
	if len(b) > len(a) {
		return b
	}
	return a
}

// ratioLines sums up how two tables compare.
func ratioLines(r *compare.Report) (lines []string) {
	if len(r.Pairs) == 0 {
		lines = append(lines, "both     no call: nothing that one file states fits the other")
	} else {
		lines = append(lines, fmt.Sprintf("B / A    median %.3f, p90 %.3f of %s", r.Median, r.P90,
			prose.Plural(len(r.Pairs), "call")))
	}
	for n, i := range r.Worst {
		if p := &r.Pairs[i]; n < mostDiffering && p.Apart() > 0 {
			lines = append(lines, fmt.Sprintf("%-8s %v %s: %.3f",
				map[bool]string{true: "differ", false: ""}[n == 0], p.A.Size, PairText(p), p.Ratio))
		}
	}
	for _, one := range []struct {
		name  string
		calls []compare.Call
	}{{"A", r.OnlyA}, {"B", r.OnlyB}} {
		if len(one.calls) > 0 {
			parts := append([]string{prose.Plural(len(one.calls), "call") + " of size"},
				sizesOf(one.calls)...)
			lines = append(lines, prose.Fill(parts, " ", prose.Columns-2, "only "+one.name+"   ",
				"         ")...)
		}
	}
	return lines
}

// sizesOf lists the sizes of calls, each once, as words of a sentence.
func sizesOf(calls []compare.Call) (words []string) {
	seen := map[unit.Bytes]bool{}
	for i := range calls {
		if size := calls[i].Size; !seen[size] {
			seen[size] = true
			words = append(words, size.String()+",")
		}
	}
	if more := len(words) - mostSizes; more > 0 {
		return append(words[:mostSizes:mostSizes], fmt.Sprintf("and %d more", more))
	}
	last := len(words) - 1
	words[last] = strings.TrimSuffix(words[last], ",")
	return words
}

// CompareJSON makes the object of how two tables compare. Times are in picoseconds, bandwidths in
// GB/s; what a side does not state is null.
func CompareJSON(r *compare.Report) ([]byte, error) {
	call := func(c *compare.Call) Value {
		return object(members{{"time_ps", Int(c.Time)},
			{"busbw_GBps", known(c.BusBW > 0, Number(c.BusBW))}, {"rows", Int(c.Rows)},
			{"line", Int(c.Line)}})
	}
	facts := func(a, b *tables.Row) members {
		kind := cmp.Or(a.Kind, b.Kind)
		text := func(a, b string) Value {
			one := cmp.Or(a, b)
			return known(one != "", Text(one))
		}
		ranks, nodes := cmp.Or(a.Ranks, b.Ranks), cmp.Or(a.Nodes, b.Nodes)
		return members{{"kind", known(kind != 0, Text(kind.String()))}, {"bytes", Int(a.Size)},
			{"dtype", text(a.Type, b.Type)}, {"op", text(a.Op, b.Op)},
			{"ranks", known(ranks > 0, Int(ranks))}, {"nodes", known(nodes > 0, Int(nodes))},
			{"algorithm", text(a.Algorithm, b.Algorithm)}, {"protocol", text(a.Protocol, b.Protocol)},
			{"in_place", Bool(a.InPlace)}}
	}
	pair := func(p compare.Pair) Value {
		return object(append(facts(&p.A.Row, &p.B.Row), member{"a", call(&p.A)},
			member{"b", call(&p.B)}, member{"ratio", Number(p.Ratio)}))
	}
	alone := func(c compare.Call) Value {
		return object(append(facts(&c.Row, &c.Row), member{"time_ps", Int(c.Time)}))
	}
	is := len(r.Pairs) > 0
	return encode(object(append(version(), members{{"a", Text(r.A)}, {"b", Text(r.B)},
		{"median_ratio", known(is, Number(r.Median))}, {"p90_ratio", known(is, Number(r.P90))},
		{"calls", listOf(r.Pairs, pair)}, {"only_a", listOf(r.OnlyA, alone)},
		{"only_b", listOf(r.OnlyB, alone)}}...)))
}
