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
	"collsim/topology"
	"collsim/unit"
)

// Takes is the most memory that a point takes, stage by stage: what `check` prints and what a run
// is refused by. It is counts of the schedule (work) times the sizes below.
type Takes struct {
	// Schedule is the network, and the programs of ranks that each have their own. It is held as long
	// as anything goes on; the stages follow one another.
	Schedule   unit.Bytes
	Proof      unit.Bytes // cells of memories, and messages under way
	Simulation unit.Bytes // lanes, connections, and messages under way
	Log        unit.Bytes // what a simulation keeps for `explain`, and for pictures
	Numbers    unit.Bytes // windows of buffers, and moves
	Executing  unit.Bytes // real execution: buffers of all ranks that are on this machine
	Text       unit.Bytes // of an export
}

// Bytes of the records that stages keep. Each was measured once, on the command when it did one
// stage of many such records (TestTakesMeasured), and has what the collector has not freed.
const (
	commandBytes = 48 << 20 // the command with its pages, and all that small points take
	resultBytes  = 12 << 10 // a result, until all are reported
	// An entry of a list: a link of a route, a block that a step names, what a vector clock has of a
	// lane, or whom a rank, or a connection of it, is like.
	entryBytes = 20
	// A record with a name or a value: a link, a step or a message in a log, a step of a file, a value
	// of a sample, a part of a memory in a proof of one rank for all.
	recordBytes     = 200
	stepBytes       = 1000     // a step of a rank's own program, loops once: sources, regions, peers
	placeBytes      = 2500     // a message that may be under way in a simulation, with its lane,
	connectionBytes = 850      // and its connection; in a proof, each of both
	packetBytes     = 300      // a segment of a message, which is requested link by link
	sweptLaneBytes  = 4000     // a lane, where ranks are swept: it keeps its requests until the end
	cellBytes       = 48       // a part of a memory, in a proof of all ranks
	trackBytes      = 200      // who has accessed a part of another rank's memory, in such a proof
	roleBytes       = 512      // a rank that has a role, in a proof by classes
	moveBytes       = 120      // a step, in a check of numbers
	windowBytes     = 80 << 20 // a window of all buffers (package reference), but in one
	windowElements  = 64       // a step moves as many elements at least
	textBytes       = 1500     // a step in a text: it is held until all are written, and proven
)

// peak returns the most memory that is held at once, besides that of the command.
func (t Takes) peak() unit.Bytes {
	_, most := t.most()
	return t.Schedule + most
}

// most returns the stage that takes the most memory, and its bytes.
func (t Takes) most() (stage string, bytes unit.Bytes) {
	for _, x := range []struct {
		stage string
		bytes unit.Bytes
	}{{simStage.Name, t.Simulation + t.Log}, {proofStage.Name, t.Proof}, {checkStage.Name, t.Numbers},
		{"real execution", t.Executing}, {"export", t.Text}} {
		if x.bytes > bytes {
			stage, bytes = x.stage, x.bytes
		}
	}
	return stage, bytes
}

// plus returns the needs of two schedules of different teams. They are simulated at once, but
// proven and computed one after the other.
func (t Takes) plus(u Takes) Takes {
	return Takes{Schedule: t.Schedule + u.Schedule, Proof: max(t.Proof, u.Proof),
		Simulation: t.Simulation + u.Simulation, Log: t.Log + u.Log,
		Numbers: max(t.Numbers, u.Numbers), Executing: t.Executing + u.Executing, Text: t.Text + u.Text}
}

// of returns the bytes of n records, at most so many that sums do not overflow.
func of(n, each int64) unit.Bytes {
	return unit.Bytes(min(unit.MultiplyCapped(n, each), math.MaxInt64>>6))
}

// share returns the given share of a number of bytes, rounded up.
func share(b unit.Bytes, of float64) unit.Bytes { return unit.Bytes(math.Ceil(float64(b) * of)) }

// programsTake bounds the programs of ranks that each have their own.
func programsTake(s *schedule.Schedule, p *scenarios.Point, w work) unit.Bytes {
	switch {
	case !hasOwn(s):
		return 0
	case p.Algorithm.FromFile():
		return of(w.steps, recordBytes)
	}
	return of(w.written+2*int64(s.Spec.Ranks), stepBytes) + of(w.listed, entryBytes)
}

// foldedFrom is the number of ranks from which it is worth a look whether few stand for all.
const foldedFrom = 1 << 10

// fewClasses bounds the classes of equal ranks: with more, all ranks are swept instead of one of
// each class, where they can be.
const fewClasses = 16

// simulationTakes bounds what a simulation takes of the ranks that stand for all, or of all.
func simulationTakes(s *schedule.Schedule, p *scenarios.Point, w work, classes int64) unit.Bytes {
	lanes, isSwept := of(w.places, placeBytes)+of(packets(p, w), packetBytes), sweeps(s, p)
	if isSwept {
		lanes = max(lanes, of(w.lanes, sweptLaneBytes))
	}
	all := lanes + of(w.peers, connectionBytes) + of(w.hops, entryBytes)
	if ranks := int64(s.Spec.Ranks); classes > 0 && (classes <= fewClasses || !isSwept) {
		all = share(all, float64(classes)/float64(ranks)) + of(ranks, entryBytes)
		if s.HasRoles() {
			all += of(w.peers, entryBytes)
		}
	}
	if g, err := p.Topology.Graph(); err == nil && g.IsListed() {
		all += of(int64(g.NumLinks()), recordBytes)
	}
	return all
}

// graphOf returns the network that a point's schedules run on; nil if teams have their own ranks.
func graphOf(p *scenarios.Point) *topology.Graph {
	if g, err := p.Topology.Graph(); err == nil && p.Teams == nil {
		return g
	}
	return nil
}

