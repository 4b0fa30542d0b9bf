package sim

import "collsim/unit"

// merged goes from when a multimem load's data came, under FIFO, to D of its step.
func (w *walk) merged(m *messageCause) {
	r := w.routes[m.route]
	ups, down := w.hops[r.from:r.to-1], w.hops[r.to-1]
	starts := w.why.spans[m.spans:]
	head, tail := w.slowest(m, ups, true), w.slowest(m, ups, false)
	came := w.there(m, ups, tail, false)
	start := starts[len(ups)]
	carried := start + m.bytes.Over(w.links[down].bandwidth)
	w.back(Latency, down, max(carried, came))
	member := tail
	if carried > came {
		w.back(Transfer, down, start)
		w.back(Contention, down, w.there(m, ups, head, true))
		member = head
	}
	up := ups[member]
	w.back(Latency, up, w.at-w.links[up].latency)
	w.back(Transfer, up, starts[member]) // none of it where only the first byte is waited for
	w.called(&w.why.messages[m.by], up, member)
}

// there is when a member's first byte, or last, has come to the switch. What is stored sets out
// with its last.
func (w *walk) there(m *messageCause, ups []int32, member int, first bool) unit.Time {
	l := &w.links[ups[member]]
	t := w.why.spans[m.spans+int64(member)]
	if !first || w.env.Switching == StoreForward {
		t += m.bytes.Over(l.bandwidth)
	}
	return t + l.latency
}

// slowest is the first of the members whose first byte, or last, comes latest.
func (w *walk) slowest(m *messageCause, ups []int32, first bool) int {
	slow := 0
	for i := range ups {
		if w.there(m, ups, i, first) > w.there(m, ups, slow, first) {
			slow = i
		}
	}
	return slow
}

// called goes from when a member's link began to carry its data to D, over the request.
func (w *walk) called(m *messageCause, up int32, member int) {
	r := w.routes[m.route]
	way := [2]int32{w.hops[r.from], w.hops[r.from+1+int32(member)]}
	starts := [2]unit.Time{w.why.spans[m.spans], w.why.spans[m.spans+1+int64(member)]}
	w.back(Contention, up, starts[1]+w.links[way[1]].latency)
	w.tail(m, way[:], starts[:])
	w.origin(m)
}
