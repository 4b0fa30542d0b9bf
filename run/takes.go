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
	commandBytes         = 17 << 20 // the command itself
	linkBytes            = 200      // of a network
	ownStepBytes         = 600      // a step of a program of a rank's own
	simPlaceBytes        = 800      // a message that may be on its way, with its lane,
	simConnectionBytes   = 350      // and the connection that it is on
	foldedRankBytes      = 16       // a rank that another one stands for,
	classedRankBytes     = 120      // where it is to be found which
	logStepBytes         = 150
	logMessageBytes      = 250
	proofCellBytes       = 40 // a part of a memory
	proofPlaceBytes      = 400
	proofConnectionBytes = 200
	moveBytes            = 120 // of a sub-step, in a check of numbers,
	partBytes            = 20  // and of each block that it names
	heightBytes          = 3   // of a part of a memory
	windowBytes          = 36 << 20
	sampleBytes          = 16 << 20
	sampleStepBytes      = 200 // a step of one rank that stands for all, in a sample of outputs,
	sampleBlockBytes     = 16  // a block that it names,
	sampleValueBytes     = 150 // and a value that an output depends on
	windowElements       = 64  // that a sub-step moves at least in a window, on average
)

// peak is what is held at most at once, besides the command.
func (t Takes) peak() unit.Bytes {
	_, most := t.most()
	return t.Schedule + most
}

// most is the stage that takes the most.
func (t Takes) most() (stage string, bytes unit.Bytes) {
	for _, x := range []struct {
		stage string
		bytes unit.Bytes
	}{{"simulation", t.Simulation + t.Log}, {"proof", t.Proof}, {"check of numbers", t.Numbers},
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
		t.Schedule = bytesOf(float64(n * ownStepBytes * float64(w.steps)))
	}
	t.Simulation = bytesOf(float64(n*simPlaceBytes*float64(w.places)) +
		float64(n*simConnectionBytes*float64(w.connections)))
	if p.Check.Proof {
		t.Proof = proofTakes(s, w)
	}
	if p.Check.Numbers {
		t.Numbers = numbersTake(s, p, w, threads)
	}
	return t
}

// foldedFrom is the number of ranks from which it is worth a look whether few stand for all.
const foldedFrom = 1 << 10

// classesOf is how many ranks stand for all when a point is simulated, as far as its network knows;
// 0 where each is played, or that cannot be told beforehand.
func classesOf(s *schedule.Schedule, p *scenarios.Point) int64 {
	if e := p.Sim.Engine; e == scenarios.EventEngine || e == scenarios.SweepEngine ||
		s.Spec.Ranks < foldedFrom || p.Teams != nil ||
		p.Topology.Slowdowns != nil {
		return 0
	}
	g, err := p.Topology.Graph()
	if err != nil || g.IsListed() {
		return 0
	}
	sharing := sim.Fluid
	if p.Sim.Sharing == scenarios.FIFO {
		sharing = sim.FIFO
	}
	return int64(sim.Classes(s, &sim.Env{Graph: g, Device: p.Device,
		Sharing: sharing, Start: p.Topology.Starts}))
}

// folded is what a simulation takes where so many ranks stand for all.
func folded(s *schedule.Schedule, w work, classes int64) unit.Bytes {
	ranks := int64(s.Spec.Ranks)
	share, rank := float64(classes)/float64(ranks), foldedRankBytes
	if s.HasRoles() {
		rank = classedRankBytes
	}
	return bytesOf(float64(float64(rank)*float64(ranks)) +
		float64(simPlaceBytes*share*float64(w.places)) +
		float64(simConnectionBytes*share*float64(w.connections)))
}

// proofTakes is what a proof of a schedule takes, of one rank where that stands for all.
func proofTakes(s *schedule.Schedule, w work) unit.Bytes {
	t := float64(1 / float64(stoodFor(s)) * proofNeeds(w))
	if stoodFor(s) > 1 && s.HasRoles() {
		t += float64(classedRankBytes * float64(s.Spec.Ranks))
	}
	return bytesOf(t)
}

// stoodFor is how many ranks one stands for in a proof.
func stoodFor(s *schedule.Schedule) int {
	if s.HasRoles() && s.Spec.Kind == collective.AllReduce { // by classes, most likely
		return max(s.Spec.Ranks/(2*bits.Len(uint(s.Spec.Ranks))), 1)
	}
	if proof.Folds(s, proof.Options{}) == "" {
		return s.Spec.Ranks
	}
	return 1
}

// proofNeeds is the bytes that a proof of all ranks takes.
func proofNeeds(w work) float64 {
	return (float64(proofCellBytes*float64(w.cells)) +
		float64(proofPlaceBytes*float64(w.places)) +
		float64(proofConnectionBytes*float64(w.connections)))
}

// logTakes is what is kept of a simulation for who asks what it did.
func logTakes(w work, teams int) unit.Bytes {
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
			float64(sampleBlockBytes*float64(w.blocks))/ranks +
			float64(sampleValueBytes*sampleValues(s, a.outputs)))
	}
	share := float64(c.sample(s, p) * within(s, p))
	buffers := float64(held(s)) * share
	bytes := float64(w.held * int64(s.Spec.Type.Width()))
	longest, step := float64(w.longest)*share, float64(w.moved)*share/float64(max(w.steps, 1))
	window := min(longest, max(windowBytes/max(bytes, 1), longest*windowElements/max(step, 1)))
	if window >= 1 {
		buffers = min(buffers, float64(window*bytes)*float64(threads))
	}
	moves := min(float64(moveBytes*float64(w.steps))+float64(partBytes*float64(w.blocks)),
		1.25*most/4)
	return bytesOf(min(buffers, most) + moves + float64(heightBytes*float64(w.held)))
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

