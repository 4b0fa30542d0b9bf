package run

import (
	"collsim/collective"
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

// sampleOf is the count on which a schedule's numbers are checked, so that their elements take no
// longer than the rest of the run; 0 where all of them are checked. It follows from the schedule
// and the point alone (cost.go).
func sampleOf(s *schedule.Schedule, p *scenarios.Point) int64 {
	if !mayBeSampled(s, p) {
		return 0
	}
	c := costOf(s, p, workOf(s), 1)
	return c.most(s, p)
}

// most is sampleOf, of a cost that is known.
func (c *cost) most(s *schedule.Schedule, p *scenarios.Point) int64 {
	share := c.sample(s, p)
	if share == 1 {
		return 0
	}
	return max(int64(float64(share*within(s, p)*float64(s.Spec.Count))), 1)
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
