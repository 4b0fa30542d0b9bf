package model

import (
	"math/bits"
	"slices"

	"collsim/sim/internal/flat"
	"collsim/unit"
)

// Drain simulates flows that share links max-min fairly: what each has left to carry, and when it
// ends.
//
// All flows that a link holds back have one rate, the link's share. So each link has a clock: the
// work that it has served to every such flow so far. A flow ends when the clock reaches a mark that
// is set once, when the link becomes its bottleneck. A change of a share updates one clock, however
// many flows go on at it. Solve costs as much as there are links with another share, and flows with
// another bottleneck.
type Drain struct {
	*MaxMin
	flows  []draining // by number of the flow
	clocks []clock    // by link: the bottlenecks' progress
	// ends has the time at which the first flow of a clock ends, by link. Behind the links it has the
	// end of each flow that only its cap holds back, by len(clocks) + its number.
	ends flat.Queue[unit.Time]
}

// draining is the progress of a flow.
type draining struct {
	bottleneck int32 // a link, or one of the constants below
	// work is the reading of the bottleneck's clock at which the flow ends. For other bottlenecks it
	// is what is left of the flow: at since for ownCap, and now for the other two.
	work   Work
	beyond Work      // the last part of the flow, without which Watch reports it; 0: not watched
	since  unit.Time // ownCap: when work was left
}

// The bottlenecks that are no links.
const (
	notFlowing = -1 // it has not begun, or has ended
	noRate     = -2 // it has begun, and Solve has not given it a rate yet
	ownCap     = -3 // its cap: no link holds it back
)

// clock counts the work that a link serves to each flow that it holds back.
type clock struct {
	served Work      // up to since
	since  unit.Time // when rate was set
	rate   uint64    // of each flow, from since on: the link's share; 0 while it is unsaturated
	// due has the readings at which flows end, least first, with entries that are out of date: those
	// of flows with another mark or another bottleneck by now. The first entry is never such a one.
	due  flat.Heap[uint64]
	held int // the number of flows that the link holds back: entries that are not out of date
}

// Never is a time later than all: of NextEnd where no flow ends.
const Never = unit.Forever + 1

// NewDrain returns a simulation on the links of a network, without flows.
func NewDrain(n *Network) *Drain {
	d := &Drain{MaxMin: NewMaxMin(n), clocks: make([]clock, len(n.Links))}
	d.ends.Grow(len(n.Links))
	return d
}

// Grow makes room for flows of numbers below n.
func (d *Drain) Grow(n int) {
	d.MaxMin.Grow(n)
	for d.flows = slices.Grow(d.flows, max(n-len(d.flows), 0)); len(d.flows) < n; {
		d.flows = append(d.flows, draining{bottleneck: notFlowing})
	}
	d.ends.Grow(len(d.clocks) + n)
}

// Begin puts a flow of n bytes on the links of a route: see MaxMin.Begin.
func (d *Drain) Begin(m, route int32, limit uint64, n unit.Bytes) {
	d.MaxMin.Begin(m, route, limit)
	d.flows[m] = draining{bottleneck: noRate, work: WorkOf(n)}
}

// HasRate reports whether a flow is under way: it has begun, and Solve has given it a rate.
func (d *Drain) HasRate(m int32) bool {
	return d.flows[m].bottleneck >= 0 || d.flows[m].bottleneck == ownCap
}

// NextEnd returns when the next flow ends, or reaches the part that Watch waits for; Never if none
// does.
func (d *Drain) NextEnd() unit.Time {
	if d.ends.Len() == 0 {
		return Never
	}
	_, at := d.ends.First()
	return at
}

// Next returns the flow of NextEnd and takes its rate away. Where isPart is true the flow goes on
// instead: the part that Watch has waited for has left.
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
	d.flows[m].bottleneck = notFlowing
	return m, false
}

// release takes a flow away from its bottleneck.
func (d *Drain) release(m int32) {
	f := &d.flows[m]
	h := f.bottleneck
	f.bottleneck = noRate
	if h < 0 {
		d.ends.Remove(int32(len(d.clocks)) + m)
		return
	}
	d.clocks[h].held--
	d.updateFirst(h, m)
}

// Left returns the work that a flow has left at a time.
func (d *Drain) Left(m int32, now unit.Time) Work {
	f := &d.flows[m]
	switch f.bottleneck {
	case notFlowing, noRate:
		return f.work
	case ownCap:
		return f.work.After(d.Flows[m].limit, now-f.since)
	}
	return f.work.Without(d.clocks[f.bottleneck].at(now))
}

