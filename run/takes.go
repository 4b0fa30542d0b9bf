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

// Bytes of the records that stages keep, with what the collector has not freed of them. The largest
// resident sets of the command are below the sums: TestTakesMeasured.
const (
	commandBytes    = 48 << 20  // the command itself, with what small points take
	resultBytes     = 12 << 10  // a result, until all are reported
	linkBytes       = 200       // a link of a network
	rankBytes       = 2000      // a program of a rank's own,
	stepBytes       = 1000      // a step of it, loops once,
	fileStepBytes   = 170       // or of a file, with its text,
	listBytes       = 8         // and a block that it lists
	placeBytes      = 2500      // a message that may be under way in a simulation, with its lane,
	connectionBytes = 850       // its connection,
	hopBytes        = 12        // a link on its route,
	packetBytes     = 300       // and a segment of it
	sweptLaneBytes  = 4000      // a lane, where ranks are swept
	likeBytes       = 20        // a rank that another one stands for,
	peerBytes       = 15        // and a connection of it, where ranks are alike by roles
	logStepBytes    = 150       // a step in a log,
	logMessageBytes = 200       // and a message
	sentBytes       = 750       // a message that may be under way in a proof,
	cellBytes       = 48        // a part of a memory, in a proof of all ranks,
	likeCellBytes   = 150       // or of one for all,
	valueBytes      = 500       // and a block of the largest message there,
	roleBytes       = 400       // and a rank that has a role,
	rolesBytes      = 12 << 20  // with the tables of all
	clockBytes      = 12        // an entry of a vector clock
	moveBytes       = 120       // a step, in a check of numbers,
	partBytes       = 20        // and a block that it names,
	roleStepBytes   = 700       // or a step where ranks share programs by roles
	outputBytes     = 200       // a step of the rank that stands for all, or a value, in a sample
	sampleBytes     = 16 << 20  // the rest of a sample
	windowBytes     = 80 << 20  // a window of all buffers,
	anewBytes       = 256 << 20 // or where moves are made anew for each
	windowElements  = 64        // elements that a step moves in a window, at least
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

// larger returns the larger of each figure: the needs of algorithms that are tried one after the
// other.
func (t Takes) larger(u Takes) Takes {
	return Takes{Schedule: max(t.Schedule, u.Schedule), Proof: max(t.Proof, u.Proof),
		Simulation: max(t.Simulation, u.Simulation), Log: max(t.Log, u.Log),
		Numbers: max(t.Numbers, u.Numbers), Executing: max(t.Executing, u.Executing),
		Text: max(t.Text, u.Text)}
}

// carriedOut describes how a schedule is carried out.
type carriedOut struct {
	teams   int   // that do so at once
	classes int64 // ranks that are simulated for all; 0: each rank is
	threads int   // that check numbers
}

// takesOf bounds what a schedule of a point takes.
func takesOf(s *schedule.Schedule, p *scenarios.Point, w work, c carriedOut) (t Takes) {
	n := float64(c.teams)
	if hasOwn(s) {
		steps := float64(stepBytes*float64(w.written)) + float64(listBytes*float64(w.listed))
		if p.Algorithm.FromFile() {
			steps = fileStepBytes * float64(w.steps)
		}
		t.Schedule = bytesOf(float64(n*steps) + float64(n*rankBytes*float64(s.Spec.Ranks)))
	}
	t.Simulation = bytesOf(float64(n * simulationTakes(s, p, w, c.classes)))
	if p.Check.Proof {
		t.Proof = proofTakes(s, w)
	}
	if p.Check.Numbers {
		t.Numbers = numbersTake(s, p, w, c.threads)
	}
	return t
}

// foldedFrom is the number of ranks from which it is worth a look whether few stand for all.
const foldedFrom = 1 << 10

// fewClasses bounds the classes of equal ranks: with more, all ranks are swept instead of one of
// each class.
const fewClasses = 16

// simulationTakes bounds what a simulation takes of the ranks that stand for all, or of all.
func simulationTakes(s *schedule.Schedule, p *scenarios.Point, w work, classes int64) float64 {
	share, all := 1.0, 0.0
	if classes > 0 {
		share = float64(classes) / float64(s.Spec.Ranks)
		all = float64(likeBytes * float64(s.Spec.Ranks))
		if s.HasRoles() {
			all += float64(peerBytes * float64(w.connections))
		}
	}
	connection := connectionBytes + float64(hopBytes*hopsOf(s, p))
	t := all + float64(share*(float64(placeBytes*float64(w.places))+
		float64(connection*float64(w.connections))+float64(packetBytes*packets(p, w)))) +
		float64(linkBytes*linksOf(p))
	if sweeps(s, p, w) && (classes == 0 || classes > fewClasses) {
		t = max(t, float64(sweptLaneBytes*float64(w.lanes))+
			float64(connectionBytes*float64(w.connections)))
	}
	return t
}

// linksOf counts the links that a network lists; none where a formula has them.
func linksOf(p *scenarios.Point) float64 {
	g, err := p.Topology.Graph()
	if err != nil || !g.IsListed() {
		return 0
	}
	return float64(g.NumLinks())
}

// hopsOf returns the mean number of links that messages cross, over the first messages of a few
// ranks.
func hopsOf(s *schedule.Schedule, p *scenarios.Point) float64 {
	const ranks, sends = 32, 256
	g, err := p.Topology.Graph()
	if err != nil || p.Teams != nil || s.Parts() != nil {
		return 1
	}
	var step schedule.Step
	var route []int32
	links, routes := 0, 0
	for i := range min(s.Spec.Ranks, ranks) {
		rank, left := i*s.Spec.Ranks/min(s.Spec.Ranks, ranks), sends
		program := s.Program(rank)
		for lane := 0; lane < program.Lanes() && left > 0; lane++ {
			for at := program.Walk(lane); !at.Done() && left > 0; at.Next(1) {
				program.Load(&at, &step)
				left--
				for i := range step.Send {
					route = g.Route(rank, int(step.Send[i].Peer.Rank), route[:0])
					links, routes = links+len(route), routes+1
				}
			}
		}
	}
	return float64(links) / float64(max(routes, 1))
}

// sweeps reports whether ranks are swept, if nothing in their order forbids it.
func sweeps(s *schedule.Schedule, p *scenarios.Point, w work) bool {
	e := p.Sim.Engine
	return e == scenarios.SweepEngine || e == scenarios.BestEngine && s.Group != nil &&
		s.Spec.Ranks >= sim.SweptFrom && p.Teams == nil && waitsForAll(p, w) &&
		p.Device.GPU.SMs == 0
}

// waitsForAll reports whether only messages are sent, and lanes wait until they have left.
func waitsForAll(p *scenarios.Point, w work) bool {
	d := &p.Device
	return !w.isOneSided && !d.Offload && d.SendBuffer == 0 && d.EagerLimit == 0
}

// packets bounds the segments of messages that may be under way at once.
func packets(p *scenarios.Point, w work) float64 {
	if p.Sim.Segment == 0 || p.Sim.Sharing == scenarios.Fluid {
		return 0
	}
	segment := int64(p.Sim.Segment)
	each := (w.largest + segment - 1) / segment
	return min(float64(w.places)*float64(each), float64(w.bytes)/float64(segment)+float64(w.transfers))
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

// proofTakes bounds what a proof of a schedule takes, of one rank where that stands for all. A
// memory is divided as far as steps use it, twice as far at most.
func proofTakes(s *schedule.Schedule, w work) unit.Bytes {
	cell, cells := float64(cellBytes), min(max(w.cells, w.runs-w.listed, w.blocks), 2*w.blocks)
	if stoodFor(s, w) == s.Spec.Ranks {
		cell = likeCellBytes
		cells = min(max(w.cells, w.runs-w.listed, w.blocks), int64(s.Spec.Ranks)*mostBlocks(s))
	}
	t := proofNeeds(w, cells, cell)/float64(stoodFor(s, w)) +
		float64(valueBytes*float64(foldedValues(s, w)))
	if s.HasRoles() {
		t += rolesBytes + float64(roleBytes*float64(s.Spec.Ranks)) +
			float64(peerBytes*float64(w.connections))
	}
	return bytesOf(t)
}

// mostBlocks returns the largest number of blocks in a buffer of a rank.
func mostBlocks(s *schedule.Schedule) (n int64) {
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		if s.Len(b, 0) > 0 {
			n = max(n, int64(s.Blocks(b)))
		}
	}
	return n
}

// foldedValues returns how many sums of inputs rank 0 makes at once in a proof in which it stands
// for all: one for each block of the largest message, as none equals another. Where all ranks are
// walked, they share the sums.
func foldedValues(s *schedule.Schedule, w work) int64 {
	if !s.Spec.Kind.Reduces() || !s.ByRank(schedule.Input) || stoodFor(s, w) < s.Spec.Ranks {
		return 0
	}
	block := s.Len(schedule.Input, 0) / int64(s.Blocks(schedule.Input)) * int64(s.Spec.Type.Width())
	return w.largest / max(block, 1)
}

// stoodFor returns how many ranks one is likely to stand for in a proof. Where what a rank sends
// goes around all ranks, roles are no classes.
func stoodFor(s *schedule.Schedule, w work) int {
	ranks := int64(s.Spec.Ranks)
	if s.HasRoles() && w.steps/ranks < ranks && // by classes, likely
		(s.Spec.Kind == collective.AllReduce || branches(s)) {
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

// proofNeeds bounds what a proof of all ranks takes.
func proofNeeds(w work, cells int64, cell float64) float64 {
	clocks := 0.0 // of lanes and posts, of what they know of each lane
	if w.posts > 0 {
		clocks = float64(clockBytes * float64(w.lanes) * float64(w.lanes+w.posts))
	}
	return float64(cell*float64(cells)) + float64(sentBytes*float64(w.places)) +
		float64(connectionBytes*float64(w.connections)) + clocks
}

// logTakes bounds what a simulation writes down of so many steps and messages.
func logTakes(steps, messages float64) unit.Bytes {
	return bytesOf(float64(logStepBytes*steps) + float64(logMessageBytes*messages))
}

// numbersTake bounds what a check of numbers takes: all buffers, or windows of them where that is
// less (package reference), and its moves. check.memory bounds both.
func numbersTake(s *schedule.Schedule, p *scenarios.Point, w work, threads int) unit.Bytes {
	switch a := amountOf(s, p, w); {
	case a.none != "":
		return 0
	case a.outputs > 0:
		ranks := float64(s.Spec.Ranks)
		return bytesOf(sampleBytes + float64(outputBytes*(float64(w.steps+w.runs)/ranks+
			outputValues(s, a.outputs))))
	}
	most := float64(p.Check.Memory)
	share := sampleOf(s, p, w) * heldAtOnce(s, p, w)
	buffers := float64((float64(held(s)) + flying(s, w)) * share)
	moves, window := float64(moveBytes*float64(w.steps))+float64(partBytes*float64(w.blocks)),
		float64(windowBytes)
	if keeps := most / 4; moves > keeps {
		moves, window = keeps, anewBytes
	}
	perPlace := float64(float64(w.held)*float64(s.Spec.Type.Width())) +
		flying(s, w)/float64(max(w.longest, 1))
	longest := float64(float64(w.longest) * share)
	step := float64(w.moved) * share / float64(max(w.steps, 1))
	places := min(longest, max(window/max(perPlace, 1), longest*windowElements/max(step, 1)))
	if places >= 1 {
		buffers = min(buffers, float64(places*perPlace)*float64(threads))
	}
	if s.HasRoles() {
		moves += float64(roleStepBytes * float64(w.steps))
	}
	return bytesOf(min(buffers, most) + moves + float64(4*float64(w.held)))
}

// executingTakes returns the memory for executing a schedule: what the executor needs, and room for
// comparing its outputs with the expected ones where check.memory allows that.
func executingTakes(s *schedule.Schedule, p *scenarios.Point, needs int64) unit.Bytes {
	if check := hw.Compared(s); check <= int64(p.Check.Memory) {
		needs += check
	}
	return unit.Bytes(needs)
}

// Bytes of a text that others read, for a step: its elements are held until all is written, and
// what it would be read as is proven.
var textBytes = map[string]float64{"msccl": 1500, "goal": 600}

// textTakes returns the memory for exporting a schedule.
func textTakes(format string, w work) unit.Bytes {
	if format == formats.Text {
		return 0
	}
	return bytesOf(float64(textBytes[format] * float64(w.steps)))
}

// bytesOf converts an estimate to bytes, at most a quarter of the largest number: sums do not
// overflow.
func bytesOf(x float64) unit.Bytes {
	if x >= math.MaxInt64/4 {
		return math.MaxInt64 / 4
	}
	return unit.Bytes(x)
}

// held returns the bytes of the buffers that a check of numbers holds. Inputs are generated when
// they are read, unless the output shares their buffer.
func held(s *schedule.Schedule) unit.Bytes {
	elements := int64(0)
	for rank := range s.Spec.Ranks {
		for b := schedule.Input; b <= schedule.Scratch; b++ {
			if b != schedule.Input || s.Spec.InPlace {
				elements += s.Len(b, rank)
			}
		}
	}
	return unit.Bytes(elements * int64(s.Spec.Type.Width()))
}

// flying bounds the bytes of messages under way in a check of numbers, where a rank goes on until
// it waits for another: one message a lane, at most all. In send_recv the sender comes before the
// receiver, which takes the message at once. Where ranks exchange, the second finds the first's
// message: half are held.
func flying(s *schedule.Schedule, w work) float64 { // it may be more than fits an integer
	all := min(float64(w.places)*float64(w.largest), float64(w.bytes))
	switch {
	case s.Spec.Kind == collective.SendRecv:
		return 0
	case s.Group != nil && w.lanes == int64(s.Spec.Ranks):
		return all / 2
	}
	return all
}
