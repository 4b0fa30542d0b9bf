package run

import (
	"math"

	"collsim/collective"
	"collsim/dtype"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
)

// Nanoseconds that things take on one core of a server of the 2020s: processor time of the command
// with GOMAXPROCS=1, stage by stage, for rings, trees, halvings and all-to-alls of 8 to a million
// ranks, 14 formats and all kinds of data. TestEstimateMeasured has some of them.
const (
	loneMessageTime     = 45    // a message of a lane that has its links for itself,
	loneHopTime         = 5     // and each of these,
	receiptTime         = 200   // and a step between them that only receives,
	simMessageTime      = 190   // of others,
	hopTime             = 25    // each link on its way,
	fluidHopTime        = 22    // beside it where flows share them, times the root of their number,
	besideHopTime       = 80    // or lanes of a rank alone,
	spareHopTime        = 7     // or a link of a connection where they hardly do;
	gpuMessageTime      = 300   // a message of a rank with a GPU model,
	bufferMessageTime   = 350   // or with more than sends that leave one after the other,
	loadTime            = 250   // or of a step that no loop repeats,
	mostLoop            = 64    // or loops of which each does it seldom: so many are, of a lane;
	connectionTime      = 500   // a connection,
	wayTime             = 220   // a link on its way, of those that have to be found,
	waysFound           = 8     // at most,
	clusterWayTime      = 4000  // or a way from node to node,
	digitTime           = 110   // and a digit of the group, where peers are translated;
	coldRanks           = 512   // all of which is of so many ranks: see cold;
	listTime            = 300   // a link of the network;
	laneTime            = 1200  // and a lane, where every rank is played
	sweepMessageTime    = 3.0   // a message, where ranks are swept,
	sweepReceiptTime    = 8     // and a step that only receives,
	sweepSizesTime      = 10    // a message where their sizes differ,
	sweepLinkTime       = 180   // and a link of the network,
	sweepBesideTime     = 200   // or where lanes of a rank begin with one link,
	sweepConnectionTime = 900   // a connection of it,
	sweptInVain         = 0.6   // of which so much is done until it is found out that it cannot be,
	sweepLaneTime       = 3000  // each lane of which has to be seen
	foldMessageTime     = 100   // a message of a rank that stands for others,
	foldConnectionTime  = 2500  // a connection of it, first come first served,
	foldHopTime         = 250   // or, where its way is long, each link on it,
	foldFlowTime        = 3500  // or fluid,
	foldFlowHopTime     = 780   // or likewise;
	foldLaneTime        = 30000 // a lane of it beside the first,
	foldLaneMessageTime = 3000  // of which a message takes no more,
	foldRankTime        = 250   // and a rank that another one stands for,
	unevenStepTime      = 850   // a step of a class whose ranks each have a time,
	classFlowTime       = 160   // and a connection of one where it is to be found what class it is of,
	classQueueTime      = 430   // or first come first served,
	classOdd            = 2.8   // so many times that of no power of two, of which fewer are alike
	roleMessageTime     = 1500  // a message more, where many ranks share programs by roles,
	ownMessageTime      = 500   // and where each has its own,
	sweepOwnMessageTime = 5000  // also to be swept
	proofStepTime       = 550   // a step of a rank, where all are walked,
	proofRunTime        = 300   // a run of blocks that it names,
	proofBlockTime      = 30    // each of these,
	proofListTime       = 40    // and a block in a list,
	proofClockTime      = 12    // and a rank that a message may tell of, where races are looked for;
	proofFoldedStepTime = 260   // a step of one that stands for others,
	proofFoldedRunTime  = 60    // and a run of blocks
	proofValueTime      = 2400  // a block of the largest message, where one rank stands for all,
	proofRoleTime       = 3500  // and a rank that has a role, where all are walked,
	proofPlacedTime     = 500   // or where its class is found by its place in a tree,
	proofJoinedTime     = 1300  // up which a block comes to the root
	numberStepTime      = 640
	numberBlockTime     = 160
	roleMoveTime        = 1200 // a step more, where ranks share programs by roles,
	roleSumTime         = 3200 // or one of a reduction
	windowBlockTime     = 20   // of each window of elements but the first,
	windowAnewBlockTime = 40   // where they are found anew for each,
	sampleStepTime      = 900  // a step of one rank that stands for all, in a sample of outputs,
	sampleBlockTime     = 150  // a run of blocks that it names,
	sampleValueTime     = 285  // and a value that an output depends on
	readTime            = 600  // a step of a file, which is read once
	programBuilds       = 4    // and of programs
	partTime            = 700  // a step or a message of their parts
	partRunTime         = 24   // and a run of blocks
	programProofs       = 2
	boundPairTime       = 15  // two ranks of an all_to_all whose bounds look at all pairs,
	boundStarTime       = 12  // or those of one switch,
	boundLinkTime       = 15  // or a link of a network whose ways are searched from each rank,
	boundNodeTime       = 4   // or of one between nodes,
	boundFlowTime       = 3.5 // or of a ring, for what comes from all,
	boundListTime       = 200 // and a link of a network that is searched at all
	pairWayTime         = 50  // a link of a way that is looked at to say what a network is
	freshTime           = 1   // a byte of memory that a check of numbers asks for
	moveTime            = 0.6 // an element that is sent, of 4 bytes
	narrowMoveTime      = 2.2 // of a format that has no arithmetic of its own,
	byteMoveTime        = 4.7 // and of one of 8 bits
	fillTime            = 1.7 // an input that is made, and defined
	productTime         = 18  // of products, which are exact in no order,
	randomTime          = 16  // and of random numbers
)

