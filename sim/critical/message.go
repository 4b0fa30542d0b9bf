package critical

import (
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// arrival goes from the arrival of a message to D of the step that sent it.
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
			hops = w.network.Longest(r)
		}
		for _, l := range slices.Backward(hops) {
			w.back(Latency, l, w.at-w.network.Links[l].Latency)
		}
		w.drained(m, Transfer)
	case r.Tree >= 0: // a load: no step waits for the arrival of a store
		w.loaded(m)
		return
	default:
		w.tail(m, hops, w.log.Spans[m.Spans+w.segments(m)-1:])
	}
	w.origin(m)
}

// departure goes from when the last byte of a message left its rank to D of its step. took is the
// kind of the time that its bytes took.
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

// origin goes from when a message asked for its first link to D of its step. In between it may have
// waited for gets, or for silent puts to leave.
func (w *walk) origin(m *model.MessageRecord) {
	switch {
	case m.By < 0:
	case m.ByLeft:
		w.departure(m.By, Transfer)
	default:
		w.arrival(m.By)
	}
}

// sentBy returns the step that the path of a message goes back to, with all that origin passes. If
// atEnd it goes back to the end of the step, after which a receive was posted; else to its D. A
// negative step is none.
func (w *walk) sentBy(number int32) (step int32, atEnd bool) {
	for {
		m := w.log.Message(number)
		if m.By < 0 {
			return m.Step, m.Kind == model.AnsweredLate
		}
		number = m.By
	}
}

// drained goes from the end of a flow to its beginning. The time that it would have taken alone is
// transfer. The rest is contention, divided among its links by the time that each cost it.
// Rounding's remainder goes to the link that cost most. In truth transfer and contention were
// simultaneous; here transfer comes first.
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

// alone returns how long n bytes of a message take if nothing else is in flight, and what limits
// them: the first of the slowest links of the route, or −1 for the lane.
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

// paced returns how long the lane takes to put out n bytes of a message.
func (w *walk) paced(m *model.MessageRecord, n unit.Bytes) unit.Time {
	rank := w.log.Lanes[w.log.Step(m.Step).Lane].Rank
	return w.rules.PaceBy(m.Pacer, rank, m.Peers, n)
}

// segments returns the number of segments of a message.
func (w *walk) segments(m *model.MessageRecord) int64 {
	return w.rules.Segments(m.Bytes, w.network.Routes[m.Route].Tree >= 0)
}

// upTo returns the number of bytes in the first k segments of a message.
func (w *walk) upTo(m *model.MessageRecord, k int64) unit.Bytes {
	if k == w.segments(m) {
		return m.Bytes
	}
	return unit.Bytes(k) * w.rules.Segment
}

// asked returns when a segment asked for its first link, under FIFO: when the one before had left.
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

// queued goes from when a segment began to cross its first link, over all segments before it, to
// when the message asked for that link.
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

// tail goes from the arrival of a message, under FIFO, to when it asked for its first link. The
// last byte was over a link at the later of two times: when it had come from the link before, and
// when the link itself had carried all bytes. If both were at the same time, the path goes over the
// link before. starts has when the last segment began to cross each link.
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
		w.back(Contention, hops[i], came) // waits for the whole message, where it is stored
		i--
		w.back(Latency, hops[i], w.tails[i].over)
	}
}

// putOut goes back to when the message asked for its first link. It begins when that link had
// carried the last segment (carried), or had its last byte from the lane.
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

// tailTimes holds when the last byte of a message came to a link, and when it was over the link,
// without the link's latency.
type tailTimes struct{ came, over unit.Time }

// follow sets tails to what the links computed in the simulation. Where the lane is as fast as the
// first link, the path is to go over the link. So the lane's time is then set to the distant past.
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
