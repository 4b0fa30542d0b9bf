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

// ahead holds what lanes have sent and what has not left yet, where they go on before it has.
type ahead struct {
	e         *engine
	backlogs  []backlog  // of the lanes; nil where none goes on before what it sends has left
	streams   []stream   // of the connections, and of silent puts; nil where no lane runs ahead
	streamBy  flat.Table // of silent puts, by lane and rank
	positions []position // of messages, in streams
	posts     flat.Pool[departure]
}

// hasStreams reports whether messages may wait for those before them, and goesOn whether lanes go
// on before what they send has left.
func (a *ahead) hasStreams() bool { return a.streams != nil }
func (a *ahead) goesOn() bool     { return a.backlogs != nil }

// newAhead prepares for what the device needs.
func newAhead(e *engine) ahead {
	a := ahead{e: e, posts: flat.NewPool[departure](int(e.lanes.len()))}
	if e.rules.RunsAhead() {
		a.backlogs = newBacklogs(int(e.lanes.len()))
	}
	if e.rules.HasStreams() {
		a.streams, a.streamBy = []stream{}, flat.NewTable()
	}
	return a
}

func (a *ahead) newStream(lane, route int32) int32 {
	a.streams = append(a.streams, stream{first: -1, last: -1, lane: lane, route: route, want: -1})
	return int32(len(a.streams) - 1)
}

// streamOf returns the stream that a message belongs to, −1 for multimem.
func (a *ahead) streamOf(x *message) int32 {
	e := a.e
	switch {
	case x.flags&multimem > 0:
		return -1
	case x.conn >= 0:
		return e.conns.at(x.conn).stream
	}
	key := uint64(x.lane)<<32 | uint64(e.network.Routes[x.route].Dst)
	i := a.streamBy.Find(key)
	if i < 0 {
		i = a.newStream(x.lane, x.route)
		a.streamBy.Put(key, i)
	}
	return i
}

// number returns the number of a message among those of its connection, key its own key, and first
// the first message of a stream that has not left, −1 for none.
func (a *ahead) number(m int32) int64     { return a.positions[m].number }
func (a *ahead) key(m int32) uint64       { return a.positions[m].key }
func (a *ahead) first(stream int32) int32 { return a.streams[stream].first }

// positionOf returns the position of a message. Until it is set, it may be that of an earlier
// message with this number.
func (a *ahead) positionOf(m int32) *position {
	for int(m) >= len(a.positions) {
		a.positions = append(a.positions, position{})
	}
	return &a.positions[m]
}

// enter puts a message that lane i sends at a moment into its stream, and lets it set out as soon
// as nothing holds it any more.
func (a *ahead) enter(i, m int32, at model.Moment) {
	e := a.e
	x, p := e.conns.message(m), a.positionOf(m)
	*p = position{stream: a.streamOf(x), next: -1, key: x.key}
	if p.stream >= 0 {
		s := &a.streams[p.stream]
		p.base = s.bytes
		s.bytes += e.conns.crossing(m)
		if s.first < 0 {
			s.first = m
		} else {
			a.positions[s.last].next = m
		}
		s.last = m
	}
	if x.conn >= 0 {
		p.number = e.rendezvous.sends(x.conn)
	}
	l, d := e.lanes.at(i), &e.rules.Device
	switch {
	case d.Offload:
		a.post(i, m, at)
	case d.SendBuffer > 0 && p.stream >= 0:
		x.flags |= buffered
		a.backlogs[i].unsent++
		l.pending++
		if x.kind != request { // else when it is answered
			a.buffer(m, at)
		}
	default:
		l.pending++
	}
	if a.goesOn() && (d.Offload || p.stream >= 0) {
		a.follow(m, at)
	} else {
		a.unblock(m, at)
	}
}

// unblock says that from a moment on nothing but its stream holds a message.
func (a *ahead) unblock(m int32, at model.Moment) {
	e, p := a.e, &a.positions[m]
	if p.stream < 0 {
		e.setOut(m, at)
		return
	}
	e.conns.message(m).since, p.ready = at, true
	if a.streams[p.stream].first == m {
		a.setOutFirst(m)
	}
}

// setOutFirst lets the first message of a stream set out.
func (a *ahead) setOutFirst(m int32) {
	e := a.e
	ready, i := e.conns.message(m).since, a.positions[m].stream
	at := model.Later(ready, a.streams[i].left)
	if at.T > ready.T {
		e.report(followsStream, m, i, at.T)
		e.log.waits(aSetOut, e.conns.message(m).entry, at.T)
	}
	e.setOut(m, at)
}

