package sim

import (
	"errors"

	"collsim/schedule"
	"collsim/sim/critical"
	"collsim/sim/event"
	"collsim/sim/fold"
	"collsim/sim/model"
	"collsim/sim/sweep"
	"collsim/sim/timeline"
	"collsim/trace"
)

// Options selects the engine, and the results besides the times. For a trace or a critical path the
// run keeps a log of every sub-step and message. It takes about 140 bytes for each message and the
// sub-step that sends it. A critical path alone takes 64 where only times have to be written.
type Options struct {
	Engine Engine
	// Trace makes a trace: every interval and message, and the bytes of each link over time. With
	// Engine Fold, and no other result, it has only the intervals of the ranks that stand for others,
	// without repetitions.
	Trace    bool
	Critical bool // find the critical path
	// Parts reports when each part of a composed schedule is executed.
	Parts bool
	// Folded leaves the results of a folded run by class: see model.Totals. Otherwise they are listed
	// for every rank and link.
	Folded bool
}

// Result holds the results of a run. Times are counted from 0, not from the ranks' Start.
type Result struct {
	Engine string // "event", "fold" or "sweep"
	model.Totals
	Trace *trace.Trace // nil unless Options.Trace
	// Critical, with Options.Critical, lists what the last lane's end waited for, from 0 to Time
	// without a gap: the To of each piece is the From of the next. A wait for a message, an event or
	// a slot is no piece: the path goes on with the step that caused it. Of several things that come
	// at the same time, the lane's own step is first, then messages, slots, events.
	Critical []Piece
	Parts    []Busy // by part and rank; nil unless Options.Parts
	// Faults are those of the environment with the moments found for steps, parts and messages; a
	// moment that does not come is far behind the end.
	Faults []Fault
}

// Run simulates a schedule with the engine of the options. Best chooses the fastest that can. It
// simulates a program epoch by epoch, and equal epochs once (epochs.go).
//
// Errors are: an Env that is not valid; a *NotFolded or a *NotSwept, where the engine of the
// options cannot simulate the schedule; a *StallError; with faults a *Hang or a *FaultError; a
// *TooLate, if it takes longer than Env.Until, unless the engine has found the end all the same; a
// *schedule.Violation, for a message that no
// step receives; multimem without a switch that does it; and a time beyond unit.Forever.
func Run(s *schedule.Schedule, env Env, o Options) (*Result, error) {
	if err := env.Validate(s); err != nil {
		return nil, err
	}
	if len(env.Faults) > 0 {
		return runFaulty(s, env, o)
	}
	return runWith(s, env, o)
}

// runWith simulates a schedule in an environment that is valid for it.
func runWith(s *schedule.Schedule, env Env, o Options) (*Result, error) {
	if s.Alike != nil {
		return runFolded(s, env, o)
	}
	if o.Engine == Best && !o.Trace && !o.Critical && env.Graph.Listable() == nil {
		if totals, parts := inEpochs(s, &env, o.Parts); totals != nil {
			return &Result{Engine: Event.String(), Totals: *totals, Parts: parts}, nil
		}
	}
	var log *model.Log
	switch {
	case o.Trace && !o.Critical && !o.Parts && o.Engine == Fold:
		log = &model.Log{}
	case o.Parts && !o.Trace:
		log = newPartsLog(&env)
	case o.Trace || o.Critical:
		log = model.NewLog(&env, o.Trace)
	}
	totals, engine, err := simulate(s, &env, o, log)
	if err != nil {
		return nil, err
	}
	if o.Trace || o.Parts {
		log.Read()
	}
	r := &Result{Engine: engine.String(), Totals: *totals}
	if !o.Folded {
		r.Unfold()
	}
	if o.Trace {
		r.Trace = timeline.Of(&env, log)
	}
	if o.Critical {
		r.Critical = critical.Path(&env, log)
	}
	if o.Parts {
		r.Parts = busyOf(log, env.Sharing)
	}
	return r, nil
}

// SweptFrom is the number of ranks from which Best sweeps a schedule with a group that does not
// fold. With fewer ranks the event engine is fast as well, and a wrong guess of the sweep costs a
// part of its time.
const SweptFrom = 1 << 10

// KeptSizes and KeptBody bound the sizes and steps of a loop whose steps the event engine need not
// load again.
const (
	KeptSizes = event.KeptSizes
	KeptBody  = event.KeptBody
)

// simulate runs an engine on a schedule, and returns which one gave the result.
func simulate(s *schedule.Schedule, env *Env, o Options,
	log *model.Log) (*model.Totals, Engine, error) {
	switch {
	case log == nil:
	case o.Engine == Fold && (o.Critical || o.Parts):
		return nil, Fold, &NotFolded{Why: "a critical path is of every rank"}
	case o.Engine == Fold:
		totals, err := fold.Record(s, env, log)
		return totals, Fold, err
	case o.Engine == Sweep:
		return nil, Sweep, &NotSwept{Why: "a trace, or a critical path, is of every rank"}
	default:
		o.Engine = Event
	}
	unlisted := env.Graph.Listable()
	isSwept := o.Engine == Sweep ||
		o.Engine == Best && s.Group != nil && s.Spec.Ranks >= SweptFrom && unlisted == nil
	isLong := false // folding is left for the case that it cannot be swept
	if o.Engine == Best || o.Engine == Fold {
		run := fold.Run
		switch {
		case isSwept:
			run = fold.RunBriefly
		case o.Engine == Fold || s.Spec.Ranks >= SweptFrom:
			run = fold.RunEither
		}
		totals, err := foldedBy(run, s, env)
		var cannot *NotFolded
		switch isLeft := errors.As(err, &cannot); {
		case o.Engine == Fold || !isLeft:
			return totals, Fold, err
		case unlisted != nil:
			return nil, Fold, &NotFolded{Why: cannot.Why + "; and " + unlisted.Error()}
		default:
			isLong = cannot.IsLong
		}
	}
	if unlisted != nil { // the other engines keep the state of every link
		return nil, o.Engine, unlisted
	}
	if isSwept {
		totals, err := sweep.Run(s, env)
		if o.Engine == Sweep || err == nil {
			return totals, Sweep, err
		}
	}
	if isLong {
		totals, err := fold.Run(s, env)
		var cannot *NotFolded
		if !errors.As(err, &cannot) {
			return totals, Fold, err
		}
	}
	totals, err := event.Run(s, env, log)
	return totals, Event, err
}
