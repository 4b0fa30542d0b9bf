package fold

import (
	"collsim/schedule"
	"collsim/sim/internal/exchange"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/unit"
)

// engine holds the state of a run in flat arrays, for the representatives of the classes only. A
// lane is a lane of a representative. By symmetry, what a lane sends to any rank arrives at the
// same time as a message that the rank's representative receives from a peer at the same distance.
// So a connection is named by the lane that receives, and by the sender's position relative to that
// lane's rank.
type engine struct {
	rules  model.Rules
	sym    *symmetry.Subgroup
	net    *links
	slices int32
	totals model.Totals // of the representatives
	steps  int64        // sub-steps so far, without those that were left out
	most   int64        // such sub-steps at most
	why    string       // the symmetry broke: why
	probe  *probe

	programs   []*schedule.Program // by class
	perRank    int32               // lanes
	lanes      []lane
	unfinished int
	ready      []int32

	actions  []action
	actionBy map[[2]int32]int32 // of what is the same in every iteration: by lane and place
	loops    map[[3]int32]bool  // by class, loop and lane of the rank: repeats

	conns     []connection
	connBy    map[connectionKey]int32
	freeConns []int32
	mostConns int   // beyond which some are forgotten
	forgotten int64 // how often some were

	messages flat.Pool[message]
	marks    exchange.Marks // of slots

	links   []orbit
	queue   flat.Heap[unit.Time] // of requests: of packets (FIFO), of messages to flow (fluid)
	packets flat.Pool[packet]
	last    served

	fluid
	steady
}

// orbit is the state of number 0 of an orbit of links.
type orbit struct {
	model.Link
	busy unit.Time
	load unit.Bytes
	free unit.Time
	went uint64 // how many it has brought to its end
}

// lane holds the state of a lane: its position in the rank's program, the times of its step, and
// what it waits for.
type lane struct {
	cursor   schedule.Cursor
	end      model.Moment // of the step before
	until    model.Moment // of the present step: the latest that is known of D and its messages
	class    int32
	index    int32 // on its rank
	channel  int32
	action   int32 // of the present step, −1 as long as nobody has looked
	own      int32 // the action of steps that are looked at each time, −1 if there was none
	key      uint64
	pending  int32
	received int32
	sends    int32
	posts    []model.Moment
	isPost   bool
	isReady  bool
	waits    waiting
	on       int32
	waiters  int32
	next     int32
}

// isOver reports whether a lane has come to its end.
func (l *lane) isOver() bool { return l.waits == forEver || l.cursor.Done() }

// waiting names the kind of thing that a lane waits for.
type waiting uint8

const (
	forNothing waiting = iota
	forMessage         // of connection on
	forSlot            // of connection on
	forEvent           // of lane on
	forStep            // its own, to end
	forEver            // it has come to its end
)

// action is a step as the engine carries it out.
type action struct {
	step     schedule.Step
	receives []int32 // connections
	sends    []int32
	sizes    []size // by slice
}

// size holds the bytes that a sub-step moves and the time that it takes.
type size struct {
	bytes unit.Bytes // notYet, or unknown
	cost  unit.Time
}

const (
	notYet  unit.Bytes = -1
	unknown unit.Bytes = -2 // the step does not say; the messages received do
)

func newEngine(s *schedule.Schedule, env *model.Env, sym *symmetry.Subgroup, net *links) *engine {
	e := &engine{rules: model.NewRules(s, env), sym: sym, net: net, slices: int32(s.Slices),
		actionBy: map[[2]int32]int32{}, connBy: map[connectionKey]int32{}, mostConns: fewConns,
		messages: flat.NewPool[message](0), marks: exchange.NewMarks(0),
		packets: flat.NewPool[packet](0)}
	e.links = make([]orbit, len(net.network.Links))
	for i := range e.links {
		e.links[i].Link = net.network.Links[i]
	}
	for class, rank := range sym.Reps {
		p := s.Program(int(rank))
		e.programs, e.perRank = append(e.programs, p), int32(p.Lanes())
		for i := range p.Lanes() {
			c := p.Walk(i)
			e.lanes = append(e.lanes, lane{cursor: c, class: int32(class), index: int32(i),
				channel: int32(p.Channel(i)), end: e.rules.Begin(rank, !c.Done()), action: -1, own: -1,
				received: -1, sends: -1, waiters: -1, key: model.LaneKey(i)})
		}
	}
	e.unfinished = len(e.lanes)
	if env.Sharing == model.Fluid {
		e.fair = model.NewDrain(&net.network)
	}
	for i := len(e.lanes) - 1; i >= 0; i-- {
		e.wake(int32(i))
	}
	return e
}

