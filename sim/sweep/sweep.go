package sweep

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// NotSwept says why the engine cannot simulate a schedule. Another engine has to.
type NotSwept struct{ Why string }

// Error gives the reason.
func (e *NotSwept) Error() string { return "not swept: " + e.Why }

// Run simulates a schedule in an environment that is valid for it (model.Env.Validate). It succeeds
// if the guessed order of requests for links turns out to be the one of the rules. All else is
// *NotSwept: what the engine does not support, and any fault of the run, such as a stall.
func Run(s *schedule.Schedule, env *model.Env) (*model.Totals, error) {
	e, err := simulate(s, env)
	if err != nil {
		return nil, err
	}
	return e.finished(), nil
}

// simulate returns the engine at the end of a run.
func simulate(s *schedule.Schedule, env *model.Env) (*engine, error) {
	if why := unsupported(s, env); why != "" {
		return nil, &NotSwept{why}
	}
	e := newEngine(s, env)
	e.run()
	switch {
	case e.why != "":
	case e.unfinished > 0:
		e.why = "it stalls"
	case e.waiting > 0:
		e.why = "a message is never received"
	default:
		return e, nil
	}
	return nil, &NotSwept{e.why}
}

// unsupported returns why the engine does not support a schedule or its device; empty if it does.
func unsupported(s *schedule.Schedule, env *model.Env) string {
	d := &env.Device
	switch {
	case s.Teams() != nil || schedule.Composed(s):
		return "the schedule is composed of others"
	case d.Offload || d.SendBuffer > 0 || d.EagerLimit > 0 || d.GPU.SMs > 0:
		return "the device is none that it knows"
	case s.AnyStep(isOther):
		return "a step is one-sided"
	}
	return ""
}

// isOther reports whether a step does more than exchange messages and work on its rank's memory.
func isOther(step *schedule.Step) bool {
	for i := range step.From {
		if k := step.From[i].Kind; k != schedule.Local && k != schedule.Message {
			return true
		}
	}
	for i := range step.Send {
		if !step.Send[i].Message() {
			return true
		}
	}
	return false
}

// finished returns the results at the end of a run.
func (e *engine) finished() *model.Totals {
	r := &e.totals
	r.LaneEnd = make([]unit.Time, len(e.lanes))
	for i := range e.lanes {
		r.LaneEnd[i] = e.lanes[i].end.T
		r.Time = max(r.Time, r.LaneEnd[i])
	}
	n := len(e.linkOf)
	r.LinkBusy, r.LinkLoad = make([]unit.Time, n), make([]unit.Bytes, n)
	for i := range e.links {
		l := &e.links[i]
		if e.isFluid {
			l.busy = l.load.Over(l.Bandwidth)
		}
		r.LinkBusy[l.number], r.LinkLoad[l.number] = l.busy, l.load
		r.LinkBytes += l.load
	}
	return r
}
