package sim

import "collsim/unit"

// Where lanes go on before their bytes have left (a device that offloads, or that has a send
// buffer) or large messages are asked for first, what a connection has to send is a stream: a
// message asks for its first link when the one before it has left. So the messages of a connection
// leave, and arrive, in order. The silent puts of a lane to a rank are a stream, too; multimem has
// none.
//
// With a send buffer of B bytes a step that sends ends when all but the last B bytes of the stream,
// up to and with its own, have left: with C bytes in the stream so far, when byte C − B has.
//
//	stream  ... ├── message ──┼─ message ─┼───── message ─────┤ C
//	                  left ▲        want ▲◄──── B ─────►

// stream is what one connection has to send.
type stream struct {
	first, last int32      // messages that have not left, −1 for none
	lane        int32      // whose it is
	route       int32      //
	bytes       unit.Bytes // that have been put in so far
	left        moment     // when what is no longer in it had left
	latest      int32      // and the record of causes of the last of that

	// Of what has set out, the bytes from to to were the last of which it is known how they leave;
	// what was before them has left.
	from, to unit.Bytes
	base     unit.Bytes // where their message begins
	begin    moment     // when they began to leave
	peers    int32      // of their message
	record   int32      // of causes

	want int64  // the lane waits until so many bytes have left; −1: it does not
	line uint64 // of the message that it wants to be done with
	held int32  // messages of its step that wait for that: silent puts to a rank are of one stream
}

// place is where a message stands.
type place struct {
	stream int32      // −1 for none
	next   int32      // message in the stream
	base   unit.Bytes // of the stream, where the message begins
	ready  bool       // nothing but its stream holds it
	flows  bool       // it is a flow at present
	beyond work       // of that flow, once what the lane wants has left; 0: it wants none of it
	line   uint64     // its own, while its request uses another
	number int64      // among the messages of its connection
	step   int32      // the record of causes of its step
}

// startStreams prepares for what the device needs.
func (e *engine) startStreams() {
	d := &e.env.Device
	if d.Offload || d.SendBuffer > 0 {
		e.quiet = newLines(len(e.lanes))
	}
	if d.EagerLimit > 0 {
		e.meets, e.scouts = []meeting{}, make([]scout, len(e.lanes))
		for i := range e.lanes {
			e.scouts[i].cursor = e.lanes[i].cursor
		}
	}
	if e.quiet != nil || e.meets != nil {
		e.streams, e.streamBy = []stream{}, newTable()
	}
}

func (e *engine) newStream(lane, route int32) int32 {
	e.streams = append(e.streams, stream{first: -1, last: -1, lane: lane, route: route, want: -1})
	return int32(len(e.streams) - 1)
}

// streamOf is the stream that a message belongs to, −1 for multimem.
func (e *engine) streamOf(x *message) int32 {
	switch {
	case x.flags&fanned > 0:
		return -1
	case x.conn >= 0:
		return e.conns[x.conn].stream
	}
	key := uint64(x.lane)<<32 | uint64(e.routes[x.route].dst)
	i := e.streamBy.find(key)
	if i < 0 {
		i = e.newStream(x.lane, x.route)
		e.streamBy.put(key, i)
	}
	return i
}

// placeOf is the place of a message, which may be another's that has gone.
func (e *engine) placeOf(m int32) *place {
	for int(m) >= len(e.places) {
		e.places = append(e.places, place{})
	}
	return &e.places[m]
}

