package event

import "collsim/sim/model"

// Under FIFO, a message of multimem has several packets on their way at once, one on each branch of
// its route. Under fluid sharing it is one flow over all of them.

// join is what is known of such a message.
type join struct {
	model.Join
	data int32 // of a request: the message that it asks for
}

// crossing is a packet that has come to the end of its link.
type crossing struct {
	hop        int32 // the link, among network.Hops
	head, tail model.Moment
	key        uint64
}

// load makes a load's request one under FIFO, and the message of its data.
func (e *engine) load(m int32, at model.Moment) {
	x := &e.messages[m]
	x.kind = loadRequest
	data := *x
	data.kind, data.route = loadData, e.network.Trees[e.network.Routes[x.route].Tree].Back
	if data.since = at; e.tape.heads != nil {
		data.entry += uint32(e.timesOn(x.route))
	}
	d := e.newMessage(data)
	e.joinOf(m).data = d
	e.joinOf(d).Left = e.branches(data.route)
	e.tell(asksAfter, d, m, at.T)
}

// branches is how many of a route's links are its members'.
func (e *engine) branches(route int32) int32 {
	r := &e.network.Routes[route]
	return r.To - r.From - 1
}

// joinOf is a fresh join for a message.
func (e *engine) joinOf(m int32) *join {
	for int(m) >= len(e.joins) {
		e.joins = append(e.joins, join{})
	}
	e.joins[m] = join{}
	return &e.joins[m]
}

// crossed goes on with a message of multimem, one of whose packets has come to the end of a link.
func (e *engine) crossed(m int32, at crossing) {
	x := &e.messages[m]
	r := e.network.Routes[x.route]
	switch {
	case x.kind == loadData && at.hop == r.To-1:
		if e.tape.heads != nil {
			e.write(aPacket, x.entry+uint32(r.To-r.From), at.tail.T)
		}
		e.arrived(m, at.tail)
	case x.kind == loadData:
		if j := &e.joins[m]; j.Come(at.head, at.tail, at.key) { // the switch adds up
			e.branch(packet{message: m, to: e.carried(m), hop: r.To - 1, tail: j.Tail}, j.Head, j.Key)
		}
	case at.hop == r.From:
		data, n := int32(-1), e.carried(m)
		if x.kind == loadRequest {
			data = e.joins[m].data
		}
		j := e.joinOf(m)
		j.data, j.Left = data, e.branches(x.route)
		for h := r.From + 1; h < r.To; h++ {
			e.branch(packet{message: m, to: n, hop: h, tail: at.tail}, at.head, at.key)
		}
	default:
		e.reached(m, at)
	}
}

// reached is a member's part: a request that has come has its data set out.
func (e *engine) reached(m int32, at crossing) {
	x, j := &e.messages[m], &e.joins[m]
	if x.kind == loadRequest {
		member := at.hop - e.network.Routes[x.route].From - 1
		first := e.network.Routes[e.messages[j.data].route].From
		e.branch(packet{message: j.data, to: e.carried(j.data), hop: first + member}, at.tail, at.key)
	}
	switch {
	case !j.Come(at.head, at.tail, at.key):
	case x.kind == loadRequest:
		e.dropMessage(m)
	default:
		e.arrived(m, j.Tail)
	}
}

// branch lets a whole message of multimem ask for one of its links.
func (e *engine) branch(p packet, at model.Moment, key uint64) {
	p.begin, p.isLast = e.network.Routes[e.messages[p.message].route].From, true
	p.end = p.hop + 1
	if e.tape.heads != nil {
		p.kind, p.told = aPacket, 0
		p.entry = e.messages[p.message].entry + uint32(p.hop-p.begin)
	}
	i := e.emptyPacket()
	e.packets[i] = p
	e.ask(i, at, key)
}
