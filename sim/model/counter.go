package model

import (
	"cmp"
	"slices"

	"collsim/sim/internal/flat"
	"collsim/trace"
	"collsim/unit"
)

// Counter records how many bytes a link has carried over time: the counter track of a trace.
type Counter struct {
	Samples []trace.Sample // total bytes at times, between which it grows evenly

	bytes unit.Bytes     // FIFO: that have begun to cross the link; fluid: of flows that have ended
	speed uint64         // fluid: the sum of the rates, in units of 2⁻²⁰ B/s
	jumps []trace.Sample // fluid, link without limit: bytes that cross at one time; in no order

	isAlone bool      // the latest flow was alone on the link, and speed is its rate
	until   unit.Time // when that flow ends
}

// Carry counts n bytes that the link carries between two times, under FIFO. Bytes that follow
// without a pause prolong the last sample.
func (c *Counter) Carry(n unit.Bytes, from, to unit.Time) {
	if n == 0 {
		return
	}
	total := c.bytes + n
	if last := len(c.Samples) - 1; last >= 0 && c.Samples[last].At == from {
		c.Samples[last] = trace.Sample{At: to, Value: total}
	} else {
		c.add(c.bytes, from)
		c.add(total, to)
	}
	c.bytes = total
}

// Drain counts the n bytes of a flow that has ended. They cross a link without limit at once.
func (c *Counter) Drain(n unit.Bytes, now unit.Time, isLimited bool) {
	if isLimited {
		c.bytes += n
	} else {
		c.jumps = append(c.jumps, trace.Sample{At: now, Value: n})
	}
}

// Changes sets the sum of the rates of the link's flows, and reports whether it is another one. If
// so, the caller calls Sample.
func (c *Counter) Changes(speed uint64) bool {
	if speed == c.speed {
		return false
	}
	c.speed = speed
	return true
}

// Flow counts n bytes of a flow that is alone on the link between two times, at a rate.
//
// REQUIRES: all flows of the link are alone, and this one begins after those counted before.
func (c *Counter) Flow(n unit.Bytes, speed uint64, from, to unit.Time) {
	if c.settle(from); c.Changes(speed) {
		c.Sample(0, from)
	}
	c.bytes += n
	c.isAlone, c.until = true, to
}

// settle adds a sample at the end of the last flow that was alone, if the link has been idle
// between that end and now.
func (c *Counter) settle(now unit.Time) {
	if c.isAlone && c.until < now {
		c.speed = 0
		c.Sample(0, c.until)
	}
	c.isAlone = false
}

// Sample adds a sample at a time: the bytes of flows that have ended, and flowing, the bytes that
// the other flows have carried by then.
func (c *Counter) Sample(flowing unit.Bytes, now unit.Time) {
	c.add(c.bytes+flowing, now)
}

// add appends a sample of n bytes at a time.
func (c *Counter) add(n unit.Bytes, at unit.Time) {
	c.Samples = flat.Add(c.Samples, trace.Sample{At: at, Value: n}, 16)
}

// Close turns the jumps into samples, after the last flow has ended.
func (c *Counter) Close() {
	c.settle(Never)
	slices.SortFunc(c.jumps, func(a, b trace.Sample) int { return cmp.Compare(a.At, b.At) })
	total := unit.Bytes(0)
	for i, j := range c.jumps {
		before := total
		total += j.Value
		if i > 0 && c.jumps[i-1].At == j.At {
			c.Samples[len(c.Samples)-1].Value = total
		} else {
			c.Samples = append(c.Samples, trace.Sample{At: j.At, Value: before},
				trace.Sample{At: j.At, Value: total})
		}
	}
}
