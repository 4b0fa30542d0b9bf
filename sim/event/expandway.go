package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

// way is a message of a compact log on which each has room for itself (logway.go).
type way struct {
	since        unit.Time // D, or when all that its step gets had come
	late         unit.Time // latency of its own
	spans        int64     // of its records that cross links, one after the other
	step, k      int32     // the k-th that its step gets, or sends after that
	at           int32     // where its times are
	record, last int32     // the numbers of its records
	by           int32     // the reply that came last before it was sent, −1 for none
	turn         int32     // in its stream
}

// travel describes a message that a sub-step gets or sends; bytes are those of its data on links.
type travel struct {
	message
	spans   int64 // of all its records
	stream  int32 // −1 for none
	hasRoom bool  // its lane waits for that behind it
	arrives bool  // its data come one by one, and then all have arrived
}

// journey holds what follows from the times of a message: its records, in order, and when it was
// handed over (over), when the send buffer had room behind it (room), and when it reached its end
// (came).
type journey struct {
	r          *reader
	w          *way
	x          *travel
	rank       int32 // that sends it, or gets it
	at         int32 // where its next time is,
	spans      int64 // and its next spans
	records    [5]leg
	n          int32
	over, room unit.Time
	came       unit.Time
}

// leg is a record of a message: all of its way, or a part.
type leg struct {
	model.MessageRecord
	crosses bool // links, by times that are at a place; else it has only waited for them
	at      int32
	left    unit.Time
	after   after
}

// after names what a leg had to wait for, apart from links.
type after uint8

const (
	afterNothing after = iota
	afterPuts          // before it
	afterStream        // of what was before it
	afterReceive       // was posted
)

// journeyOf computes the journey of a message from its times.
func (r *reader) journeyOf(w *way) journey {
	e, p := r.e, &r.steps[w.step]
	f := r.form(p.form)
	j := journey{r: r, w: w, x: &f.travels[w.k], rank: e.lanes.at(f.lane).rank, at: w.at,
		spans: w.spans, n: 1}
	x := j.x
	j.records[0] = leg{MessageRecord: model.MessageRecord{Since: w.since, Late: w.late, Step: w.step,
		By: w.by, To: -1, Route: x.route, Peers: x.peers, Pacer: x.pacer, Spans: r.none}}
	m := j.last()
	switch x.kind {
	case request:
		m.Kind = model.AskedFor
	case data, silent:
		m.Bytes = x.bytes
		j.buffer()
	}
	j.wait(aBehind, afterPuts)
	j.wait(aSetOut, afterStream)
	switch x.kind {
	case request:
		j.ask()
		j.buffer()
	case getRequest:
		j.get()
	}
	j.cross(aPacket)
	switch {
	case x.arrives:
		j.came = j.read()
	case x.conn >= 0:
		j.came = model.Moment{T: j.came}.Plus(w.late).T
	}
	j.last().Arrived = j.came
	return j
}

func (j *journey) last() *leg { return &j.records[j.n-1] }

// next adds a record that begins at a time and follows the last one.
func (j *journey) next(since unit.Time) *leg {
	by := j.w.record + j.n - 1
	j.records[j.n] = leg{MessageRecord: j.last().MessageRecord}
	j.n++
	m := j.last()
	m.Since, m.By, m.ByLeft, m.Spans = since, by, false, j.r.none
	return m
}

func (j *journey) read() unit.Time {
	t := j.r.times.of[j.at]
	j.at++
	return t
}

func (j *journey) pace(n unit.Bytes) unit.Time {
	return j.r.e.rules.PaceBy(j.x.pacer, j.rank, j.x.peers, n)
}

// buffer has a message be handed over to the send buffer, if its lane waits for that.
func (j *journey) buffer() {
	if since := j.last().Since; j.x.hasRoom {
		j.over = model.Moment{T: since}.Plus(j.pace(j.x.bytes)).T
		j.room = j.r.times.room(j.w.at, since)
	}
}

// wait has a message wait until what was before it had left, if there is a time that says so.
func (j *journey) wait(kind entryKind, after after) {
	if t, isThere := j.r.times.take(&j.at, kind); isThere {
		m := j.next(t)
		m.ByLeft, m.after = true, after
	}
}

// ask has a message asked for, and answered.
func (j *journey) ask() {
	j.cross(aRequest)
	m := j.next(j.came)
	m.Route, m.Kind = j.r.e.links.wayBack(j.x.route), model.Answered
	if t, isThere := j.r.times.take(&j.at, aReceive); isThere {
		m.Since, m.Kind, m.By, m.after = t, model.AnsweredLate, -1, afterReceive
	}
	j.cross(anAnswer)
	m = j.next(j.came)
	m.Route, m.Kind, m.Bytes = j.x.route, model.Ordinary, j.x.bytes
}

// get has a reply set out when its request has come; of a load, under FIFO, members do so by
// themselves.
func (j *journey) get() {
	j.cross(aRequest)
	since := j.came
	if j.x.arrives {
		since = j.w.since
	}
	m := j.next(since)
	m.Route, m.Bytes = j.r.e.links.wayBack(j.x.route), j.x.bytes
}

// cross has the last record cross its links, whose times are of a kind.
func (j *journey) cross(kind entryKind) {
	r, e, m := j.r, j.r.e, j.last()
	path := &e.network.Routes[m.Route]
	m.crosses, m.at = true, j.at
	if !e.isFluid {
		m.Spans = j.spans
		j.spans += e.rules.Segments(m.Bytes, path.Tree >= 0) + int64(path.To-path.From) - 1
	}
	if path.Tree < 0 || e.isFluid {
		m.left, j.came = r.leaves(&m.MessageRecord, j.rank, kind, &j.at)
		return
	}
	spans := r.log.Spans[m.Spans:]
	for hop := range path.To - path.From {
		spans[hop] = j.read()
	}
	first := e.links.at(e.network.Hops[path.From])
	m.left = model.Leaves(model.Moment{T: spans[0]}, 0,
		max(j.pace(m.Bytes), first.slowest(path, m.Bytes))).T
	if j.came = 0; j.x.kind == silent {
		j.came = j.stored(&m.MessageRecord, spans)
	}
}

// stored returns when the last byte of a multimem store, under FIFO, has come to the last member,
// where its links began to carry it at such times.
func (j *journey) stored(m *model.MessageRecord, starts []unit.Time) (came unit.Time) {
	e := j.r.e
	path := &e.network.Routes[m.Route]
	isPost := e.rules.Device.Offload && m.Peers > 0
	put := model.PutOut(model.Moment{T: starts[0]}, model.Moment{T: m.Since}, isPost, 0,
		j.pace(m.Bytes))
	tails, of := make([]model.Moment, path.To-path.From), e.network.Trees[path.Tree].Of
	for hop, on := range e.network.LinksOf(path) {
		l, start, before := e.links.at(on), model.Moment{T: starts[hop]}, put
		if hop > 0 {
			before = tails[of[hop][0]]
		}
		tail := model.Later(start.Plus(l.Part(0, m.Bytes)), before)
		_, tails[hop] = e.rules.Switching.Forward(start, tail, l.Latency)
		came = max(came, tails[hop].T)
	}
	return came
}
