package critical

import (
	"collsim/sim/model"
	"collsim/unit"
)

// loaded goes from when the data of a multimem load arrived, under FIFO, to D of its step.
func (w *walk) loaded(m *model.MessageRecord) {
	r := w.network.Routes[m.Route]
	ups, down := w.network.Hops[r.From:r.To-1], w.network.Hops[r.To-1]
	starts := w.log.Spans[m.Spans:]
	head, tail := w.slowest(m, ups, true), w.slowest(m, ups, false)
	came := w.there(m, ups, tail, false)
	start := starts[len(ups)]
	carried := start + m.Bytes.Over(w.network.Links[down].Bandwidth)
	w.back(Latency, down, max(carried, came))
	member := tail
	if carried > came {
		w.back(Transfer, down, start)
		w.back(Contention, down, w.there(m, ups, head, true))
		member = head
	}
	up := ups[member]
	w.back(Latency, up, w.at-w.network.Links[up].Latency)
	w.back(Transfer, up, starts[member]) // empty where only the first byte is waited for
	asked := w.log.Message(m.By)
	w.requested(&asked, up, member)
}

// there returns when the first or the last byte of a member has come to the switch. With
// store-and-forward the first byte goes on with the last.
func (w *walk) there(m *model.MessageRecord, ups []int32, member int, first bool) unit.Time {
	l := &w.network.Links[ups[member]]
	t := w.log.Spans[m.Spans+int64(member)]
	if !first || w.rules.Switching == model.StoreForward {
		t += m.Bytes.Over(l.Bandwidth)
	}
	return t + l.Latency
}

// slowest returns the first of the members whose first or last byte comes latest.
func (w *walk) slowest(m *model.MessageRecord, ups []int32, first bool) int {
	slow := 0
	for i := range ups {
		if w.there(m, ups, i, first) > w.there(m, ups, slow, first) {
			slow = i
		}
	}
	return slow
}

// requested goes from when a member's link began to carry its data to D, over the request.
func (w *walk) requested(m *model.MessageRecord, up int32, member int) {
	r := w.network.Routes[m.Route]
	path := [2]int32{w.network.Hops[r.From], w.network.Hops[r.From+1+int32(member)]}
	starts := [2]unit.Time{w.log.Spans[m.Spans], w.log.Spans[m.Spans+1+int64(member)]}
	w.back(Contention, up, starts[1]+w.network.Links[path[1]].Latency)
	w.tail(m, path[:], starts[:])
	w.origin(m)
}
