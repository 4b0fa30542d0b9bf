package report

import (
	"fmt"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
	"collsim/unit"
)

// ProgramExplanationText prints where the time of a program went. Where that is many lines, turns
// of a loop are one line with their sum, unless all are asked for.
func ProgramExplanationText(e *run.ProgramExplanation, all bool) string {
	if !all {
		e = summedLoops(e)
	}
	r := e.Result
	p := r.Point
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, device %s\n", p.ID, r.Network, p.Device.Name)
	if !r.Timed {
		writeLines(&b, "  ", []string{"came to no end"})
		return b.String()
	}
	figure(&b, "  time", r.Time, "")
	b.WriteString("  of that, along the critical path:\n")
	for _, s := range e.Shares {
		what := string(s.Kind)
		if s.Op != "" {
			what = s.Op + ": " + what
		}
		figure(&b, "    "+what, s.Time, percentOf(s.Time, r.Time))
	}
	b.WriteString("  of all ops together:\n")
	for _, s := range e.Kinds {
		figure(&b, "    "+string(s.Kind), s.Time, percentOf(s.Time, r.Time))
	}
	fmt.Fprintf(&b, "  of rank %d, whose calls are exposed longest:\n", r.Rank)
	for _, s := range e.Spent {
		figure(&b, "    "+spentText(r, &s), s.Time, percentOf(s.Time, r.Time))
	}
	figure(&b, "  exposed, moving or waiting", r.Exposed(), percentOf(r.Exposed(), r.Time))
	figure(&b, "  moving behind kernels", r.Hidden, percentOf(r.Hidden, r.Time))
	if len(e.Cuts) > 0 {
		b.WriteString("  kernels, alone on the device:\n")
	}
	for _, c := range e.Cuts {
		figure(&b, "    "+c.Op, c.Takes, "bound by "+c.Bound())
		wrap(&b, "      ", cutText(&c))
	}
	for _, w := range e.WhatIf {
		figure(&b, "  if "+w.Free+" took no time", w.Time, percentOf(w.Time, r.Time))
	}
	if len(e.Kinds) > 0 {
		top := e.Kinds[0]
		fmt.Fprintf(&b, "  limits   %s, mostly of %s\n", top.Kind, mostOf(e, top.Kind))
	}
	return b.String()
}

// cutText describes the tiling of a kernel and the parts of its time.
func cutText(c *run.KernelCut) string {
	split := ""
	if c.Split > 1 {
		split = fmt.Sprintf(", k in %d parts", c.Split)
	}
	return fmt.Sprintf("%s: %s of %dx%d%s, %s; start %s us, arithmetic %s us, memory %s us", c.Cut.Op,
		prose.Plural(c.Blocks, "block"), c.Rows, c.Columns, split, prose.Plural(c.Waves, "wave"),
		us(c.Start), us(c.Arithmetic), us(c.Memory))
}

// spentText names what a rank spends time on.
func spentText(r *run.ProgramResult, s *run.Spent) string {
	switch what := string(s.What); {
	case s.What == run.OnWaiting && s.Peer < 0:
		return fmt.Sprintf("%s: %s for rank %d itself", s.Op, what, r.Rank)
	case s.What == run.OnWaiting:
		return fmt.Sprintf("%s: %s for rank %d", s.Op, what, s.Peer)
	case s.What == run.OnMoving:
		return s.Op + ": " + what
	default:
		return what
	}
}

// spentValue makes the object of what a rank spends time on.
func spentValue(r *run.ProgramResult) func(run.Spent) Value {
	return func(s run.Spent) Value {
		all := members{{"kind", Text(string(s.What))}, {"time_ps", Int(s.Time)},
			{"share", Number(float64(s.Time) / float64(r.Time))}}
		if s.Op != "" {
			all = append(members{{"op", Text(s.Op)}}, all...)
		}
		if s.What == run.OnWaiting {
			all = append(all, member{"peer", known(s.Peer >= 0, Int(int(s.Peer)))})
		}
		return object(all)
	}
}

// percentOf formats a part of a whole in per cent.
func percentOf(part, of unit.Time) string {
	if of == 0 {
		return ""
	}
	return percent(float64(part)/float64(of)) + " %"
}

// mostOf returns the op with the largest share of a kind.
func mostOf(e *run.ProgramExplanation, kind run.PathKind) string {
	for _, s := range e.Shares {
		if s.Kind == kind && s.Op != "" {
			return s.Op
		}
	}
	return "none"
}

// cutValue makes the object of a kernel's tiling and the parts of its time.
func cutValue(c run.KernelCut) Value {
	return object(members{{"op", Text(c.Op)}, {"kernel", Text(c.Cut.Op)}, {"time_ps", Int(c.Takes)},
		{"tile", Text(fmt.Sprintf("%dx%d", c.Rows, c.Columns))}, {"split", Int(c.Split)},
		{"blocks", Int(c.Blocks)}, {"waves", Int(c.Waves)}, {"bound", Text(c.Bound())},
		{"start_ps", Int(c.Start)}, {"arithmetic_ps", Int(c.Arithmetic)},
		{"memory_ps", Int(c.Memory)}})
}

// programExplanationValue makes the object of a program's explanation.
func programExplanationValue(e *run.ProgramExplanation) Value {
	r := e.Result
	share := func(s run.OpShare) Value {
		all := members{{"kind", Text(string(s.Kind))}, {"time_ps", Int(s.Time)},
			{"share", Number(float64(s.Time) / float64(r.Time))}}
		if s.Op == "" {
			return object(all)
		}
		return object(append(members{{"op", Text(s.Op)}}, all...))
	}
	return object(members{{"id", Text(r.Point.ID)}, {"point", axesOf(r.Point.Point)},
		{"time_ps", known(r.Timed, Int(r.Time))}, {"shares", listOf(e.Shares, share)},
		{"kinds", listOf(e.Kinds, share)}, {"exposed_rank", Int(r.Rank)},
		{"compute_ps", Int(r.Compute)}, {"collectives_ps", Int(r.Calls())},
		{"exposed_ps", Int(r.Exposed())}, {"moving_ps", Int(r.Moving)},
		{"waiting_ps", Int(r.Waiting)}, {"idle_ps", Int(r.Idle)},
		{"rank", listOf(e.Spent, spentValue(r))},
		{"kernels", listOf(e.Cuts, cutValue)},
		{"without", listOf(e.WhatIf, func(w run.ProgramWhatIf) Value {
			return object(members{{"what", Text(w.Free)}, {"time_ps", Int(w.Time)}})
		})}})
}