// enter puts a message that lane i sends at a moment into its stream, and lets it set out as soon
// as nothing holds it any more.
func (e *engine) enter(i, m int32, at moment) {
	x, p := &e.messages[m], e.placeOf(m)
	*p = place{stream: e.streamOf(x), next: -1, line: x.line}
	if e.why != nil {
		p.step = e.why.lanes[i].step
	}
	if p.stream >= 0 {
		s := &e.streams[p.stream]
		p.base = s.bytes
		s.bytes += e.crosses(m)
		if s.first < 0 {
			s.first = m
		} else {
			e.places[s.last].next = m
		}
		s.last = m
	}
	if x.conn >= 0 && e.meets != nil {
		p.number = e.meets[x.conn].sent
		e.meets[x.conn].sent++
	}
	l := &e.lanes[i]
	switch {
	case e.env.Device.Offload:
		e.post(i, m, at)
	case e.env.Device.SendBuffer > 0 && p.stream >= 0:
		x.flags |= early
		e.quiet[i].aloft++
		l.flying++
		if x.kind != requesting { // else when it is granted
			e.hold(m, at)
		}
	default:
		l.flying++
	}
	switch {
	case e.quiet != nil && (e.env.Device.Offload || p.stream >= 0):
		e.follow(m, at)
	default:
		e.clear(m, at)
	}
}

// clear says that from a moment on nothing but its stream holds a message.
func (e *engine) clear(m int32, at moment) {
	p := &e.places[m]
	if p.stream < 0 {
		e.request(m, at)
		return
	}
	e.messages[m].since, p.ready = at, true
	if e.streams[p.stream].first == m {
		e.turn(m)
	}
}

// turn lets the first message of a stream set out.
func (e *engine) turn(m int32) {
	at, s := e.messages[m].since, &e.streams[e.places[m].stream]
	if s.left != at && later(s.left, at) == s.left {
		at = s.left
		if e.why != nil {
			e.waitsBehind(m, at.t, s.latest)
		}
	}
	e.request(m, at)
}

// passed takes a message that has left at a moment out of its stream. It is the first.
func (e *engine) passed(m int32, at moment) {
	p := &e.places[m]
	if p.stream < 0 {
		return
	}
	s := &e.streams[p.stream]
	s.left = at
	if e.why != nil {
		s.latest = e.why.ofMessage[m]
	}
	if s.first = p.next; s.first >= 0 && e.places[s.first].ready {
		e.turn(s.first)
	}
}

// hold has the lane of a message, which it has at a moment, wait until it has handed it over and
// the send buffer has room for what has not left.
func (e *engine) hold(m int32, at moment) {
	x, p := &e.messages[m], &e.places[m]
	s := &e.streams[p.stream]
	over := at.plus(e.pace(x, e.crosses(m)))
	l := &e.lanes[x.lane]
	l.leaves = later(l.leaves, over)
	if e.why != nil {
		e.why.ended(x.lane, handed-e.why.ofMessage[m], inStep(x.line), over.t)
	}
	s.line = x.line
	s.held++ // of several, what the last wants comes last
	s.want = int64(p.base + e.crosses(m) - e.env.Device.SendBuffer)
	switch want := unit.Bytes(s.want); {
	case want <= s.from:
		s.want, s.held = -1, s.held-1
		e.left(x.lane, moment{})
	case want <= s.to:
		e.enough(s, s.begin.plus(e.lead(s, want-s.base)-e.lead(s, s.from-s.base)))
	case s.first >= 0 && e.places[s.first].flows:
		e.watch(s.first)
	}
}

// enough tells a lane that so much of its stream has left, at a moment, as it waits for.
func (e *engine) enough(s *stream, at moment) {
	part := unit.Bytes(s.want) - s.base
	s.want = -1
	if e.why != nil {
		record := e.why.messages[s.record]
		record.bytes = part
		e.why.ended(s.lane, int32(len(e.why.messages)), inStep(s.line), at.t)
		e.why.messages = append(e.why.messages, record)
		if e.late != nil { // one for each
			e.why.late = append(e.why.late, 0)
		}
	}
	lane, held := s.lane, s.held
	s.held = 0
	for range held {
		e.left(lane, at)
	}
}

// lead is how long n bytes of the message that leaves take if nothing is in their way.
func (e *engine) lead(s *stream, n unit.Bytes) unit.Time {
	return max(e.pace(&message{lane: s.lane, peers: s.peers}, n),
		n.Over(e.routes[s.route].slowest))
}

