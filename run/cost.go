package run

import (
	"collsim/collective"
	"collsim/dtype"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
)

// Nanoseconds that things take on one core of a server of the 2020s: processor time of the command
// with GOMAXPROCS=1, stage by stage, for rings, trees, halvings and all-to-alls of 8 to 4096 ranks,
// 14 formats and all kinds of data. TestEstimateMeasured has some of them.
const (
	simMessageTime      = 300  // a message, where ranks take turns at the same program,
	sweepMessageTime    = 8    // where they are swept,
	sweepLaneTime       = 3000 // each lane of which has to be seen,
	foldMessageTime     = 250  // where one rank stands for all,
	foldRankTime        = 1500 // which has to be seen at each rank,
	numberedMessageTime = 100  // unless the network knows it,
	numberedRankTime    = 250
	classRankTime       = 1900 // or it is to be found what class it is of;
	roleMessageTime     = 1200 // a message more, where ranks share programs by roles,
	ownMessageTime      = 3000 // and where each has its own,
	sweepOwnMessageTime = 5000 // also to be swept;
	laneTime            = 2000
	proofStepTime       = 900
	proofBlockTime      = 300
	numberStepTime      = 1000
	numberBlockTime     = 450
	sampleStepTime      = 900  // a step of one rank that stands for all, in a sample of outputs,
	sampleBlockTime     = 150  // a block that it names,
	sampleValueTime     = 330  // and a value that an output depends on
	buildTime           = 1500 // a step or a message of a program of a rank's own,
	buildBlockTime      = 150  // and a block that it names;
	buildsToTime        = 4    // which is made so often to build, simulate and bound it,
	buildsToProve       = 2
	buildsToCompute     = 1
	moveTime            = 1.0 // an element that is sent, of 4 bytes
	narrowMoveTime      = 2.2 // of a format that has no arithmetic of its own
	fillTime            = 2.8 // an input that is made, and defined
	productTime         = 18  // of products, which are exact in no order,
	randomTime          = 28  // and of random numbers
)

// cost is what is expected of the stages of a run, in seconds.
type cost struct {
	build, simulate, prove, numbers float64
	walk                            float64 // of the numbers, if all ranks take all their steps,
	elements                        float64 // and if all elements are checked
}

// plus is the cost of two schedules, of different teams.
func (c cost) plus(d cost) cost {
	return cost{c.build + d.build, c.simulate + d.simulate, c.prove + d.prove, c.numbers + d.numbers,
		c.walk + d.walk, c.elements + d.elements}
}

// costOf is what a schedule of a point costs that so many teams play, each once but simulated for
// each of them.
func costOf(s *schedule.Schedule, p *scenarios.Point, w work, teams int) (c cost) {
	all := w.times(int64(teams))
	steps, messages := float64(all.steps), float64(all.messages)
	once, message := 0.0, float64(simMessageTime)
	if s.HasRoles() {
		message += roleMessageTime
	}
	if hasOwn(s) {
		once = float64(buildTime*(steps+messages)) + float64(buildBlockTime*float64(all.blocks))
		message += ownMessageTime
	}
	c.build = 1e-9 * buildsToTime * once
	c.simulate = 1e-9 * (float64(message*messages) + float64(laneTime*float64(all.lanes)))
	if p.Sim.Engine == scenarios.SweepEngine {
		message = sweepMessageTime
		if hasOwn(s) {
			message += sweepOwnMessageTime
		}
		c.simulate = 1e-9 * (float64(message*messages) + float64(sweepLaneTime*float64(all.lanes)))
	}
	if mayFold(s, p) {
		ranks := float64(s.Spec.Ranks)
		c.simulate = 1e-9 * (float64(foldMessageTime*messages/ranks) + float64(foldRankTime*ranks))
	}
	if p.Check.Proof {
		c.prove = 1e-9 * (float64(buildsToProve*once) + float64(proofStepTime*steps) +
			float64(proofBlockTime*float64(all.blocks))) / float64(stoodFor(s))
		if stoodFor(s) > 1 && s.HasRoles() {
			c.prove += float64(1e-9 * classRankTime * float64(s.Spec.Ranks))
		}
	}
	if !p.Check.Numbers {
		return c
	}
	c.elements = float64(1e-9 * elementTime(s, p, w))
	c.walk = 1e-9 * (float64(buildsToCompute*once) + float64(numberStepTime*steps) +
		float64(numberBlockTime*float64(w.blocks)))
	switch a := c.amount(s, p); {
	case a.none != "":
	case a.outputs > 0:
		c.numbers = 1e-9 * (float64(sampleStepTime*steps)/float64(s.Spec.Ranks) +
			float64(sampleBlockTime*float64(w.blocks))/float64(s.Spec.Ranks) +
			float64(sampleValueTime*sampleValues(s, a.outputs)))
	default:
		c.numbers = c.walk + float64(c.elements*c.sample(s, p))
	}
	return c
}

// hasOwn reports whether each rank has a program of its own.
func hasOwn(s *schedule.Schedule) bool { return s.Group == nil && !s.HasRoles() }

// sampleValues is how many values of steps a sample of so many outputs takes, about: where it is a
// sum of all ranks' inputs, these and what becomes of them.
func sampleValues(s *schedule.Schedule, outputs int) float64 {
	if !s.Spec.Kind.Reduces() {
		return 0
	}
	most := max(reference.SampleSteps, 2*s.Spec.Ranks)
	return float64(min(most, 3*s.Spec.Ranks/2*outputs))
}

// mayFold reports whether one rank is likely to stand for all in a simulation: as far as that can
// be told without a look at the network.
func mayFold(s *schedule.Schedule, p *scenarios.Point) bool {
	e := p.Sim.Engine
	return (e == scenarios.BestEngine || e == scenarios.FoldEngine) && s.SameSizes() &&
		isPlain(s, p)
}

// isPlain reports whether only messages are sent, and lanes wait until they have left.
func isPlain(s *schedule.Schedule, p *scenarios.Point) bool {
	d := &p.Device
	return !s.OneSided() && !d.Offload && d.SendBuffer == 0 && d.EagerLimit == 0
}

// elementTime is what the elements of a check take, in nanoseconds: each once made and defined, and
// moved as often as it is sent.
func elementTime(s *schedule.Schedule, p *scenarios.Point, w work) float64 {
	t := s.Spec.Type
	width := float64(t.Width())
	inputs := float64(0)
	for rank := range s.Spec.Ranks {
		inputs += float64(s.Len(schedule.Input, rank))
	}
	fill, move := fillTime, moveTime
	switch {
	case p.Check.Data != scenarios.ExactData && t.IsFloat() && s.Spec.Kind.Reduces():
		fill = randomTime
	case s.Spec.Op == collective.Prod && t.IsFloat():
		fill = productTime
	}
	if t.IsFloat() && t.Width() < dtype.Float32.Width() && s.Spec.Kind.Reduces() {
		move = narrowMoveTime
	}
	wide := max(1, width/4)
	return float64(within(s, p) * wide * (float64(fill*inputs) + float64(move*float64(w.bytes)/width)))
}

// within is the share of the elements that check.memory holds: the rest is not checked.
func within(s *schedule.Schedule, p *scenarios.Point) float64 {
	return min(1, float64(p.Check.Memory)/float64(max(held(s), 1)))
}
