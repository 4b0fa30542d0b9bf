package run

import (
	"collsim/scenarios"
	"collsim/schedule"
)

// How well an estimate is known: what is taken is so many times more or less.
const (
	WellKnown      = 1.5
	RoughlyKnown   = 3
	HardlyForeseen = 5
)

// isRough reports whether the time of a simulation is only known roughly. What flows that share
// links, or GPUs with a model of their own, take depends on what happens; so does what ranks that
// differ do.
func isRough(s *schedule.Schedule, p *scenarios.Point, w work, played int64,
	isUneven bool) bool {
	isQueued := played == 0 && !(sweeps(s, p) && w.meet == 0)
	return isUneven || p.Device.GPU.SMs > 0 || p.Sim.Segment > 0 || p.Teams != nil ||
		isQueued && p.Sim.Sharing == scenarios.Fluid && !w.alone
}
