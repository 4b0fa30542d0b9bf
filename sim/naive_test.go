package sim_test

import (
	"cmp"
	"container/heap"
	"errors"

	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/model"
	"collsim/unit"
)

// naive is an engine for comparison: it has one event for everything that happens, in a boxed heap,
// and looks at every lane after each. What things take is said by package model; when they happen,
// by the order of events alone: a step starts when the last thing that it needs is there.
type naive struct {
	model.Rules
	network model.Network
	now     model.Moment
	events  happenings
	lanes   []*naiveLane
	first   []int // of each rank's lanes
	conns   map[naiveKey]*naiveConn
	free    []unit.Time // of links
	load    []unit.Bytes
	fair    *model.MaxMin
	flows   []*naiveMessage
	changed bool // what flows
}

type naiveLane struct {
	program *schedule.Program
	cursor  schedule.Cursor
	index   int
	step    schedule.Step
	loaded  bool         // the step is what the cursor is at
	in, out []*naiveConn // of the step's messages; those without limit are not in out
	isFree  bool         // to go on
	pending int          // messages that must leave, or replies that must come
	end     unit.Time
	posts   int
	key     uint64
}

type naiveKey struct {
	from, to int // lanes
	class    schedule.Class
	tag      int32
}

// naiveConn is a connection: its messages, and how many of its slots, if they are limited, are in
// use.
type naiveConn struct {
	queue       []*naiveMessage
	used, slots int
}

type naiveMessage struct {
	lane       *naiveLane
	conn       *naiveConn
	here       bool
	bytes      unit.Bytes
	onLinks    unit.Bytes
	late       unit.Time
	peers      int32
	route      int32
	key        uint64
	asked      model.Moment
	left, came func() // when its last byte has left, and has come
	rest       model.Rest
	ends       unit.Time // −1: it does not flow
}

// happening is an event. Of those at one moment requests for links are the last, by the tie key.
type happening struct {
	at     model.Moment
	isAsk  bool
	link   int32
	key    uint64
	number int
	do     func()
}

type happenings []*happening

func (h happenings) Len() int      { return len(h) }
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *happenings) Push(x any)   { *h = append(*h, x.(*happening)) }
func (h happenings) Less(i, j int) bool {
	a, b := h[i], h[j]
	if c := cmp.Or(cmp.Compare(a.at.T, b.at.T), cmp.Compare(a.at.Wave, b.at.Wave)); c != 0 {
		return c < 0
	}
	if a.isAsk != b.isAsk {
		return b.isAsk
	}
	return cmp.Or(cmp.Compare(a.link, b.link), cmp.Compare(a.key, b.key),
		cmp.Compare(a.number, b.number)) < 0
}

func (h *happenings) Pop() any {
	a := *h
	x := a[len(a)-1]
	*h = a[:len(a)-1]
	return x
}

var errNotNaive = errors.New("the naive engine does not play it")

// runNaive plays a schedule: when each lane ends, and what each link has carried.
func runNaive(s *schedule.Schedule, env *sim.Env) ([]unit.Time, []unit.Bytes, error) {
	d := &env.Device
	others := func(step *schedule.Step) bool {
		for i := range step.From {
			if step.From[i].Kind == schedule.Multimem {
				return true
			}
		}
		for i := range step.Send {
			if !step.Send[i].Message() {
				return true
			}
		}
		return false
	}
	if s.Beside() != nil || s.Parts() != nil || d.Offload || d.SendBuffer > 0 || d.EagerLimit > 0 ||
		d.GPU.SMs > 0 || s.AnyStep(others) {
		return nil, nil, errNotNaive
	}
	x := &naive{Rules: model.NewRules(s, env), network: model.NewNetwork(env.Graph),
		conns: map[naiveKey]*naiveConn{}}
	x.free, x.load = make([]unit.Time, len(x.network.Links)), make([]unit.Bytes, len(x.network.Links))
	if env.Sharing == model.Fluid {
		x.fair = model.NewMaxMin(&x.network)
	}
	for rank := range s.Spec.Ranks {
		p := s.Program(rank)
		x.first = append(x.first, len(x.lanes))
		for i := range p.Lanes() {
			l := &naiveLane{program: p, cursor: p.Walk(i), index: i, key: model.LaneKey(i)}
			begin := x.Begin(int32(rank), !l.cursor.Done())
			l.end = begin.T
			x.lanes = append(x.lanes, l)
			x.at(begin, func() { l.isFree = true })
		}
	}
	x.run()
	ends := make([]unit.Time, len(x.lanes))
	for i, l := range x.lanes {
		ends[i] = l.end
		if !l.cursor.Done() { // why, the untimed executor knows
			_, err := schedule.Execute(s, schedule.Limits{Slots: env.Slots}, schedule.Hooks{})
			return nil, nil, err
		}
	}
	for _, c := range x.conns {
		if len(c.queue) > 0 {
			_, err := schedule.Execute(s, schedule.Limits{Slots: env.Slots}, schedule.Hooks{})
			return nil, nil, err
		}
	}
	return ends, x.load, nil
}

func (x *naive) push(e happening) {
	e.number = x.events.Len() // any: what is alike in all else does not ask for one link
	heap.Push(&x.events, &e)
}

func (x *naive) at(when model.Moment, do func()) { x.push(happening{at: when, do: do}) }

