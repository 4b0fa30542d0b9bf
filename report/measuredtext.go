package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/fidelity"
	"collsim/internal/prose"
	"collsim/run"
	"collsim/unit"
)

// ValidationText prints reports of Validate in lines of 80 columns where that is possible. Each row
// has the simulated and the measured time, the error, and whether bits are equal. Then follow
// differences, failures, what was not executed, and what is outside of the tolerance.
func ValidationText(reports ...*run.Report) string {
	var b strings.Builder
	for i, r := range reports {
		if i > 0 {
			b.WriteString("\n")
		}
		writeValidation(r, &b)
	}
	return b.String()
}

func writeValidation(r *run.Report, b *strings.Builder) {
	writeHead(b, r.Scenario)
	for _, section := range split(r.Results, sectionOf) {
		writeMachine(b, section[0])
	}
	for _, on := range ranOn(r) {
		comment(b, on)
	}
	comment(b, skewText(skew(r)))
	if cases := r.Cases(); len(cases) > 0 {
		b.WriteString(fidelity.Text(cases, r.Tolerance()))
	}
	writeNCCLTests(r.Results, b)
	for _, p := range r.Programs {
		b.WriteString("#\n")
		programText(b, p)
	}
	if len(r.Results) > 0 || len(r.Programs) == 0 {
		b.WriteString("#\n")
		writeLines(b, "# ", append(summary(r.Results), problemLines(r)...))
	}
}

// ranOn lists the machines on which results were executed, each once.
func ranOn(r *run.Report) (list []string) {
	seen := map[string]bool{}
	for _, result := range r.Results {
		if m := result.Measured; m.Executed() && !seen[m.RanOn.String()] {
			seen[m.RanOn.String()] = true
			list = append(list, "executed on "+m.RanOn.String())
		}
	}
	return list
}

// skew returns the largest difference between the clocks of two ranks in any result.
func skew(r *run.Report) (most unit.Time) {
	for _, result := range r.Results {
		if m := result.Measured; m.Executed() {
			most = max(most, m.Skew)
		}
	}
	return most
}

// skewText says how exact times are, given the difference of two clocks; empty if there is none.
func skewText(skew unit.Time) string {
	if skew == 0 {
		return ""
	}
	return "the clocks of two ranks are up to " + psText(float64(skew)) +
		" apart: times are not more exact"
}

// problemLines lists results whose bits differ, those that failed, and those that were not
// executed.
func problemLines(r *run.Report) (lines []string) {
	for _, result := range r.Results {
		m := result.Measured
		if m == nil {
			continue
		}
		if c := m.Comparison; c != nil && c.Different > 0 {
			lines = append(lines, fmt.Sprintf("bits     DIFFER: %s: %d of %d elements, on %s",
				result.Point.ID, c.Different, c.Elements, prose.Plural(c.Ranks, "rank")))
			lines = append(lines, comparisonLines(c, result.Point.ID, "the hardware")...)
		}
		lines = append(lines, toldLines(m, among(result, r.Results))...)
		switch {
		case m.Failure != nil:
			first := "hardware "
			for _, line := range strings.Split("FAILED: "+result.Point.ID+": "+m.Failure.Error(), "\n") {
				lines = append(lines, prose.Wrap(line, lineWidth, first, "         ")...)
				first = "           " // indents the lines of a deadlock report
			}
		case m.Skipped != "":
			text := "hardware left out " + result.Point.ID + ": " + m.Skipped
			lines = append(lines, prose.Wrap(text, lineWidth, "", "         ")...)
		case m.Why != "":
			lines = append(lines, "bits     not comparable: "+result.Point.ID+": "+m.Why)
		}
	}
	return lines
}

// ValidationMarkdown prints reports of Validate as a page: the command that was run, the machine,
// and package fidelity's tables. Reports with another tolerance make a page of their own.
func ValidationMarkdown(command string, reports ...*run.Report) string {
	var b strings.Builder
	for i := 0; i < len(reports); {
		first := reports[i]
		var cases []fidelity.Case
		var on, networks []string
		for ; i < len(reports) && reports[i].Tolerance() == first.Tolerance(); i++ {
			r := reports[i]
			cases = append(cases, r.Cases()...)
			if line := "* " + aboutScenario(r); !slices.Contains(networks, line) {
				networks = append(networks, line)
			}
			for _, one := range ranOn(r) {
				if !slices.Contains(on, one) {
					on = append(on, one)
				}
			}
		}
		text := "Written by\n\n    " + command + "\n\n" + strings.Join(networks, "\n") + "\n\n" +
			strings.Join(on, "; ") + "."
		b.WriteString(fidelity.Markdown(fidelity.Head{Title: "Fidelity", Text: text}, cases,
			first.Tolerance()))
	}
	return b.String()
}

// aboutScenario describes a scenario in a line.
func aboutScenario(r *run.Report) string {
	text := r.Scenario.Name
	if len(r.Results) > 0 {
		text += ": " + r.Results[0].Network
	}
	if d := r.Scenario.Description; d != "" {
		text += ". " + strings.TrimSpace(d)
	}
	return text
}