// sweeps reports whether ranks are swept, if nothing in their order forbids it: only messages are
// sent, and lanes wait until they have left.
func sweeps(s *schedule.Schedule, p *scenarios.Point) bool {
	d, e := p.Device, p.Sim.Engine
	return e == scenarios.SweepEngine || e == scenarios.BestEngine && s.Group != nil &&
		s.Spec.Ranks >= sim.SweptFrom && p.Teams == nil && d.GPU.SMs == 0 && !d.Offload &&
		d.SendBuffer == 0 && d.EagerLimit == 0 && !s.OneSided()
}

// differ reports whether single links or ranks of a point are unlike the others.
func differ(p *scenarios.Point) bool {
	t := p.Topology
	return t.Changed() || t.Starts != nil || t.Slowdowns != nil
}

// packets bounds the segments of messages that may be under way at once.
func packets(p *scenarios.Point, w work) int64 {
	if p.Sim.Segment == 0 || p.Sim.Sharing == scenarios.Fluid {
		return 0
	}
	segment := int64(p.Sim.Segment)
	return min(unit.MultiplyCapped(w.places, (w.largest+segment-1)/segment),
		w.bytes/segment+w.transfers)
}

// classesOf returns the number of ranks that stand for all when a point is simulated, as far as
// its network shows. It is 0 where each rank is simulated, or where that is not known beforehand.
func classesOf(s *schedule.Schedule, p *scenarios.Point) int64 {
	if e := p.Sim.Engine; e == scenarios.EventEngine || e == scenarios.SweepEngine || p.Teams != nil {
		return 0
	}
	g, err := p.Topology.Graph()
	if err != nil || g.IsListed() || len(g.Changes()) > 0 && !s.HasRoles() {
		return 0
	}
	env := envOf(p, g)
	return int64(sim.Classes(s, &env))
}

// proofTakes bounds what a proof of a schedule takes, of one rank where that stands for all.
func proofTakes(s *schedule.Schedule, w work) unit.Bytes {
	each := stoodFor(s, w)
	t := share(proofOfAll(s, w), 1/float64(each))
	if each == s.Spec.Ranks {
		most := int64(0)
		for b := schedule.Input; b <= schedule.Scratch; b++ {
			most = max(most, min(s.Len(b, 0), int64(s.Blocks(b))))
		}
		t += of(most, recordBytes)
	}
	if s.HasRoles() {
		t += of(int64(s.Spec.Ranks), roleBytes)
	}
	return t
}

// proofOfAll bounds what a proof of all ranks takes. Memories are divided as far as steps use them.
func proofOfAll(s *schedule.Schedule, w work) unit.Bytes {
	t := of(w.blocks, cellBytes) + of(w.places+w.peers, connectionBytes) + of(w.afar, trackBytes)
	if w.posts > 0 { // clocks of lanes and posts have what they know of other lanes
		each, kept := proof.ClockEntries(s, w.lanes)
		t += of(unit.MultiplyCapped(each, w.lanes+min(w.posts, unit.MultiplyCapped(kept, w.lanes))),
			entryBytes)
	}
	return t
}

// stoodFor returns how many ranks one is likely to stand for in a proof. Where what a rank sends
// goes around all ranks, roles are no classes; else its peers are about as many as its number has
// bits.
func stoodFor(s *schedule.Schedule, w work) int {
	ranks := s.Spec.Ranks
	if s.HasRoles() && w.steps/int64(ranks) < int64(ranks) {
		_, peers := s.RoleOf(0, nil)
		if digits := bits.Len(uint(ranks)); s.Spec.Kind == collective.AllReduce ||
			2*len(peers) > digits {
			return max(ranks/(2*digits), 1)
		}
	}
	if proof.Folds(s, proof.Options{}) == "" {
		return ranks
	}
	return 1
}

// numbersTake bounds what a check of numbers takes: all buffers, or a window of them for each
// thread where steps do not move too little in it, and its moves. check.memory bounds both.
func numbersTake(s *schedule.Schedule, p *scenarios.Point, w work, threads int) unit.Bytes {
	a, most, width := amountOf(s, p, w), p.Check.Memory, int64(s.Spec.Type.Width())
	switch {
	case a.none != "":
		return 0
	case a.outputs > 0:
		return of(int64(a.operations/stepOperations), recordBytes) +
			of(w.blocks/int64(s.Spec.Ranks), entryBytes)
	}
	part := 1.0
	if a.count > 0 {
		part = float64(a.count) / float64(s.Spec.Count)
	}
	all := min(share(buffers(s, w), part), most)
	moves := of(w.steps, moveBytes) + of(w.blocks, entryBytes)
	if moves <= most/4 && of(w.blocks, width) <= windowBytes {
		step := part * float64(w.bytes) / float64(of(max(w.steps, 1), width))
		window := max(windowBytes, share(all, min(windowElements/max(step, 1), 1)))
		all = min(all, unit.Bytes(threads)*window)
	}
	t := all + min(moves, most/4)
	if s.HasRoles() { // each rank's program is made
		t += of(w.written, stepBytes)
	}
	return t
}

// executingTakes returns the memory for executing a schedule: what the executor needs, and room for
// comparing its outputs with the expected ones where check.memory allows that.
func executingTakes(s *schedule.Schedule, p *scenarios.Point, needs int64) unit.Bytes {
	if check := hw.Compared(s); check <= int64(p.Check.Memory) {
		needs += check
	}
	return unit.Bytes(needs)
}

// textTakes returns the memory for exporting a schedule.
func textTakes(format string, w work) unit.Bytes {
	if format == formats.Text {
		return 0
	}
	return of(w.steps, textBytes)
}
