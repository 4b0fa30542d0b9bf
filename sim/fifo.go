package sim

import "collsim/unit"

// packet is a message, or a segment of one, on its way.
type packet struct {
	tail            moment     // when its last byte has come over the links so far
	from, to        unit.Bytes // of the message
	message         int32      // as long as it is at its first link, or its last segment
	begin, hop, end int32      // its links are engine.hops[begin:end], the next is hop
	next            int32      // of those that are free
	last            bool       // of the message's segments
}

// addPacket lets the part of a message that begins at from ask for its first link.
func (e *engine) addPacket(m int32, from unit.Bytes, at moment) {
	x := &e.messages[m]
	r := &e.routes[x.route]
	all := e.carried(m)
	to, end := all, r.to
	if x.flags&fanned > 0 { // what is multicast goes up whole, and parts at the switch
		end = r.from + 1
	} else if s := e.env.Segment; s > 0 && to-from > s {
		to = from + s
	}
	i := e.newPacket(packet{from: from, to: to, message: m, begin: r.from, hop: r.from, end: end,
		last: to == all})
	e.queue.push(e.ask(i, at, x.line))
}

func (e *engine) newPacket(p packet) int32 {
	i := e.freePacket
	if i < 0 {
		e.packets = append(e.packets, p)
		return int32(len(e.packets) - 1)
	}
	e.freePacket = e.packets[i].next
	e.packets[i] = p
	return i
}

// ask is a packet's request for its next link.
func (e *engine) ask(p int32, at moment, line uint64) request {
	link := uint64(uint32(at.wave))<<32 | uint64(uint32(e.hops[e.packets[p].hop]))
	return request{t: at.t, link: link, line: line, item: p}
}

// serve lets the link carry the packet whose turn it is:
//
//	start = max(x, free), free = start + n/b, tail = max(start + n/b, the tail so far)
//
// where x is when it asked. What follows at x itself is of the next wave.
func (e *engine) serve(r request) {
	p := &e.packets[r.item]
	l := &e.links[uint32(r.link)]
	start := moment{r.t, int32(r.link>>32) + 1}
	if l.free > r.t {
		start = moment{t: l.free}
	}
	takes := l.over(p.to)
	if p.from > 0 {
		takes -= p.from.Over(l.bandwidth) // the parts of a message take what the whole does
	}
	over := start.plus(takes)
	l.free = over.t
	l.busy = min(l.busy+takes, unit.Forever)
	l.load += p.to - p.from
	if e.why != nil {
		e.why.crosses(p, e.env.Segment, start.t)
	}
	if e.trace != nil {
		e.carries(uint32(r.link), start.t, over.t)
	}
	if p.hop == p.begin {
		e.setOut(r.item, start, over, l)
	} else {
		p.tail = later(over, p.tail)
	}
	e.forward(r.item, start, l)
}

// setOut is the first link's part: the lane, or the queue of its device, lets go of the packet. The
// bytes come no faster than the lane puts them out, and leave no faster than the slowest link takes
// them.
func (e *engine) setOut(i int32, start, over moment, l *link) {
	p := &e.packets[i]
	m, from, to := p.message, p.from, p.to
	x := &e.messages[m]
	if x.kind == merging { // no lane puts it out
		p.tail = later(over, p.tail)
		return
	}
	path := &e.routes[x.route]
	put, before := e.pace(x, to), e.pace(x, from)
	p.tail = start.plus(put - before)
	if x.post >= 0 {
		p.tail = x.since.plus(put)
	}
	p.tail = later(over, p.tail)
	leaves := start.plus(max(put, path.unhindered(to, l)) - max(before, path.unhindered(from, l)))
	if from == 0 {
		x.sent = start.t
	}
	if e.streams != nil {
		e.streamed(m, from, to, start)
	}
	if p.last {
		e.departed(m, leaves)
	} else {
		e.addPacket(m, to, leaves)
	}
}

// unhindered is how long n bytes take on the slowest link of the route, of which l is one.
func (r *route) unhindered(n unit.Bytes, l *link) unit.Time {
	if r.slowest == l.bandwidth {
		return l.over(n)
	}
	return n.Over(r.slowest)
}

// forward lets a packet that l begins to carry at start ask for its next link, or arrive. A message
// arrives with its last segment.
func (e *engine) forward(i int32, start moment, l *link) {
	p := &e.packets[i]
	line := l.line
	l.line++
	head := start.plus(l.latency)
	p.tail = p.tail.plus(l.latency)
	if e.env.Switching == StoreForward {
		head = p.tail
	}
	if p.hop++; p.hop < p.end {
		e.queue.push(e.ask(i, head, line))
		return
	}
	p.next, e.freePacket = e.freePacket, i
	switch m := p.message; {
	case !p.last:
	case e.messages[m].flags&fanned > 0:
		e.crossed(m, crossing{p.hop - 1, head, p.tail, line})
	default:
		e.messages[m].line = line // a reply uses the port that its request came in by
		e.arrived(m, p.tail)
	}
}