// Ends returns when a flow ends at its present rate. Of a watched flow it is when all but the last
// part has left.
func (d *Drain) Ends(m int32) unit.Time {
	f := &d.flows[m]
	if f.bottleneck == ownCap {
		return min(f.since+f.work.Without(f.beyond).Over(d.Flows[m].limit), unit.Forever)
	}
	return d.clocks[f.bottleneck].when(f.work.Without(f.beyond))
}

// IsWatched reports whether Watch waits for a part of a flow.
func (d *Drain) IsWatched(m int32) bool { return d.flows[m].beyond != Work{} }

// Watch has Next report a flow when all but its last part, beyond, has left. With no such part Next
// reports the end alone.
func (d *Drain) Watch(m int32, beyond Work) {
	f := &d.flows[m]
	f.beyond = beyond
	switch {
	case f.bottleneck >= 0:
		d.pushDue(m)
	case f.bottleneck == ownCap:
		d.scheduleEnd(m)
	}
}

// pushDue enters the end of a flow with the clock of its bottleneck. Entries that are out of date
// are dropped when they are more than half.
func (d *Drain) pushDue(m int32) {
	f := &d.flows[m]
	c, at := &d.clocks[f.bottleneck], f.work.Without(f.beyond)
	if len(c.due) > 2*c.held+16 {
		h := f.bottleneck
		c.due.Keep(func(x *flat.Entry[uint64]) bool { return d.isDue(h, x) })
	}
	c.due.Push(flat.Entry[uint64]{First: at.hi, Second: at.lo, Item: m})
	d.updateFirst(f.bottleneck, m)
}

// isDue reports whether an entry of a link's clock is not out of date.
func (d *Drain) isDue(h int32, x *flat.Entry[uint64]) bool {
	f := &d.flows[x.Item]
	return f.bottleneck == h && f.work.Without(f.beyond) == Work{x.First, x.Second}
}

// updateFirst updates the first end of a link's clock after flow m of it has changed.
func (d *Drain) updateFirst(h, m int32) {
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

// scheduleEnd sets the end of a flow that only its cap holds back.
func (d *Drain) scheduleEnd(m int32) { d.ends.Set(int32(len(d.clocks))+m, d.Ends(m)) }

// Solve updates all rates at a time, and has flows go on at them.
func (d *Drain) Solve(now unit.Time) {
	if d.MaxMin.Solve(); d.Starved >= 0 {
		return
	}
	for _, h := range d.changed {
		c := &d.clocks[h]
		if rate := d.shares[h]; rate != c.rate {
			c.served, c.since, c.rate = c.at(now), now, rate
			if c.rate == NoCap {
				c.rate = 0
			}
			if len(c.due) > 0 {
				d.ends.Set(h, c.first())
			}
		}
	}
	for _, m := range d.affected {
		f, h := &d.flows[m], d.bottleneckOf(m)
		if h == f.bottleneck {
			continue
		}
		left := d.Left(m, now)
		if f.bottleneck != noRate {
			d.release(m)
		}
		f.bottleneck = h
		if h == ownCap {
			f.work, f.since = left, now
			d.scheduleEnd(m)
			continue
		}
		f.work = left.plus(d.clocks[h].at(now))
		d.clocks[h].held++
		d.pushDue(m)
	}
}

// bottleneckOf returns a flow's bottleneck: the first link whose share is its rate, or ownCap.
func (d *Drain) bottleneckOf(m int32) int32 {
	f := &d.Flows[m]
	least, at := f.limit, int32(ownCap)
	for _, h := range f.links {
		if v := d.shares[h]; v < least || v == least && at == ownCap && v != NoCap {
			least, at = v, h
		}
	}
	return at
}

// Shift moves all that flows have done and will do to a later time.
func (d *Drain) Shift(by unit.Time) {
	d.ends.Each(func(at unit.Time) unit.Time { return at + by })
	for i := range d.clocks {
		d.clocks[i].since += by
	}
	for i := range d.flows {
		d.flows[i].since += by
	}
}

// at returns the reading at a time.
func (c *clock) at(now unit.Time) Work {
	hi, lo := bits.Mul64(c.rate, uint64(now-c.since))
	return c.served.plus(Work{hi, lo})
}

// when returns the time at which the clock reaches a reading.
func (c *clock) when(w Work) unit.Time {
	return min(c.since+w.Without(c.served).Over(c.rate), unit.Forever)
}

// first returns when the first flow of the clock ends.
func (c *clock) first() unit.Time { return c.when(Work{c.due[0].First, c.due[0].Second}) }
