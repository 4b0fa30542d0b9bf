package sim

import (
	"collsim/schedule"
	"collsim/sim/critical"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/sim/timeline"
	"collsim/trace"
)

// Options are what the caller wants besides the numbers. For either of them the run keeps a log of
// every sub-step and message: about 140 bytes for each message and the sub-step that sends it.
type Options struct {
	Trace    bool // make a trace: every interval and message, and what each link carries
	Critical bool // find the critical path
}

// Result is what a run tells. Times are counted from 0, not from the ranks' Start.
type Result struct {
	Engine string // "event"
	model.Totals
	Trace *trace.Trace // nil unless asked for
	// Critical, unless not asked for, is what the last lane's end waited for, from 0 to Time without
	// a gap: the To of each piece is the From of the next. What is waited for without an own cost (a
	// message, an event, a slot) is no piece; the path goes on with what brought it about. Where
	// several things come at the same time, the lane's own step before goes first, then messages,
	// slots, events.
	Critical []Piece
}

// Run plays a schedule. Errors are: a wrong Env; a *StallError; a *schedule.Violation, for a
// message that nobody receives; a *CostError, for fluid sharing that would take more than a minute;
// multimem without a switch that does it; and a time beyond unit.Forever.
func Run(s *schedule.Schedule, env Env, o Options) (*Result, error) {
	if err := env.Validate(s); err != nil {
		return nil, err
	}
	var log *model.Log
	if o.Trace || o.Critical {
		log = model.NewLog(&env, o.Trace)
	}
	totals, err := event.Run(s, &env, log)
	if err != nil {
		return nil, err
	}
	r := &Result{Engine: "event", Totals: *totals}
	if o.Trace {
		r.Trace = timeline.Of(&env, log)
	}
	if o.Critical {
		r.Critical = critical.Path(&env, log)
	}
	return r, nil
}
