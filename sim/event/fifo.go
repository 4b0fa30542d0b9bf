package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

// packet is a message, or a segment of one, on its way.
type packet struct {
	tail            model.Moment // when its last byte has come over the links so far
	from, to        unit.Bytes   // of the message
	message         int32        // as long as it is at its first link, or its last segment
	begin, hop, end int32        // its links are network.Hops[begin:end], the next is hop
	next            int32        // of those that are free
	entry           uint32       // in the compact log, that its next time belongs to
	isLast          bool         // of the message's segments
	kind            entryKind    // of these times,
	ownKinds        int8         // of all links from this one on
}

// runFIFO serves requests in order until there are none.
func (e *engine) runFIFO() error {
	for {
		if err := e.runLanes(); err != nil {
			return err
		}
		if e.err != nil || e.requests.next() == never {
			return e.err
		}
		e.serve(e.requests.pop())
	}
}

// addPacket lets the part of a message that begins at from ask for its first link.
func (e *engine) addPacket(m int32, from unit.Bytes, at model.Moment) {
	x := &e.messages[m]
	r := &e.network.Routes[x.route]
	all := e.carried(m)
	to, end := all, r.To
	if x.flags&multimem > 0 { // what is multicast goes up whole, and parts at the switch
		end = r.From + 1
	} else {
		to = e.rules.SegmentEnd(from, all)
	}
	i := e.emptyPacket()
	p := &e.packets[i] // field by field, as messages are
	p.from, p.to, p.message, p.isLast = from, to, m, to == all
	p.begin, p.hop, p.end = r.From, r.From, end
	if e.log.isOn() && e.isLogged(x) { // else no times
		p.label(x)
	}
	e.ask(i, at, x.key)
}

// emptyPacket returns the number of a packet that is not in use. Its fields still have the values
// of its last use.
func (e *engine) emptyPacket() int32 {
	i := e.freePacket
	if i < 0 {
		e.packets = append(e.packets, packet{})
		return int32(len(e.packets) - 1)
	}
	e.freePacket = e.packets[i].next
	return i
}

// ask has a packet ask for its next link, which may carry it at once.
func (e *engine) ask(p int32, at model.Moment, key uint64) {
	on := e.network.Hops[e.packets[p].hop]
	if l := &e.links[on]; l.isSole {
		if l.pending == 0 && e.mayGoAhead() {
			e.carry(p, on, at)
			return
		}
		l.pending++
		e.behind++
	}
	e.requests.push(model.Ask(at, on, key, p))
}

// serve lets the link carry the packet whose turn it is.
func (e *engine) serve(r model.Request) {
	on := model.AskedOf(&r)
	if l := &e.links[on]; l.isSole {
		l.pending--
		e.behind--
	}
	e.carry(r.Item, on, model.AskedAt(&r))
}

// carry lets a link carry a packet that has asked for it at a moment.
func (e *engine) carry(i, on int32, at model.Moment) {
	p, l := &e.packets[i], &e.links[on]
	start, over := l.serve(at, p.to-p.from, l.Part(p.from, p.to))
	if e.log.isOn() && (start.T > at.T || p.hop-p.begin >= int32(p.ownKinds)) && !l.isPrompt {
		e.log.carried(p, start.T)
	}
	e.report(linkServes, i, on, start.T)
	if p.hop == p.begin {
		e.firstLink(i, start, over, l)
	} else {
		p.tail = model.Later(over, p.tail)
	}
	e.forward(i, start, l)
}

// serve has the link carry n bytes, which takes so long, of a message that has asked at a moment.
func (l *link) serve(at model.Moment, n unit.Bytes, takes unit.Time) (start, over model.Moment) {
	start, over = model.Serve(at, l.free, takes)
	l.free = over.T
	l.busy = min(l.busy+takes, unit.Forever)
	l.load += n
	return start, over
}

// firstLink lets a packet's first link carry it from start to over. The lane, or the queue of its
// device, is then rid of the packet. Its bytes come no faster than the lane puts them out, and
// leave no faster than the slowest link takes them.
func (e *engine) firstLink(i int32, start, over model.Moment, l *link) {
	p := &e.packets[i]
	m, from, to := p.message, p.from, p.to
	x := &e.messages[m]
	if x.kind == loadData { // no lane puts it out
		p.tail = model.Later(over, p.tail)
		return
	}
	path := &e.network.Routes[x.route]
	var before, put unit.Time
	switch rank := e.lanes[x.lane].rank; {
	case x.pacer == model.LanePace && e.rules.Device.LaneRate == unit.Unlimited:
	case x.pacer == model.LanePace:
		before, put = e.rules.Pace(rank, x.peers, from), e.rules.Pace(rank, x.peers, to)
	default:
		before, put = e.pace(x, from), e.pace(x, to)
	}
	p.tail = model.Later(over, model.PutOut(start, x.since, x.post >= 0, before, put))
	leaves := model.Leaves(start, max(before, l.slowest(path, from)), max(put, l.slowest(path, to)))
	if e.ahead.streams != nil {
		e.ahead.leaving(m, from, to, start)
	}
	if p.isLast {
		e.left(m, leaves)
	} else {
		e.addPacket(m, to, leaves)
	}
}

// slowest returns the time that n bytes take on the slowest link of a route. l is a link of the
// route. If it is as slow, it serves for the slowest, because it remembers the last size.
func (l *link) slowest(r *model.Route, n unit.Bytes) unit.Time {
	if n == 0 {
		return 0
	}
	if r.Slowest == l.Bandwidth {
		return l.Over(n)
	}
	return n.Over(r.Slowest)
}

// forward lets a packet that l begins to carry at start ask for its next link, or arrive. A message
// arrives with its last segment.
func (e *engine) forward(i int32, start model.Moment, l *link) {
	p := &e.packets[i]
	key := l.Key
	l.Key++
	var next model.Moment
	next, p.tail = e.rules.Switching.Forward(start, p.tail, l.Latency)
	if p.hop++; p.hop < p.end {
		e.ask(i, next, key)
		return
	}
	p.next, e.freePacket = e.freePacket, i
	switch m := p.message; {
	case !p.isLast:
	case e.messages[m].flags&multimem > 0:
		e.branches.crossed(m, crossing{p.hop - 1, next, p.tail, key})
	default:
		x := &e.messages[m]
		x.key = key // a reply uses the port that its request came in by
		e.arrived(m, p.tail)
	}
}