// cost is what is expected of the stages of a run, in seconds.
type cost struct {
	build, simulate, prove, numbers float64
	rough                           float64 // of the numbers: what no cache holds, and samples
	walk                            float64 // of the numbers, if all ranks take all their steps,
	elements                        float64 // and if all elements are checked
}

// plus is the cost of two schedules, of different teams.
func (c cost) plus(d cost) cost {
	return cost{c.build + d.build, c.simulate + d.simulate, c.prove + d.prove, c.numbers + d.numbers,
		c.rough + d.rough, c.walk + d.walk, c.elements + d.elements}
}

// costOf is what a schedule of a point costs that so many teams play, each once but simulated for
// each of them.
func costOf(s *schedule.Schedule, p *scenarios.Point, w work, teams int) (c cost) {
	all := w.times(int64(teams))
	steps := float64(all.steps)
	again := 0.0 // to make the programs that are not kept
	switch {
	case p.Algorithm.FromFile():
		c.build = 1e-9 * float64(readTime*steps)
	case hasOwn(s):
		c.build, again = building(s, w, all)
	}
	c.simulate = playing(s, p, all, likelyPlayed(s, p, w))
	if p.Check.Proof {
		c.prove = proving(s, w, all, again)
	}
	if !p.Check.Numbers {
		return c
	}
	c.elements = float64(1e-9 * elementTime(s, p, w))
	c.walk = 1e-9 * (float64(buildsToCompute*again) + float64(numberStepTime*steps) +
		float64(numberBlockTime*float64(w.blocks)))
	if s.HasRoles() {
		each := float64(roleMoveTime)
		if s.Spec.Kind.Reduces() {
			each = roleSumTime
		}
		c.walk += float64(1e-9 * each * steps)
	}
	switch a := c.amount(s, p); {
	case a.none != "":
	case a.outputs > 0:
		c.numbers = 1e-9 * (float64(sampleStepTime*steps)/float64(s.Spec.Ranks) +
			float64(sampleBlockTime*float64(w.runs))/float64(s.Spec.Ranks) +
			float64(sampleValueTime*sampleValues(s, a.outputs)))
		c.rough = c.numbers // more or less, by what outputs depend on
	default:
		share := c.sample(s, p)
		windows := 1.0
		if window, longest := windowOf(s, p, w, share*heldAtOnce(s, p, w)); window >= 1 {
			windows = longest / window
		}
		block := float64(windowBlockTime)
		if !keepsMoves(p, w) {
			block = windowAnewBlockTime
		}
		c.rough = float64(c.elements * share)
		c.numbers = c.walk + c.rough + float64(1e-9*block*(windows-1)*float64(w.blocks))
	}
	return c
}

