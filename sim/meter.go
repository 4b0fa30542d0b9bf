package sim

import (
	"cmp"
	"math/bits"
	"slices"

	"collsim/trace"
	"collsim/unit"
)

// meter is what a link has carried, and how fast it does, for the trace's counter.
type meter struct {
	bytes unit.Bytes     // FIFO: that have begun to cross the link; fluid: of flows that are over
	speed uint64         // fluid: the sum of the rates
	jumps []trace.Sample // fluid, without limit: bytes that cross at one time; in no order
}

// carries notes that a link carries the rest of what has been counted as its load from a time to
// another, under FIFO. What follows without a pause prolongs the sample.
func (e *engine) carries(l uint32, from, to unit.Time) {
	m, total := &e.meters[l], e.links[l].load
	if total == m.bytes {
		return
	}
	c := &e.trace.Counters[l]
	if n := len(c.Samples); n > 0 && c.Samples[n-1].At == from {
		c.Samples[n-1] = trace.Sample{At: to, Value: total}
	} else {
		c.Samples = append(c.Samples, trace.Sample{At: from, Value: m.bytes},
			trace.Sample{At: to, Value: total})
	}
	m.bytes = total
}

// poured notes a flow that is over. What it carried over a link without limit crossed that at once.
func (e *engine) poured(m int32, now unit.Time) {
	x := &e.messages[m]
	n := e.carried(m)
	if n == 0 {
		return
	}
	path := &e.routes[x.route]
	for _, h := range e.hops[path.from:path.to] {
		if e.links[h].capacity > 0 {
			e.meters[h].bytes += n
		} else {
			e.meters[h].jumps = append(e.meters[h].jumps, trace.Sample{At: now, Value: n})
		}
	}
}

// speeds adds a sample to the counter of a link whose flows get rates that together are new. It is
// called before they have them.
func (e *engine) speeds(l int32, now unit.Time) {
	m, speed := &e.meters[l], uint64(0)
	for _, f := range e.links[l].flows {
		speed += e.flows[f].next
	}
	if speed == m.speed {
		return
	}
	m.speed = speed
	e.trace.Counters[l].Samples = append(e.trace.Counters[l].Samples,
		trace.Sample{At: now, Value: m.bytes + e.flowing(l, now)})
}

// aByte is the work of a byte.
const aByte = uint64(unit.Second) << unitShift

// flowing is how many bytes of its present flows a link has carried, rounded down.
func (e *engine) flowing(l int32, now unit.Time) unit.Bytes {
	sum, rests := unit.Bytes(0), uint64(0)
	for _, m := range e.links[l].flows {
		r := &e.rests[m]
		left := r.work.less(e.flows[m].rate, now-r.since)
		all := workOf(e.carried(m))
		lo, borrow := bits.Sub64(all.lo, left.lo, 0)
		n, rest := bits.Div64(all.hi-left.hi-borrow, lo, aByte)
		sum += unit.Bytes(n)
		if rests += rest; rests >= aByte {
			rests -= aByte
			sum++
		}
	}
	return sum
}

// settleJumps makes samples of a link's jumps, now that all are known.
func (e *engine) settleJumps(l int32) {
	jumps, c := e.meters[l].jumps, &e.trace.Counters[l]
	slices.SortFunc(jumps, func(a, b trace.Sample) int { return cmp.Compare(a.At, b.At) })
	total := unit.Bytes(0)
	for i, j := range jumps {
		before := total
		total += j.Value
		if i > 0 && jumps[i-1].At == j.At {
			c.Samples[len(c.Samples)-1].Value = total
		} else {
			c.Samples = append(c.Samples, trace.Sample{At: j.At, Value: before},
				trace.Sample{At: j.At, Value: total})
		}
	}
}
