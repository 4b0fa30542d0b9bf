package sweep

import (
	"slices"

	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// link is the state of a link.
type link struct {
	model.Link
	number int32      // in the network
	busy   unit.Time  // the time that it has carried messages
	load   unit.Bytes // the bytes that it has carried
	free   unit.Time  // when it can carry the next message
	// last, lastBy and lastOf are the latest request that it has served: its moment, key and message.
	// A request that the rules put before that refutes the guess.
	last    model.Moment
	lastBy  uint64
	lastOf  int32
	isLater bool  // the latest request was not for the message's first segment
	head    int32 // the first packet that asks for it in this batch; −1: none
	tail    int32 // the last of these
	isMixed bool  // they have not come in the order in which they are served
	batch   int32 // the last batch in which a flow has begun to cross it
	crossed int32 // its index in a period; −1: none
}

// link returns the index of a link of the network, and adds it at first use.
func (e *engine) link(on int32) int32 {
	if e.linkOf[on] == 0 {
		e.links = flat.Add(e.links, link{Link: e.network.Links[on], number: on, head: -1, crossed: -1,
			last: model.Moment{T: -1}}, min(2*len(e.lanes), len(e.linkOf)))
		e.linkOf[on] = int32(len(e.links))
		l := &e.network.Links[on]
		e.isInstant = e.isInstant || !e.isFluid && (l.Latency == 0 || l.Bandwidth == unit.Unlimited)
	}
	return e.linkOf[on] - 1
}

// packet is a message, or a segment of one, that asks for a link.
type packet struct {
	at, tail   model.Moment // when it asks; when its last byte has come over the links so far
	from, to   unit.Bytes   // the bytes of the message that it has
	by         uint64       // key among requests of one time: that of the lane, or of the wire
	message    int32
	begin, hop int32 // its links are hops[begin:end]; hop is the next one
	end        int32
	next       int32 // the next packet that asks for the same link
	isLast     bool  // the message's last segment
}

// before reports whether a packet is served before another one that asks for the same link. Packets
// of one lane or wire that ask at one time stay in the order of their requests.
func (p *packet) before(o *packet) bool {
	if p.at.T != o.at.T {
		return p.at.T < o.at.T
	}
	if p.at.Wave != o.at.Wave {
		return p.at.Wave < o.at.Wave
	}
	return p.by < o.by
}

// addPacket has the segment of a message that begins at a byte ask for its first link.
func (e *engine) addPacket(m int32, from unit.Bytes, at model.Moment) {
	x := e.messages.At(m)
	r := &e.network.Routes[x.route]
	to := e.rules.SegmentEnd(from, x.carried)
	e.asked = flat.Add(e.asked, int32(len(e.packets)), len(e.lanes))
	e.packets = flat.Add(e.packets, packet{at: at, from: from, to: to, by: e.lanes[x.lane].key,
		message: m, begin: r.From, hop: r.From, end: r.To, isLast: to == x.carried}, len(e.lanes))
}

// serve has links carry the packets of the batch, each link in the order of its requests. If a link
// has already carried a packet that comes after one of these, the guess was wrong.
func (e *engine) serve() {
	e.batch, e.asked = e.asked, e.batch[:0]
	e.touched = e.touched[:0]
	for _, p := range e.batch {
		on := e.hops[e.packets[p].hop]
		if e.links[on].head < 0 {
			e.touched = append(e.touched, on)
		}
		e.line(&e.links[on], p)
	}
	for _, on := range e.touched {
		for _, p := range e.inLine(&e.links[on]) {
			if e.why != "" {
				break
			}
			e.carry(on, p)
		}
	}
}

// line puts a packet behind those that ask for a link.
func (e *engine) line(l *link, p int32) {
	e.packets[p].next = -1
	if l.head < 0 {
		l.head, l.isMixed = p, false
	} else {
		l.isMixed = l.isMixed || e.packets[p].before(&e.packets[l.tail])
		e.packets[l.tail].next = p
	}
	l.tail = p
}

// inLine takes the packets that ask for a link, in the order in which they are served.
func (e *engine) inLine(l *link) []int32 {
	e.ordered = e.ordered[:0]
	for p := l.head; p >= 0; p = e.packets[p].next {
		e.ordered = append(e.ordered, p)
	}
	if l.head = -1; l.isMixed {
		slices.SortStableFunc(e.ordered, func(a, b int32) int {
			switch x, y := &e.packets[a], &e.packets[b]; {
			case x.before(y):
				return -1
			case y.before(x):
				return 1
			}
			return 0
		})
	}
	return e.ordered
}

// follows reports whether a request comes after all that the link has served, and makes it the
// latest.
func (l *link) follows(at model.Moment, by uint64) bool {
	if b := l.last; at.T < b.T || at.T == b.T && (at.Wave < b.Wave ||
		at.Wave == b.Wave && by < l.lastBy) {
		return false
	}
	l.last, l.lastBy = at, by
	return true
}

// carry has a link carry a packet.
func (e *engine) carry(on, i int32) {
	l, p := &e.links[on], &e.packets[i]
	// Further segments of several messages of one lane may ask at one time. The guess does not
	// know which has been asked for earlier.
	isTie := (p.from > 0 || l.isLater) && p.at == l.last && p.by == l.lastBy &&
		p.message != l.lastOf
	if isTie || !l.follows(p.at, p.by) {
		e.disordered()
		return
	}
	l.lastOf, l.isLater = p.message, p.from > 0
	takes := l.Part(p.from, p.to)
	start, over := model.Serve(p.at, l.free, takes)
	l.free = over.T
	l.busy = min(l.busy+takes, unit.Forever)
	l.load += p.to - p.from
	if p.hop == p.begin {
		e.firstLink(i, start, over, l)
		p = &e.packets[i] // a further segment may have moved them
	} else {
		p.tail = model.Later(over, p.tail)
	}
	p.at, p.tail = e.rules.Switching.Forward(start, p.tail, l.Latency)
	if p.hop++; p.hop < p.end {
		p.by = l.Key // the key of the wire: all that it brings is asked for in order
		e.asked = append(e.asked, i)
		return
	}
	if p.isLast {
		e.arrived(p.message, p.tail)
	}
}

// firstLink does what only a packet's first link does: the packet leaves the lane, and the
// message's next segment asks for the link.
func (e *engine) firstLink(i int32, start, over model.Moment, l *link) {
	p := &e.packets[i]
	x := e.messages.At(p.message)
	path, rank := &e.network.Routes[x.route], e.lanes[x.lane].rank
	before, put := e.rules.Pace(rank, x.peers, p.from), e.rules.Pace(rank, x.peers, p.to)
	p.tail = model.Later(over, model.PutOut(start, x.since, false, before, put))
	leaves := model.Leaves(start, max(before, l.slowest(path, p.from)),
		max(put, l.slowest(path, p.to)))
	if p.isLast {
		e.left(x.lane, leaves)
	} else {
		e.addPacket(p.message, p.to, leaves)
	}
}

// slowest returns how long n bytes take on the slowest link of a route that l is on.
func (l *link) slowest(r *model.Route, n unit.Bytes) unit.Time {
	if r.Slowest == l.Bandwidth {
		return l.Over(n)
	}
	return n.Over(r.Slowest)
}

// flow has the messages of a row flow, each alone on all links of its route. If two of them were on
// one link at a time they would share it, and the guess was wrong.
func (e *engine) flow() {
	e.batch, e.asked = e.asked, e.batch[:0]
	if e.batchNow++; e.meets() {
		slices.SortStableFunc(e.batch, func(a, b int32) int {
			return int(max(min(e.packets[a].at.T-e.packets[b].at.T, 1), -1))
		})
	}
	for _, i := range e.batch {
		p := &e.packets[i]
		x := e.messages.At(p.message)
		path, rank := &e.network.Routes[x.route], e.lanes[x.lane].rank
		left := p.at.Plus(e.rules.Pace(rank, x.peers, x.carried))
		if path.IsShared(x.carried) {
			left = model.Moment{T: e.drained(rank, x, path)}
		}
		for _, on := range e.hops[path.From:path.To] {
			l := &e.links[on]
			l.load += x.carried
			if l.Bandwidth == unit.Unlimited || !path.IsShared(x.carried) {
				continue
			}
			if p.at.T < l.free {
				e.disordered()
				return
			}
			l.free = left.T
		}
		e.left(x.lane, left)
		e.arrived(p.message, left.Plus(path.Latency))
	}
}

// meets reports whether two flows of the batch cross one link.
func (e *engine) meets() bool {
	meets := false
	for _, i := range e.batch {
		p := &e.packets[i]
		for _, on := range e.hops[p.begin:p.end] {
			l := &e.links[on]
			meets = meets || l.batch == e.batchNow
			l.batch = e.batchNow
		}
	}
	return meets
}

// drained returns when a flow that is alone on its links ends.
func (e *engine) drained(rank int32, x *message, path *model.Route) unit.Time {
	t, ok := e.rules.Alone(rank, x.peers, path.Slowest, x.carried)
	if !ok {
		e.refuse("a flow has no rate")
	}
	return min(x.since.T+t, unit.Forever)
}

// disordered refuses because the guess was wrong.
func (e *engine) disordered() {
	if e.isFluid {
		e.refuse("flows share a link")
	} else {
		e.refuse("links are asked in another order than was guessed")
	}
}
