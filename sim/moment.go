package sim

import (
	"math/bits"

	"collsim/unit"
)

// moment is a time, and where in it: a zero-latency link or an empty message makes things happen
// at one time that nevertheless follow from each other. wave counts the services by links, at this
// very time, that had to come first; a request that is made at the moment has that wave.
type moment struct {
	t    unit.Time
	wave int32
}

// plus is d later. What takes any time at all begins afresh, in wave 0. It saturates at Forever.
func (m moment) plus(d unit.Time) moment {
	if d == 0 {
		return m
	}
	return moment{t: min(m.t+d, unit.Forever)}
}

func later(a, b moment) moment {
	if b.t > a.t || b.t == a.t && b.wave > a.wave {
		return b
	}
	return a
}

// whole is the slowdown of a rank that is not slow.
const whole unit.Share = 1_000_000

// scaled is t times factor, rounded up.
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

// times is how long n bytes, k times over, take at a rate.
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