// run simulates the representatives to their end, or until the symmetry breaks.
func (e *engine) run() {
	if e.fair != nil {
		e.runFluid()
	} else {
		e.runFIFO()
	}
}

// refuse notes why the symmetry does not hold.
func (e *engine) refuse(why string) {
	if e.why == "" {
		e.why = why
	}
}

// wake puts a lane among those that may be able to go on.
func (e *engine) wake(i int32) {
	if l := &e.lanes[i]; !l.isReady {
		l.isReady, l.waits = true, forNothing
		e.ready = append(e.ready, i)
	}
}

// runLanes lets every lane that is awake go on as far as it can.
func (e *engine) runLanes() {
	for len(e.ready) > 0 && e.why == "" {
		i := e.ready[len(e.ready)-1]
		e.ready = e.ready[:len(e.ready)-1]
		l := &e.lanes[i]
		l.isReady = false
		if l.cursor.Done() {
			l.waits = forEver
			e.unfinished--
			continue
		}
		if l.action < 0 {
			e.resolve(i)
		}
		if start, known := e.start(i); known {
			e.perform(i, start)
		}
	}
}

// start returns the time S at which a lane's step starts (docs/time.md), if everything that it
// depends on is known. Otherwise the lane waits for the first thing that is not: messages, then
// slots, then events, as in every engine.
func (e *engine) start(i int32) (at model.Moment, known bool) {
	l := &e.lanes[i]
	a := &e.actions[l.action]
	at = l.end
	for _, c := range a.receives {
		m := e.conns[c].queue.First
		if m < 0 || !e.messages.At(m).isHere {
			l.waits, l.on = forMessage, c
			return at, false
		}
		at = model.Later(at, e.messages.At(m).at)
	}
	for _, c := range a.sends {
		t, ok := e.slot(&e.conns[c])
		if !ok {
			l.waits, l.on = forSlot, c
			return at, false
		}
		at = model.Later(at, t)
	}
	if l.cursor.Slice() > 0 {
		return at, true
	}
	for _, v := range a.step.Await {
		if v.Value <= 0 {
			continue
		}
		on := l.class*e.perRank + v.Lane
		o := &e.lanes[on]
		if int(v.Value) > len(o.posts) {
			l.waits, l.on, l.next = forEvent, on, o.waiters
			o.waiters = i
			return at, false
		}
		at = model.Later(at, o.posts[v.Value-1])
	}
	return at, true
}

// perform carries out a lane's sub-step, which starts at S = start.
func (e *engine) perform(i int32, start model.Moment) {
	l := &e.lanes[i]
	a := &e.actions[l.action]
	if e.steps++; e.steps > e.most {
		e.refuse("another engine is as quick")
		return
	}
	e.totals.Steps++
	l.waits, l.received, l.sends, l.pending = forStep, -1, -1, 1
	l.isPost = a.step.Post && l.cursor.Last(e.slices)
	n, cost := e.moved(l, a)
	done := start.Plus(cost) // all messages set out then; the first to leave changes until
	l.until = done
	e.probe.stepBegins(i, start.T, n)
	for _, c := range a.receives {
		m := e.messages.Pop(&e.conns[c].queue)
		e.messages.At(m).also = l.received
		l.received = m
	}
	k := len(a.sends)
	e.totals.Messages += int64(k)
	e.totals.BytesSent += n * unit.Bytes(k)
	for j := k - 1; j >= 0; j-- { // so that l.sends is in program order
		c := &e.conns[a.sends[j]]
		e.take(c, l.end.T)
		m := e.newMessage(message{bytes: n, lane: i, conn: a.sends[j], route: c.route,
			peers: int32(k)})
		if !e.figures(m, a.step.Send[j].Framing()) {
			return
		}
		e.enqueue(m)
		e.messages.At(m).also = l.sends
		l.sends = m
	}
	for m := l.sends; m >= 0; {
		x := e.messages.At(m)
		next := x.also
		x.key = l.key
		l.key++
		l.pending++
		e.setOut(m, done)
		m = next
	}
	l.sends = -1
	if l.pending--; l.pending == 0 { // the 1 above: nobody but us ends the step meanwhile
		e.finish(i)
	}
}

