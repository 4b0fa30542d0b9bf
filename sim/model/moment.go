package model

import (
	"math/bits"

	"collsim/unit"
)

// Moment is a time, and a place in the order of what happens at that time. A link without latency,
// or a message without bytes, makes things follow from each other at one time. Wave counts the
// services by links at this very time that had to come first; a request made at the moment has that
// wave (docs/time.md, ties; decision 9).
type Moment struct {
	T    unit.Time
	Wave int32
}

// Plus returns the moment a time d later, at most Forever. If d > 0 it has wave 0.
func (m Moment) Plus(d unit.Time) Moment {
	if d == 0 {
		return m
	}
	return Moment{T: min(m.T+d, unit.Forever)}
}

// Later returns the later of two moments. S of a step, as all else that waits for several things,
// is the latest of the moments at which they have come.
func Later(a, b Moment) Moment {
	if b.T > a.T || b.T == a.T && b.Wave > a.Wave {
		return b
	}
	return a
}

// whole is the slowdown of a rank at full speed, in millionths.
const whole unit.Share = 1_000_000

// scaled returns t times a factor in millionths, rounded up.
func scaled(t unit.Time, factor unit.Share) unit.Time {
	if factor == whole || t == 0 {
		return t
	}
	hi, lo := bits.Mul64(uint64(t), uint64(factor))
	if hi >= uint64(whole) {
		return unit.Forever
	}
	quo, rem := bits.Div64(hi, lo, uint64(whole))
	if rem > 0 {
		quo++
	}
	return unit.Time(min(quo, uint64(unit.Forever)))
}

// times returns how long n bytes, k times over, take at a rate.
func times(n unit.Bytes, k int, r unit.Rate) unit.Time {
	if r == unit.Unlimited || n == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(k))
	if hi > 0 || lo >= 1<<63 {
		return unit.Forever
	}
	return unit.Bytes(lo).Over(r)
}

// AppendSince appends the moment as seen from a time on to the state of a run. What was before that
// decides nothing any more, whenever it was.
func (m Moment) AppendSince(state []int64, now unit.Time) []int64 {
	if m.T < now {
		return append(state, -1, 0)
	}
	return append(state, int64(m.T-now), int64(m.Wave))
}
