package sim

import (
	"fmt"
	"slices"

	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/unit"
)

// never is the time of a fault whose moment does not come.
const never = unit.Forever - 1

// FaultError is the error of a fault that names a step which its rank does not have.
type FaultError struct {
	Fault int // its index
	Text  string
}

// Error formats the error.
func (e *FaultError) Error() string { return e.Text }

// runFaulty simulates a schedule with faults. Its error is a *Hang if one keeps the run from its
// end, and a *FaultError if a rank has no such step.
func runFaulty(s *schedule.Schedule, env Env, o Options) (*Result, error) {
	switch o.Engine {
	case Fold:
		return nil, &NotFolded{Why: "a fault is of one rank, which is then like no other"}
	case Sweep:
		return nil, &NotSwept{Why: "a fault changes the order of requests for links"}
	}
	var err error
	if env.Faults, err = timed(s, env); err != nil {
		return nil, err
	}
	o.Engine, o.Critical = Event, false // what holds up a step that is late is no step
	r, err := runWith(s, env, o)
	if err != nil {
		return nil, err
	}
	r.Faults = env.Faults
	return r, nil
}

// timed finds the moments of faults that name a step or a part, and the messages that are lost. An
// earlier fault changes when others come, so the earliest is found first, each in a run with those
// before.
func timed(s *schedule.Schedule, env Env) ([]Fault, error) {
	all := slices.Clone(env.Faults)
	known := make([]bool, len(all))
	for i := range all {
		all[i].Lane = -1
		known[i] = all[i].By == model.ByTime && all[i].Does != Drops
	}
	for {
		env.Faults = env.Faults[:0:0]
		for i := range all {
			if known[i] {
				env.Faults = append(env.Faults, all[i])
			}
		}
		first := -1
		var found Fault
		for i := range all {
			if known[i] {
				continue
			}
			list, err := event.Begins(s, &env, all[i].Rank)
			if err != nil {
				return nil, err
			}
			f := moment(all[i], list)
			if f.At == never && len(env.Faults) == 0 && f.By == model.ByStep {
				return nil, &FaultError{Fault: i, Text: fmt.Sprintf("rank %d has no such step; 0 to %d "+
					"is expected", f.Rank, stepsIn(list)-1)}
			}
			if first < 0 || f.At < found.At {
				first, found = i, f
			}
		}
		if first < 0 {
			return all, before(s, env, all)
		}
		all[first], known[first] = found, true
	}
}

// before counts for each fault the sub-steps that begin before it on its rank, in the run with all.
func before(s *schedule.Schedule, env Env, all []Fault) error {
	env.Faults = all
	for i := range all {
		f := &all[i]
		list, err := event.Begins(s, &env, f.Rank)
		if err != nil {
			return err
		}
		f.Before = make([]int32, s.Program(int(f.Rank)).Lanes())
		for k := range list {
			if list[k].At < f.At {
				f.Before[list[k].Lane]++
			}
		}
	}
	return nil
}

// moment finds when a fault holds, and which message is lost, among what its rank begins; never
// where that does not come.
func moment(f Fault, begins []model.Begin) Fault {
	step, by := 0, f.By
	from := f.At
	f.At = never
	for i := range begins {
		b := &begins[i]
		comes := by == model.ByTime && b.At >= from ||
			by == model.ByStep && !b.IsEdge && step >= f.Step ||
			by == model.ByPart && slices.Contains(f.Parts, b.Part)
		if !b.IsEdge {
			step++
		}
		switch {
		case comes && f.Does != Drops:
			f.At = b.At
			return f
		case comes && b.Sends:
			f.At, f.Lane, f.Number = b.At, b.Lane, b.Number
			return f
		}
	}
	return f
}

// stepsIn counts the steps of a rank that are not edges.
func stepsIn(begins []model.Begin) (n int) {
	for i := range begins {
		if !begins[i].IsEdge {
			n++
		}
	}
	return n
}
