package sim

import (
	"slices"

	"collsim/unit"
)

// arrival goes from when a message came to D of the step that sent it.
func (w *walk) arrival(number int32) {
	m := &w.why.messages[number]
	w.sender(m)
	if m.peers < 0 { // neither a request nor an answer has figures of its size
		w.back(Rendezvous, -1, m.since)
		w.origin(m)
		return
	}
	if w.why.late != nil {
		w.back(MessageLatency, -1, w.at-w.why.late[number])
	}
	r := &w.routes[m.route]
	switch hops := w.hops[r.from:r.to]; {
	case w.env.Sharing == Fluid:
		if r.fan >= 0 {
			ends := w.ends(r)
			hops = ends[:]
		}
		for _, l := range slices.Backward(hops) {
			w.back(Latency, l, w.at-w.links[l].latency)
		}
		w.flowed(m, Transfer)
	case r.fan >= 0: // nothing else of multimem has anybody wait
		w.merged(m)
		return
	default:
		w.tail(m, hops, w.why.spans[m.spans+w.segments(m)-1:])
	}
	w.origin(m)
}

// departure goes from when the last byte of a message left its rank to D of its step; what its
// bytes took is named.
func (w *walk) departure(number int32, took What) {
	m := &w.why.messages[number]
	w.sender(m)
	if w.env.Sharing == Fluid {
		w.flowed(m, took)
	} else {
		w.gone(m, took)
	}
	w.origin(m)
}

// sender makes the next pieces those of the step that sends a message.
func (w *walk) sender(m *messageCause) {
	if m.step < -1 { // there was none
		w.of(-2-m.step, -1)
		return
	}
	s := &w.why.steps[m.step]
	w.of(s.lane, s.step)
}

// origin goes from when a message asked for its first link to D: there may be gets in between, or
// the silent puts that it had to follow.
func (w *walk) origin(m *messageCause) {
	if m.by >= 0 {
		w.arrival(m.by)
	} else if m.by <= behind {
		w.departure(behind-m.by, Transfer)
	}
}

// sentBy is the step at whose D the way of a message begins, as origin goes it, or at whose end:
// the one after which a receive was posted. −1 or less is none.
func (w *walk) sentBy(number int32) (step int32, atEnd bool) {
	for {
		m := &w.why.messages[number]
		switch {
		case m.by >= 0:
			number = m.by
		case m.by <= behind:
			number = behind - m.by
		default:
			return m.step, m.peers == ofPosting
		}
	}
}

// flowed goes from when a flow was drained to when it began. What it would have taken alone is
// transfer, and the rest is contention, shared out among its links by what each cost it; what
// rounding leaves goes to the one that cost most. They were at work together; it stands first here.
func (w *walk) flowed(m *messageCause, took What) {
	r := &w.routes[m.route]
	total, link := w.alone(m, m.bytes)
	rest := max(w.at-m.since-total, 0)
	lost := w.why.spans[m.spans : m.spans+int64(r.to-r.from)]
	most := 0
	for i, t := range lost {
		lost[i] = min(t, rest)
		rest -= lost[i]
		if t > lost[most] {
			most = i
		}
	}
	if lost[most] > 0 {
		lost[most] += rest
	}
	from := m.since
	for _, t := range lost {
		from += t
	}
	w.back(took, link, from)
	for i := len(lost) - 1; i >= 0; i-- {
		w.back(Contention, w.hops[r.from+int32(i)], w.at-lost[i])
	}
}

// alone is how long n bytes of a message need if nothing else is under way, and what makes it so
// long: the first of the slowest links of its route, or −1 for the lane.
func (w *walk) alone(m *messageCause, n unit.Bytes) (unit.Time, int32) {
	r := &w.routes[m.route]
	over, paced := n.Over(r.slowest), w.paced(m, n)
	if paced > over {
		return paced, -1
	}
	for _, l := range w.hops[r.from:r.to] {
		if w.links[l].bandwidth == r.slowest {
			return over, l
		}
	}
	return over, -1 // over no link, in no time
}

// paced is how long the lane takes to put out n bytes of a message.
func (w *walk) paced(m *messageCause, n unit.Bytes) unit.Time {
	return w.pace(&message{lane: w.why.steps[m.step].lane, peers: m.peers}, n)
}

