package run

import (
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
)

// How well an estimate is known: what is taken is so many times more or less.
const (
	WellKnown      = 1.5
	RoughlyKnown   = 3
	HardlyForeseen = 5
)

// What is few, of what makes it hard to tell what a simulation or a proof takes.
const (
	fewPlayed = 16 // ranks that stand for all,
	fewLanes  = 16 // and lanes of a rank
)

// isHard reports whether what a schedule takes is known even less: where ranks have programs of
// their own, of which some are made anew as often as they are read, or many lanes, or a model of
// their GPUs, or where many stand for all.
func isHard(s *schedule.Schedule, p *scenarios.Point, w work, played int64) bool {
	return hasOwn(s) || p.Device.GPU.SMs > 0 || played > fewPlayed ||
		played == 0 && w.lanes > fewLanes*int64(s.Spec.Ranks)
}

// isRough reports whether the time of a simulation is only known roughly. What depends on what
// happens is: flows that share links, room in buffers. So is what ranks that differ do, also where
// some stand for all, and how long it takes to find ways from node to node.
func isRough(s *schedule.Schedule, p *scenarios.Point, w work, played int64,
	isUneven bool) bool {
	if isUneven || p.Sim.Segment > 0 || p.Teams != nil {
		return true
	}
	isQueued := played == 0 && !(sweeps(s, p, w) && w.meet == 0)
	isRepeated := w.walked <= mostLoop*w.lanes
	isShared := p.Sim.Sharing == scenarios.Fluid && !w.alone
	return played > 1 || played == 0 && isCluster(p) ||
		isQueued && (isShared || s.HasRoles() || !isPlain(p, w) || !isRepeated)
}

// steadyAfter is about how many iterations it takes, for each rank that is played for others, until
// what they do repeats itself: what is late at one has come round by then. It is 2 to 15.
const steadyAfter = 6

// isLong reports whether ranks are swept though so many of them stand for all, as it would be long
// until what they do repeats itself.
func isLong(s *schedule.Schedule, p *scenarios.Point, w work, played int64) bool {
	if p.Sim.Engine != scenarios.BestEngine || !sweeps(s, p, w) {
		return false
	}
	return played*min(w.steps/int64(s.Spec.Ranks), steadyAfter*played) > sim.Brief(s)
}
