package model_test

import (
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// The links' segment of the engine of TestSecondEngine.

// post lets a message of a lane ask for its first link.
func (x *engine) post(m *message, at model.Moment) {
	m.key = m.from.key
	m.from.key++
	x.setOut(m, at)
}

func (x *engine) setOut(m *message, at model.Moment) {
	m.asked, m.number = at, len(x.messages)
	x.messages = append(x.messages, m)
	if x.fair == nil {
		from := x.network.Routes[m.route].From
		x.ask(&segment{message: m, to: x.SegmentEnd(0, m.onLinks), hop: from}, at, m.key)
		return
	}
	r := &x.network.Routes[m.route]
	for _, h := range x.network.LinksOf(r) {
		x.load[h] += m.onLinks
	}
	if r.IsShared(m.onLinks) {
		x.queue = append(x.queue, model.Ask(at, 0, 0, int32(m.number)))
		return
	}
	gone := at.Plus(x.Pace(int32(m.from.program.Rank()), m.peers, m.onLinks))
	x.left(m, gone)
	x.arrived(m, gone.Plus(r.Latency))
}

func (x *engine) ask(p *segment, at model.Moment, key uint64) {
	x.queue = append(x.queue, model.Ask(at, x.network.Hops[p.hop], key, int32(len(x.segments))))
	x.segments = append(x.segments, p)
}

// serve lets a link carry a segment, under FIFO.
func (x *engine) serve(r model.Request) {
	on, p := model.AskedOf(&r), x.segments[r.Item]
	l, m, rank := &x.network.Links[on], p.message, int32(p.message.from.program.Rank())
	start, over := model.Serve(model.AskedAt(&r), x.free[on], l.Part(p.from, p.to))
	x.free[on] = over.T
	x.load[on] += p.to - p.from
	route := x.network.Routes[m.route]
	if p.hop == route.From {
		p.tail = model.PutOut(start, m.asked, false, x.Pace(rank, m.peers, p.from),
			x.Pace(rank, m.peers, p.to))
		leaves := model.Leaves(start, x.Lead(rank, m.peers, route.Slowest, p.from),
			x.Lead(rank, m.peers, route.Slowest, p.to))
		if p.to == m.onLinks {
			x.left(m, leaves)
		} else {
			x.ask(&segment{message: m, from: p.to, to: x.SegmentEnd(p.to, m.onLinks), hop: p.hop}, leaves,
				m.key)
		}
	}
	key := l.Key
	l.Key++
	next, came := x.Switching.Forward(start, model.Later(over, p.tail), l.Latency)
	p.tail = came
	if p.hop++; p.hop < route.To {
		x.ask(p, next, key)
	} else if p.to == m.onLinks {
		m.key = key
		x.arrived(m, came)
	}
}

// left tells that a message's last byte has left its rank.
func (x *engine) left(m *message, at model.Moment) {
	if !m.isRequest && !m.isReply {
		x.oneDone(m.from, at)
	}
}

// arrived tells that a message's last byte has come.
func (x *engine) arrived(m *message, at model.Moment) {
	switch {
	case m.isRequest:
		r := x.network.Routes[m.route]
		x.setOut(&message{from: m.from, onLinks: m.bytes, isReply: true, key: m.key,
			route: x.network.Route(r.Dst, r.Src)}, at)
	case m.isReply:
		x.oneDone(m.from, at)
	default:
		m.at, m.isHere = at.Plus(m.late), true
	}
}

// instant carries out what begins and ends first, under fluid sharing, and all at that time.
func (x *engine) instant() bool {
	now := unit.Forever + 1
	for _, r := range x.queue {
		now = min(now, r.First)
	}
	for _, m := range x.messages {
		if m.hasRate {
			now = min(now, m.ends)
		}
	}
	if now > unit.Forever {
		return false
	}
	for i := 0; i < len(x.queue); i++ {
		if x.queue[i].First == now {
			m := x.messages[x.queue[i].Item]
			x.fair.Grow(len(x.messages))
			x.fair.Begin(int32(m.number), m.route, x.PaceRate(int32(m.from.program.Rank()), m.peers))
			m.isFlow, m.rest = true, model.Rest{Work: model.WorkOf(m.onLinks)}
			x.queue = slices.Delete(x.queue, i, i+1)
			i--
		}
	}
	for _, m := range x.messages {
		if m.hasRate && m.ends == now {
			m.isFlow, m.hasRate = false, false
			x.fair.End(int32(m.number))
			x.left(m, model.Moment{T: now})
			x.arrived(m, model.Moment{T: now}.Plus(x.network.Routes[m.route].Latency))
		}
	}
	for _, l := range x.lanes { // what follows at the same instant comes first
		for x.goOn(l) {
		}
	}
	if slices.ContainsFunc(x.queue, func(r model.Request) bool { return r.First == now }) {
		return true
	}
	x.fair.Solve()
	for _, f := range x.fair.Members() {
		m, flow := x.messages[f], &x.fair.Flows[f]
		m.ends = m.rest.Change(flow.Rate, flow.Next, now)
		flow.Rate, m.hasRate = flow.Next, true
	}
	return true
}
