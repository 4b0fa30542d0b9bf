package run

import (
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/unit"
)

// Arrived says what it costs that ranks do not arrive together.
type Arrived struct {
	First, Last unit.Time // the first and the last arrival
	LastRank    int
	Waits       unit.Time // the mean time from a rank's arrival to the last one
	Together    unit.Time // how long it takes where all arrive at once
}

// arrived simulates what would be if all ranks arrived at once; nil where they arrive as the
// scenario lists it.
func arrived(p *scenarios.Point, s *schedule.Schedule, env sim.Env, engine sim.Engine) (*Arrived,
	error) {
	if p.Arrival.Spread == 0 {
		return nil, nil
	}
	starts := env.Start
	env.Start, env.Faults = nil, nil
	ran, err := sim.Run(s, env, sim.Options{Engine: engine, Folded: true})
	if err != nil {
		return nil, err
	}
	a := &Arrived{First: starts[0], Together: ran.Time}
	for rank, at := range starts {
		a.First = min(a.First, at)
		if at > a.Last || rank == 0 {
			a.Last, a.LastRank = at, rank
		}
	}
	for _, at := range starts {
		a.Waits += (a.Last - at) / unit.Time(len(starts))
	}
	return a, nil
}
