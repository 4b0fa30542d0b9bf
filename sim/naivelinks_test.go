package sim_test

import (
	"collsim/sim/model"
	"collsim/unit"
)

// The links of the naive engine.

// cross lets a message cross its links, from now on.
func (x *naive) cross(m *naiveMessage) {
	m.asked = x.now
	r := x.network.Routes[m.route]
	if x.fair == nil {
		x.ask(m, 0, r.From, x.now, model.Moment{}, m.key)
		return
	}
	for _, h := range x.network.LinksOf(&r) {
		x.load[h] += m.onLinks
	}
	if !r.IsShared(m.onLinks) {
		x.at(x.now.Plus(x.Pace(int32(m.lane.program.Rank()), m.peers, m.onLinks)), func() { x.gone(m) })
		return
	}
	f := int32(len(x.flows))
	x.flows, m.rest, m.ends = append(x.flows, m), model.Rest{Work: model.WorkOf(m.onLinks)}, -1
	x.fair.Grow(len(x.flows))
	x.fair.Begin(f, m.route, x.PaceRate(int32(m.lane.program.Rank()), m.peers))
	x.changed = true
}

// gone tells that a flow has left; what it is comes later by what its links take.
func (x *naive) gone(m *naiveMessage) {
	m.left()
	x.at(x.now.Plus(x.network.Routes[m.route].Latency), m.came)
}

// share works out the rates of all flows, when all has happened that happens at an instant.
func (x *naive) share() {
	x.changed = false
	now := x.now.T
	x.fair.Solve()
	for _, f := range x.fair.Members() {
		m, flow := x.flows[f], &x.fair.Flows[f]
		m.ends = m.rest.Change(flow.Rate, flow.Next, now)
		flow.Rate = flow.Next
		ends := m.ends
		x.at(model.Moment{T: ends}, func() {
			if m.ends == ends { // else its rate has changed since
				m.ends, x.changed = -1, true
				x.fair.End(f)
				x.gone(m)
			}
		})
	}
}

// ask lets a message, from a byte on, ask for a link of its route: under FIFO.
func (x *naive) ask(m *naiveMessage, from unit.Bytes, hop int32, at, tail model.Moment,
	key uint64) {
	on := x.network.Hops[hop]
	x.push(happening{at: at, isAsk: true, link: on, key: key, do: func() {
		x.serve(m, from, hop, tail)
	}})
}

// serve lets a link carry a segment of a message, which begins at a byte.
func (x *naive) serve(m *naiveMessage, from unit.Bytes, hop int32, tail model.Moment) {
	r, rank := x.network.Routes[m.route], int32(m.lane.program.Rank())
	on, to := x.network.Hops[hop], x.SegmentEnd(from, m.onLinks)
	l, isLast := &x.network.Links[on], to == m.onLinks
	start, over := model.Serve(x.now, x.free[on], l.Part(from, to))
	x.free[on] = over.T
	x.load[on] += to - from
	if hop == r.From {
		tail = model.PutOut(start, m.asked, false, x.Pace(rank, m.peers, from),
			x.Pace(rank, m.peers, to))
		leaves := model.Leaves(start, x.Lead(rank, m.peers, r.Slowest, from),
			x.Lead(rank, m.peers, r.Slowest, to))
		if isLast {
			x.at(leaves, m.left)
		} else {
			x.ask(m, to, hop, leaves, model.Moment{}, m.key)
		}
	}
	key := l.Key
	l.Key++
	next, came := x.Switching.Forward(start, model.Later(over, tail), l.Latency)
	if hop+1 < r.To {
		x.ask(m, from, hop+1, next, came, key)
	} else if isLast {
		x.at(came, func() { m.key = key; m.came() })
	}
}
