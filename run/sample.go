package run

import (
	"fmt"

	"collsim/collective"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// A check of numbers is made on a sample where it would take the longer part of a run that is not
// over at once: so many seconds are given to its elements in any case, and of less memory nobody
// asks how long it takes.
const (
	sampleSeconds = 2
	sampleHeld    = 64 * unit.MiB
)

// A check that walks all ranks' steps is, beyond walkSeconds and the rest of the run, one of some
// output elements and of what these depend on (reference.Samples), of at most sampledOutputs; where
// it cannot be, it is not made if it took more than patience and the rest.
const (
	walkSeconds    = 1.5
	patience       = 60
	sampledOutputs = 64
)

// amount is how much of a schedule's numbers is checked: all if it is zero.
type amount struct {
	count   int64  // the most elements
	outputs int    // output elements alone
	none    string // why nothing
}

// amountOf follows from the schedule and the point alone (cost.go).
func amountOf(s *schedule.Schedule, p *scenarios.Point) amount {
	w := workOf(s)
	c := costOf(s, p, w, 1)
	c.simulate = 0
	if c.amount(s, p) == (amount{}) {
		return amount{} // of what takes longer, no less is checked
	}
	w.look(s, p, likelyPlayed(s, p, w))
	c = costOf(s, p, w, 1)
	return c.amount(s, p)
}

// amount is amountOf, of a cost that is known.
func (c *cost) amount(s *schedule.Schedule, p *scenarios.Point) amount {
	rest := c.build + c.simulate + c.prove
	if !p.Check.Full && c.walk > max(rest, walkSeconds) {
		why := reference.Samples(s)
		if why == "" {
			return amount{outputs: sampledOutputs}
		}
		if c.walk > patience {
			return amount{none: fmt.Sprintf("a check would carry out %d steps, which takes about %.0f s, "+
				"and none of a sample can be made: %s (check.full = true makes it)",
				workOf(s).steps, c.walk, why)}
		}
	}
	if share := c.sample(s, p); share < 1 {
		return amount{count: max(int64(float64(share*within(s, p)*float64(s.Spec.Count))), 1)}
	}
	return amount{}
}

// sample is the share of the elements that is checked.
func (c *cost) sample(s *schedule.Schedule, p *scenarios.Point) float64 {
	most := max(c.build+c.simulate+c.prove, sampleSeconds)
	if c.elements <= most || !mayBeSampled(s, p) {
		return 1
	}
	return most / c.elements
}

// mayBeSampled reports whether a smaller count can stand for all: not of blocks whose sizes are
// given, nor of files.
func mayBeSampled(s *schedule.Schedule, p *scenarios.Point) bool {
	kind := s.Spec.Kind
	return !p.Check.Full && held(s) >= sampleHeld && !kind.Splits() && kind != collective.Custom &&
		!p.Algorithm.FromFile()
}
