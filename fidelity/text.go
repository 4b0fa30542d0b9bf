package fidelity

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"collsim/internal/prose"
)

// listed is the most misses that a terminal lists.
const listed = 10

// Text prints cases in 80 columns where that is possible. Each network and executor has a heading,
// and each collective and algorithm in it; under it is a line for each case, with a ! behind the
// error of a miss. Then follow, behind #, the errors by algorithm and of all, the worst misses with
// their reasons, and the requirements that are not met. A case misses if its error is above
// time_p90, or else time_median, or if its bits differ though they must not. It panics where Judge
// does.
func Text(cases []Case, t Tolerance) string {
	outside := t.Judge(cases)
	s := Summarize(cases)
	var b strings.Builder
	place := func(i int) [2]string { return [2]string{cases[i].Network, cases[i].Executor} }
	group := func(i int) [3]string { return cases[i].group() }
	for i, section := range split(upTo(len(cases)), place) {
		if i > 0 {
			b.WriteString("#\n")
		}
		heading(&b, cases[section[0]].Network, cases[section[0]].Executor)
		for _, part := range split(section, group) {
			c := &cases[part[0]]
			b.WriteString("#\n# " + c.Kind + " " + c.Algorithm + "\n")
			t.rows(&b, cases, part)
		}
	}
	if len(cases) == 0 {
		b.WriteString("# no cases\n")
	} else {
		b.WriteString("#\n")
		s.text(&b, cases)
	}
	t.missText(&b, cases)
	verdict(&b, t, outside)
	return b.String()
}

// heading writes two names, on one line if they fit.
func heading(b *strings.Builder, network, executor string) {
	line := "# " + network + "   " + executor
	if network == "" {
		line = "# " + executor
	} else if utf8.RuneCountInString(line) > prose.Columns {
		line = "# " + network + "\n#   " + executor
	}
	b.WriteString(line + "\n")
}

// rows prints the cases with these indices under the names of the columns.
func (t Tolerance) rows(b *strings.Builder, cases []Case, of []int) {
	names := []string{"size", "simulated", "measured", "reps", "error  ", "bits", ""}
	rows := [][]string{names, {"(B)", "", "", "", "", "", ""}}
	for _, i := range of {
		c := &cases[i]
		mark := "  "
		if far(c, t.missBound()) {
			mark = " !"
		}
		rows = append(rows, []string{fmt.Sprint(int64(c.Bytes)), c.simulatedText(), c.measuredText(),
			c.reps(), c.errorText() + mark, c.Bits, c.rest()})
	}
	// Aligned right but for the words at the end; the first column has room for the #.
	b.WriteString(prose.Table{Widths: []int{12, 10, 18, 5, 11, -7, -2}, Marked: 2,
		Rows: rows}.String())
}

// text prints the summary: a line for each group, by executor, and one for all.
func (s *Summary) text(b *strings.Builder, cases []Case) {
	names := []string{"errors, signs aside", "timed", "median", "p90", "worst", "bits"}
	line := func(name string, q *Quality) []string {
		return []string{name, q.timed(), q.share(q.Median), q.share(q.P90), q.worst(cases), q.bits()}
	}
	rows := [][]string{names}
	executor := func(i int) string { return s.Groups[i].Executor }
	for _, part := range split(upTo(len(s.Groups)), executor) {
		rows = append(rows, []string{"  " + executor(part[0])})
		for _, i := range part {
			g := &s.Groups[i]
			rows = append(rows, line("  "+g.Kind+" "+g.Algorithm, &g.Quality))
		}
	}
	rows = append(rows, line("all", &s.All))
	b.WriteString(prose.Table{Widths: []int{-35, 6, 8, 8, 9, -7}, Marked: len(rows),
		Rows: rows}.String())
}

// missText lists the worst misses and their reasons.
func (t Tolerance) missText(b *strings.Builder, cases []Case) {
	bound := t.missBound()
	missing := t.misses(cases, bound)
	if len(missing) == 0 {
		return
	}
	b.WriteString("#\n")
	lines(b, prose.Wrap(fmt.Sprintf("%d of %d cases miss, by %s; the worst first", len(missing),
		len(cases), t.missWords(bound)), prose.Columns, "# ", "#   "))
	for _, i := range missing[:min(listed, len(missing))] {
		text := nameOf(cases, i) + ": " + t.missOf(&cases[i], bound) + ": " + why(&cases[i])
		lines(b, prose.Wrap(text, prose.Columns, "#   ", "#     "))
	}
	if more := len(missing) - listed; more > 0 {
		fmt.Fprintf(b, "#   and %d more\n", more)
	}
}

// verdict prints the requirements that are not met, or else the tolerance that is.
func verdict(b *strings.Builder, t Tolerance, outside []string) {
	label := "outside"
	if len(outside) == 0 {
		label, outside = "within", []string{t.String()}
	}
	if outside[0] == "" {
		return
	}
	b.WriteString("#\n")
	for _, sentence := range outside {
		lines(b, prose.Wrap(sentence, prose.Columns, fmt.Sprintf("# %-9s", label), "#          "))
	}
}

func lines(b *strings.Builder, list []string) { b.WriteString(strings.Join(list, "\n") + "\n") }
