package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

// way is a message of a tape on which each has room for itself (tapeway.go).
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

// travel is what a sub-step gets or sends; its bytes are those of its data on links.
type travel struct {
	message
	parts  parts
	spans  int64 // of all its records
	stream int32 // −1 for none
}

// journey is what follows from the times of a message: its records, one after the other, and when
// it was handed over, when the send buffer had room behind it, and when it came to its end.
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

// after is what a leg had to wait for that is not found on the way.
type after uint8

const (
	afterNothing after = iota
	afterPuts          // before it
	afterStream        // of what was before it
	afterReceive       // was posted
)

// journeyOf is the journey of a message.
func (r *reader) journeyOf(w *way) journey {
	e, p := r.e, &r.steps[w.step]
	f := r.form(p.form)
	j := journey{r: r, w: w, x: &f.travels[w.k], rank: e.lanes[f.lane].rank, at: w.at, spans: w.spans,
		n: 1}
	x := j.x
	parts := &x.parts
	j.records[0] = leg{MessageRecord: model.MessageRecord{Since: w.since, Late: w.late, Step: w.step,
		By: w.by, To: -1, Route: x.route, Peers: x.peers, Pacer: x.pacer, Spans: r.none}}
	m := j.last()
	switch x.kind {
	case request:
		m.Kind = model.AskedFor
	case data, silent:
		m.Bytes = x.bytes
		j.buffer(parts.room)
	}
	j.wait(parts.behind, afterPuts)
	j.wait(parts.setOut, afterStream)
	switch x.kind {
	case request:
		j.ask()
		j.buffer(parts.room)
	case getRequest:
		j.get(parts.arrival > 0)
	}
	j.cross()
	switch {
	case parts.arrival > 0:
		j.came = j.read(w.since)
	case x.conn >= 0:
		j.came = model.Moment{T: j.came}.Plus(w.late).T
		j.last().Arrived = j.came
	}
	return j
}

func (j *journey) last() *leg { return &j.records[j.n-1] }

// next is a further record, from a time on, after the one before it.
func (j *journey) next(since unit.Time) *leg {
	by := j.w.record + j.n - 1
	j.records[j.n] = leg{MessageRecord: j.last().MessageRecord}
	j.n++
	m := j.last()
	m.Since, m.By, m.ByLeft, m.Spans = since, by, false, j.r.none
	return m
}

func (j *journey) read(since unit.Time) unit.Time {
	t := j.r.e.tape.read(j.at, since)
	j.at++
	return t
}

func (j *journey) pace(n unit.Bytes) unit.Time {
	return j.r.e.rules.PaceBy(j.x.pacer, j.rank, j.x.peers, n)
}

// buffer has a message that has a time of that be handed over to the send buffer.
func (j *journey) buffer(times int32) {
	if since := j.last().Since; times > 0 {
		j.over = model.Moment{T: since}.Plus(j.pace(j.x.bytes)).T
		j.room = j.read(since)
	}
}

// wait has a message that has a time of that wait until what was before it had left.
func (j *journey) wait(times int32, after after) {
	if times == 0 {
		return
	}
	if t := j.read(j.last().Since); t > j.last().Since {
		m := j.next(t)
		m.ByLeft, m.after = true, after
	}
}

// ask has a message asked for, and answered.
func (j *journey) ask() {
	j.cross()
	asked := j.came
	m := j.next(j.read(j.last().Since))
	m.Route, m.Kind = j.r.e.wayBack(j.x.route), model.Answered
	if m.Since > asked {
		m.Kind, m.By, m.after = model.AnsweredLate, -1, afterReceive
	}
	j.cross()
	m = j.next(j.came)
	m.Route, m.Kind, m.Bytes = j.x.route, model.Ordinary, j.x.bytes
}

// get has a reply set out when its request has come; of a load, under FIFO, members do so by
// themselves.
func (j *journey) get(isLoad bool) {
	j.cross()
	since := j.came
	if isLoad {
		since = j.w.since
	}
	m := j.next(since)
	m.Route, m.Bytes = j.r.e.wayBack(j.x.route), j.x.bytes
}

// cross has the last record cross its links.
func (j *journey) cross() {
	r, e, m := j.r, j.r.e, j.last()
	path := &e.network.Routes[m.Route]
	m.crosses, m.at = true, j.at
	if e.isFluid {
		m.left, j.came = r.leaves(&m.MessageRecord, j.rank, e.timesOn(m.Route), j.at)
		return
	}
	m.Spans = j.spans
	j.spans += e.rules.Segments(m.Bytes, path.Tree >= 0) + int64(path.To-path.From) - 1
	onTape := e.timesOn(m.Route)
	if path.Tree < 0 {
		m.left, j.came = r.leaves(&m.MessageRecord, j.rank, onTape, j.at)
		j.at += int32(e.rules.Segments(m.Bytes, false)-1)*e.stride(m.Route, onTape) + onTape
		return
	}
	spans := r.log.Spans[m.Spans:]
	for hop := range onTape {
		spans[hop] = j.read(m.Since)
	}
	first := &e.links[e.network.Hops[path.From]]
	m.left = model.Leaves(model.Moment{T: spans[0]}, 0,
		max(j.pace(m.Bytes), first.slowest(path, m.Bytes))).T
}
