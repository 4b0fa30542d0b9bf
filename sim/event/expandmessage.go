package event

import (
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// room returns the bytes that the k-th message of a sub-step takes on links, and its number of
// spans.
func (r *reader) room(f *form, k int) (n unit.Bytes, spans int32) {
	framing, c := schedule.Bare, r.e.conns.at(f.sent()[k])
	if f.framing != nil {
		framing = f.framing[k]
	}
	n = r.e.conns.wire(f.bytes, framing)
	if !r.e.isFluid {
		path := &r.e.network.Routes[c.route]
		spans = path.To - path.From + int32(r.e.rules.Segments(n, false)) - 1
	}
	return n, spans
}

func (r *reader) form(number int32) *form { return r.forms.At(int(number)) }

// formLike completes a form that lacks only what it sends, and returns its number. If the step
// before has an equal form, it returns that one's.
func (r *reader) formLike(f form) int32 {
	r.complete(&f)
	last := int32(r.forms.Len() - 1)
	if last < 0 || !f.isLike(r.form(last)) {
		r.keep(&f)
		last++
	}
	return last
}

// addForm completes a form that lacks only what it sends, and adds it.
func (r *reader) addForm(f form) {
	r.complete(&f)
	r.keep(&f)
}

// keep keeps a form, whose lists will be used again.
func (r *reader) keep(f *form) {
	f.named, f.framing = slices.Clone(f.named), slices.Clone(f.framing)
	f.await, f.travels = slices.Clone(f.await), slices.Clone(f.travels)
	*r.forms.Next() = *f
}

// complete finds what a form sends.
func (r *reader) complete(f *form) {
	if r.e.log.byWay {
		r.travels = r.travelsOf(r.travels[:0], f)
		f.travels = r.travels
		return
	}
	for k := range f.sent() {
		_, spans := r.room(f, k)
		f.spans += spans
	}
}

// isLike reports whether two forms are the same, and nothing is any sub-step's own.
func (f *form) isLike(o *form) bool {
	return f.lane == o.lane && f.moved == o.moved && f.inQueue == o.inQueue &&
		f.receives == o.receives && f.sources == o.sources && f.computes == o.computes &&
		f.isPost == o.isPost && f.onGPU.isLike(&o.onGPU) &&
		len(f.await) == 0 && len(o.await) == 0 && slices.Equal(f.named, o.named) &&
		slices.Equal(f.framing, o.framing) && slices.Equal(f.travels, o.travels)
}

// sent returns the record of a message, except for its receiver and the cost of sharing, and the
// time when the message has left.
func (r *reader) sent(number int32) (m model.MessageRecord, left unit.Time) {
	m, c, at := r.asked(number)
	if c == nil {
		return r.overMemory(number, at, m)
	}
	left, came := r.leaves(&m, r.e.network.Routes[m.Route].Src, aPacket, &at)
	m.Arrived = model.Moment{T: came}.Plus(m.Late).T
	return m, left
}

// asked returns the record of a message as it asks for its first link, its connection, and the
// index of its times. A message without a connection crosses its rank's memory.
func (r *reader) asked(number int32) (m model.MessageRecord, on *connection, at int32) {
	e, step := r.e, r.senders[number]
	p := &r.steps[step]
	f := r.form(p.form)
	m = model.MessageRecord{Since: model.Moment{T: p.start}.Plus(f.cost).T, Step: step, By: -1, To: -1,
		Spans: int64(p.spans), Peers: int32(len(f.sent())), Pacer: f.pacer}
	if at = p.at; number-p.message >= m.Peers {
		return m, nil, at
	}
	for k, c := range f.sent() {
		n, spans := r.room(f, k)
		if m.Peers > 1 && e.conns.at(c).logged > 0 {
			at++ // of the message
		}
		if k == int(number-p.message) {
			on, m.Bytes = e.conns.at(c), n
			break
		}
		m.Spans, at = m.Spans+int64(spans), r.times.end(at)
	}
	if m.Route = on.route; e.conns.hasFigures() {
		m.Late = e.rules.Device.Of(f.bytes).Latency
	}
	return m, on, at
}

// came returns the time when a message could be received.
func (r *reader) came(number int32) unit.Time {
	switch {
	case int(number) < len(r.log.Messages):
		return r.log.Messages[number].Arrived
	case r.e.log.byWay:
		return r.journeyOf(&r.ways[r.wayOf[number]]).came
	}
	m, _ := r.sent(number)
	return m.Arrived
}

// leaves returns the time when a message of a rank has left, and when it has reached its end. It
// reads these from the message's next times of a kind in the compact log. It writes to the log's
// spans when each link began to carry.
func (r *reader) leaves(m *model.MessageRecord, rank int32, kind entryKind, next *int32) (
	left, came unit.Time) {
	e, since := r.e, model.Moment{T: m.Since}
	path := &e.network.Routes[m.Route]
	if e.isFluid {
		put := e.rules.PaceBy(m.Pacer, rank, m.Peers, m.Bytes)
		if path.IsShared(m.Bytes) {
			if gone, isThere := r.times.take(next, kind); isThere {
				put = gone - m.Since
			} else {
				put, _ = e.rules.Alone(rank, m.Peers, path.Slowest, m.Bytes)
			}
		}
		gone := since.Plus(put)
		return gone.T, gone.Plus(path.Latency).T
	}
	isPost := e.rules.Device.Offload && m.Peers > 0
	links, spans := e.network.LinksOf(path), r.log.Spans[m.Spans:]
	first, asked, from := e.links.at(links[0]), since, unit.Bytes(0)
	var gone, tail model.Moment
	for j := 0; ; j++ {
		start, to := r.carried(next, links[0], kind, asked), e.rules.SegmentEnd(from, m.Bytes)
		before := e.rules.PaceBy(m.Pacer, rank, m.Peers, from)
		put := e.rules.PaceBy(m.Pacer, rank, m.Peers, to)
		gone = model.Leaves(start, max(before, first.slowest(path, from)),
			max(put, first.slowest(path, to)))
		if spans[j] = start.T; to < m.Bytes { // behind its first link it decides nothing
			for hop := 1; hop < len(links) && e.log.isFull; hop++ {
				r.carried(next, links[hop], kind.on(int32(hop)), start)
			}
			asked, from = gone, to
			continue
		}
		tail = model.PutOut(start, since, isPost, before, put)
		for hop, on := range links {
			l := e.links.at(on)
			if hop > 0 {
				start = r.carried(next, on, kind.on(int32(hop)), asked)
				spans[j+hop] = start.T
			}
			over := start.Plus(l.Part(from, to))
			asked, tail = e.rules.Switching.Forward(start, model.Later(over, tail), l.Latency)
		}
		return gone.T, tail.T
	}
}

// carried returns the moment when a link began to carry a message that asked for it. That is the
// moment of asking, unless the next time of this kind says that the message had to wait.
func (r *reader) carried(next *int32, link int32, kind entryKind, asked model.Moment) model.Moment {
	if !r.e.links.at(link).isPrompt {
		if at, isThere := r.times.take(next, kind); isThere {
			asked.T = at
		}
	}
	return asked
}
