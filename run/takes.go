package run

import (
	"math"
	"math/bits"

	"collsim/collective"
	"collsim/formats"
	"collsim/hw"
	"collsim/proof"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/unit"
)

// Takes is the memory that a point takes, stage by stage: what `check` prints and what a run is
// refused by. It follows from what is counted of the schedule (work) and from figures below, which
// are the largest resident set of the command on things of one kind at a time, less that of a
// small run. TestTakesMeasured holds them against such sets.
type Takes struct {
	// Schedule is the network, and the programs of ranks that each have their own. It is held as long
	// as anything goes on; the stages follow one another.
	Schedule   unit.Bytes
	Proof      unit.Bytes // cells of memories, and messages on their way
	Simulation unit.Bytes // lanes, connections, and messages on their way
	Log        unit.Bytes // what a simulation keeps for `explain`, and for pictures
	Numbers    unit.Bytes // windows of buffers, and moves
	Playing    unit.Bytes // real execution: buffers of all ranks that are on this machine
	Text       unit.Bytes // of an export
}

// Bytes that things take.
const (
	commandBytes         = 21 << 20 // the command itself
	linkBytes            = 200      // of a network
	ownStepBytes         = 600      // a step of a program of a rank's own,
	listBytes            = 4        // a block that it lists,
	fileStepBytes        = 170      // and of one of a file, with its text
	ownRankBytes         = 2000     // and the program
	simPlaceBytes        = 800      // a message that may be on its way, with its lane,
	fluidPlaceBytes      = 300      // that flows,
	fluidLinkBytes       = 200      // over links, each of these,
	simConnectionBytes   = 400      // the connection that it is on,
	simHopBytes          = 12       // a link on its way,
	packetBytes          = 120      // and a segment of it, half of what that takes where all wait;
	sweptLaneBytes       = 4000     // and a lane, where ranks are swept,
	sweptConnectionBytes = 350      // and each but the first of its connections
	peerBytes            = 100      // a peer of a lane, when these are counted
	foldedConnections    = 8        // that a lane of a rank has at once which stands for others,
	foldedRankBytes      = 16       // a rank that another one stands for,
	unevenLaneBytes      = 40       // or a lane of it, where each has a time;
	classedRankBytes     = 45       // where it is to be found which,
	classedPeerBytes     = 13       // and a connection of it
	tapeMessageBytes     = 150      // of a log of times, and what a critical path makes of it
	logStepBytes         = 150      // of others, which are told as a whole, and of pictures
	logMessageBytes      = 250
	proofCellBytes       = 24  // a part of a memory,
	proofFoldedCellBytes = 110 // of one rank for all
	proofPlaceBytes      = 350
	proofConnectionBytes = 200
	proofValueBytes      = 450 // a block of the largest message, where one rank stands for all,
	proofRoleBytes       = 400 // and a rank that has a role, where all are walked,
	proofPlacedBytes     = 45  // or where its class is found by its place in a tree,
	proofJoinedBytes     = 250 // up which a block comes to the root
	moveBytes            = 120 // of a sub-step, in a check of numbers,
	partBytes            = 20  // and of each block that it names,
	roleStepBytes        = 450 // or a step where ranks share programs by roles
	heightBytes          = 3   // of a part of a memory
	windowBytes          = 36 << 20
	windowAnewBytes      = 256 << 20 // where moves are made anew for each window
	sampleBytes          = 16 << 20
	sampleStepBytes      = 200 // a step of one rank that stands for all, in a sample of outputs,
	sampleBlockBytes     = 16  // a run of blocks that it names,
	sampleValueBytes     = 120 // and a value that an output depends on
	windowElements       = 64  // that a sub-step moves at least in a window, on average
)

// peak is what is held at most at once, besides the command.
func (t Takes) peak() unit.Bytes {
	_, most := t.most()
	return t.Schedule + most
}

// The stages of which more is said.
const (
	simulationStage = "simulation"
	proofStage      = "proof"
	numbersStage    = "check of numbers"
)

// most is the stage that takes the most.
func (t Takes) most() (stage string, bytes unit.Bytes) {
	for _, x := range []struct {
		stage string
		bytes unit.Bytes
	}{{simulationStage, t.Simulation + t.Log}, {proofStage, t.Proof}, {numbersStage, t.Numbers},
		{"real execution", t.Playing}, {"export", t.Text}} {
		if x.bytes > bytes {
			stage, bytes = x.stage, x.bytes
		}
	}
	return stage, bytes
}

