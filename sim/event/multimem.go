package event

import (
	"fmt"

	"collsim/sim/model"
)

// Under FIFO, a message of multimem has several packets on their way at once, one on each branch of
// its route. Under fluid sharing it is one flow over all of them.

// branches carries messages of multimem over the branches of their routes.
type branches struct {
	e     *engine
	joins []join // of the messages, under FIFO
}

// join holds what is known of such a message.
type join struct {
	model.Join              // of the team's members
	data       int32        // of a request: the message that it asks for
	sums       []model.Join // of a load's data, by link of its route: what has come to be added up
}

// crossing is a packet that has come to the end of its link.
type crossing struct {
	hop        int32 // the link, among network.Hops
	head, tail model.Moment
	key        uint64
}

// load makes a load's request one under FIFO, and the message of its data.
func (b *branches) load(m int32, at model.Moment) {
	e := b.e
	x := e.conns.message(m)
	x.kind = loadRequest
	data := *x
	data.kind, data.route = loadData, e.links.treeOf(x.route).Back
	if data.since = at; e.log.isOn() {
		data.entry += uint32(e.links.timesOn(x.route))
	}
	d := e.conns.add(data)
	b.joinOf(m).data = d
	j := b.joinOf(d)
	j.Left = e.links.treeOf(data.route).Ends()
	for _, before := range e.links.treeOf(data.route).Of {
		j.sums = append(j.sums, model.Join{Left: int32(len(before))})
	}
	e.report(asksAfter, d, m, at.T)
}

// joinOf returns a fresh join for a message.
func (b *branches) joinOf(m int32) *join {
	for int(m) >= len(b.joins) {
		b.joins = append(b.joins, join{})
	}
	b.joins[m] = join{sums: b.joins[m].sums[:0]}
	return &b.joins[m]
}

// crossed goes on with a message of multimem, one of whose packets has come to the end of a link.
func (b *branches) crossed(m int32, at crossing) {
	e := b.e
	x := e.conns.message(m)
	r := e.network.Routes[x.route]
	on := e.links.treeOf(x.route).On[at.hop-r.From]
	switch {
	case x.kind == loadData && len(on) == 0:
		if j := &b.joins[m]; j.Come(at.head, at.tail, at.key) {
			if e.log.isOn() {
				e.log.write(aPacket, x.entry+uint32(r.To-r.From), j.Tail.T)
			}
			e.arrived(m, j.Tail)
		}
	case x.kind == loadData: // all links behind a switch wait for the same sum
		if j := &b.joins[m].sums[on[0]]; j.Come(at.head, at.tail, at.key) {
			sum, n := *j, e.conns.carried(m)
			for _, h := range on {
				b.branch(packet{message: m, to: n, hop: r.From + h, tail: sum.Tail}, sum.Head, sum.Key)
			}
		}
	case len(on) > 0:
		if at.hop == r.From {
			data := int32(-1)
			if x.kind == loadRequest {
				data = b.joins[m].data
			}
			j := b.joinOf(m)
			j.data, j.Left = data, e.links.treeOf(x.route).Members()
		}
		n := e.conns.carried(m)
		for _, h := range on {
			b.branch(packet{message: m, to: n, hop: r.From + h, tail: at.tail}, at.head, at.key)
		}
	default:
		b.reached(m, at)
	}
}

// reached handles a packet of multimem that has come to a member of the team. The request of a load
// lets the member's data set out. When the packet has come to all members, a request is dropped,
// and other messages have arrived.
func (b *branches) reached(m int32, at crossing) {
	e := b.e
	x, j := e.conns.message(m), &b.joins[m]
	if x.kind == loadRequest {
		member := e.links.treeOf(x.route).Members() - (e.network.Routes[x.route].To - at.hop)
		first := e.network.Routes[e.conns.message(j.data).route].From
		b.branch(packet{message: j.data, to: e.conns.carried(j.data), hop: first + member},
			at.tail, at.key)
	}
	switch {
	case !j.Come(at.head, at.tail, at.key):
	case x.kind == loadRequest:
		e.conns.drop(m)
	default:
		e.arrived(m, j.Tail)
	}
}

// branch lets a whole message of multimem ask for one of its links.
func (b *branches) branch(p packet, at model.Moment, key uint64) {
	e := b.e
	p.begin, p.isLast = e.network.Routes[e.conns.message(p.message).route].From, true
	p.end = p.hop + 1
	if e.log.isOn() {
		p.kind, p.ownKinds = aPacket, 0
		p.entry = e.conns.message(p.message).entry + uint32(p.hop-p.begin)
	}
	e.ask(e.links.add(p), at, key)
}

// route returns the route of a lane's multimem operation over a team.
func (b *branches) route(i int32, team []int32, kind model.MultimemKind) (int32, error) {
	e := b.e
	route, err := e.network.Multimem(e.lanes.at(i).rank, team, kind)
	if err != nil {
		return 0, fmt.Errorf("%s: multimem needs a switch that does it: %w", e.place(i), err)
	}
	return route, nil
}

// times returns the number of times in the log for a multimem message, under FIFO.
func (b *branches) times(x *message) int32 {
	n := b.e.links.timesOn(x.route)
	if x.kind == getRequest {
		n += b.e.links.timesOn(b.e.links.wayBack(x.route)) + 1
	}
	return n
}
