package sim

import (
	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/unit"
)

// A folded schedule (schedule.ComposeFolded) has one rank of each class of equal ones. Each of its
// messages stands for one of every rank of the class, each on links of its own. So the event engine
// simulates it as it is, on the links that stand for those that a translation takes them to
// (model.NewFoldedNetwork): what happens on a rank happens on all of its class at the same time.
//
// Under fluid sharing, no port decides what comes first. Under FIFO it does, and ports are not the
// same from every rank: such a run is refused.

// runFolded simulates a folded schedule. Steps, messages and bytes are those of all ranks; times of
// lanes are of those that stand for others; links have none. It is a *NotFolded error if the
// network or what is asked for is not alike from all ranks.
func runFolded(s *schedule.Schedule, env Env, o Options) (*Result, error) {
	if why := notAlike(s, s.Alike, &env, o); why != "" {
		return nil, &NotFolded{Why: why}
	}
	env.Orbits = model.NewOrbits(env.Graph, s.Alike)
	totals, parts := inEpochs(s, &env, o.Parts)
	if totals == nil {
		var log *model.Log
		if o.Parts {
			log = newPartsLog(&env)
		}
		var err error
		if totals, err = event.Run(s, &env, log); err != nil {
			return nil, err
		}
		if o.Parts {
			log.Read()
			parts = busyOf(log, env.Sharing)
		}
	}
	times := len(s.Alike.Elements)
	r := &Result{Engine: Fold.String(), Totals: *totals, Parts: parts}
	r.Steps *= int64(times)
	r.Messages *= int64(times)
	r.BytesSent *= unit.Bytes(times)
	r.LinkBytes *= unit.Bytes(times)
	r.LinkBusy, r.LinkLoad = nil, nil
	return r, nil
}

// FoldedEnv makes an environment of all ranks one of those that stand for others by a symmetry. A
// symmetry of nil changes nothing. It is a *NotFolded error if the network does not look the same
// from ranks of a class, or if these begin at different times or are not equally slow.
func FoldedEnv(env *Env, alike *symmetry.Subgroup) error {
	if alike == nil {
		return nil
	}
	if !model.IsMoved(env.Graph, alike) {
		return &NotFolded{Why: notMoved}
	}
	starts, same := folded(env.Start, alike)
	slowdowns, also := folded(env.Slowdown, alike)
	if !same || !also {
		return &NotFolded{Why: "ranks begin at different times, or are not equally slow"}
	}
	env.Start, env.Slowdown = starts, slowdowns
	return nil
}

// folded returns what a list has for the ranks that stand for others, and whether it has the same
// for all of each class.
func folded[T comparable](list []T, alike *symmetry.Subgroup) (some []T, same bool) {
	if list == nil {
		return nil, true
	}
	for rank := range int32(len(list)) {
		if class, _ := alike.Place(rank); list[rank] != list[alike.Reps[class]] {
			return nil, false
		}
	}
	for _, rank := range alike.Reps {
		some = append(some, list[rank])
	}
	return some, true
}

// Foldable returns a *NotFolded error if a folded schedule cannot be simulated in an environment.
func Foldable(s *schedule.Schedule, env Env) error {
	if why := notAlike(s, s.Alike, &env, Options{}); why != "" {
		return &NotFolded{Why: why}
	}
	return nil
}

const notMoved = "the network is not known to look the same from all ranks"

// notAlike explains why a schedule cannot be simulated by the ranks that stand for others; empty if
// it can.
func notAlike(s *schedule.Schedule, alike *symmetry.Subgroup, env *Env, o Options) string {
	switch {
	case o.Trace || o.Critical:
		return "a trace, or a critical path, is of every rank"
	case env.Sharing != model.Fluid:
		return "ports decide what comes first on a link, and are not alike"
	case len(env.Faults) > 0:
		return "faults are of single ranks"
	case env.Graph.Listable() != nil:
		return env.Graph.Listable().Error()
	case !model.IsMoved(env.Graph, alike):
		return notMoved
	case s.AnyStep(usesSwitches):
		return "a switch copies or adds up"
	}
	return ""
}

// usesSwitches reports whether a switch copies or adds what a step moves.
func usesSwitches(step *schedule.Step) bool {
	for i := range step.From {
		if step.From[i].Kind == schedule.Multimem {
			return true
		}
	}
	for i := range step.Send {
		if step.Send[i].Team != nil {
			return true
		}
	}
	return false
}
