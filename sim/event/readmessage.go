package event

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// room is how many bytes of the k-th message that a sub-step sends cross links, and how many spans
// and times of the tape it has.
func (r *reader) room(f *form, k int) (n unit.Bytes, spans, times int32) {
	framing, c := schedule.Bare, &r.e.conns[f.sent()[k]]
	if f.framing != nil {
		framing = f.framing[k]
	}
	n = r.e.wire(f.bytes, framing)
	if !r.e.isFluid {
		path := &r.e.network.Routes[c.route]
		spans = path.To - path.From + int32(r.e.rules.Segments(n, false)) - 1
	}
	return n, spans, int32(r.e.timesOfMessage(c, n))
}

// addForm adds a form of which all is known but its spans.
func (r *reader) addForm(f form) {
	for k := range f.sent() {
		_, spans, _ := r.room(&f, k)
		f.spans += spans
	}
	r.forms = append(r.forms, f)
}

// sent is the record of a message, but for who receives it and what sharing has cost it, and when
// it has left.
func (r *reader) sent(number int32) (m model.MessageRecord, left unit.Time) {
	m, c, at := r.asked(number)
	if c == nil {
		return r.overMemory(number, at, m)
	}
	left, m.Arrived = r.leaves(&m, c, at)
	return m, left
}

// asked is the record of a message that has asked for its first link, its connection, and where its
// times are; without one it crosses its rank's memory.
func (r *reader) asked(number int32) (m model.MessageRecord, on *connection, at int32) {
	e, step := r.e, r.senders[number]
	p := &r.steps[step]
	f := &r.forms[p.form]
	m = model.MessageRecord{Since: model.Moment{T: p.start}.Plus(f.cost).T, Step: step, By: -1, To: -1,
		Spans: int64(p.spans), Peers: int32(len(f.sent())), Pacer: f.pacer}
	if at = p.at; number-p.message >= m.Peers {
		return m, nil, at
	}
	for k, c := range f.sent() {
		n, spans, times := r.room(f, k)
		if k == int(number-p.message) {
			on, m.Bytes = &e.conns[c], n
			break
		}
		m.Spans, at = m.Spans+int64(spans), at+times
	}
	if m.Route = on.route; e.late != nil {
		m.Late = e.rules.Device.Of(f.bytes).Latency
	}
	return m, on, at
}

// came is when a message could be received.
func (r *reader) came(number int32) unit.Time {
	if int(number) < len(r.log.Messages) {
		return r.log.Messages[number].Arrived
	}
	m, _ := r.sent(number)
	return m.Arrived
}

// leaves is when a message has left its rank, and when it can be received, by times that are on the
// tape from a place on. When links begin to carry it goes to the log's spans.
func (r *reader) leaves(m *model.MessageRecord, c *connection, at int32) (left, came unit.Time) {
	e, since := r.e, model.Moment{T: m.Since}
	path := &e.network.Routes[m.Route]
	if e.isFluid {
		put := e.rules.PaceBy(m.Pacer, path.Src, m.Peers, m.Bytes)
		switch {
		case !path.IsShared(m.Bytes):
		case c.onTape > 0:
			put = e.tape.read(at, m.Since) - m.Since
		default:
			put, _ = e.rules.Alone(path.Src, m.Peers, path.Slowest, m.Bytes)
		}
		gone := since.Plus(put)
		return gone.T, gone.Plus(path.Latency).Plus(m.Late).T
	}
	links, spans := e.network.LinksOf(path), r.log.Spans[m.Spans:]
	first, asked, from := &e.links[links[0]], since, unit.Bytes(0)
	var gone, tail model.Moment
	for j := 0; ; j++ {
		start, to := r.begins(c, at, 0, m.Since, asked), e.rules.SegmentEnd(from, m.Bytes)
		before := e.rules.PaceBy(m.Pacer, path.Src, m.Peers, from)
		put := e.rules.PaceBy(m.Pacer, path.Src, m.Peers, to)
		gone = model.Leaves(start, max(before, first.slowest(path, from)),
			max(put, first.slowest(path, to)))
		if spans[j] = start.T; to < m.Bytes { // behind its first link it decides nothing
			asked, from, at = gone, to, at+e.stride(c)
			continue
		}
		tail = model.PutOut(start, since, false, before, put)
		for hop, on := range links {
			l := &e.links[on]
			if hop > 0 {
				start = r.begins(c, at, hop, m.Since, asked)
				spans[j+hop] = start.T
			}
			over := start.Plus(l.Part(from, to))
			asked, tail = e.rules.Switching.Forward(start, model.Later(over, tail), l.Latency)
		}
		return gone.T, tail.Plus(m.Late).T
	}
}

// begins is when a link on a way begins to carry a segment, whose times are from a place on, of a
// message. It has asked for it at a moment.
func (r *reader) begins(c *connection, at int32, hop int, since unit.Time,
	asked model.Moment) model.Moment {
	links := r.e.network.LinksOf(&r.e.network.Routes[c.route])
	if r.e.links[links[hop]].isPrompt {
		return asked
	}
	for _, on := range links[:hop] {
		if !r.e.links[on].isPrompt {
			at++
		}
	}
	asked.T = r.e.tape.read(at, since)
	return asked
}
