package event

import (
	"cmp"
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// spansOf returns the index of the spans of a message that has left at a time. Under fluid sharing
// it computes the cost of sharing only if this message has lost time to it.
func (r *reader) spansOf(number int32, m *model.MessageRecord, left unit.Time) int64 {
	if !r.isFlow(m) {
		return m.Spans
	}
	path := &r.e.network.Routes[m.Route]
	if !path.IsShared(m.Bytes) {
		return r.none
	}
	rate := min(r.capOf(number, m), model.FluidRate(path.Slowest))
	if left-m.Since <= model.WorkOf(m.Bytes).Over(rate) {
		return r.none
	}
	r.share()
	return r.lost[number]
}

// share lets all messages flow once more, now that it is known when they begin: what each of its
// links costs a message follows from that, and what links have carried.
func (r *reader) share() {
	if r.lost != nil {
		return
	}
	e := r.e
	w := flowWatch{fair: model.NewDrain(&e.network), network: &e.network, counters: r.log.Counters}
	records, order := make([]model.MessageRecord, len(r.senders)), []int32(nil)
	for i := range records {
		records[i].Spans = noSpans // what crosses nothing
	}
	for i := range records {
		m, left, crosses := r.crossed(int32(i))
		if !crosses || !r.isFlow(&m) {
			continue
		}
		m.Spans = noSpans
		if records[i] = m; e.network.Routes[m.Route].IsShared(m.Bytes) {
			order = append(order, int32(i))
		} else {
			w.drain(&records[i], left)
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Compare(records[a].Since, records[b].Since)
	})
	var flows, free []int32 // the message of each number, numbers that are not in use
	for len(order) > 0 || w.fair.NextEnd() != never {
		now := w.fair.NextEnd()
		if len(order) > 0 {
			now = min(now, records[order[0]].Since)
		}
		for w.fair.NextEnd() == now && now != never {
			m, _ := w.fair.Next()
			w.ends(m, now)
			w.fair.End(m)
			free = append(free, m)
		}
		for ; len(order) > 0 && records[order[0]].Since == now; order = order[1:] {
			if len(free) == 0 {
				free, flows = append(free, int32(len(flows))), append(flows, 0)
				w.fair.Grow(len(flows))
			}
			m := free[len(free)-1]
			free, flows[m] = free[:len(free)-1], order[0]
			x := &records[order[0]]
			w.fair.Begin(m, x.Route, r.capOf(order[0], x), x.Bytes)
			w.begins(m, x, now)
		}
		w.fair.Solve(now)
		w.change(now)
	}
	r.lost = make([]int64, len(records))
	for i := range records {
		if r.lost[i] = r.none; records[i].Spans > noSpans {
			r.lost[i] = int64(len(r.log.Spans)) + records[i].Spans
		}
	}
	r.log.Spans = w.spans.AppendTo(r.log.Spans)
}
