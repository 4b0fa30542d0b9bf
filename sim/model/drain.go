package model

import (
	"math/bits"
	"slices"

	"collsim/sim/internal/flat"
	"collsim/unit"
)

// Drain is flows that share links max-min fairly, what is left of them, and when they end.
//
// All flows that a link holds back have its level for a rate. So nothing is done for each of them
// when that changes: the link counts what it has served each so far, and remembers at what count
// each ends. A change costs as much as there are links with another level, and flows that another
// link holds back than before.
type Drain struct {
	*MaxMin
	flows  []draining            // by number
	clocks []clock               // by link
	ends   flat.Queue[unit.Time] // of links; and behind these, of flows that none holds back
}

// draining is a flow that has begun, or holder notFlowing.
type draining struct {
	holder int32 // a link, or ownCap
	work   Work  // what the holder has served when it ends; ownCap: what was left at a time
	beyond Work  // of it, what comes after that for which Watch waits
	since  unit.Time
}

const (
	notFlowing = -1
	noRate     = -2 // begun since the last solution
	ownCap     = -3
)

// clock is what a link has served each flow that it holds back.
type clock struct {
	served Work
	since  unit.Time
	rate   uint64
	due    flat.Heap[uint64] // flows by what will have been served then; the first is true
	held   int
}

// Never is when nothing ends.
const Never = unit.Forever + 1

// NewDrain has no flows yet.
func NewDrain(n *Network) *Drain {
	d := &Drain{MaxMin: NewMaxMin(n), clocks: make([]clock, len(n.Links))}
	d.ends.Grow(len(n.Links))
	return d
}

// Grow makes room for flows of numbers below n.
func (d *Drain) Grow(n int) {
	d.MaxMin.Grow(n)
	for d.flows = slices.Grow(d.flows, max(n-len(d.flows), 0)); len(d.flows) < n; {
		d.flows = append(d.flows, draining{holder: notFlowing})
	}
	d.ends.Grow(len(d.clocks) + n)
}

// Begin puts so many bytes on the links of a route: MaxMin.Begin.
func (d *Drain) Begin(m, route int32, limit uint64, n unit.Bytes) {
	d.MaxMin.Begin(m, route, limit)
	d.flows[m] = draining{holder: noRate, work: WorkOf(n)}
}

// HasRate reports whether a flow goes on: it has begun and Solve has given it a rate.
func (d *Drain) HasRate(m int32) bool {
	return d.flows[m].holder >= 0 || d.flows[m].holder == ownCap
}

// NextEnd is when the next flow ends, or Never.
func (d *Drain) NextEnd() unit.Time {
	if d.ends.Len() == 0 {
		return Never
	}
	_, at := d.ends.First()
	return at
}

// Next is the flow that ends next, and has no rate any more; or isPart: it goes on, but so much has
// left as Watch has waited for.
//
// REQUIRES: NextEnd is a time.
func (d *Drain) Next() (m int32, isPart bool) {
	item, _ := d.ends.First()
	if m = item - int32(len(d.clocks)); m < 0 {
		m = d.clocks[item].due[0].Item
	}
	if d.flows[m].beyond != (Work{}) {
		d.Watch(m, Work{})
		return m, true
	}
	d.release(m)
	d.flows[m].holder = notFlowing
	return m, false
}

// release takes a flow from its holder.
func (d *Drain) release(m int32) {
	f := &d.flows[m]
	h := f.holder
	f.holder = noRate
	if h < 0 {
		d.ends.Remove(int32(len(d.clocks)) + m)
		return
	}
	d.clocks[h].held--
	d.recheck(h, m)
}

// Left is what is left of a flow at a time.
func (d *Drain) Left(m int32, now unit.Time) Work {
	f := &d.flows[m]
	switch f.holder {
	case notFlowing, noRate:
		return f.work
	case ownCap:
		return f.work.After(d.Flows[m].limit, now-f.since)
	}
	return f.work.Without(d.clocks[f.holder].at(now))
}

// Ends is when a flow ends at its present rate, or so much of it has left as Watch waits for.
func (d *Drain) Ends(m int32) unit.Time {
	f := &d.flows[m]
	if f.holder == ownCap {
		return min(f.since+f.work.Without(f.beyond).Over(d.Flows[m].limit), unit.Forever)
	}
	return d.clocks[f.holder].when(f.work.Without(f.beyond))
}

