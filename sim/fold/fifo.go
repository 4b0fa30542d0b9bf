package fold

import (
	"collsim/sim/model"
	"collsim/unit"
)

// packet is a message, or a segment of one, on its way.
type packet struct {
	tail     model.Moment // when its last byte has come over the links so far
	from, to unit.Bytes   // of the message
	message  int32
	hop, end int32 // its next link is that of net.path[hop]; it ends before end
	isFirst  bool  // it is at its first link
	isLast   bool  // of the message's segments
}

// served is the request that was served last.
type served struct {
	request model.Request
	hop     int32
	isThere bool
}

// runFIFO serves requests in order until there are none.
func (e *engine) runFIFO() {
	for {
		e.runLanes()
		if e.why != "" || len(e.queue) == 0 {
			return
		}
		e.forget(e.queue[0].First)
		e.repeat(e.queue[0].First)
		e.serve(e.queue.Pop())
		if e.why != "" {
			return
		}
	}
}

// addPacket lets the part of a message that begins at from ask for its first link.
func (e *engine) addPacket(m int32, from unit.Bytes, at model.Moment) {
	x := e.messages.At(m)
	r := &e.net.network.Routes[x.route]
	to := e.rules.SegmentEnd(from, x.carried)
	i := e.packets.Put(packet{from: from, to: to, message: m, hop: r.From, end: r.To, isFirst: true,
		isLast: to == x.carried})
	e.queue.Push(e.ask(i, at, x.key))
}

// ask makes a packet's request for its next link.
func (e *engine) ask(p int32, at model.Moment, key uint64) model.Request {
	return model.Ask(at, e.net.network.Hops[e.packets.At(p).hop], key, p)
}

// serve lets the link carry the packet whose turn it is.
func (e *engine) serve(r model.Request) {
	p := e.packets.At(r.Item)
	if !e.unambiguous(&r, e.net.path[p.hop]) {
		e.refuse("what comes by different ports asks for a link at one time")
		return
	}
	l := &e.links[e.net.network.Hops[p.hop]]
	takes := l.Part(p.from, p.to)
	start, over := model.Serve(model.AskedAt(&r), l.free, takes)
	l.free = over.T
	l.busy = min(l.busy+takes, unit.Forever)
	l.load += p.to - p.from
	if p.isFirst {
		e.firstLink(r.Item, start, over)
	} else {
		p.tail = model.Later(over, p.tail)
	}
	e.forward(r.Item, start, l)
}

// unambiguous reports whether a request comes after the one before it at all links of the orbit, if
// both are made at one time: where they come by different ports, it is these that decide, and the
// numbers of ports change from one link of the orbit to another.
func (e *engine) unambiguous(r *model.Request, h int32) bool {
	b := e.last
	e.last = served{*r, h, true}
	const wire = 1 << 63
	if !b.isThere || b.request.First != r.First || b.request.Second != r.Second ||
		b.request.Third&wire == 0 || r.Third&wire == 0 {
		return true
	}
	x, y := &e.net.hops[b.hop], &e.net.hops[h]
	return x.from == y.from && x.before == y.before || e.net.inOrder(x, y)
}

// firstLink lets a packet's first link carry it from start to over. The lane is then rid of the
// packet: it puts out the message's next one, or the whole message has left.
func (e *engine) firstLink(i int32, start, over model.Moment) {
	p := e.packets.At(i)
	p.isFirst = false
	m, from, to := p.message, p.from, p.to
	x := e.messages.At(m)
	path, rank := &e.net.network.Routes[x.route], e.sym.Reps[e.lanes[x.lane].class]
	before, put := e.rules.Pace(rank, x.peers, from), e.rules.Pace(rank, x.peers, to)
	p.tail = model.Later(over, model.PutOut(start, x.since, false, before, put))
	leaves := model.Leaves(start, e.rules.Lead(rank, x.peers, path.Slowest, from),
		e.rules.Lead(rank, x.peers, path.Slowest, to))
	if p.isLast {
		e.left(m, leaves)
	} else {
		e.addPacket(m, to, leaves)
	}
}

// forward lets a packet that l begins to carry at start ask for its next link, or arrive. A message
// arrives with its last segment.
func (e *engine) forward(i int32, start model.Moment, l *orbit) {
	p := e.packets.At(i)
	went := l.went
	l.went++
	var next model.Moment
	next, p.tail = e.rules.Switching.Forward(start, p.tail, l.Latency)
	if p.hop++; p.hop < p.end {
		key := model.PortKey(e.net.onPath(p.hop).port) + went
		e.queue.Push(e.ask(i, next, key))
		return
	}
	e.packets.Drop(i)
	if p.isLast {
		e.arrived(p.message, p.tail)
	}
}
