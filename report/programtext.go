package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// programText prints the result of a program: a line for each op, then their sum.
func programText(b *strings.Builder, r *run.ProgramResult) {
	p := r.Point
	writeLines(b, "# ", []string{fmt.Sprintf("program on %s, device %s", r.Network, p.Device.Name)})
	for _, machine := range []bool{true, false} {
		if axes := axesText(p.Point, machine); axes != "" {
			comment(b, axes)
		}
	}
	if r.Timed {
		rows := [][]string{{"op", "stream", "is", "start", "time", "exposed", "moving", "waiting"},
			{"", "", "", "(us)", "(us)", "(us)", "(us)", "(us)"}}
		all := r.Lowered.Ops
		for i, o := range all[:min(len(all), shownRows)] {
			time, exposed, moving, waiting := &r.Ops[i], "", "", ""
			if (o.IsCall || len(o.Names) > 1) && time.IsOnRank {
				exposed = micros(time.Exposed())
				moving, waiting = micros(time.Moving), micros(time.Waiting)
			}
			name := opsText(o.Names)
			if p.Iterations > 1 {
				name = fmt.Sprintf("%d: %s", o.Iteration, name)
			}
			rows = append(rows, []string{name, o.Stream, withoutTypes(o.Became), micros(time.Start),
				micros(time.End - time.Start), exposed, moving, waiting})
		}
		table := prose.Table{Rows: rows, Widths: []int{-1, -1, -1, 9, 9, 9, 9, 9}, Marked: 2}
		b.WriteString("#\n" + table.String())
		if more := len(all) - shownRows; more > 0 {
			comment(b, fmt.Sprintf("%d more ops; --json has them", more))
		}
	}
	b.WriteString("#\n")
	if passes := programPasses(r); len(passes) > 0 {
		writeLines(b, "# ", passes)
		b.WriteString("#\n")
	}
	writeLines(b, "# ", programSummary(r))
	if r.Faulted != nil {
		writeLines(b, "# ", faultLines(r.Faulted, r.Time))
	}
}

// programSummary sums up the time of all ops and the checks.
func programSummary(r *run.ProgramResult) []string {
	var lines []string
	if r.Timed {
		lines = append(lines, usageText(r)...)
		if n := len(r.Iterations); n > 1 {
			lines = append(lines, fmt.Sprintf("an iteration takes %s at the end",
				r.Iterations[n-1]-r.Iterations[n-2]))
		}
	}
	if text := arrivedText(r.Arrived, r.Time); text != "" {
		lines = append(lines, prose.Wrap(text, prose.Columns-2, "arrival ", "  ")...)
	}
	checked := ""
	if r.NumbersOff != "" {
		checked = ": " + r.NumbersOff
	}
	if r.Scaled > 1 {
		checked += fmt.Sprintf(" (on lengths divided by %d)", r.Scaled)
	}
	if !r.Point.Unplaced {
		lines = append(lines, memoryText(&r.Lowered.Memory))
	}
	for _, c := range r.Library {
		if text := c.String(); text != "" && !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	if r.Classes > 0 {
		of := r.Point.Topology.Ranks
		lines = append(lines, fmt.Sprintf("%d of %d ranks simulated: each for %d that do the same",
			r.Classes, of, of/r.Classes))
	}
	lines = append(lines, "proof "+r.Proof+", numbers "+r.Numbers+checked)
	if m := r.Measured; m != nil {
		lines = append(lines, measuredProgram(r))
		lines = append(lines, toldLines(m, "")...)
	}
	if r.Mismatch != nil {
		lines = append(lines, fmt.Sprintf("%d elements differ; the first: %s of rank %d, element %d: "+
			"%v, not %v", r.Wrong, r.Mismatch.Tensor, r.Mismatch.Rank, r.Mismatch.Element, r.Mismatch.Got,
			r.Mismatch.Want))
	}
	lines = append(lines, programCompareLines(r)...)
	for i, v := range r.Violations {
		if i == run.MaxWrong {
			lines = append(lines, fmt.Sprintf("and %d more", len(r.Violations)-i))
			break
		}
		lines = append(lines, v.String())
	}
	return lines
}

// usageText splits the time of the rank with the most exposed time. For a pipeline it adds the
// share of time that the stages lose.
func usageText(r *run.ProgramResult) []string {
	lines := []string{"time " + r.Time.String(),
		fmt.Sprintf("rank %d: kernels %s + exposed %s + idle %s", r.Rank, r.Compute, r.Exposed(), r.Idle)}
	if r.Calls() > 0 {
		lines = append(lines, fmt.Sprintf("exposed: moving %s + waiting %s; hidden %s", r.Moving,
			r.Waiting, r.Hidden))
	}
	if r.Stages == nil {
		return lines
	}
	of := make([]string, len(r.Stages))
	for i, s := range r.Stages {
		of[i] = fmt.Sprintf("%s %s %%", s.Name, percent(bubbleOf(r, s)))
	}
	return append(lines, fmt.Sprintf("bubble %s %%: %s", percent(bubbleOf(r, r.Stages...)),
		strings.Join(of, ", ")))
}

// measuredProgram describes the outcome of executing a program.
func measuredProgram(r *run.ProgramResult) string {
	m := r.Measured
	switch {
	case m.Told != nil && m.Repetitions == 0:
		return fmt.Sprintf("on %v it failed, as its faults have it", m.Executor)
	case m.Skipped != "":
		return fmt.Sprintf("on %v not executed: %s", m.Executor, m.Skipped)
	case m.Failure != nil:
		return fmt.Sprintf("on %v it failed: %v", m.Executor, m.Failure)
	case len(r.Differs) > 0:
		return fmt.Sprintf("on %v %d results have other bits, first %s of rank %d", m.Executor,
			len(r.Differs), r.Differs[0].Tensor, r.Differs[0].Rank)
	}
	by := "on its processors"
	if m.Executor == scenarios.CUDA {
		by = "of ours, on " + m.RanOn.Transport
	}
	text := fmt.Sprintf("on %v the bits are equal, in %v (kernels %s)", m.Executor, m.Time, by)
	if clocks := skewText(m.Skew); clocks != "" {
		text += "; " + clocks
	}
	return text
}

// withoutTypes drops the types of operands from a kernel's text, since tables are narrow.
func withoutTypes(text string) string {
	words := strings.Fields(text)
	words = slices.DeleteFunc(words, func(w string) bool { return strings.Contains(w, "->") })
	return strings.Join(words, " ")
}

// micros formats a time in microseconds.
func micros(t unit.Time) string {
	return fmt.Sprintf("%.2f", float64(t)/float64(unit.Microsecond))
}
