package event

import (
	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// rendezvous has large messages asked for before they are sent.
type rendezvous struct {
	e          *engine
	matches    []matching  // of the connections; nil where no message is asked for
	lookaheads []lookahead // of the lanes
	posted     flat.Pool[postedReceive]
	ahead      schedule.Step
}

// newRendezvous prepares for what the device needs.
func newRendezvous(e *engine) rendezvous {
	r := rendezvous{e: e, posted: flat.NewPool[postedReceive](0)}
	if e.rules.Device.EagerLimit == 0 {
		return r
	}
	r.matches, r.lookaheads = []matching{}, make([]lookahead, e.lanes.len())
	for i := range e.lanes.len() {
		r.lookaheads[i].cursor = e.lanes.at(i).cursor
	}
	return r
}

// isOn reports whether any message may be asked for.
func (r *rendezvous) isOn() bool { return r.matches != nil }

// asks reports whether a message of n bytes is asked for.
func (r *rendezvous) asks(class schedule.Class, n unit.Bytes) bool {
	return r.isOn() && r.e.rules.Asks(class, n)
}

// connect adds a connection.
func (r *rendezvous) connect() {
	if r.isOn() {
		r.matches = append(r.matches, matching{receives: flat.NewChain()})
	}
}

// sends counts a message that a connection sends, and returns its number.
func (r *rendezvous) sends(conn int32) (number int64) {
	if r.isOn() {
		number = r.matches[conn].sent
		r.matches[conn].sent++
	}
	return number
}

// stepEnds notes that a lane's present sub-step has ended.
func (r *rendezvous) stepEnds(lane int32) {
	if r.isOn() {
		r.lookaheads[lane].steps--
	}
}

// restart has a lane begin again, at a cursor.
func (r *rendezvous) restart(lane int32, at schedule.Cursor) {
	if r.isOn() {
		r.lookaheads[lane] = lookahead{cursor: at}
	}
}

// matching counts the messages sent, the receives posted and the messages received of a connection.
type matching struct {
	sent, posted, received int64
	receives               flat.Chain // posted, of what has not been received
}

// postedReceive is a receive that is posted.
type postedReceive struct {
	at  model.Moment
	key uint64 // of its answer
}

// lookahead goes ahead of a lane and posts its receives.
type lookahead struct {
	cursor schedule.Cursor
	steps  int // sub-steps from the lane's present one on whose receives are posted
}

// postReceives posts the receives of the sub-step that a lane has come to, which is in e.step, and
// ahead of it. It reports whether all events are there that the former awaits.
func (r *rendezvous) postReceives(i int32) (known bool) {
	e := r.e
	l, a := e.lanes.at(i), &r.lookaheads[i]
	at := l.end
	e.report(comesToReceive, i, 0, at.T)
	for ; a.steps <= e.rules.Device.ReceivesAhead && !a.cursor.Done(); a.steps++ {
		step := &e.step
		if a.steps > 0 {
			step = &r.ahead
			e.programs[l.rank].Load(&a.cursor, step)
		}
		if a.cursor.Slice() == 0 {
			switch {
			case a.steps == 0:
				t, known := e.events(i)
				if !known {
					return false
				}
				e.report(comesToReceive, i, 0, t.T)
				at = model.Later(at, t)
			case model.AwaitsEvents(step):
				return true
			}
		}
		for k := range step.From {
			if f := &step.From[k]; f.Kind == schedule.Message {
				r.postReceive(i, &f.Peer, at)
			}
		}
		a.cursor.Next(l.slices)
	}
	return true
}

// postReceive posts one receive of lane i.
func (r *rendezvous) postReceive(i int32, p *schedule.Peer, at model.Moment) {
	e := r.e
	l := e.lanes.at(i)
	c := e.connection(e.first[p.Rank]+p.Lane, i, p)
	n := r.posted.Put(postedReceive{at: at, key: l.key})
	l.key++
	e.report(receivePosted, n, i, at.T)
	w := &r.matches[c]
	r.posted.Append(&w.receives, n)
	number := w.posted
	w.posted++
	for m := e.conns.at(c).queue.First; m >= 0; m = e.conns.next(m) {
		if x := e.conns.message(m); x.kind == request && x.isHere && e.ahead.number(m) == number {
			r.answer(m, n)
			break
		}
	}
}

// received forgets the posted receive of a connection's next message, which is received.
func (r *rendezvous) received(c int32) {
	w := &r.matches[c]
	r.posted.Drop(r.posted.Pop(&w.receives))
	w.received++
}

// requestCame notes that a request has come.
func (r *rendezvous) requestCame(m int32, at model.Moment) {
	e := r.e
	x := e.conns.message(m)
	x.at, x.isHere = at, true
	w := &r.matches[x.conn]
	if e.ahead.number(m) >= w.posted {
		return
	}
	n := w.receives.First
	for range e.ahead.number(m) - w.received {
		n = r.posted.Next(n)
	}
	r.answer(m, n)
}

// answer sends the answer to message m, whose request has come and whose receive n is posted. It
// sets out at the later of the two.
func (r *rendezvous) answer(m, n int32) {
	e := r.e
	x, receive := e.conns.message(m), r.posted.At(n)
	at := model.Later(x.at, receive.at)
	// The receiver sends the answer: among its requests for links it has the place of the receive.
	x.kind, x.isHere, x.key = answer, false, receive.key
	x.route = e.links.wayBack(x.route)
	if at.T > x.at.T {
		e.log.waits(aReceive, x.entry, at.T)
	}
	e.report(requestAnswered, m, n, at.T)
	e.setOut(m, at)
}

// answerCame lets the data of a message set out.
func (r *rendezvous) answerCame(m int32, at model.Moment) {
	e := r.e
	x := e.conns.message(m)
	x.kind, x.key = data, e.ahead.key(m)
	x.route = e.conns.at(x.conn).route
	e.report(dataFollows, m, 0, at.T)
	if x.flags&buffered > 0 {
		e.ahead.buffer(m, at)
	}
	e.setOut(m, at)
}

// unanswered returns the first message of a lane whose request waits for a posted receive, −1 for
// none.
func (r *rendezvous) unanswered(i int32) int32 {
	e, first := r.e, int32(-1)
	for c := range e.conns.len() {
		if e.conns.at(c).src != i {
			continue
		}
		m := e.ahead.first(e.conns.at(c).stream)
		if m < 0 || e.conns.message(m).kind != request {
			continue
		}
		if first < 0 || e.ahead.key(m) < e.ahead.key(first) {
			first = m
		}
	}
	return first
}