// proving is what a proof takes, in seconds: all is the work of all teams, again that of making the
// programs that are not kept, in nanoseconds.
func proving(s *schedule.Schedule, w, all work, again float64) float64 {
	step, run := float64(proofStepTime), float64(proofRunTime)
	if stoodFor(s) > 1 {
		step, run = proofFoldedStepTime, proofFoldedRunTime
	}
	walked := float64(buildsToProve*again) + float64(step*float64(all.steps)) +
		float64(run*float64(all.runs-all.listed)) + float64(proofListTime*float64(all.listed)) +
		float64(proofBlockTime*float64(all.blocks-all.listed))
	if all.isOneSided && stoodFor(s) == 1 {
		walked += float64(proofClockTime * float64(all.messages) * float64(s.Spec.Ranks))
	}
	each := 0.0 // of the ranks
	switch {
	case s.HasRoles() && stoodFor(s) > 1:
		each = foldRankTime
		if branches(s) {
			each += proofPlacedTime
		}
		if s.Spec.Kind == collective.Gather {
			each += proofJoinedTime
		}
	case s.HasRoles():
		each = proofRoleTime
	}
	return 1e-9 * (walked/float64(stoodFor(s)) + float64(proofValueTime*float64(foldedValues(s, w))) +
		float64(each*float64(s.Spec.Ranks)))
}

// playing is what a simulation takes of which so many ranks are played, or all of 0, in seconds.
func playing(s *schedule.Schedule, p *scenarios.Point, w work, played int64) float64 {
	messages, lanes, ranks := float64(w.messages), float64(w.lanes), float64(s.Spec.Ranks)
	connections := float64(w.connections)
	if played > 0 {
		share := float64(played) / ranks
		connection, class := max(foldConnectionTime, float64(foldHopTime*w.hops)), float64(classQueueTime)
		if p.Sim.Sharing == scenarios.Fluid {
			connection = max(foldFlowTime, float64(foldFlowHopTime*w.hops))
			class = classFlowTime
		}
		each := float64(foldRankTime)
		if s.HasRoles() {
			if each = class * connections / ranks; s.Spec.Ranks&(s.Spec.Ranks-1) != 0 {
				each *= classOdd
			}
		}
		one := float64(foldMessageTime*messages) + float64(connection*connections) +
			float64(min(foldLaneTime, foldLaneMessageTime*messages/lanes)*max(lanes-ranks, 0))
		return 1e-9 * (float64(each*ranks) + float64(share*one))
	}
	if sweeps(s, p, w) {
		connection := sweepConnectionTime + float64(digitTime*digits(s))
		message := sweepMessageTime
		switch {
		case w.beside:
			message = sweepBesideTime
		case hasOwn(s):
			message += sweepOwnMessageTime
		case w.sizes > 1:
			message = sweepSizesTime
		}
		swept := 1e-9 * (float64(message*messages) + float64(sweepReceiptTime*w.received()) +
			float64(sweepLinkTime*float64(linksOf(p))) +
			float64(cold(s.Spec.Ranks)*connection*connections) + float64(sweepLaneTime*lanes))
		if p.Sim.Engine == scenarios.SweepEngine || w.meet == 0 {
			return swept
		}
		return byEvent(s, p, w) + float64(sweptInVain*min(swept, 1e-9*messages*connection))
	}
	return byEvent(s, p, w)
}

// unevenly is what a simulation takes of which so many ranks are played with a time for each rank
// that they stand for, in seconds. A network of which many links are changed is listed.
func unevenly(s *schedule.Schedule, p *scenarios.Point, w work, played int64) float64 {
	ranks := float64(s.Spec.Ranks)
	spent := float64(foldRankTime*ranks) +
		float64(unevenStepTime*float64(w.steps)*float64(played)/ranks)
	if isListed(p) {
		spent += float64(listTime * float64(linksOf(p)))
	}
	return 1e-9 * spent
}

// sweeps reports whether ranks are swept that are all played, if the guess is right.
func sweeps(s *schedule.Schedule, p *scenarios.Point, w work) bool {
	e := p.Sim.Engine
	return e == scenarios.SweepEngine || e == scenarios.BestEngine && s.Group != nil &&
		s.Spec.Ranks >= sim.SweptFrom && p.Teams == nil && isPlain(p, w)
}

