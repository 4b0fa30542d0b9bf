package event

import (
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// byWay holds a reader's notes of a compact log in which each message has entries of its own.
type byWay struct {
	ways       []way
	waysOf     []int32         // of each step, the first
	wayOf      []int32         // of each record; −1 of what crosses its rank's memory
	streams    []sentBefore    // of each stream
	queues     []latest        // of each lane, what it sends and need not see leave
	puts       []latest        // of these, the silent ones
	popped     [][2]int32      // of each step, those of posts that it has waited for, from and to
	posters    []int32         // of each step, the one at which its receives are posted, by numbers
	awaits     int32           // the last step so far that awaits events
	putLatency unit.Time       // the longest of the lane's silent puts so far
	longest    int64           // spans of one record
	partial    map[int32]int32 // of each step that had to wait for room, the record of that
	parts      []part          // these records, which are the last
	travels    []travel
}

func newByWay(e *engine) byWay {
	b := byWay{ways: make([]way, 0, e.totals.Messages), wayOf: make([]int32, 0, e.totals.Messages),
		waysOf: make([]int32, 0, e.totals.Steps)}
	if e.ahead.goesOn() {
		b.queues, b.puts = make([]latest, e.lanes.len()), make([]latest, e.lanes.len())
		b.popped = make([][2]int32, 0, e.totals.Steps)
	}
	return b
}

// sentBefore holds what a stream has had to send, with the bytes of the stream up to the end of
// each.
type sentBefore struct {
	ways []int32
	ends []unit.Bytes
}

// latest is messages in order, and of each the first of those up to it that has left last.
type latest struct {
	ways, last []int32
	left       []unit.Time
}

// part is as much of a message as a send buffer had to see leave.
type part struct {
	way   int32
	bytes unit.Bytes
}

// inQueue limits the messages that may be in a lane's queue when a step begins, if the step waits.
type inQueue struct {
	most  int32
	waits bool
}

func inQueueOf(rules *model.Rules, s *schedule.Step, f *form) (q inQueue) {
	switch {
	case f.dispatched:
	case rules.Device.Offload:
		q.most, q.waits = rules.Outstanding(s)
	default:
		q.waits = s.Flush
	}
	return q
}

// travelsOf appends a description of each message of a sub-step of form f, which belongs to the
// step in e.step. Requests for data come first, then the messages that it sends.
func (r *reader) travelsOf(list []travel, f *form) []travel {
	e, s := r.e, &r.e.step
	l := e.lanes.at(f.lane)
	for k := range s.From {
		owner, from := l.spot(), &s.From[k]
		x := travel{message: message{kind: getRequest, lane: f.lane, conn: -1}, stream: -1}
		if f.pacer == model.EnginePace {
			x.pacer = model.EnginePace
		}
		switch from.Kind {
		case schedule.Get:
			owner.Rank = int(from.Peer.Rank)
			x.route = e.network.RouteTagged(l.rank, from.Peer.Rank, from.Peer.Tag)
		case schedule.Multimem:
			owner.Rank, x.flags = int(from.Team[0]), multimem
			x.route, _ = e.branches.route(f.lane, from.Team, model.LoadOf(s)) // the run has found it
		default:
			continue
		}
		if x.bytes = e.rules.SizeOf(owner, &from.Region); from.Kind == schedule.Multimem {
			x.bytes = e.rules.OnSwitch(x.bytes)
		}
		list = append(list, r.measured(x))
	}
	sent, dests := f.sent(), model.Sent(s)
	for k := range dests {
		d := &dests[k]
		x := travel{message: message{bytes: e.conns.wire(f.bytes, d.Framing()), lane: f.lane, conn: -1,
			peers: int32(len(dests)), pacer: f.pacer}, stream: -1}
		if d.Message() {
			x.conn, sent = sent[0], sent[1:]
			c := e.conns.at(x.conn)
			if x.route = c.route; e.rendezvous.asks(c.class, f.bytes) {
				x.kind = request
			}
		} else {
			if d.Team != nil && e.rules.Device.MultimemEfficiency > 0 {
				x.bytes = e.rules.OnSwitch(unit.Bytes(d.Framing().Wire(int64(f.bytes))))
			}
			_ = e.silence(&x.message, d) // as above
		}
		if d.Relaxed {
			x.flags |= relaxed
		}
		if e.ahead.hasStreams() {
			x.stream = e.ahead.streamOf(&x.message)
			x.hasRoom = r.buffers() && x.stream >= 0
		}
		list = append(list, r.measured(x))
	}
	return list
}

// measured returns x with its number of spans, and whether the compact log has the arrival of its
// data.
func (r *reader) measured(x travel) travel {
	e := r.e
	x.arrives = x.kind == getRequest && x.flags&multimem > 0 && !e.isFluid
	if e.isFluid {
		return x
	}
	hops := func(route int32) int64 {
		path := &e.network.Routes[route]
		return int64(path.To - path.From)
	}
	data := e.rules.Segments(x.bytes, x.flags&multimem > 0) - 1 + hops(x.route)
	switch x.kind {
	case request:
		x.spans = hops(x.route) + hops(e.links.wayBack(x.route))
	case getRequest:
		data += hops(e.links.wayBack(x.route)) - hops(x.route)
		x.spans = hops(x.route)
	}
	x.spans += data
	r.longest = max(r.longest, data)
	return x
}

// addWays notes what a sub-step gets and sends.
func (r *reader) addWays(number int32, f *form) {
	e, p := r.e, &r.steps[number]
	r.waysOf = append(r.waysOf, int32(len(r.ways)))
	if number == r.firsts[f.lane] {
		r.putLatency = 0
	}
	if e.ahead.goesOn() {
		r.pop(f)
	}
	if e.rendezvous.isOn() {
		r.addPoster(number, f)
	}
	d := model.Moment{T: p.start}.Plus(f.cost).T
	since, by := d, int32(-1)
	for k := range f.travels {
		x := &f.travels[k]
		w := way{since: since, step: number, k: int32(k), at: r.message(len(f.travels)),
			record: int32(len(r.senders)), by: by, spans: int64(len(r.log.Spans))}
		if x.kind == getRequest {
			w.since, w.by = d, -1
		} else if e.conns.hasFigures() {
			w.late = r.lateOf(x, f)
		}
		r.log.Spans = append(r.log.Spans, make([]unit.Time, x.spans)...)
		if w.last = w.record + r.records(&w, x) - 1; x.stream >= 0 {
			r.enter(&w, x)
		}
		if r.addWay(w, x); x.kind != getRequest {
			continue
		}
		if j := r.journeyOf(&w); j.came > since {
			since, by = j.came, w.last
		}
	}
	isPut := func(x travel) bool { return x.kind == silent }
	if e.conns.hasFigures() && slices.ContainsFunc(f.travels, isPut) {
		r.putLatency = max(r.putLatency, e.rules.Device.Of(f.bytes).Latency)
	}
}

// message goes over the times of the next message of a sub-step that has so many, and is where they
// are.
func (r *reader) message(of int) (at int32) {
	if of > 1 {
		r.at++ // of the message
	}
	at = r.at
	r.at = r.times.end(at)
	return at
}

// lateOf returns the latency that a message of a sub-step has in addition to its links'.
func (r *reader) lateOf(x *travel, f *form) unit.Time {
	late := r.e.rules.Device.Of(f.bytes).Latency
	if model.FollowsPuts(x.kind == silent, x.flags&relaxed > 0) {
		late = max(late, r.putLatency)
	}
	return late
}

// records returns the number of records of a message: more than one if it had to wait, or is asked
// for.
func (r *reader) records(w *way, x *travel) int32 {
	n, next := int32(1), w.at
	switch x.kind {
	case request:
		n = 3
	case getRequest:
		return 2
	}
	for kind := aBehind; kind <= aSetOut; kind++ {
		if _, isThere := r.times.take(&next, kind); isThere {
			n++
		}
	}
	return n
}

// addWay notes a message that a lane gets or sends.
func (r *reader) addWay(w way, x *travel) {
	i := int32(len(r.ways))
	r.ways = append(r.ways, w)
	if r.e.ahead.goesOn() && x.peers > 0 && (r.e.rules.Device.Offload || x.stream >= 0) {
		list := &r.queues[x.lane].ways
		if *list = append(*list, i); x.kind == silent {
			list = &r.puts[x.lane].ways
			*list = append(*list, i)
		}
	}
	for range w.last + 1 - w.record {
		r.senders, r.wayOf = append(r.senders, w.step), append(r.wayOf, i)
	}
	if x.conn >= 0 {
		c := &r.conns[x.conn]
		c.sent = append(c.sent, w.last)
	}
}

// enter notes a message of a stream.
func (r *reader) enter(w *way, x *travel) {
	for int(x.stream) >= len(r.streams) {
		r.streams = append(r.streams, sentBefore{})
	}
	s, end := &r.streams[x.stream], x.bytes
	if w.turn = int32(len(s.ways)); w.turn > 0 {
		end += s.ends[w.turn-1]
	}
	s.ways, s.ends = append(s.ways, int32(len(r.ways))), append(s.ends, end)
}

// pop notes for which of its lane's posts a sub-step waits.
func (r *reader) pop(f *form) {
	posted := int32(len(r.queues[f.lane].ways))
	from := int32(0)
	if n := len(r.popped); n > 0 && r.form(r.steps[n-1].form).lane == f.lane {
		from = r.popped[n-1][1]
	}
	to := from
	if f.waits {
		to = max(from, posted-f.most)
	}
	r.popped = append(r.popped, [2]int32{from, to})
}

// addPoster notes at which step the receives of another are posted: so many before it as the device
// posts ahead, but no sooner than the lane has come to one that awaits events.
func (r *reader) addPoster(number int32, f *form) {
	if slices.ContainsFunc(f.await, func(v schedule.Event) bool { return v.Value > 0 }) {
		r.awaits = number
	}
	first := r.firsts[f.lane]
	r.posters = append(r.posters,
		max(number-int32(r.e.rules.Device.ReceivesAhead), r.awaits, first))
}

// buffers reports whether lanes wait for room in a send buffer.
func (r *reader) buffers() bool {
	d := &r.e.rules.Device
	return d.SendBuffer > 0 && !d.Offload
}