// streamed notes that the bytes from to to of a message begin to leave, and how is known.
func (e *engine) streamed(m int32, from, to unit.Bytes, begin moment) {
	x := &e.messages[m]
	if x.kind > silent || e.places[m].stream < 0 {
		return
	}
	p := &e.places[m]
	s := &e.streams[p.stream]
	s.base, s.from, s.to = p.base, p.base+from, p.base+to
	s.begin, s.peers = begin, x.peers
	if e.why != nil {
		s.record = e.why.ofMessage[m]
	}
	if want := unit.Bytes(s.want); s.want >= 0 && want <= s.to {
		e.enough(s, begin.plus(e.lead(s, want-s.base)-e.lead(s, from)))
	}
}

// flowed notes that a message begins to be a flow.
func (e *engine) flowed(m int32) {
	p := e.placeOf(m) // a get has had none
	if p.flows = e.messages[m].kind <= silent && p.stream >= 0; p.flows {
		e.streams[p.stream].base = p.base
		e.watch(m)
	}
}

// watch has a flow tell when so much of it has left as its lane waits for. What is left of it then
// goes on as if nobody had looked.
func (e *engine) watch(m int32) {
	p, r := &e.places[m], &e.rests[m]
	s := &e.streams[p.stream]
	end, watched := p.base+e.carried(m), p.beyond != work{}
	if p.beyond = (work{}); s.want < 0 || unit.Bytes(s.want) >= end {
		if watched && r.place >= 0 { // for what another message of the step wanted
			r.ends = e.endOf(m)
			e.finishes.moved(m, e.rests)
		}
		return
	}
	if e.why != nil {
		s.record = e.why.ofMessage[m]
	}
	p.beyond = workOf(end - unit.Bytes(s.want))
	if r.place < 0 { // it has no rate yet
		return
	}
	if at := e.endOf(m); at > e.now {
		r.ends = at
		e.finishes.moved(m, e.rests)
		return
	}
	p.beyond = work{}
	e.enough(s, moment{t: e.now})
}

// endOf is when a flow ends at its rate, or when so much has left as its lane waits for.
func (e *engine) endOf(m int32) unit.Time {
	r := &e.rests[m]
	left := r.work.without(e.places[m].beyond)
	return min(r.since+left.over(e.flows[m].rate), unit.Forever)
}

// halfway reports whether it is not the end of a flow that has come, but what its lane waited for,
// and tells that.
func (e *engine) halfway(m int32, now unit.Time) bool {
	p := &e.places[m]
	if p.beyond == (work{}) {
		return false
	}
	p.beyond = work{}
	e.rests[m].ends = e.endOf(m)
	e.finishes.moved(m, e.rests)
	e.enough(&e.streams[p.stream], moment{t: now})
	return true
}

// ebbed notes that a flow is over.
func (e *engine) ebbed(m int32, now unit.Time) {
	p := &e.places[m]
	if !p.flows {
		return
	}
	p.flows = false
	s := &e.streams[p.stream]
	s.from = p.base + e.carried(m)
	s.to, s.begin = s.from, moment{t: now}
	if e.why != nil {
		s.record = e.why.ofMessage[m]
	}
	if s.want >= 0 && unit.Bytes(s.want) <= s.to {
		e.enough(s, s.begin)
	}
}

// unloaded notes that a message has left whose lane need not have waited for it.
func (e *engine) unloaded(m int32, at moment) {
	lane := e.messages[m].lane
	l := &e.quiet[lane]
	if later(l.gone, at) == at {
		if e.why != nil && (l.gone != at || l.by > e.why.ofMessage[m]) {
			l.by = e.why.ofMessage[m]
		}
		l.gone = at
	}
	if l.aloft--; l.aloft == 0 && e.lanes[lane].waits == forPost {
		e.wake(lane)
	}
}

// emptied is when all that a lane has sent had left, if that is known.
func (e *engine) emptied(i int32, at *moment) bool {
	l := &e.quiet[i]
	if l.aloft > 0 {
		return false
	}
	if e.why != nil && l.gone.t > at.t {
		e.why.room = l.by
	}
	*at = later(*at, l.gone)
	return true
}