// left takes a message that has left at a moment out of its stream. It is the first.
func (a *ahead) left(m int32, at model.Moment) {
	p := &a.positions[m]
	if p.stream < 0 {
		return
	}
	s := &a.streams[p.stream]
	s.left = at
	a.e.report(streamMoves, m, p.stream, at.T)
	if s.first = p.next; s.first >= 0 && a.positions[s.first].ready {
		a.setOutFirst(s.first)
	}
}

// buffer has the lane of a message, which it has at a moment, wait until it has handed it over and
// the send buffer has room for what has not left.
func (a *ahead) buffer(m int32, at model.Moment) {
	e := a.e
	x, p := e.conns.message(m), &a.positions[m]
	i := p.stream
	s, l, n := &a.streams[i], e.lanes.at(x.lane), e.conns.crossing(m)
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
		a.hasRoom(i, s.begin.Plus(a.lead(s, want-s.base)-a.lead(s, s.from-s.base)))
	case s.first >= 0 && a.positions[s.first].flows:
		a.watch(s.first)
	}
}

// hasRoom lets a lane go on, because as much of its stream has left at a moment as it waits for.
func (a *ahead) hasRoom(i int32, at model.Moment) {
	e, s := a.e, &a.streams[i]
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

// partLeft notes that as much of a flow has left as its lane waits for.
func (a *ahead) partLeft(m int32, now unit.Time) {
	a.hasRoom(a.positions[m].stream, model.Moment{T: now})
}

// lead returns the time that n bytes of the present message take to leave if nothing is in their
// way.
func (a *ahead) lead(s *stream, n unit.Bytes) unit.Time {
	e := a.e
	slowest := e.network.Routes[s.route].Slowest
	if s.pacer == model.LanePace {
		return e.rules.Lead(e.lanes.at(s.lane).rank, s.peers, slowest, n)
	}
	return max(e.rules.PaceBy(s.pacer, e.lanes.at(s.lane).rank, s.peers, n), n.Over(slowest))
}

// leaving notes that the bytes from to to of a message begin to leave, and how is known.
func (a *ahead) leaving(m int32, from, to unit.Bytes, begin model.Moment) {
	e := a.e
	x := e.conns.message(m)
	if x.kind > silent || a.positions[m].stream < 0 {
		return
	}
	p := &a.positions[m]
	s := &a.streams[p.stream]
	s.base, s.from, s.to = p.base, p.base+from, p.base+to
	s.begin, s.peers, s.pacer = begin, x.peers, x.pacer
	e.report(streamFlows, m, p.stream, begin.T)
	if want := unit.Bytes(s.want); s.want >= 0 && want <= s.to {
		a.hasRoom(p.stream, begin.Plus(a.lead(s, want-s.base)-a.lead(s, from)))
	}
}

// flowStarted notes that a message begins to be a flow.
func (a *ahead) flowStarted(m int32) {
	p := a.positionOf(m) // a get has had none
	if p.flows = a.e.conns.message(m).kind <= silent && p.stream >= 0; p.flows {
		a.streams[p.stream].base = p.base
		a.watch(m)
	}
}

// watch lets a flow report when as much of it has left as its lane waits for. The rest of the flow
// goes on as if there had been no such report.
func (a *ahead) watch(m int32) {
	e, p := a.e, &a.positions[m]
	s := &a.streams[p.stream]
	end := p.base + e.conns.carried(m)
	if s.want < 0 || unit.Bytes(s.want) >= end {
		if e.flows.IsWatched(m) { // for what another message of the step wanted
			e.flows.Watch(m, model.Work{})
		}
		return
	}
	e.report(streamFlows, m, p.stream, e.now)
	e.flows.Watch(m, model.WorkOf(end-unit.Bytes(s.want)))
	if e.flows.HasRate(m) && e.flows.Ends(m) <= e.now {
		e.flows.Watch(m, model.Work{})
		a.hasRoom(p.stream, model.Moment{T: e.now})
	}
}

// flowEnded notes that a flow is over.
func (a *ahead) flowEnded(m int32, now unit.Time) {
	e, p := a.e, &a.positions[m]
	if !p.flows {
		return
	}
	p.flows = false
	s := &a.streams[p.stream]
	s.from = p.base + e.conns.carried(m)
	s.to, s.begin = s.from, model.Moment{T: now}
	e.report(streamFlows, m, p.stream, now)
	if s.want >= 0 && unit.Bytes(s.want) <= s.to {
		a.hasRoom(p.stream, s.begin)
	}
}