// plus is what two schedules of different teams take, which are simulated at once and proven and
// computed one after the other.
func (t Takes) plus(u Takes) Takes {
	return Takes{Schedule: t.Schedule + u.Schedule, Proof: max(t.Proof, u.Proof),
		Simulation: t.Simulation + u.Simulation, Log: t.Log + u.Log,
		Numbers: max(t.Numbers, u.Numbers), Playing: t.Playing + u.Playing, Text: t.Text + u.Text}
}

// larger is the larger of each figure: of algorithms that are tried one after the other.
func (t Takes) larger(u Takes) Takes {
	return Takes{Schedule: max(t.Schedule, u.Schedule), Proof: max(t.Proof, u.Proof),
		Simulation: max(t.Simulation, u.Simulation), Log: max(t.Log, u.Log),
		Numbers: max(t.Numbers, u.Numbers), Playing: max(t.Playing, u.Playing),
		Text: max(t.Text, u.Text)}
}

// takesOf is what a schedule of a point takes that so many teams play, where numbers are checked by
// so many threads.
func takesOf(s *schedule.Schedule, p *scenarios.Point, w work, teams, threads int) (t Takes) {
	n := float64(teams)
	if hasOwn(s) {
		steps := float64(ownStepBytes*float64(w.written)) + float64(listBytes*float64(w.listed))
		if p.Algorithm.FromFile() {
			steps = fileStepBytes * float64(w.steps)
		}
		t.Schedule = bytesOf(float64(n*steps) + float64(n*ownRankBytes*float64(s.Spec.Ranks)))
	}
	place, links := float64(simPlaceBytes), 0.0
	if p.Sim.Sharing == scenarios.Fluid {
		place, links = place+fluidPlaceBytes, float64(fluidLinkBytes*float64(linksOf(p)))
	}
	t.Simulation = bytesOf(links + float64(n*place*float64(w.places)) +
		float64(n*(simConnectionBytes+float64(simHopBytes*w.hops))*float64(w.connections)) +
		counted(w) + float64(packetBytes*packets(p, w)))
	if sweeps(s, p, w) && (w.meet == 0 || p.Sim.Engine == scenarios.SweepEngine) {
		t.Simulation = bytesOf(float64(sweptLaneBytes*float64(w.lanes)) +
			float64(sweptConnectionBytes*float64(max(w.connections-w.lanes, 0))))
	}
	if p.Check.Proof {
		t.Proof = proofTakes(s, w)
	}
	if p.Check.Numbers {
		t.Numbers = numbersTake(s, p, w, threads)
	}
	return t
}

// packets is how many segments of messages may be on their way at once.
func packets(p *scenarios.Point, w work) float64 {
	if p.Sim.Segment == 0 || p.Sim.Sharing == scenarios.Fluid {
		return 0
	}
	segment := int64(p.Sim.Segment)
	each := (w.largest + segment - 1) / segment
	return min(float64(w.places)*float64(each), float64(w.bytes)/float64(segment)+float64(w.messages))
}

// foldedFrom is the number of ranks from which it is worth a look whether few stand for all.
const foldedFrom = 1 << 10

// classesOf is how many ranks stand for all when a point is simulated, as far as its network knows;
// 0 where each is played, or that cannot be told beforehand.
func classesOf(s *schedule.Schedule, p *scenarios.Point, w work) int64 {
	if e := p.Sim.Engine; e == scenarios.EventEngine || e == scenarios.SweepEngine ||
		s.Spec.Ranks < foldedFrom || p.Teams != nil {
		return 0
	}
	g, err := p.Topology.Graph()
	if err != nil || g.IsListed() || len(g.Changes()) > 0 && !s.HasRoles() {
		return 0
	}
	if tooManyTiles(s, w) {
		return 0
	}
	env := envOf(p, g)
	if n := sim.Classes(s, &env); n > 0 {
		return int64(n)
	}
	return branchClasses(s, env, w)
}

// tooManyTiles reports whether ranks of a role send so much to each peer that they most likely come
// to differ.
func tooManyTiles(s *schedule.Schedule, w work) bool {
	const most = 20
	return s.HasRoles() && w.messages > most*w.connections
}

