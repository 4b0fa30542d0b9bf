package sim

import (
	"math/bits"

	"collsim/unit"
)

// limits is what fluid sharing remembers of flows to say which link costs them time.
type limits struct {
	levels []level   // by link
	flows  []limited // by message
}

// level is the rate at which a link was full in a solution: that of its flows that no other link
// holds back more.
type level struct {
	round int64
	rate  uint64
}

// limited is a flow, since its rate or the link that limits it last changed.
type limited struct {
	full  uint64 // the rate that it would have alone
	since unit.Time
	hop   int32 // of its route; −1: the lane's pace
}

// flow remembers a flow that begins.
func (w *causes) flow(e *engine, m int32, now unit.Time) {
	for int(m) >= len(w.limits.flows) {
		w.limits.flows = append(w.limits.flows, limited{})
	}
	full := e.rests[m].cap
	if r := &e.routes[e.messages[m].route]; r.slowest != unit.Unlimited {
		full = min(full, uint64(r.slowest)<<unitShift)
	}
	w.limits.flows[m] = limited{full: full, since: now, hop: -1}
}

// full remembers the links that a solution found full.
func (w *causes) full(tight []int32, round int64, rate uint64) {
	for _, l := range tight {
		w.limits.levels[l] = level{round, rate}
	}
}

// limit looks which link limits a flow after a solution: the first of its route that is full at the
// flow's rate. It is called before the flow has that rate.
func (e *engine) limit(m int32, now unit.Time) {
	f, w := &e.flows[m], e.why
	hop := int32(-1)
	for i, h := range e.hops[f.from:f.to] {
		if w.limits.levels[h] == (level{e.solver.round, f.next}) {
			hop = int32(i)
			break
		}
	}
	if x := &w.limits.flows[m]; f.next != f.rate || hop != x.hop {
		w.lost(m, f.rate, now)
		x.since, x.hop = now, hop
	}
}

// lost adds to what a link has cost a flow: of the time that has passed, what the flow would not
// have needed alone. It is rounded down.
func (w *causes) lost(m int32, rate uint64, now unit.Time) {
	x := &w.limits.flows[m]
	if x.hop < 0 || rate >= x.full {
		return
	}
	hi, lo := bits.Mul64(uint64(now-x.since), x.full-rate)
	t, _ := bits.Div64(hi, lo, x.full)
	w.spans[w.messages[w.ofMessage[m]].spans+int64(x.hop)] += unit.Time(t)
}
