package run

import (
	"collsim/schedule"
	"collsim/sim"
	"collsim/unit"
)

// Held holds what delays a run longest, where no link is busy for most of its time.
type Held struct {
	Share
	// Slots says that it is the room of connections (sim.slots): Time is what more room would save.
	Slots bool
	Of    unit.Time // the whole run
}

// Bounds of the additional simulations by which held finds out: so many points in a scenario, so
// many steps in each. A run in which a link is busy for mostlyBusy of the time is not examined.
// Slots are named only where more of them save at least slotsMatter of the time.
const (
	mostHeldPoints = 32
	mostHeldSteps  = 1 << 15
	mostlyBusy     = 0.8
	slotsMatter    = 0.1
)

// held finds what holds a run up, by its critical path and by one more simulation with connections
// that hold any number of messages. It is nil where a link does, or where that would take long.
func (r *runner) held(s *schedule.Schedule, result *Result) *Held {
	busy, ok := result.Busy()
	p := result.Point
	if !ok || busy >= mostlyBusy || r.s.whole() > mostHeldPoints ||
		result.Steps > mostHeldSteps || result.passes() > 1 || r.critical ||
		engineOf(p) == sim.Fold || engineOf(p) == sim.Sweep || r.network.graph.Listable() != nil {
		return nil
	}
	env := r.fresh(p, s)
	ran, err := sim.Run(s, env, sim.Options{Critical: true})
	if err != nil {
		return nil
	}
	h := &Held{Of: ran.Time}
	if all := shares(env.Graph, ran); len(all) > 0 {
		h.Share = all[0]
	}
	if env.Slots > 0 && s.Slots == 0 {
		env.Slots = 0
		free, err := sim.Run(s, env, sim.Options{})
		if err != nil {
			return h
		}
		if saved := ran.Time - free.Time; float64(saved) >= float64(slotsMatter*float64(ran.Time)) {
			h.Slots, h.Time = true, saved
		}
	}
	if h.Time == 0 {
		return nil
	}
	return h
}