// IsWatched reports whether Watch waits for a part of a flow.
func (d *Drain) IsWatched(m int32) bool { return d.flows[m].beyond != Work{} }

// Watch has a flow be the next one when all but a part of it that comes last has left, or, without
// such a part, at its end.
func (d *Drain) Watch(m int32, beyond Work) {
	f := &d.flows[m]
	f.beyond = beyond
	switch {
	case f.holder >= 0:
		d.due(m)
	case f.holder == ownCap:
		d.expect(m)
	}
}

// due has a flow among those that its holder holds back.
func (d *Drain) due(m int32) {
	f := &d.flows[m]
	c, at := &d.clocks[f.holder], f.work.Without(f.beyond)
	if len(c.due) > 2*c.held+16 {
		h := f.holder
		c.due.Keep(func(x *flat.Entry[uint64]) bool { return d.isDue(h, x) })
	}
	c.due.Push(flat.Entry[uint64]{First: at.hi, Second: at.lo, Item: m})
	d.recheck(f.holder, m)
}

func (d *Drain) isDue(h int32, x *flat.Entry[uint64]) bool {
	f := &d.flows[x.Item]
	return f.holder == h && f.work.Without(f.beyond) == Work{x.First, x.Second}
}

// recheck finds out which flow of a link ends first, and when, after a change of one.
func (d *Drain) recheck(h, m int32) {
	c := &d.clocks[h]
	if c.due[0].Item != m {
		return
	}
	for len(c.due) > 0 && !d.isDue(h, &c.due[0]) {
		c.due.Pop()
	}
	if len(c.due) == 0 {
		d.ends.Remove(h)
		return
	}
	d.ends.Set(h, c.first())
}

// expect finds out when a flow ends that has its cap.
func (d *Drain) expect(m int32) { d.ends.Set(int32(len(d.clocks))+m, d.Ends(m)) }

// Solve works out all rates at a time, and lets the flows go on at them.
func (d *Drain) Solve(now unit.Time) {
	if d.MaxMin.Solve(); d.Starved >= 0 {
		return
	}
	for _, h := range d.Moved {
		c := &d.clocks[h]
		if rate := d.levels[h]; rate != c.rate {
			c.served, c.since, c.rate = c.at(now), now, rate
			if c.rate == NoCap {
				c.rate = 0
			}
			if len(c.due) > 0 {
				d.ends.Set(h, c.first())
			}
		}
	}
	for _, m := range d.Unsure {
		f, h := &d.flows[m], d.holder(m)
		if h == f.holder {
			continue
		}
		left := d.Left(m, now)
		if f.holder != noRate {
			d.release(m)
		}
		f.holder = h
		if h == ownCap {
			f.work, f.since = left, now
			d.expect(m)
			continue
		}
		f.work = left.plus(d.clocks[h].at(now))
		d.clocks[h].held++
		d.due(m)
	}
}

// holder is what holds a flow back: the first link that is full at its rate, or its own cap.
func (d *Drain) holder(m int32) int32 {
	f := &d.Flows[m]
	least, at := f.limit, int32(ownCap)
	for _, h := range f.links {
		if v := d.levels[h]; v < least || v == least && at == ownCap && v != NoCap {
			least, at = v, h
		}
	}
	return at
}

// Shift has all that flows do so later.
func (d *Drain) Shift(by unit.Time) {
	d.ends.Each(func(at unit.Time) unit.Time { return at + by })
	for i := range d.clocks {
		d.clocks[i].since += by
	}
	for i := range d.flows {
		d.flows[i].since += by
	}
}

// at is what has been served by a time.
func (c *clock) at(now unit.Time) Work {
	hi, lo := bits.Mul64(c.rate, uint64(now-c.since))
	return c.served.plus(Work{hi, lo})
}

// when is the time at which so much will have been served.
func (c *clock) when(w Work) unit.Time {
	return min(c.since+w.Without(c.served).Over(c.rate), unit.Forever)
}

// first is when the first of its flows ends.
func (c *clock) first() unit.Time { return c.when(Work{c.due[0].First, c.due[0].Second}) }
