package sim

import (
	"collsim/schedule"
	"collsim/unit"
)

// A message of more than the eager limit, on a connection of class FIFO, is asked for first:
//
//	sender    D ──request──►                  data ──► …
//	receiver              grant, once its receive is posted
//
// The request is an empty message in the place of the message in its stream. When it has come, and
// the receive is posted, the answer goes back as another, and when that has come the data set out.
// Until then the sender's lane is held, unless its device offloads; what follows on the connection
// waits. A receive is posted when its lane has come to the sub-step, or to the one so many before
// it as the device posts receives ahead, and the events that this awaits are there; no receive is
// posted before one of an earlier sub-step, nor ahead over a sub-step that awaits events. The
// answer starts at its node in the place of its lane, before what the sub-step sends.

// rendezvous is the state of it; all nil where no message is asked for.
type rendezvous struct {
	meets    []meeting // of the connections
	scouts   []scout   // of the lanes
	postings []posting
	freePost int32
	ahead    schedule.Step
}

// meeting is how far both ends of a connection have come.
type meeting struct {
	sent, posted, received int64
	first, last            int32 // the postings of what has not been received, −1 for none
}

// posting is a receive that is posted.
type posting struct {
	at   moment
	line uint64 // of its answer
	step int32  // that had to end first; −2 − its lane where there was none
	next int32
}

// scout goes ahead of a lane and posts its receives.
type scout struct {
	cursor schedule.Cursor
	ahead  int // sub-steps from the lane's present one on whose receives are posted
}

// asks makes a message one that is asked for, if it is to be.
func (e *engine) asks(x *message) {
	if x.kind == data && x.bytes > e.env.Device.EagerLimit &&
		e.conns[x.conn].class == schedule.FIFO {
		x.kind = requesting
	}
}

// reach posts the receives of the sub-step that a lane has come to, which is in e.step, and ahead
// of it. It reports whether all events are there that the former awaits.
func (e *engine) reach(i int32) (known bool, err error) {
	l, s := &e.lanes[i], &e.scouts[i]
	at, by := l.end, int32(-2-i)
	if e.why != nil && e.why.lanes[i].step >= 0 {
		by = e.why.lanes[i].step
	}
	for ; s.ahead <= e.env.Device.ReceivesAhead && !s.cursor.Done(); s.ahead++ {
		step := &e.step
		if s.ahead > 0 {
			step = &e.rendezvous.ahead
			e.programs[l.rank].Load(&s.cursor, step)
		}
		if s.cursor.Slice() == 0 {
			switch {
			case s.ahead == 0:
				t, known, err := e.events(i)
				if err != nil || !known {
					return false, err
				}
				if e.why != nil && t.t > at.t {
					_, by = e.event(i, t.t)
				}
				at = later(at, t)
			case awaits(step):
				return true, nil
			}
		}
		for k := range step.From {
			if f := &step.From[k]; f.Kind == schedule.Message && !e.postReceive(i, f, at, by) {
				return true, nil // it is malformed, which is told when the lane comes to it
			}
		}
		s.cursor.Next(int32(e.s.Slices))
	}
	return true, nil
}

// awaits reports whether a step awaits an event.
func awaits(s *schedule.Step) bool {
	for _, v := range s.Await {
		if v.Value > 0 {
			return true
		}
	}
	return false
}

// postReceive posts one receive of lane i.
func (e *engine) postReceive(i int32, f *schedule.Source, at moment, by int32) bool {
	l, p := &e.lanes[i], &f.Peer
	if p.Rank == l.rank || p.Lane < 0 || p.Lane >= e.first[p.Rank+1]-e.first[p.Rank] {
		return false
	}
	c := e.connection(e.first[p.Rank]+p.Lane, i, p)
	made := posting{at: at, line: l.line, step: by, next: -1}
	l.line++
	n := e.freePost
	if n < 0 {
		n = int32(len(e.postings))
		e.postings = append(e.postings, made)
	} else {
		e.freePost = e.postings[n].next
		e.postings[n] = made
	}
	w := &e.meets[c]
	if w.first < 0 {
		w.first = n
	} else {
		e.postings[w.last].next = n
	}
	w.last = n
	number := w.posted
	w.posted++
	for m := e.conns[c].head; m >= 0; m = e.messages[m].next {
		if e.messages[m].kind == requesting && e.messages[m].here && e.places[m].number == number {
			e.answer(m, n)
			break
		}
	}
	return true
}

// met forgets the posting of a message that is received.
func (e *engine) met(c int32) {
	w := &e.meets[c]
	n := w.first
	if w.first = e.postings[n].next; w.first < 0 {
		w.last = -1
	}
	w.received++
	e.postings[n].next, e.freePost = e.freePost, n
}

// requested notes that a request has come.
func (e *engine) requested(m int32, at moment) {
	x := &e.messages[m]
	x.at, x.here = at, true
	w := &e.meets[x.conn]
	if e.places[m].number >= w.posted {
		return
	}
	n := w.first
	for range e.places[m].number - w.received {
		n = e.postings[n].next
	}
	e.answer(m, n)
}

// answer grants a request that has come and whose receive is posted.
func (e *engine) answer(m, n int32) {
	x, p := &e.messages[m], &e.postings[n]
	there := e.routes[x.route]
	at := later(x.at, p.at)
	x.kind, x.here, x.line = granting, false, p.line
	x.route = e.routeOf(there.dst, there.src)
	if e.why != nil {
		e.grants(m, at.t, p)
	}
	e.request(m, at)
}

// granted lets the data of a message set out.
func (e *engine) granted(m int32, at moment) {
	x := &e.messages[m]
	x.kind, x.line = data, e.places[m].line
	x.route = e.conns[x.conn].route
	if e.why != nil {
		e.setsOut(m, at.t, e.why.ofMessage[m])
		e.why.messages[e.why.ofMessage[m]].step = e.places[m].step
		if x.post >= 0 {
			e.why.ofMark[x.post] = e.why.ofMessage[m]
		}
	}
	if x.flags&early > 0 {
		e.hold(m, at)
	}
	e.request(m, at)
}

// ungranted is the first message of a lane that waits to be granted, −1 for none.
func (e *engine) ungranted(i int32) int32 {
	first := int32(-1)
	for c := range e.conns {
		if e.conns[c].src != i {
			continue
		}
		m := e.streams[e.conns[c].stream].first
		if m < 0 || e.messages[m].kind != requesting {
			continue
		}
		if first < 0 || e.places[m].line < e.places[first].line {
			first = m
		}
	}
	return first
}

// The peers of a record of causes that is none of data: a request, an answer to it, and an answer
// that had to wait until the receive was posted.
const (
	ofRequest = -1 - iota
	ofAnswer
	ofPosting
)

// grants remembers an answer that sets out, and why not sooner.
func (e *engine) grants(m int32, at unit.Time, p *posting) {
	w := e.why
	request := w.ofMessage[m]
	e.setsOut(m, at, request)
	r := &w.messages[w.ofMessage[m]]
	r.step = e.places[m].step
	if r.peers = ofAnswer; p.at.t > e.messages[m].at.t {
		r.peers, r.by, r.step = ofPosting, -1, p.step
	}
}
