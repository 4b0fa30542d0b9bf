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
		for i, o := range r.Lowered.Ops {
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
	}
	b.WriteString("#\n")
	if passes := programPasses(r); len(passes) > 0 {
		writeLines(b, "# ", passes)
		b.WriteString("#\n")
	}
	writeLines(b, "# ", programSummary(r))
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
	lines = append(lines, "proof "+r.Proof+", numbers "+r.Numbers+checked)
	if m := r.Measured; m != nil {
		lines = append(lines, measuredProgram(r))
	}
	if r.Mismatch != nil {
		lines = append(lines, fmt.Sprintf("%d elements differ; the first: %s of rank %d, element %d: "+
			"%v, not %v", r.Wrong, r.Mismatch.Tensor, r.Mismatch.Rank, r.Mismatch.Element, r.Mismatch.Got,
			r.Mismatch.Want))
	}
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

// digestValue makes a text, or null where no numbers were computed.
func digestValue(digest string) Value {
	if digest == "" {
		return Value{}
	}
	return Text(digest)
}

// programValue makes the object of a program.
func programValue(r *run.ProgramResult) Value {
	ops := make([]Value, len(r.Lowered.Ops))
	for i, o := range r.Lowered.Ops {
		all := members{{"names", listOf(o.Names, Text)}, {"iteration", Int(o.Iteration)},
			{"stream", Text(o.Stream)}, {"is", Text(o.Became)}}
		if r.Timed {
			all = append(all, members{{"start_ps", Int(int64(r.Ops[i].Start))},
				{"end_ps", Int(int64(r.Ops[i].End))}, {"exposed_ps", Int(r.Ops[i].Exposed())},
				{"moving_ps", Int(r.Ops[i].Moving)}, {"waiting_ps", Int(r.Ops[i].Waiting)}}...)
		}
		ops[i] = object(all)
	}
	all := members{{"id", Text(r.Point.ID)}, {"point", axesOf(r.Point.Point)},
		{"proof", Text(r.Proof)}, {"numbers", Text(r.Numbers)}, {"digest", digestValue(r.Digest)},
		{"violations", listOf(r.Violations, violationValue)},
		{"passes", listOf(r.Lowered.Notes, noteValue)}, {"memory", known(!r.Point.Unplaced,
			memoryValue(&r.Lowered.Memory))}}
	if r.NumbersOff != "" {
		all = append(all, member{"numbers_why", Text(r.NumbersOff)})
	}
	if r.Timed {
		all = append(all, members{{"engine", Text(r.Engine)}, {"time_ps", Int(int64(r.Time))},
			{"exposed_rank", Int(r.Rank)}, {"compute_ps", Int(r.Compute)},
			{"collectives_ps", Int(r.Calls())}, {"exposed_ps", Int(r.Exposed())},
			{"moving_ps", Int(r.Moving)}, {"waiting_ps", Int(r.Waiting)}, {"idle_ps", Int(r.Idle)},
			{"bytes_sent", Int(int64(r.BytesSent))},
			{"iterations_ps", listOf(r.Iterations, func(t unit.Time) Value { return Int(int64(t)) })}}...)
	}
	if r.Timed && r.Stages != nil {
		all = append(all, member{"bubble", Number(bubbleOf(r, r.Stages...))},
			member{"stages", listOf(r.Stages, func(s run.Stage) Value {
				return object(members{{"name", Text(s.Name)}, {"ranks", Int(s.Ranks)},
					{"bubble", Number(bubbleOf(r, s))}})
			})})
	}
	if len(r.Library) > 0 {
		all = append(all, member{"library", listOf(r.Library, libraryValue)})
	}
	return object(append(all, member{"ops", listOf(ops, func(v Value) Value { return v })}))
}

// libraryValue makes the object of a call that names no algorithm. Such a call runs as the
// machine's library does it.
func libraryValue(c run.LibraryCall) Value {
	return object(members{{"kind", Text(c.Spec.Kind.String())}, {"bytes", Int(int64(c.Spec.Bytes()))},
		{"library", candidateValue(c.Library)}, {"fastest", candidateValue(c.Fastest)}})
}
