package model

import (
	"cmp"
	"slices"

	"collsim/sim/internal/flat"
	"collsim/trace"
	"collsim/unit"
)

// Counter is what a link has carried, and how fast it does.
type Counter struct {
	Samples []trace.Sample

	bytes unit.Bytes     // FIFO: that have begun to cross the link; fluid: of flows that are over
	speed uint64         // fluid: the sum of the rates
	jumps []trace.Sample // fluid, without limit: bytes that cross at one time; in no order

	isAlone bool      // the latest flow is alone on the link
	until   unit.Time // when that ends
}

// Carry counts n bytes that the link carries from a time to another, under FIFO. What follows
// without a pause prolongs the sample.
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

// Drain counts n bytes of a flow that is over. Over a link without limit they crossed at once.
func (c *Counter) Drain(n unit.Bytes, now unit.Time, isLimited bool) {
	if isLimited {
		c.bytes += n
	} else {
		c.jumps = append(c.jumps, trace.Sample{At: now, Value: n})
	}
}

// Changes reports whether the flows of a link, whose rates together are a speed, have another
// from now on: then Sample must follow.
func (c *Counter) Changes(speed uint64) bool {
	if speed == c.speed {
		return false
	}
	c.speed = speed
	return true
}

// Flow counts n bytes of a flow that is alone on the link from a time to another, at a speed.
//
// REQUIRES: all on the link are, and it comes after those that have been counted.
func (c *Counter) Flow(n unit.Bytes, speed uint64, from, to unit.Time) {
	if c.settle(from); c.Changes(speed) {
		c.Sample(0, from)
	}
	c.bytes += n
	c.isAlone, c.until = true, to
}

// settle notes that the link has paused, if it has before a time, since a flow that was alone.
func (c *Counter) settle(now unit.Time) {
	if c.isAlone && c.until < now {
		c.speed = 0
		c.Sample(0, c.until)
	}
	c.isAlone = false
}

// Sample counts how many bytes the flows that are not over have carried up to a time.
func (c *Counter) Sample(flowing unit.Bytes, now unit.Time) {
	c.add(c.bytes+flowing, now)
}

func (c *Counter) add(n unit.Bytes, at unit.Time) {
	c.Samples = flat.Add(c.Samples, trace.Sample{At: at, Value: n}, 16)
}

// Close makes samples of the jumps, now that all are known.
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
