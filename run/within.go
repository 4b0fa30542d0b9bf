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
// their own, of which some are made anew as often as they are read, or many lanes, or lanes whose
// flows share a link again and again, or a model of their GPUs, or where many stand for all.
func isHard(s *schedule.Schedule, p *scenarios.Point, w work, played int64) bool {
	isBeside := p.Sim.Sharing == scenarios.Fluid && w.beside && w.messages > w.connections
	return hasOwn(s) || p.Device.GPU.SMs > 0 || played > fewPlayed ||
		played == 0 && (isBeside || w.lanes > fewLanes*int64(s.Spec.Ranks))
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
	isFar := w.hops > waysFound
	isShared := p.Sim.Sharing == scenarios.Fluid && !w.alone
	return played > 1 || played == 0 && isCluster(p) ||
		isQueued && (isShared || s.HasRoles() || !isPlain(p, w) || !isRepeated || isFar)
}

// memoryKnown is how well memory is known: only roughly where a stage takes most of it in which
// all ranks are walked or played one by one, or numbers computed in more than a window, since what
// is on its way at once, and what has not been collected, depends on what happens; or where many
// ranks stand for all, which may be given up, or links may be listed, or not.
func (e *Estimate) memoryKnown() float64 {
	stage, bytes := e.Takes.most()
	isSure := stage == proofStage && !e.walks ||
		stage == simulationStage && !e.plays && e.Played <= fewPlayed ||
		stage == numbersStage && bytes <= 4*windowBytes/3
	if e.Takes.Schedule <= commandBytes && (bytes <= commandBytes || isSure) {
		return WellKnown
	}
	return RoughlyKnown
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
