package report

import (
	"slices"

	"collsim/run"
	"collsim/unit"
)

// ExplainJSON writes the explanations of one scenario as an object: "explanations", each with
// "shares", whose "time_ps" sum up to the time, and "warnings" on the scenario. If the scenario has
// programs, "programs" has their "shares" by op and kind, and "kinds".
func ExplainJSON(s *run.Scenario, list []*run.Explanation,
	programs []*run.ProgramExplanation) ([]byte, error) {
	all := append(preamble(s), member{"explanations", listOf(list, explanationValue)},
		member{"warnings", listOf(s.Notes, Text)})
	if len(programs) > 0 {
		all = append(all, member{"programs", listOf(programs, programExplanationValue)})
	}
	return encode(object(all))
}

// explanationValue makes the object of an explanation. Its time is null where the run did not
// finish.
func explanationValue(e *run.Explanation) Value {
	r := e.Result
	share := func(s run.Share) Value { return shareValue(s, r.Time) }
	return object(slices.Concat(identity(r.Point, r.Algorithm), members{
		{"time_ps", known(r.Timed, Int(r.Time))},
		{"busbw_GBps", rate(r.BusBW())},
		{"shares", listOf(e.Shares, share)},
		{"if_unlimited", whatIfValue(e.Unlimited)},
		{"if_no_latency", whatIfValue(e.NoLatency)},
		{"closed_form_ps", natural(r.ClosedForm)},
		{"closed_form", some(e.Formula)},
		{"nccl", costsValue(e.NCCL)},
	}, boundColumns().members(r), members{
		{"bandwidth_cut", Text(r.Bounds.Cut)}, // the links that bound the bandwidth
		{"bound_reached", rate(r.BoundReached())},
		{"violations", violationFields().all(r.Violations)},
		{"warnings", listOf(r.Warnings, Text)},
	}))
}

// shareValue makes the object of a share of the critical path. Only the share of a link has the
// link, the number of equal links, and how busy they are.
func shareValue(s run.Share, total unit.Time) Value {
	link := s.Link != ""
	return object(members{{"what", Text(s.What.String())}, {"link", some(s.Link)},
		{"like", known(link, Int(s.Like))}, {"time_ps", Int(s.Time)},
		{"share", Number(float64(s.Time) / float64(total))},
		{"busy", rate(float64(s.Busy)/float64(total), link)}})
}

func whatIfValue(w *run.WhatIf) Value {
	if w == nil {
		return Value{}
	}
	c, then := w.Changed, Value{}
	if w.Then != nil { // the largest share
		then = shareValue(*w.Then, w.Time)
	}
	return object(members{{"what", Text(c.What.String())}, {"link", some(c.Link)},
		{"like", known(c.Like > 0, Int(c.Like))}, {"time_ps", Int(w.Time)}, {"then", then}})
}
