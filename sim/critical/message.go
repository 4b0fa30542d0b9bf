package critical

import (
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// arrival goes from when a message came to D of the step that sent it.
func (w *walk) arrival(number int32) {
	record := w.log.Message(number)
	m := &record
	w.sender(m)
	if m.Kind != model.Ordinary { // neither a request nor an answer has figures of its size
		w.back(Rendezvous, -1, m.Since)
		w.origin(m)
		return
	}
	w.back(MessageLatency, -1, w.at-m.Late)
	r := &w.network.Routes[m.Route]
	switch hops := w.network.Hops[r.From:r.To]; {
	case w.rules.Sharing == model.Fluid:
		if r.Tree >= 0 {
			longest := w.network.Longest(r)
			hops = longest[:]
		}
		for _, l := range slices.Backward(hops) {
			w.back(Latency, l, w.at-w.network.Links[l].Latency)
		}
		w.drained(m, Transfer)
	case r.Tree >= 0: // nothing else of multimem has anybody wait
		w.loaded(m)
		return
	default:
		w.tail(m, hops, w.log.Spans[m.Spans+w.segments(m)-1:])
	}
	w.origin(m)
}

// departure goes from when the last byte of a message left its rank to D of its step; what its
// bytes took is named.
func (w *walk) departure(number int32, took What) {
	record := w.log.Message(number)
	m := &record
	w.sender(m)
	if w.rules.Sharing == model.Fluid || m.Pacer >= model.CopyPace {
		w.drained(m, took)
	} else {
		w.left(m, took)
	}
	w.origin(m)
}

// sender makes the next pieces those of the step that sends a message.
func (w *walk) sender(m *model.MessageRecord) {
	if lane := model.LaneOf(m.Step); lane >= 0 {
		w.of(lane, -1)
		return
	}
	s := w.log.Step(m.Step)
	w.of(s.Lane, s.Step)
}

// origin goes from when a message asked for its first link to D: there may be gets in between, or
// the silent puts that it had to follow.
func (w *walk) origin(m *model.MessageRecord) {
	switch {
	case m.By < 0:
	case m.ByLeft:
		w.departure(m.By, Transfer)
	default:
		w.arrival(m.By)
	}
}

// sentBy is the step at whose D the way of a message begins, as origin goes it, or at whose end:
// the one after which a receive was posted. −1 or less is none.
func (w *walk) sentBy(number int32) (step int32, atEnd bool) {
	for {
		m := w.log.Message(number)
		if m.By < 0 {
			return m.Step, m.Kind == model.AnsweredLate
		}
		number = m.By
	}
}

// drained goes from when a flow was drained to when it began. What it would have taken alone is
// transfer, and the rest is contention, shared out among its links by what each cost it; what
// rounding leaves goes to the one that cost most. They were at work together; it stands first here.
func (w *walk) drained(m *model.MessageRecord, took What) {
	r := &w.network.Routes[m.Route]
	total, link := w.alone(m, m.Bytes)
	rest := max(w.at-m.Since-total, 0)
	lost := w.log.Spans[m.Spans : m.Spans+int64(r.To-r.From)]
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
	from := m.Since
	for _, t := range lost {
		from += t
	}
	w.back(took, link, from)
	for i := len(lost) - 1; i >= 0; i-- {
		w.back(Contention, w.network.Hops[r.From+int32(i)], w.at-lost[i])
	}
}

// alone is how long n bytes of a message need if nothing else is under way, and what makes it so
// long: the first of the slowest links of its route, or −1 for the lane.
func (w *walk) alone(m *model.MessageRecord, n unit.Bytes) (unit.Time, int32) {
	r := &w.network.Routes[m.Route]
	over, paced := n.Over(r.Slowest), w.paced(m, n)
	if paced > over {
		return paced, -1
	}
	for _, l := range w.network.Hops[r.From:r.To] {
		if w.network.Links[l].Bandwidth == r.Slowest {
			return over, l
		}
	}
	return over, -1 // over no link, in no time
}

// paced is how long the lane takes to put out n bytes of a message.
func (w *walk) paced(m *model.MessageRecord, n unit.Bytes) unit.Time {
	rank := w.log.Lanes[w.log.Step(m.Step).Lane].Rank
	return w.rules.PaceBy(m.Pacer, rank, m.Peers, n)
}

// segments is how many a message has.
func (w *walk) segments(m *model.MessageRecord) int64 {
	return w.rules.Segments(m.Bytes, w.network.Routes[m.Route].Tree >= 0)
}

// upTo is how many bytes the first k segments of a message have.
func (w *walk) upTo(m *model.MessageRecord, k int64) unit.Bytes {
	if k == w.segments(m) {
		return m.Bytes
	}
	return unit.Bytes(k) * w.rules.Segment
}

// asked is when a segment asked for its first link, under FIFO: when the one before had left.
func (w *walk) asked(m *model.MessageRecord, segment int64) unit.Time {
	if segment == 0 {
		return m.Since
	}
	to, _ := w.alone(m, w.upTo(m, segment))
	from, _ := w.alone(m, w.upTo(m, segment-1))
	return w.log.Spans[m.Spans+segment-1] + to - from
}

// left goes from when the last segment had left, under FIFO, to when the message asked for its
// first link.
func (w *walk) left(m *model.MessageRecord, took What) {
	last := w.segments(m) - 1
	_, slowest := w.alone(m, m.Bytes)
	w.back(took, slowest, w.log.Spans[m.Spans+last])
	w.queued(m, last)
}

// queued goes from when a segment began to cross its first link to when the message asked for that,
// over all segments before.
func (w *walk) queued(m *model.MessageRecord, segment int64) {
	first := w.network.Hops[w.network.Routes[m.Route].From]
	_, slowest := w.alone(m, m.Bytes)
	for {
		w.back(Contention, first, w.asked(m, segment))
		if segment == 0 {
			return
		}
		segment--
		w.back(Transfer, slowest, w.log.Spans[m.Spans+segment])
	}
}

// tail goes from when a message arrived, under FIFO, to when it asked for its first link. At each
// link its last byte was there when it had come over the link before, or when the link had carried
// the whole, for which its head had come. Where both took the same, the link before is named.
// starts is when the last segment began to cross each of the links.
func (w *walk) tail(m *model.MessageRecord, hops []int32, starts []unit.Time) {
	w.follow(m, hops, starts)
	i := len(hops) - 1
	w.back(Latency, hops[i], w.tails[i].over)
	for {
		came := w.tails[i].came
		carried := came < w.tails[i].over
		if carried {
			w.back(Transfer, hops[i], starts[i])
			for w.rules.Switching == model.CutThrough && i > 0 {
				before := hops[i-1]
				w.back(Contention, hops[i], starts[i-1]+w.network.Links[before].Latency)
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
func (w *walk) putOut(m *model.MessageRecord, start unit.Time, carried bool) {
	switch {
	case carried:
	case w.isPost(m):
		w.back(Transfer, -1, m.Since)
		return
	default:
		w.back(Transfer, -1, start)
	}
	w.queued(m, w.segments(m)-1)
}

// tailTimes is when the last byte of a message came to a link, and when it was over it, but for
// its latency.
type tailTimes struct{ came, over unit.Time }

// follow works out w.tails, as the links did. Where the lane is just as fast as the first link, the
// link is to be named, so the lane's part is taken to have been over long before.
func (w *walk) follow(m *model.MessageRecord, hops []int32, starts []unit.Time) {
	before := w.upTo(m, w.segments(m)-1)
	put := model.PutOut(model.Moment{T: starts[0]}, model.Moment{T: m.Since}, w.isPost(m),
		w.paced(m, before), w.paced(m, m.Bytes))
	w.tails = w.tails[:0]
	for i, h := range hops {
		l := &w.network.Links[h]
		t := tailTimes{came: put.T, over: starts[i] + l.Part(before, m.Bytes)}
		if i > 0 {
			t.came = w.tails[i-1].over + w.network.Links[hops[i-1]].Latency
		} else if t.came == t.over {
			t.came = -1
		}
		t.over = max(t.over, t.came)
		w.tails = append(w.tails, t)
	}
}

// isPost reports whether a message was handed to a device that offloads.
func (w *walk) isPost(m *model.MessageRecord) bool {
	return w.rules.Device.Offload && m.Peers > 0
}