// byEvent is what the event engine takes, in seconds.
func byEvent(s *schedule.Schedule, p *scenarios.Point, w work) float64 {
	isFluid := p.Sim.Sharing == scenarios.Fluid && w.bytes > 0
	messages := float64(w.messages)
	message := simMessageTime + float64(hopTime*w.hops)
	connection := connectionTime + wayTimeOf(p, w) + float64(digitTime*digits(s))
	chill := cold(s.Spec.Ranks)
	if s.HasRoles() { // in a tree less is under way at a time
		chill = math.Sqrt(chill)
	}
	switch n := float64(s.Spec.Ranks); {
	case w.alone && keepsSizes(s, w) && isPlain(p, w) && p.Sim.Segment == 0:
		message = loneMessageTime + float64(loneHopTime*w.hops) +
			float64(receiptTime*w.received())/max(messages, 1)
	case isFluid && s.HasRoles():
		message += float64(besideHopTime * (cold(s.Spec.Ranks) - 1) * min(w.hops, waysFound))
	case isFluid && !isPlain(p, w):
		message += float64(fluidHopTime * math.Sqrt(n) * w.hops)
	case isFluid && w.beside && w.meet == 0:
		message += float64(besideHopTime * w.hops)
	case isFluid && w.meet > 0:
		message += float64(fluidHopTime * math.Sqrt(n) * w.hops * w.meet)
	case isFluid && !w.alone:
		connection += float64(spareHopTime * math.Sqrt(n) * w.hops)
	}
	switch {
	case p.Device.GPU.SMs > 0:
		message += gpuMessageTime
	case !isPlain(p, w):
		message += bufferMessageTime
	}
	switch {
	case s.HasRoles():
		message += float64(roleMessageTime * (chill - 1))
	case hasOwn(s):
		message += float64(ownMessageTime * (1 - float64(w.kept)/max(float64(w.steps), 1)))
	case s.Group != nil && !s.SameSizes() && keepsSizes(s, w): // walked, but loaded seldom
	case w.walked > mostLoop*w.lanes:
		message += loadTime
	default:
		message += float64(loadTime * float64(w.walked) / max(float64(w.steps), 1))
	}
	if n := p.Sim.Segment; n > 0 && !isFluid { // one after the other
		message = float64(message * max(1, float64(w.bytes)/max(messages, 1)/float64(n)))
	}
	rates := 0.0
	if isFluid {
		rates = sim.Forecast(w.places, w.ends())
	}
	spent := float64(message*messages) + float64(chill*connection*float64(w.connections)) +
		float64(laneTime*float64(w.lanes)) + float64(listTime*float64(linksOf(p)))
	return rates + float64(1e-9*spent)
}

// keepsSizes reports whether steps of a loop need not be loaded again to know what they move: all
// ranks have as much, or their blocks are of few sizes.
func keepsSizes(s *schedule.Schedule, w work) bool {
	return s.SameSizes() || s.Group != nil && w.sizes <= sim.KeptSizes
}

// ends is at how many instants flows end that begin at once.
func (w *work) ends() int64 { return min(w.sizes, w.messages) }

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

// likelyPlayed is one rank where that is likely to stand for all in a simulation, as far as can be
// told without a look at the network; 0 where all are played.
func likelyPlayed(s *schedule.Schedule, p *scenarios.Point, w work) int64 {
	if tooManyTiles(s, w) {
		return 0
	}
	if e := p.Sim.Engine; (e == scenarios.BestEngine || e == scenarios.FoldEngine) && s.SameSizes() &&
		isPlain(p, w) {
		return 1
	}
	return 0
}

// isPlain reports whether only messages are sent, and lanes wait until they have left, and for
// nothing of a GPU.
func isPlain(p *scenarios.Point, w work) bool {
	return waitsForAll(p, w) && p.Device.GPU.SMs == 0
}

// waitsForAll reports whether only messages are sent, and lanes wait until they have left.
func waitsForAll(p *scenarios.Point, w work) bool {
	d := &p.Device
	return !w.isOneSided && !d.Offload && d.SendBuffer == 0 && d.EagerLimit == 0
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
		if move = narrowMoveTime; t.Width() == 1 {
			move = byteMoveTime
		}
	}
	wide := max(1, width/4)
	each := float64(fill*inputs) + float64(move*float64(w.bytes)/width)
	return float64(heldAtOnce(s, p, w) * wide * each)
}

// within is the share of the elements that check.memory holds: the rest is not checked.
func within(s *schedule.Schedule, p *scenarios.Point) float64 {
	return min(1, float64(p.Check.Memory)/float64(max(held(s), 1)))
}

// heldAtOnce is within, where what is on its way is held as well: the check finds that out when it
// goes through the schedule, and takes fewer elements then.
func heldAtOnce(s *schedule.Schedule, p *scenarios.Point, w work) float64 {
	return min(1, float64(p.Check.Memory)/max(float64(held(s))+flying(s, w), 1))
}
