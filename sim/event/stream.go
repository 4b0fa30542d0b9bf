package event

import (
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// stream holds, in order, what one connection has to send, or the silent puts of a lane to a rank.
//
//	stream  ... ├── message ──┼─ message ─┼───── message ─────┤ bytes
//	                  left ▲        want ▲◄── send buffer ───►
type stream struct {
	first, last int32        // messages that have not left, −1 for none
	lane        int32        // whose it is
	route       int32        //
	bytes       unit.Bytes   // that have been put in so far
	left        model.Moment // when what is no longer in it had left

	// The bytes in [from, to) are the last that have set out and whose departure is known. All
	// bytes before them have left.
	from, to unit.Bytes
	base     unit.Bytes   // where their message begins
	begin    model.Moment // when they began to leave
	pacer    model.Pacer  // of their message
	peers    int32        // of their message

	want int64  // the lane waits until so many bytes have left; −1: it does not
	key  uint64 // of the message that it wants to be done with
	held int32  // messages of its step that wait for that: silent puts to a rank are of one stream

	entry uint32    // of that message in the compact log; of several at once, of the last,
	since unit.Time // which the lane had then
}

// position locates a message in its stream.
type position struct {
	stream int32      // −1 for none
	next   int32      // message in the stream
	base   unit.Bytes // of the stream, where the message begins
	ready  bool       // nothing but its stream holds it
	flows  bool       // it is a flow at present
	key    uint64     // its own, while its request uses another
	number int64      // among the messages of its connection
}

// startStreams prepares for what the device needs.
func (e *engine) startStreams() {
	if e.rules.RunsAhead() {
		e.backlogs = newBacklogs(len(e.lanes))
	}
	if e.rules.Device.EagerLimit > 0 {
		e.matches, e.lookaheads = []matching{}, make([]lookahead, len(e.lanes))
		for i := range e.lanes {
			e.lookaheads[i].cursor = e.lanes[i].cursor
		}
	}
	if e.rules.HasStreams() {
		e.streams, e.streamBy = []stream{}, flat.NewTable()
	}
}

func (e *engine) newStream(lane, route int32) int32 {
	e.streams = append(e.streams, stream{first: -1, last: -1, lane: lane, route: route, want: -1})
	return int32(len(e.streams) - 1)
}

// streamOf returns the stream that a message belongs to, −1 for multimem.
func (e *engine) streamOf(x *message) int32 {
	switch {
	case x.flags&multimem > 0:
		return -1
	case x.conn >= 0:
		return e.conns[x.conn].stream
	}
	key := uint64(x.lane)<<32 | uint64(e.network.Routes[x.route].Dst)
	i := e.streamBy.Find(key)
	if i < 0 {
		i = e.newStream(x.lane, x.route)
		e.streamBy.Put(key, i)
	}
	return i
}

// positionOf returns the position of a message. Until it is set, it may be that of an earlier
// message with this number.
func (e *engine) positionOf(m int32) *position {
	for int(m) >= len(e.positions) {
		e.positions = append(e.positions, position{})
	}
	return &e.positions[m]
}

// enter puts a message that lane i sends at a moment into its stream, and lets it set out as soon
// as nothing holds it any more.
func (e *engine) enter(i, m int32, at model.Moment) {
	x, p := &e.messages[m], e.positionOf(m)
	*p = position{stream: e.streamOf(x), next: -1, key: x.key}
	if p.stream >= 0 {
		s := &e.streams[p.stream]
		p.base = s.bytes
		s.bytes += e.crossing(m)
		if s.first < 0 {
			s.first = m
		} else {
			e.positions[s.last].next = m
		}
		s.last = m
	}
	if x.conn >= 0 && e.matches != nil {
		p.number = e.matches[x.conn].sent
		e.matches[x.conn].sent++
	}
	l, d := &e.lanes[i], &e.rules.Device
	switch {
	case d.Offload:
		e.post(i, m, at)
	case d.SendBuffer > 0 && p.stream >= 0:
		x.flags |= buffered
		e.backlogs[i].unsent++
		l.pending++
		if x.kind != request { // else when it is answered
			e.buffer(m, at)
		}
	default:
		l.pending++
	}
	if e.backlogs != nil && (d.Offload || p.stream >= 0) {
		e.follow(m, at)
	} else {
		e.unblock(m, at)
	}
}

// unblock says that from a moment on nothing but its stream holds a message.
func (e *engine) unblock(m int32, at model.Moment) {
	p := &e.positions[m]
	if p.stream < 0 {
		e.setOut(m, at)
		return
	}
	e.messages[m].since, p.ready = at, true
	if e.streams[p.stream].first == m {
		e.setOutFirst(m)
	}
}

// setOutFirst lets the first message of a stream set out.
func (e *engine) setOutFirst(m int32) {
	ready, i := e.messages[m].since, e.positions[m].stream
	at := model.Later(ready, e.streams[i].left)
	if at.T > ready.T {
		e.report(followsStream, m, i, at.T)
		e.log.waits(aSetOut, e.messages[m].entry, at.T)
	}
	e.setOut(m, at)
}

// leftStream takes a message that has left at a moment out of its stream. It is the first.
func (e *engine) leftStream(m int32, at model.Moment) {
	p := &e.positions[m]
	if p.stream < 0 {
		return
	}
	s := &e.streams[p.stream]
	s.left = at
	e.report(streamMoves, m, p.stream, at.T)
	if s.first = p.next; s.first >= 0 && e.positions[s.first].ready {
		e.setOutFirst(s.first)
	}
}

// buffer has the lane of a message, which it has at a moment, wait until it has handed it over and
// the send buffer has room for what has not left.
func (e *engine) buffer(m int32, at model.Moment) {
	x, p := &e.messages[m], &e.positions[m]
	i := p.stream
	s, l, n := &e.streams[i], &e.lanes[x.lane], e.crossing(m)
	over := at.Plus(e.pace(x, n))
	l.until = model.Later(l.until, over)
	e.report(handedOver, m, 0, over.T)
	s.key, s.entry, s.since = x.key, x.entry, at.T
	s.held++ // of several, what the last wants comes last
	s.want = int64(e.rules.Buffered(p.base + n))
	switch want := unit.Bytes(s.want); {
	case want <= s.from:
		s.want, s.held = -1, s.held-1
		e.oneDone(x.lane, model.Moment{})
	case want <= s.to:
		e.hasRoom(i, s.begin.Plus(e.lead(s, want-s.base)-e.lead(s, s.from-s.base)))
	case s.first >= 0 && e.positions[s.first].flows:
		e.watch(s.first)
	}
}

// hasRoom lets a lane go on, because as much of its stream has left at a moment as it waits for.
func (e *engine) hasRoom(i int32, at model.Moment) {
	s := &e.streams[i]
	if e.log.isOn() && at.T > s.since { // else there was room when it was handed over
		e.log.write(aRoom, s.entry, at.T)
	}
	e.report(bufferHasRoom, i, 0, at.T)
	lane, held := s.lane, s.held
	s.want, s.held = -1, 0
	for range held {
		e.oneDone(lane, at)
	}
}

// lead returns the time that n bytes of the present message take to leave if nothing is in their
// way.
func (e *engine) lead(s *stream, n unit.Bytes) unit.Time {
	slowest := e.network.Routes[s.route].Slowest
	if s.pacer == model.LanePace {
		return e.rules.Lead(e.lanes[s.lane].rank, s.peers, slowest, n)
	}
	return max(e.rules.PaceBy(s.pacer, e.lanes[s.lane].rank, s.peers, n), n.Over(slowest))
}

// leaving notes that the bytes from to to of a message begin to leave, and how is known.
func (e *engine) leaving(m int32, from, to unit.Bytes, begin model.Moment) {
	x := &e.messages[m]
	if x.kind > silent || e.positions[m].stream < 0 {
		return
	}
	p := &e.positions[m]
	s := &e.streams[p.stream]
	s.base, s.from, s.to = p.base, p.base+from, p.base+to
	s.begin, s.peers, s.pacer = begin, x.peers, x.pacer
	e.report(streamFlows, m, p.stream, begin.T)
	if want := unit.Bytes(s.want); s.want >= 0 && want <= s.to {
		e.hasRoom(p.stream, begin.Plus(e.lead(s, want-s.base)-e.lead(s, from)))
	}
}

// flowStarted notes that a message begins to be a flow.
func (e *engine) flowStarted(m int32) {
	p := e.positionOf(m) // a get has had none
	if p.flows = e.messages[m].kind <= silent && p.stream >= 0; p.flows {
		e.streams[p.stream].base = p.base
		e.watch(m)
	}
}

// watch lets a flow report when as much of it has left as its lane waits for. The rest of the flow
// goes on as if there had been no such report.
func (e *engine) watch(m int32) {
	p := &e.positions[m]
	s := &e.streams[p.stream]
	end := p.base + e.carried(m)
	if s.want < 0 || unit.Bytes(s.want) >= end {
		if e.fair.IsWatched(m) { // for what another message of the step wanted
			e.fair.Watch(m, model.Work{})
		}
		return
	}
	e.report(streamFlows, m, p.stream, e.now)
	e.fair.Watch(m, model.WorkOf(end-unit.Bytes(s.want)))
	if e.fair.HasRate(m) && e.fair.Ends(m) <= e.now {
		e.fair.Watch(m, model.Work{})
		e.hasRoom(p.stream, model.Moment{T: e.now})
	}
}

// flowEnded notes that a flow is over.
func (e *engine) flowEnded(m int32, now unit.Time) {
	p := &e.positions[m]
	if !p.flows {
		return
	}
	p.flows = false
	s := &e.streams[p.stream]
	s.from = p.base + e.carried(m)
	s.to, s.begin = s.from, model.Moment{T: now}
	e.report(streamFlows, m, p.stream, now)
	if s.want >= 0 && unit.Bytes(s.want) <= s.to {
		e.hasRoom(p.stream, s.begin)
	}
}