// branchClasses is how many classes there are, about, where a rank sends each of its many peers one
// message, first come first served: a queue then has nothing to add to what roles tell apart.
func branchClasses(s *schedule.Schedule, env sim.Env, w work) int64 {
	if !s.HasRoles() || env.Sharing != sim.FIFO || w.messages > w.connections {
		return 0
	}
	env.Sharing = sim.Fluid
	return int64(sim.Classes(s, &env))
}

// folded is what a simulation takes where so many ranks stand for all. Ways that are short are
// forgotten before there are many.
func folded(s *schedule.Schedule, w work, classes int64) unit.Bytes {
	ranks := float64(s.Spec.Ranks)
	share, all := float64(classes)/ranks, float64(foldedRankBytes*ranks)
	if s.HasRoles() {
		all = classed(s, w)
	}
	return bytesOf(all + counted(w) +
		float64(simPlaceBytes*share*float64(w.places)) +
		float64(simHopBytes*max(w.hops-waysFound, 0)*share*float64(w.connections)) +
		float64(simConnectionBytes*share*float64(min(w.connections, foldedConnections*w.places))))
}

// classed is what takes note of the classes of ranks.
func classed(s *schedule.Schedule, w work) float64 {
	return float64(classedRankBytes*float64(s.Spec.Ranks)) +
		float64(classedPeerBytes*float64(w.connections))
}

// received is how many steps there are, about, that only receive.
func (w *work) received() float64 { return float64(max(w.steps-w.messages-w.lanes, 0)) }

// counted is what it takes to count the peers of a lane.
func counted(w work) float64 {
	return float64(peerBytes*float64(w.connections)) / float64(max(w.lanes, 1))
}

// proofTakes is what a proof of a schedule takes, of one rank where that stands for all.
func proofTakes(s *schedule.Schedule, w work) unit.Bytes {
	cell := float64(proofCellBytes)
	w.cells = max(w.cells, w.runs-w.listed)
	if stoodFor(s) == s.Spec.Ranks {
		cell = proofFoldedCellBytes
		w.cells = min(max(w.cells, w.blocks), int64(s.Spec.Ranks)*mostBlocks(s))
	} else { // a memory is divided as far as steps use it, twice as far at most
		w.cells = min(max(w.cells, w.blocks), 2*w.blocks)
	}
	t := float64(1/float64(stoodFor(s))*proofNeeds(w, cell)) +
		float64(proofValueBytes*float64(foldedValues(s, w)))
	switch {
	case s.HasRoles() && stoodFor(s) > 1:
		t += classed(s, w)
		if branches(s) {
			t += float64(proofPlacedBytes * float64(s.Spec.Ranks))
		}
		if s.Spec.Kind == collective.Gather {
			t += float64(proofJoinedBytes * float64(s.Spec.Ranks))
		}
	case s.HasRoles():
		t += float64(proofRoleBytes * float64(s.Spec.Ranks))
	}
	return bytesOf(t)
}

// mostBlocks is how many blocks the buffer of a rank has that has the most.
func mostBlocks(s *schedule.Schedule) (n int64) {
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		if s.Len(b, 0) > 0 {
			n = max(n, int64(s.Blocks(b)))
		}
	}
	return n
}

// foldedValues is how many sums of inputs rank 0 makes at once in a proof in which it stands for
// all: one for each block of the largest message, none of which is that of another. Where all ranks
// are walked, they share them.
func foldedValues(s *schedule.Schedule, w work) int64 {
	if !s.Spec.Kind.Reduces() || !s.ByRank(schedule.Input) || stoodFor(s) < s.Spec.Ranks {
		return 0
	}
	block := s.Len(schedule.Input, 0) / int64(s.Blocks(schedule.Input)) * int64(s.Spec.Type.Width())
	return w.largest / max(block, 1)
}

// stoodFor is how many ranks one stands for in a proof.
func stoodFor(s *schedule.Schedule) int {
	if s.HasRoles() && (s.Spec.Kind == collective.AllReduce || branches(s)) { // by classes, likely
		return max(s.Spec.Ranks/(2*bits.Len(uint(s.Spec.Ranks))), 1)
	}
	if proof.Folds(s, proof.Options{}) == "" {
		return s.Spec.Ranks
	}
	return 1
}

// branches reports whether the first rank has about as many peers as its number has bits.
func branches(s *schedule.Schedule) bool {
	_, peers := s.RoleOf(0, nil)
	return 2*len(peers) > bits.Len(uint(s.Spec.Ranks))
}

