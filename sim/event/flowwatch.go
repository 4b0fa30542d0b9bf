package event

import (
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// flowWatch records, for flows that share links, how much time each link costs a flow, and how fast
// links carry. A run, or a reader of its compact log, reports all events to it in order.
type flowWatch struct {
	fair     *model.Drain
	network  *model.Network
	counters []model.Counter // nil: nobody asked
	flows    []watched       // by their numbers
	touched  []int32
	spans    flat.List[unit.Time]
}

// watched is a flow since its rate, or the link that limits it, last changed.
type watched struct {
	record *model.MessageRecord
	since  unit.Time
	hop    int32 // of its route; −1: the lane's pace
	rate   uint64
}

// noSpans marks a flow that no link has cost any time, so that it has no spans.
const noSpans = -1

// begins remembers a flow without a rate.
func (w *flowWatch) begins(m int32, r *model.MessageRecord, now unit.Time) {
	for int(m) >= len(w.flows) {
		w.flows = append(w.flows, watched{})
	}
	w.flows[m] = watched{record: r, since: now, hop: -1}
}

// ends counts what a flow has carried that has been drained, at the rate that it still has.
func (w *flowWatch) ends(m int32, now unit.Time) {
	w.lose(m, now)
	w.drain(w.flows[m].record, now)
}

// change looks at what a solution has changed.
func (w *flowWatch) change(now unit.Time) {
	if w.counters != nil {
		w.touched = w.fair.Touched(w.touched[:0])
		w.count(w.touched, now)
	}
	for _, m := range w.fair.Members() {
		w.limit(m, now)
	}
}

// drain counts the bytes of a message that is over on its links.
func (w *flowWatch) drain(r *model.MessageRecord, now unit.Time) {
	if w.counters == nil || r.Bytes == 0 {
		return
	}
	for _, h := range w.network.LinksOf(&w.network.Routes[r.Route]) {
		w.counters[h].Drain(r.Bytes, now, w.fair.IsLimited(h))
	}
}

// count adds a sample to the counters of links whose flows together have got another rate.
func (w *flowWatch) count(links []int32, now unit.Time) {
	for _, l := range links {
		speed := uint64(0)
		for _, c := range w.fair.On(l) {
			speed += w.fair.Rate(c.Flow)
		}
		if c := &w.counters[l]; c.Changes(speed) {
			c.Sample(w.flowing(l, now), now)
		}
	}
}

// flowing returns the bytes of its present flows that a link has carried so far: their sum, rounded
// down.
func (w *flowWatch) flowing(link int32, now unit.Time) unit.Bytes {
	sum, rests := unit.Bytes(0), uint64(0)
	for _, c := range w.fair.On(link) {
		left := w.fair.Left(c.Flow, now)
		n, rest := model.WorkOf(w.flows[c.Flow].record.Bytes).Without(left).Bytes()
		sum += n
		if rests += rest; rests >= model.AByte {
			rests -= model.AByte
			sum++
		}
	}
	return sum
}

// limit looks which link limits a flow after a solution.
func (w *flowWatch) limit(m int32, now unit.Time) {
	rate, hop := w.fair.Flows[m].Next, w.fair.Limit(m)
	if x := &w.flows[m]; rate != x.rate || hop != x.hop {
		w.lose(m, now)
		x.since, x.hop, x.rate = now, hop, rate
	}
}

// lose adds to what a link has cost a flow: of the time that has passed, what the flow would not
// have needed alone.
func (w *flowWatch) lose(m int32, now unit.Time) {
	x := &w.flows[m]
	if x.hop < 0 {
		return
	}
	lost := model.LostTime(now-x.since, w.fair.Alone(m), x.rate)
	if lost == 0 {
		return
	}
	*w.spans.At(int(w.lostBy(x.record)) + int(x.hop)) += lost
}

// lostBy returns the index of a flow's spans, which it makes on first use.
func (w *flowWatch) lostBy(r *model.MessageRecord) int64 {
	if r.Spans == noSpans {
		route := &w.network.Routes[r.Route]
		r.Spans = int64(w.spans.Len())
		w.spans.Skip(int(route.To - route.From))
	}
	return r.Spans
}