// moved returns the bytes n that a sub-step moves, and its duration D − S (docs/time.md).
func (e *engine) moved(l *lane, a *action) (unit.Bytes, unit.Time) {
	slice := l.cursor.Slice()
	for len(a.sizes) <= int(slice) {
		a.sizes = append(a.sizes, size{bytes: notYet})
	}
	s, rank := &a.sizes[slice], e.sym.Reps[l.class]
	if s.bytes == notYet {
		n, known := e.rules.Size(schedule.Spot{Rank: int(rank), Channel: int(l.channel),
			Slice: int(slice)}, &a.step)
		if s.bytes = unknown; known {
			*s = size{n, e.rules.Cost(rank, &a.step, n)}
		}
	}
	if s.bytes != unknown {
		return s.bytes, s.cost
	}
	n := unit.Bytes(0)
	for _, c := range a.receives {
		n = max(n, e.messages.At(e.conns[c].queue.First).bytes)
	}
	return n, e.rules.Cost(rank, &a.step, n)
}

// figures gives a message the figures of its size, and counts what crosses the links.
func (e *engine) figures(m int32, with schedule.Framing) bool {
	x := e.messages.At(m)
	f := e.rules.Device.Of(x.bytes)
	x.carried, x.late = model.OnLinks(f, x.bytes, with), f.Latency
	if x.carried > model.MostOnLinks {
		e.refuse("a message is larger than is counted")
		return false
	}
	return true
}

// finish ends the lane's present step, now that it is known when: E is l.until.
func (e *engine) finish(i int32) {
	l := &e.lanes[i]
	l.end = l.until
	if l.end.T >= unit.Forever {
		e.refuse("time is counted no further")
	}
	e.probe.stepEnds(i, l.end.T)
	freed := e.rules.Freed(l.end)
	for m := l.received; m >= 0; {
		next := e.messages.At(m).also
		e.release(m, freed)
		m = next
	}
	if l.isPost {
		l.posts = append(l.posts, l.end)
		for w := l.waiters; w >= 0; w = e.lanes[w].next {
			e.wake(w)
		}
		l.waiters = -1
	}
	e.advance(i, l)
	e.wake(i)
}

// oneDone notes that one of the things that a lane's step waits for is over. With the last one the
// step ends.
func (e *engine) oneDone(i int32, at model.Moment) {
	l := &e.lanes[i]
	l.until = model.Later(l.until, at)
	if l.pending--; l.pending == 0 {
		e.finish(i)
	}
}

// left notes that the last byte of a message has left its first node.
func (e *engine) left(m int32, at model.Moment) { e.oneDone(e.messages.At(m).lane, at) }

// arrived notes that the last byte of a message has reached its receiver, and wakes a lane that
// waits for it.
func (e *engine) arrived(m int32, at model.Moment) {
	x := e.messages.At(m)
	x.at, x.isHere = at.Plus(x.late), true
	c := &e.conns[x.conn]
	if dst := &e.lanes[c.dst]; c.queue.First == m && dst.waits == forMessage && dst.on == x.conn {
		e.wake(c.dst)
	}
}

// setOut lets a message set out at a moment.
func (e *engine) setOut(m int32, at model.Moment) {
	e.messages.At(m).since = at
	if e.fair != nil {
		e.inject(m, at)
	} else {
		e.addPacket(m, 0, at)
	}
}