// proofNeeds is the bytes that a proof of all ranks takes.
func proofNeeds(w work, cell float64) float64 {
	return (float64(cell*float64(w.cells)) +
		float64(proofPlaceBytes*float64(w.places)) +
		float64(proofConnectionBytes*float64(w.connections)))
}

// logTakes is what is kept of a simulation for who asks what it did: little of two-sided messages
// that are alone under fluid sharing, or wait in queues, if it is for no picture.
func logTakes(p *scenarios.Point, w work, do stages) unit.Bytes {
	if do&draws == 0 && waitsForAll(p, w) &&
		p.Teams == nil && (p.Sim.Sharing == scenarios.FIFO || w.alone) {
		return bytesOf(float64(tapeMessageBytes * float64(w.messages)))
	}
	return recordsTake(w, max(1, len(p.Teams)))
}

// recordsTake is what it takes to write everything down.
func recordsTake(w work, teams int) unit.Bytes {
	return bytesOf(float64(teams) * (float64(logStepBytes*float64(w.steps)) +
		float64(logMessageBytes*float64(w.messages))))
}

// numbersTake is what a check of numbers takes: all buffers, or windows of them where that is less
// (package reference), and its moves. check.memory bounds both.
func numbersTake(s *schedule.Schedule, p *scenarios.Point, w work, threads int) unit.Bytes {
	most := float64(p.Check.Memory)
	c := costOf(s, p, w, 1)
	switch a := c.amount(s, p); {
	case a.none != "":
		return 0
	case a.outputs > 0:
		ranks := float64(s.Spec.Ranks)
		return bytesOf(sampleBytes + float64(sampleStepBytes*float64(w.steps))/ranks +
			float64(sampleBlockBytes*float64(w.runs))/ranks +
			float64(sampleValueBytes*sampleValues(s, a.outputs)))
	}
	share := float64(c.sample(s, p) * heldAtOnce(s, p, w))
	buffers := (float64(held(s)) + flying(s, w)) * share
	if window, _ := windowOf(s, p, w, share); window >= 1 {
		buffers = min(buffers, float64(window*perPlace(s, w))*float64(threads))
	}
	moves := min(movesTake(w), 1.25*most/4)
	if s.HasRoles() {
		moves += float64(roleStepBytes * float64(w.steps))
	}
	return bytesOf(min(buffers, most) + moves + float64(heightBytes*float64(w.held)))
}

// windowOf is how many elements of each part of a memory are computed at once in a check of so
// large a share of the elements that check.memory holds, and how many there are of the longest.
func windowOf(s *schedule.Schedule, p *scenarios.Point, w work, share float64) (
	window, longest float64) {
	bytes, most := perPlace(s, w), float64(windowBytes)
	if !keepsMoves(p, w) {
		most = windowAnewBytes
	}
	longest = float64(w.longest) * share
	step := float64(w.moved) * share / float64(max(w.steps, 1))
	return min(longest, max(most/max(bytes, 1), longest*windowElements/max(step, 1))), longest
}

// movesTake is what the moves of a check of numbers take, if they are kept, and keepsMoves whether
// they are.
func movesTake(w work) float64 {
	return float64(moveBytes*float64(w.steps)) + float64(partBytes*float64(w.blocks))
}

func keepsMoves(p *scenarios.Point, w work) bool {
	return movesTake(w) <= 1.25*float64(p.Check.Memory)/4
}

// playingTakes is what it takes to play a schedule, which an executor needs so much for, and to
// hold its outputs against what they should be where check.memory allows that.
func playingTakes(s *schedule.Schedule, p *scenarios.Point, needs int64) unit.Bytes {
	if check := hw.Compared(s); check <= int64(p.Check.Memory) {
		needs += check
	}
	return unit.Bytes(needs)
}

// Bytes of a text that others read, for a step: its elements are held until all is written, and
// what it would be read as is proven.
var textBytes = map[string]float64{"msccl": 1500, "goal": 600}

// textTakes is what it takes to export a schedule.
func textTakes(format string, w work) unit.Bytes {
	if format == formats.Text {
		return 0
	}
	return bytesOf(float64(textBytes[format] * float64(w.steps)))
}

// bytesOf is a figure that is not known to the byte.
func bytesOf(x float64) unit.Bytes {
	if x >= math.MaxInt64/4 {
		return math.MaxInt64 / 4
	}
	return unit.Bytes(x)
}
