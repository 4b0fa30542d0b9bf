package sim_test

import (
	"cmp"
	"iter"
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// naive is an engine to hold the others to: docs/time.md to the letter. Whatever happens is an
// event, and whenever something has happened every lane looks whether it can go on. What a step or
// message costs by its size is said by model.Rules, and what links it crosses by model.Network;
// when things happen, in which order and at what rate, is said here alone.
type naive struct {
	model.Rules
	network     model.Network
	now         unit.Time
	since       unit.Time   // flows have had their rates
	times       []unit.Time // of events, in order
	events      map[unit.Time][]func()
	lanes       [][]*naiveLane
	conns       map[[6]int32]*naiveConn
	load        []unit.Bytes    // of links
	free        []unit.Time     // links, from then on, under FIFO
	asks, flows []*naiveMessage // for links, now; under fluid sharing
	isOld       bool            // some flows have come or gone
}

// naiveLane is a lane: a sequence of what it waits for.
type naiveLane struct {
	until func() bool // nil at its end
	next  func() (until func() bool, ok bool)
	key   uint64 // of what it sends next
	posts int32
	end   unit.Time // E of its last sub-step
}

// naiveConn is a connection: what is sent and not received, and how many slots are taken.
type naiveConn struct {
	queue []*naiveMessage
	used  int32
}

// naiveMessage is a message, or a segment of one from a byte on; or the request or reply of a get,
// which no lane puts out: these have 0 peers.
type naiveMessage struct {
	data, bytes, from  unit.Bytes // bytes: on its links
	route, rank, peers int32
	links              []int32   // of its route
	hop                int       // the next of these
	tail, late         unit.Time // when its last byte is there; how late it is after the last
	left, came         func()    // its last byte
	isHere             bool
	key, most, rate    uint64     // to ask for a link; of a flow
	rest               model.Work // likewise
}

// runNaive simulates a schedule: when each lane ends, what each link has carried, and whether it
// stalls or leaves messages that nobody receives.
func runNaive(s *schedule.Schedule, on *model.Env) (ends []unit.Time, load []unit.Bytes, bad bool) {
	x := &naive{Rules: model.NewRules(s, on), network: model.NewNetwork(on.Graph),
		lanes: make([][]*naiveLane, s.Spec.Ranks), events: map[unit.Time][]func(){},
		load: make([]unit.Bytes, len(on.Graph.Links())), conns: map[[6]int32]*naiveConn{},
		free: make([]unit.Time, len(on.Graph.Links()))}
	for rank := range x.lanes {
		for i := range s.Program(rank).Lanes() {
			l := &naiveLane{key: model.LaneKey(i), until: func() bool { return true }}
			next, stop := iter.Pull(func(wait func(func() bool) bool) { x.simulate(rank, i, l, wait) })
			defer stop()
			l.next, x.lanes[rank] = next, append(x.lanes[rank], l)
		}
	}
	x.at(0, func() {}) // and the lanes begin
	x.run()
	for _, l := range slices.Concat(x.lanes...) {
		ends, bad = append(ends, l.end), bad || l.until != nil
	}
	for _, c := range x.conns {
		bad = bad || len(c.queue) > 0
	}
	return ends, x.load, bad
}

// run does all that there is to do at a time, and goes on to the next. When no lane can go on, what
// asks for links is a wave, which is served in the order of keys; what that makes possible at the
// same time is of the next wave. When nothing asks any more, flows get their rates.
func (x *naive) run() {
	for all := slices.Concat(x.lanes...); ; {
		switch events, wave := x.events[x.now], x.asks; {
		case len(events) > 0:
			delete(x.events, x.now)
			for _, do := range events {
				do()
			}
			for _, l := range all {
				for l.until != nil && l.until() {
					l.until, _ = l.next()
				}
			}
		case len(wave) > 0:
			x.asks = nil
			slices.SortFunc(wave, func(a, b *naiveMessage) int { return cmp.Compare(a.key, b.key) })
			for _, m := range wave {
				x.serve(m)
			}
		case x.isOld:
			x.share()
		case len(x.times) > 0:
			x.now, x.times = x.times[0], x.times[1:]
		default:
			return
		}
	}
}

// at has something happen at a time.
func (x *naive) at(t unit.Time, do func()) {
	if i, isKnown := slices.BinarySearch(x.times, t); !isKnown {
		x.times = slices.Insert(x.times, i, t)
	}
	x.events[t] = append(x.events[t], do)
}

// simulate is what a lane does and waits for: one sub-step after the other.
func (x *naive) simulate(rank, i int, l *naiveLane, wait func(func() bool) bool) {
	p, s, me, lane := x.Schedule.Program(rank), schedule.Step{}, int32(rank), int32(i)
	at, count, late, pending := p.Walk(i), int32(p.Slices(i)), unit.Time(0), 0
	exchange := func(t unit.Time, messages []*naiveMessage) bool {
		pending = 1 + len(messages)
		x.at(t, func() {
			pending--
			for _, m := range messages {
				x.cross(m, l.key)
				l.key++
			}
		})
		return wait(func() bool { return pending == 0 })
	}
	l.end = x.Begin(me, !at.Done()).T
	for isOn := exchange(l.end, nil); isOn && !at.Done(); at.Next(count) {
		p.Load(&at, &s)
		spot := schedule.Spot{Rank: rank, Channel: p.Channel(i), Slice: int(at.Slice())}
		n, isKnown := x.Size(spot, &s)
		in, gets, sends := []*naiveConn{}, []*naiveMessage{}, []*naiveMessage{}
		for _, f := range s.From {
			switch o := f.Peer; f.Kind {
			case schedule.Message:
				c := x.conn([6]int32{o.Rank, o.Lane, me, lane, int32(o.Class), o.Tag})
				if !wait(func() bool { return len(c.queue) > 0 && c.queue[0].isHere }) {
					return
				}
				if !isKnown {
					n = max(n, c.queue[0].data)
				}
				c.queue, in = c.queue[1:], append(in, c)
			case schedule.Get:
				spot.Rank = int(o.Rank)
				ask := &naiveMessage{route: x.network.Route(me, o.Rank), left: func() {}}
				reply := &naiveMessage{route: x.network.Route(o.Rank, me), left: func() {},
					bytes: x.SizeOf(spot, &f.Region), came: func() { pending-- }}
				ask.came = func() { x.cross(reply, ask.key) }
				gets = append(gets, ask)
			}
		}
		figures, behind := x.Device.Of(n), late
		for _, d := range s.Send {
			m := &naiveMessage{data: n, bytes: model.OnLinks(figures, n, d.Framing()), rank: me,
				peers: int32(len(s.Send)), route: x.network.Route(me, d.Peer.Rank), late: figures.Latency}
			m.left, m.came = func() { pending-- }, func() { m.isHere = true }
			if sends = append(sends, m); d.Silent {
				late = max(late, figures.Latency)
				continue
			}
			if !d.Relaxed {
				m.late = max(m.late, behind)
			}
			o, slots := d.Peer, x.Slots(d.Peer.Class)
			c := x.conn([6]int32{me, lane, o.Rank, o.Lane, int32(o.Class), o.Tag})
			if !wait(func() bool { return slots == 0 || c.used < slots }) {
				return
			}
			c.queue, c.used = append(c.queue, m), c.used+1
		}
		for _, v := range s.Await {
			if at.Slice() == 0 && !wait(func() bool { return x.lanes[rank][v.Lane].posts >= v.Value }) {
				return
			}
		}
		// Now is S. At D it gets, when all has come it sends, and when all has left it is E.
		if !exchange(x.now+x.Cost(me, &s, n), gets) || !exchange(x.now, sends) {
			return
		}
		for _, c := range in {
			x.at(x.now+x.Device.SlotLatency, func() { c.used-- })
		}
		if l.end = x.now; s.Post && at.Last(count) {
			x.at(x.now, func() { l.posts++ })
		}
	}
}

// conn is a connection: from a rank and lane to a rank and lane, of a class and a tag.
func (x *naive) conn(key [6]int32) *naiveConn {
	x.conns[key] = cmp.Or(x.conns[key], &naiveConn{})
	return x.conns[key]
}

// cross lets a message set out now.
func (x *naive) cross(m *naiveMessage, key uint64) {
	r := &x.network.Routes[m.route]
	m.key, m.links = key, x.network.LinksOf(r)
	for _, h := range m.links {
		x.load[h] += m.bytes
	}
	switch left := x.now + x.Pace(m.rank, m.peers, m.bytes); {
	case x.Sharing == model.FIFO:
		x.asks = append(x.asks, m)
	case r.IsShared(m.bytes):
		m.rest, m.most = model.WorkOf(m.bytes), x.PaceRate(m.rank, m.peers)
		x.flows, x.isOld = append(x.flows, m), true
	default:
		x.at(left, m.left)
		x.at(left+r.Latency+m.late, m.came)
	}
}

// share has flows leave that are over, and gives the others their rates: of the links, and of the
// lanes' paces, those with the least ⌊capacity left / flows left⌋ saturate together; then the next.
func (x *naive) share() {
	x.flows = slices.DeleteFunc(x.flows, func(m *naiveMessage) bool {
		if m.rest = m.rest.After(m.rate, x.now-x.since); m.rest == (model.Work{}) {
			x.at(x.now, m.left)
			x.at(x.now+x.network.Routes[m.route].Latency+m.late, m.came)
		}
		return m.rest == model.Work{}
	})
	x.since, x.isOld = x.now, false
	left, on := make([]uint64, len(x.load)), make([]uint64, len(x.load)) // of links
	for _, m := range x.flows {
		for _, h := range m.links {
			left[h], on[h] = model.FluidRate(min(x.network.Links[h].Bandwidth, model.MaxFluidRate)), on[h]+1
		}
	}
	todo, next := slices.Clone(x.flows), unit.Forever // when the first is over all is done anew
	for len(todo) > 0 {
		least := model.NoCap
		for _, m := range todo {
			m.rate = m.most
			for _, h := range m.links {
				m.rate = min(m.rate, left[h]/on[h])
			}
			least = min(least, m.rate)
		}
		todo = slices.DeleteFunc(todo, func(m *naiveMessage) bool {
			if m.rate > least {
				return false
			}
			for _, h := range m.links {
				left[h], on[h] = left[h]-least, on[h]-1
			}
			next = min(next, x.now+m.rest.Over(least))
			return true
		})
	}
	if len(x.flows) > 0 {
		x.at(next, func() { x.isOld = true })
	}
}

// serve has a link carry a message or segment: start, free and tail are as in
// docs/time.md, head is x_{i+1}.
func (x *naive) serve(m *naiveMessage) {
	to, b := min(m.from+cmp.Or(x.Segment, m.bytes), m.bytes), x.network.Routes[m.route].Slowest
	h := m.links[m.hop]
	l, start := &x.network.Links[h], max(x.now, x.free[h])
	x.free[h] = start + to.Over(l.Bandwidth) - m.from.Over(l.Bandwidth)
	if m.hop == 0 {
		m.tail = start + x.Pace(m.rank, m.peers, to) - x.Pace(m.rank, m.peers, m.from)
		left := start + x.Lead(m.rank, m.peers, b, to) - x.Lead(m.rank, m.peers, b, m.from)
		if next := *m; to < m.bytes {
			next.from = to
			x.at(left, func() { x.asks = append(x.asks, &next) })
		} else {
			x.at(left, m.left)
		}
	}
	m.tail = max(x.free[h], m.tail) + l.Latency
	head := start + l.Latency
	if x.Switching == model.StoreForward {
		head = m.tail
	}
	m.key, l.Key = l.Key, l.Key+1
	if m.hop++; m.hop < len(m.links) {
		x.at(head, func() { x.asks = append(x.asks, m) })
	} else if to == m.bytes {
		x.at(m.tail+m.late, m.came)
	}
}