// segments is how many a message has.
func (w *walk) segments(m *messageCause) int64 {
	if s := w.env.Segment; s > 0 && m.bytes > s && w.routes[m.route].fan < 0 {
		return int64((m.bytes + s - 1) / s)
	}
	return 1
}

// upTo is how many bytes the first k segments of a message have.
func (w *walk) upTo(m *messageCause, k int64) unit.Bytes {
	if k == w.segments(m) {
		return m.bytes
	}
	return unit.Bytes(k) * w.env.Segment
}

// asked is when a segment asked for its first link, under FIFO: when the one before had left.
func (w *walk) asked(m *messageCause, segment int64) unit.Time {
	if segment == 0 {
		return m.since
	}
	to, _ := w.alone(m, w.upTo(m, segment))
	from, _ := w.alone(m, w.upTo(m, segment-1))
	return w.why.spans[m.spans+segment-1] + to - from
}

// gone goes from when the last segment had left, under FIFO, to when the message asked for its
// first link.
func (w *walk) gone(m *messageCause, took What) {
	last := w.segments(m) - 1
	_, slowest := w.alone(m, m.bytes)
	w.back(took, slowest, w.why.spans[m.spans+last])
	w.queued(m, last)
}

// queued goes from when a segment began to cross its first link to when the message asked for that,
// over all segments before.
func (w *walk) queued(m *messageCause, segment int64) {
	first := w.hops[w.routes[m.route].from]
	_, slowest := w.alone(m, m.bytes)
	for {
		w.back(Contention, first, w.asked(m, segment))
		if segment == 0 {
			return
		}
		segment--
		w.back(Transfer, slowest, w.why.spans[m.spans+segment])
	}
}

// tail goes from when a message arrived, under FIFO, to when it asked for its first link. At each
// link its last byte was there when it had come over the link before, or when the link had carried
// the whole, for which its head had come. Where both took the same, the link before is named.
// starts is when the last segment began to cross each of the links.
func (w *walk) tail(m *messageCause, hops []int32, starts []unit.Time) {
	w.follow(m, hops, starts)
	i := len(hops) - 1
	w.back(Latency, hops[i], w.tails[i].over)
	for {
		came := w.tails[i].came
		carried := came < w.tails[i].over
		if carried {
			w.back(Transfer, hops[i], starts[i])
			for w.env.Switching == CutThrough && i > 0 {
				before := hops[i-1]
				w.back(Contention, hops[i], starts[i-1]+w.links[before].latency)
				i--
				w.back(Latency, before, starts[i])
			}
		}
		if i == 0 {
			w.putOut(m, starts[0], carried)
			return
		}
		w.back(Contention, hops[i], came) // for the whole, where it is stored
		i--
		w.back(Latency, hops[i], w.tails[i].over)
	}
}

// putOut goes from when the first link carried the last segment, or had its last byte from the
// lane, to when the message asked for it.
func (w *walk) putOut(m *messageCause, start unit.Time, carried bool) {
	switch {
	case carried:
	case w.env.Device.Offload && m.peers > 0:
		w.back(Transfer, -1, m.since)
		return
	default:
		w.back(Transfer, -1, start)
	}
	w.queued(m, w.segments(m)-1)
}

// tailTimes is when the last byte of a message came to a link, and when it was over it, but for
// its latency.
type tailTimes struct{ came, over unit.Time }

// follow works out w.tails, as serve and setOut do. Where the lane is just as fast as the first
// link, the link is to be named, so the lane's part is taken to have been over long before.
func (w *walk) follow(m *messageCause, hops []int32, starts []unit.Time) {
	before := w.upTo(m, w.segments(m)-1)
	put := starts[0] + w.paced(m, m.bytes) - w.paced(m, before)
	if w.env.Device.Offload && m.peers > 0 {
		put = m.since + w.paced(m, m.bytes)
	}
	w.tails = w.tails[:0]
	for i, h := range hops {
		rate := w.links[h].bandwidth
		t := tailTimes{came: put, over: starts[i] + m.bytes.Over(rate) - before.Over(rate)}
		if i > 0 {
			t.came = w.tails[i-1].over + w.links[hops[i-1]].latency
		} else if put == t.over {
			t.came = -1
		}
		t.over = max(t.over, t.came)
		w.tails = append(w.tails, t)
	}
}
