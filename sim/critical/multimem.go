package critical

import (
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// loaded goes from when the data of a multimem load arrived, under FIFO, to D of its step. It goes
// back over the links of the tree. At each link it goes on to the one before it whose first or last
// byte the link waited for.
func (w *walk) loaded(m *model.MessageRecord) {
	r := w.network.Routes[m.Route]
	starts := w.log.Spans[m.Spans : m.Spans+int64(r.To-r.From)]
	tails := w.lastBytes(m, starts)
	of, at := w.network.Trees[r.Tree].Of, r.To-r.From-1
	for i, on := range w.network.Trees[r.Tree].On { // of a fused one, where the sum came last
		if len(on) == 0 && w.there(m, int32(i), starts, tails, false) >
			w.there(m, at, starts, tails, false) {
			at = int32(i)
		}
	}
	isLast := true // of the bytes of the link; else the first
	for {
		link := w.network.Hops[r.From+at]
		w.back(Latency, link, w.at-w.network.Links[link].Latency)
		if len(of[at]) == 0 {
			break
		}
		if isLast && w.carried(m, link, starts[at]) <= tails[at] {
			same := func(i int32) bool { return w.there(m, i, starts, tails, false) == tails[at] }
			at = of[at][slices.IndexFunc(of[at], same)]
			continue
		}
		w.back(Transfer, link, starts[at])
		head := of[at][0]
		for _, i := range of[at] {
			if w.there(m, i, starts, tails, true) > w.there(m, head, starts, tails, true) {
				head = i
			}
		}
		w.back(Contention, link, w.there(m, head, starts, tails, true))
		at, isLast = head, w.rules.Switching == model.StoreForward
	}
	up := w.network.Hops[r.From+at]
	w.back(Transfer, up, starts[at]) // empty where only the first byte is waited for
	asked := w.log.Message(m.By)
	w.requested(&asked, up, at)
}

// carried returns when a link has carried a message that it began at start.
func (w *walk) carried(m *model.MessageRecord, link int32, start unit.Time) unit.Time {
	return start + m.Bytes.Over(w.network.Links[link].Bandwidth)
}

// lastBytes returns, by link of the route of a load's data, when the last byte had come to it.
func (w *walk) lastBytes(m *model.MessageRecord, starts []unit.Time) []unit.Time {
	tails := make([]unit.Time, len(starts))
	for i, before := range w.network.Trees[w.network.Routes[m.Route].Tree].Of {
		for _, b := range before {
			tails[i] = max(tails[i], w.there(m, b, starts, tails, false))
		}
	}
	return tails
}

// there returns when the first byte, or last, that a link of a load's data carries has come to its
// end. Stored data set out with their last byte.
func (w *walk) there(m *model.MessageRecord, at int32, starts, tails []unit.Time,
	first bool) unit.Time {
	link := w.network.Hops[w.network.Routes[m.Route].From+at]
	t := starts[at]
	if !first || w.rules.Switching == model.StoreForward {
		t = max(w.carried(m, link, t), tails[at])
	}
	return t + w.network.Links[link].Latency
}

// requested goes from when a member's link began to carry its data to D, over the request.
func (w *walk) requested(m *model.MessageRecord, up, member int32) {
	r := w.network.Routes[m.Route]
	t := &w.network.Trees[r.Tree]
	var path []int32
	var starts []unit.Time
	for at := r.To - r.From - t.Members() + member; ; at = t.Of[at][0] {
		path = append(path, w.network.Hops[r.From+at])
		starts = append(starts, w.log.Spans[m.Spans+int64(at)])
		if len(t.Of[at]) == 0 {
			break
		}
	}
	slices.Reverse(path)
	slices.Reverse(starts)
	last := len(path) - 1
	w.back(Contention, up, starts[last]+w.network.Links[path[last]].Latency)
	w.tail(m, path, starts)
	w.origin(m)
}
