package fidelity

import (
	"fmt"
	"strings"

	"collsim/internal/prose"
	"collsim/unit"
)

// Head is the text of a page above its tables.
type Head struct {
	Title string     // one line
	Text  string     // paragraphs of Markdown on the command and the machine
	Miss  unit.Share // the error above which a case misses; 0: time_p90, or else time_median
}

// Markdown prints a page on cases. After the head come the errors by algorithm and of all, and the
// requirements that are not met. Then come the cases that miss and why, the worst first, and all
// cases, a table for each network and executor. Names and reasons are escaped. It panics where
// Judge does.
func Markdown(h Head, cases []Case, t Tolerance) string {
	if h.Miss == 0 {
		h.Miss = t.missBound()
	}
	var b strings.Builder
	b.WriteString("# " + escape(h.Title) + "\n")
	if text := strings.TrimSpace(h.Text); text != "" {
		b.WriteString("\n" + text + "\n")
	}
	summaryPart(&b, cases)
	tolerancePart(&b, cases, t)
	missPart(&b, h.Miss, cases, t)
	casesPart(&b, cases)
	return b.String()
}

func summaryPart(b *strings.Builder, cases []Case) {
	b.WriteString(`
## Summary

The error of a case is its simulated time over the measured one, less one: above 0 the simulation
is too slow. Measured is the median of the repetitions, ± the distance between their quartiles.
Median and 90th percentile are of errors without their signs (of two middle ones the mean; of n
sorted ones the ⌈0.9·n⌉-th).

`)
	rows := [][]string{{"executor", "collective", "algorithm", "timed", "median", "90th percentile",
		"worst", "bits"}}
	line := func(q *Quality, names ...string) {
		rows = append(rows, append(names, q.timed(), q.share(q.Median), q.share(q.P90),
			q.worst(cases), q.bits()))
	}
	s := Summarize(cases)
	for i := range s.Groups {
		g := &s.Groups[i]
		line(&g.Quality, escape(g.Executor), escape(g.Kind), escape(g.Algorithm))
	}
	line(&s.All, "all", "", "")
	b.WriteString(prose.Markdown("lllrrrrl", rows))
}

func tolerancePart(b *strings.Builder, cases []Case, t Tolerance) {
	outside, stated := t.Judge(cases), t.String()
	switch {
	case stated == "":
		b.WriteString("\nNo tolerance was stated.\n")
	case len(outside) == 0:
		b.WriteString("\nWithin the tolerance: " + stated + ".\n")
	default:
		b.WriteString("\nOutside the tolerance (" + stated + "):\n\n")
		for _, sentence := range outside {
			b.WriteString("- " + escape(sentence) + "\n")
		}
	}
}

func missPart(b *strings.Builder, bound unit.Share, cases []Case, t Tolerance) {
	b.WriteString("\n## Cases that miss\n\n")
	words := t.missWords(bound)
	if words == "" {
		b.WriteString("Nothing was asked of single cases.\n")
		return
	}
	missing := t.misses(cases, bound)
	if len(missing) == 0 {
		b.WriteString("No case has " + words + ".\n")
		return
	}
	fmt.Fprintf(b, "%d of %d, by %s; the worst first.\n\n", len(missing), len(cases), words)
	rows := [][]string{{"network", "executor", "case", "simulated", "measured", "miss", "why"}}
	for _, i := range missing {
		c := &cases[i]
		rows = append(rows, []string{escape(c.Network), escape(c.Executor), escape(c.ID),
			c.simulatedText(), c.measuredText(), t.missOf(c, bound), escape(why(c))})
	}
	b.WriteString(prose.Markdown("lllrrrl", rows))
}

func casesPart(b *strings.Builder, cases []Case) {
	b.WriteString("\n## All cases\n")
	if len(cases) == 0 {
		b.WriteString("\nNone.\n")
		return
	}
	place := func(i int) [2]string { return [2]string{cases[i].Network, cases[i].Executor} }
	for _, part := range split(upTo(len(cases)), place) {
		at := place(part[0])
		b.WriteString("\n### " + escape(strings.TrimPrefix(at[0]+", "+at[1], ", ")) + "\n\n")
		rows := [][]string{{"collective", "algorithm", "size", "simulated", "measured", "repetitions",
			"error", "bits"}}
		for _, i := range part {
			c := &cases[i]
			algorithm := c.Algorithm
			if rest := c.rest(); rest != "" {
				algorithm += ", " + rest
			}
			rows = append(rows, []string{escape(c.Kind), escape(algorithm), c.Bytes.String(),
				c.simulatedText(), c.measuredText(), c.reps(), c.errorText(), c.Bits})
		}
		b.WriteString(prose.Markdown("llrrrrrl", rows))
	}
}

// escape makes a text one line without Markdown syntax. A _ within a word needs no escape.
func escape(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, sign := range []string{`\`, "|", "*", "`", "<", "[", "~"} {
		text = strings.ReplaceAll(text, sign, `\`+sign)
	}
	if strings.HasPrefix(text, "_") || strings.Contains(text, " _") {
		text = strings.ReplaceAll(text, "_", `\_`)
	}
	return text
}