func (x *naive) run() {
	for x.events.Len() > 0 {
		if x.changed && x.events[0].at.T > x.now.T {
			x.share()
		}
		e := heap.Pop(&x.events).(*happening)
		x.now = e.at
		e.do()
		for _, l := range x.lanes {
			if l.isFree && !l.cursor.Done() && x.starts(l) {
				x.start(l)
			}
		}
		if x.changed && x.events.Len() == 0 {
			x.share()
		}
	}
}

// starts reports whether all is there that a lane's next step needs.
func (x *naive) starts(l *naiveLane) bool {
	if !l.loaded {
		x.look(l)
	}
	for _, c := range l.in {
		if len(c.queue) == 0 || !c.queue[0].here {
			return false
		}
	}
	for _, c := range l.out {
		if c.used >= c.slots {
			return false
		}
	}
	for _, v := range l.step.Await {
		if o := x.lanes[x.first[l.program.Rank()]+int(v.Lane)]; l.cursor.Slice() == 0 &&
			o.posts < int(v.Value) {
			return false
		}
	}
	return true
}

// look reads a lane's next step, and finds its connections.
func (x *naive) look(l *naiveLane) {
	l.program.Load(&l.cursor, &l.step)
	l.loaded, l.in, l.out = true, l.in[:0], l.out[:0]
	for i := range l.step.From {
		if f := &l.step.From[i]; f.Kind == schedule.Message {
			l.in = append(l.in, x.connect(l, &f.Peer, false))
		}
	}
	for i := range l.step.Send {
		p := &l.step.Send[i].Peer
		if c := x.connect(l, p, true); x.Slots(p.Class) > 0 {
			c.slots = int(x.Slots(p.Class))
			l.out = append(l.out, c)
		}
	}
}

func (x *naive) spot(l *naiveLane) schedule.Spot {
	return schedule.Spot{Rank: l.program.Rank(), Channel: l.program.Channel(l.index),
		Slice: int(l.cursor.Slice())}
}

// start begins a step; at D it asks for what it gets, and then, or else, for links.
func (x *naive) start(l *naiveLane) {
	rank, s := int32(l.program.Rank()), &l.step
	n, known := x.Size(x.spot(l), s)
	var received []*naiveMessage
	l.isFree = false
	for i := range s.From {
		if f := &s.From[i]; f.Kind == schedule.Message {
			c := x.connect(l, &f.Peer, false)
			if !known {
				n = max(n, c.queue[0].bytes)
			}
			received, c.queue = append(received, c.queue[0]), c.queue[1:]
		}
	}
	end := func() { x.end(l, received) }
	messages := []*naiveMessage{}
	for i := range s.Send {
		d, f := &s.Send[i], x.Device.Of(n)
		m := &naiveMessage{lane: l, conn: x.connect(l, &d.Peer, true), bytes: n, late: f.Latency,
			onLinks: model.OnLinks(f, n, d.Framing()), peers: int32(len(s.Send)),
			route: x.network.Route(rank, d.Peer.Rank)}
		m.left, m.came = func() { x.done(l, end) }, func() {
			x.at(x.now.Plus(m.late), func() { m.here = true })
		}
		m.conn.queue = append(m.conn.queue, m)
		m.conn.used++
		messages = append(messages, m)
	}
	send := func() {
		l.pending = 1 + len(messages)
		for _, m := range messages {
			x.setOut(l, m)
		}
		x.done(l, end)
	}
	cost := unit.Time(0)
	if len(s.From) > 0 || !model.IsFree(s, false) {
		cost = x.Cost(rank, s, n)
	}
	gets := []*naiveMessage{}
	for i := range s.From {
		f, owner := &s.From[i], x.spot(l)
		if f.Kind != schedule.Get {
			continue
		}
		owner.Rank = int(f.Peer.Rank)
		reply := &naiveMessage{lane: l, onLinks: x.SizeOf(owner, &f.Region), left: func() {},
			route: x.network.Route(f.Peer.Rank, rank), came: func() { x.done(l, send) }}
		ask := &naiveMessage{lane: l, left: func() {}, route: x.network.Route(rank, f.Peer.Rank)}
		ask.came = func() { reply.key = ask.key; x.cross(reply) }
		gets = append(gets, ask)
	}
	x.at(x.now.Plus(cost), func() {
		if l.pending = len(gets); len(gets) == 0 {
			send()
		}
		for _, m := range gets {
			x.setOut(l, m)
		}
	})
}

// done counts what a step has waited for.
func (x *naive) done(l *naiveLane, then func()) {
	if l.pending--; l.pending == 0 {
		then()
	}
}

func (x *naive) end(l *naiveLane, received []*naiveMessage) {
	l.end, l.isFree = x.now.T, true
	for _, m := range received {
		x.at(x.Freed(x.now), func() { m.conn.used-- })
	}
	if slices := int32(l.program.Slices(l.index)); l.step.Post && l.cursor.Last(slices) {
		l.posts++
	}
	l.cursor.Next(int32(l.program.Slices(l.index)))
	l.loaded = false
}

func (x *naive) connect(l *naiveLane, p *schedule.Peer, out bool) *naiveConn {
	k := naiveKey{from: x.first[p.Rank] + int(p.Lane), to: x.first[l.program.Rank()] + l.index,
		class: p.Class, tag: p.Tag}
	if out {
		k.from, k.to = k.to, k.from
	}
	if x.conns[k] == nil {
		x.conns[k] = &naiveConn{}
	}
	return x.conns[k]
}

// setOut gives a message the lane's next key, and lets it cross its links.
func (x *naive) setOut(l *naiveLane, m *naiveMessage) {
	m.key = l.key
	l.key++
	x.cross(m)
}