// work is what there is to do in a schedule. bytes are of messages whose size their step names,
// moved the elements of all steps, and blocks those that the steps name.
type work struct {
	steps, messages, bytes, moved, lanes, blocks int64
	places                                       int64 // messages that may be on their way at once
	connections                                  int64
	cells                                        int64 // parts that memories are cut into
	held                                         int64 // of them, those of outputs and scratch
	longest                                      int64 // elements of a part
}

func (w work) times(n int64) work {
	return work{w.steps * n, w.messages * n, w.bytes * n, w.moved * n, w.lanes * n, w.blocks * n,
		w.places * n, w.connections * n, w.cells * n, w.held * n, w.longest}
}

// again is what there is to do if what has been counted since then is done n times more.
func (w work) again(since work, n int64) work {
	w.steps += n * (w.steps - since.steps)
	w.messages += n * (w.messages - since.messages)
	w.bytes += n * (w.bytes - since.bytes)
	w.moved += n * (w.moved - since.moved)
	w.blocks += n * (w.blocks - since.blocks)
	return w
}

// workOf walks the lanes of every rank, or of one where all do as much, or of one of each role.
func workOf(s *schedule.Schedule) (all work) {
	if s.AlikeInRoles() {
		all = workOfRoles(s)
		all.cut(s)
		return all
	}
	ranks := s.Alike()
	c := counter{s: s, peers: map[peerOf]struct{}{}}
	for rank := range ranks {
		c.walk(rank)
	}
	all = c.work.times(int64(s.Spec.Ranks / ranks))
	all.cut(s)
	return all
}

// workOfRoles walks the lanes of the first rank of each role.
func workOfRoles(s *schedule.Schedule) (all work) {
	counts, firsts := make([]int64, s.Roles()), make([]int, s.Roles())
	var peers []int32
	for rank := range s.Spec.Ranks {
		var role int32
		role, peers = s.RoleOf(rank, peers[:0])
		if counts[role]++; counts[role] == 1 {
			firsts[role] = rank
		}
	}
	for role, n := range counts {
		c := counter{s: s, peers: map[peerOf]struct{}{}}
		c.walk(firsts[role])
		all = all.plus(c.work.times(n))
	}
	return all
}

// counter counts the work of ranks.
type counter struct {
	work
	s     *schedule.Schedule
	step  schedule.Step
	peers map[peerOf]struct{} // of a lane
}

// peerOf is where a connection of a lane leads.
type peerOf struct {
	rank, lane, tag int32
	class           schedule.Class
}

func (c *counter) walk(rank int) {
	s, p := c.s, c.s.Program(rank)
	slices := int32(max(s.Slices, 1))
	c.lanes += int64(p.Lanes())
	skips := s.Beside() == nil && s.Parts() == nil
	for lane := range p.Lanes() {
		spot := schedule.Spot{Rank: rank, Channel: p.Channel(lane)}
		most, last := 1, peerOf{rank: -1}
		clear(c.peers)
		var before work // the latest loop
		began := int32(0)
		for at := p.Walk(lane); !at.Done(); at.Next(slices) {
			if loop, follow := at.Around(); skips && loop >= 0 && at.Slice() == 0 &&
				at.Place() == loop+1 {
				switch at.Iteration() {
				case 0:
					before, began = c.work, at.Step
				case 1: // the last one is as the first
					if p.SteadyLoop(&at) {
						c.work = c.work.again(before, int64(follow))
						at.Skip(follow, follow*(at.Step-began))
					}
				}
			}
			p.Load(&at, &c.step)
			spot.Slice = int(at.Slice())
			n, _ := s.Size(spot, &c.step)
			c.steps++
			c.messages += int64(len(c.step.Send))
			c.moved += n
			c.bytes += int64(len(c.step.Send)) * n * int64(s.Spec.Type.Width())
			c.blocks += blocksOf(&c.step)
			most = max(most, len(c.step.Send))
			for i := range c.step.Send {
				d := &c.step.Send[i].Peer
				if to := (peerOf{d.Rank, d.Lane, d.Tag, d.Class}); to != last {
					c.peers[to], last = struct{}{}, to
				}
			}
		}
		c.places += int64(most)
		c.connections += int64(len(c.peers))
	}
}

// cut counts the parts that memories are cut into. Ranks whose buffers are as long are cut alike,
// near enough where a table cuts them.
func (w *work) cut(s *schedule.Schedule) {
	known := map[[3]int64][2]int64{}
	var ends []int64
	ranks, times := s.Spec.Ranks, int64(1)
	if s.SameSizes() {
		ranks, times = 1, int64(ranks)
	}
	for rank := range ranks {
		var lens [3]int64
		for b := range lens {
			lens[b] = s.Len(schedule.Buffer(b), rank)
		}
		parts, seen := known[lens]
		if !seen {
			var homes [3]int64
			for b, n := range lens {
				if n == 0 {
					continue
				}
				ends = s.Ends(ends[:0], schedule.Buffer(b), rank, 0)
				pieces := max(int64(len(ends)), 1)
				home, _ := s.Home(schedule.Buffer(b), rank)
				homes[home] = max(homes[home], pieces)
				w.longest = max(w.longest, (n+pieces-1)/pieces)
			}
			parts = [2]int64{homes[0] + homes[1] + homes[2], homes[1] + homes[2]}
			if s.Spec.InPlace {
				parts[1] = parts[0]
			}
			known[lens] = parts
		}
		w.cells += times * parts[0]
		w.held += times * parts[1]
	}
}
