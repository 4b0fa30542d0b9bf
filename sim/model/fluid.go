package model

import (
	"math/bits"

	"collsim/unit"
)

// Fluid sharing (docs/time.md, decision 10). A message flows through all links of its route at
// once, from D until its bytes are drained, at the rate that MaxMin gives it; what it has left is a
// Rest. Its lane is held until then. It arrives the latencies of its links later (Route.IsShared).

// unitShift makes units of 2⁻²⁰ B/s of bytes per second.
const unitShift = 20

// NoCap is the cap of a flow whose lane is no slower than any link.
const NoCap = ^uint64(0)

// FluidRate is a rate in units of 2⁻²⁰ B/s.
//
// REQUIRES: r is not Unlimited, and at most MaxFluidRate.
func FluidRate(r unit.Rate) uint64 { return uint64(r) << unitShift }

// Work counts in units of 2⁻²⁰ B/s times picoseconds, in 128 bits.
type Work struct{ hi, lo uint64 }

// WorkOf is what n bytes are. n < 2⁶⁰ makes less than 2¹²⁰.
func WorkOf(n unit.Bytes) Work {
	hi, lo := bits.Mul64(uint64(n), uint64(unit.Second)<<unitShift)
	return Work{hi, lo}
}

// After is what is left after a time at a rate: nothing, if it has ended by then.
func (w Work) After(rate uint64, t unit.Time) Work {
	hi, lo := bits.Mul64(rate, uint64(t))
	return w.Without(Work{hi, lo})
}

func (w Work) plus(o Work) Work {
	lo, carry := bits.Add64(w.lo, o.lo, 0)
	hi, _ := bits.Add64(w.hi, o.hi, carry)
	return Work{hi, lo}
}

// Without is the rest of the work, without a part that comes last.
func (w Work) Without(o Work) Work {
	lo, borrow := bits.Sub64(w.lo, o.lo, 0)
	hi, borrow := bits.Sub64(w.hi, o.hi, borrow)
	if borrow > 0 { // rounded up, it may be done with a little more
		return Work{}
	}
	return Work{hi, lo}
}

// Over is how long the work takes at a rate, rounded up; Forever where that is longer.
func (w Work) Over(rate uint64) unit.Time {
	if w.hi >= rate {
		return unit.Forever
	}
	quo, rem := bits.Div64(w.hi, w.lo, rate)
	if rem > 0 && quo < uint64(unit.Forever) {
		quo++
	}
	return unit.Time(min(quo, uint64(unit.Forever)))
}

// ceilOver is the work over a number that is greater than its upper half, rounded up.
func (w Work) ceilOver(d uint64) uint64 {
	quo, rem := bits.Div64(w.hi, w.lo, d)
	if rem > 0 && quo < NoCap {
		quo++
	}
	return quo
}

// Alone is how long n bytes of a lane's message flow that are alone on all links of their way, of
// which this is the slowest; not ok if they have no rate.
func (r *Rules) Alone(rank, peers int32, slowest unit.Rate, n unit.Bytes) (t unit.Time, ok bool) {
	rate := min(r.PaceRate(rank, peers), FluidRate(slowest))
	if rate == 0 {
		return 0, false
	}
	return WorkOf(n).Over(rate), true
}

// AByte is the work of a byte.
const AByte = uint64(unit.Second) << unitShift

// Bytes is the whole bytes of the work, and what is left of it, which is less than one.
func (w Work) Bytes() (n unit.Bytes, rest uint64) {
	quo, rest := bits.Div64(w.hi, w.lo, AByte)
	return unit.Bytes(quo), rest
}

// Rest is what is left of a flow: Work as of Since, when its rate was set.
type Rest struct {
	Work  Work
	Since unit.Time
}

// Left is what is left at a time, of a flow that has had a rate since Since.
func (r *Rest) Left(rate uint64, now unit.Time) Work { return r.Work.After(rate, now-r.Since) }

// Change has the flow go on at another rate from a time on, and says when it is drained at that.
func (r *Rest) Change(from, to uint64, now unit.Time) (ends unit.Time) {
	r.Work, r.Since = r.Left(from, now), now
	return min(now+r.Work.Over(to), unit.Forever)
}

// Ends is when the flow is drained at a rate that it has from Since on, but for a part of it that
// comes last.
func (r *Rest) Ends(rate uint64, but Work) unit.Time {
	return min(r.Since+r.Work.Without(but).Over(rate), unit.Forever)
}

// LostTime is how much of a time a flow would not have needed alone, at its full rate; rounded
// down.
func LostTime(t unit.Time, full, rate uint64) unit.Time {
	if rate >= full {
		return 0
	}
	hi, lo := bits.Mul64(uint64(t), full-rate)
	lost, _ := bits.Div64(hi, lo, full)
	return unit.Time(lost)
}
