package model

import (
	"math/bits"

	"collsim/unit"
)

// Fluid sharing (docs/time.md, decision 10). A message flows through all links of its route at the
// same time, from D until its bytes have drained. MaxMin gives it its rate. Its lane is held until
// it has drained. It arrives the latencies of its links later (Route.IsShared).

// unitShift turns bytes per second into units of 2⁻²⁰ B/s.
const unitShift = 20

// NoCap stands for no limit of a rate: the cap of a flow whose lane is no slower than any link, or
// the share of an unsaturated link.
const NoCap = ^uint64(0)

// FluidRate returns a rate in units of 2⁻²⁰ B/s.
//
// REQUIRES: r is not Unlimited, and at most MaxFluidRate.
func FluidRate(r unit.Rate) uint64 { return uint64(r) << unitShift }

// Work is an amount of data in units of 2⁻²⁰ B/s times picoseconds, in 128 bits: exact for every
// rate and time.
type Work struct{ hi, lo uint64 }

// WorkOf returns the work of n bytes. n < 2⁶⁰ gives less than 2¹²⁰.
func WorkOf(n unit.Bytes) Work {
	hi, lo := bits.Mul64(uint64(n), uint64(unit.Second)<<unitShift)
	return Work{hi, lo}
}

// After returns the work that is left after a time at a rate; 0 if it has ended by then.
func (w Work) After(rate uint64, t unit.Time) Work {
	hi, lo := bits.Mul64(rate, uint64(t))
	return w.Without(Work{hi, lo})
}

// plus returns the sum of two works.
func (w Work) plus(o Work) Work {
	lo, carry := bits.Add64(w.lo, o.lo, 0)
	hi, _ := bits.Add64(w.hi, o.hi, carry)
	return Work{hi, lo}
}

// Without returns the work less another, and 0 if that is more.
func (w Work) Without(o Work) Work {
	lo, borrow := bits.Sub64(w.lo, o.lo, 0)
	hi, borrow := bits.Sub64(w.hi, o.hi, borrow)
	if borrow > 0 { // times are rounded up, so a little more may have been served
		return Work{}
	}
	return Work{hi, lo}
}

// Over returns how long the work takes at a rate, rounded up; at most Forever.
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

// ceilOver returns the work divided by d, rounded up.
//
// REQUIRES: d is greater than the upper half of the work.
func (w Work) ceilOver(d uint64) uint64 {
	quo, rem := bits.Div64(w.hi, w.lo, d)
	if rem > 0 && quo < NoCap {
		quo++
	}
	return quo
}

// Alone returns how long n bytes of a lane's message flow if no other flow uses a link of its
// route. The rate is the least of the lane's pace, which the step's messages to so many peers
// share, and the slowest link's. ok is false if the rate is 0.
func (r *Rules) Alone(rank, peers int32, slowest unit.Rate, n unit.Bytes) (t unit.Time, ok bool) {
	rate := min(r.PaceRate(rank, peers), FluidRate(slowest))
	if rate == 0 {
		return 0, false
	}
	return WorkOf(n).Over(rate), true
}

// AByte is the work of a byte.
const AByte = uint64(unit.Second) << unitShift

// Bytes returns the whole bytes of the work, and the rest, which is less than AByte.
func (w Work) Bytes() (n unit.Bytes, rest uint64) {
	quo, rest := bits.Div64(w.hi, w.lo, AByte)
	return unit.Bytes(quo), rest
}

// Rest is the work that a flow has left: Work at the time Since, when its rate was set.
type Rest struct {
	Work  Work
	Since unit.Time
}

// left returns the work left at a time, at the rate that the flow has had since Since.
func (r *Rest) left(rate uint64, now unit.Time) Work { return r.Work.After(rate, now-r.Since) }

// Change gives the flow another rate from a time on, and returns when it ends at that rate.
func (r *Rest) Change(from, to uint64, now unit.Time) (ends unit.Time) {
	r.Work, r.Since = r.left(from, now), now
	return min(now+r.Work.Over(to), unit.Forever)
}

// LostTime returns the part of a time that a flow has lost by having a rate below its full rate;
// rounded down.
func LostTime(t unit.Time, full, rate uint64) unit.Time {
	if rate >= full {
		return 0
	}
	hi, lo := bits.Mul64(uint64(t), full-rate)
	lost, _ := bits.Div64(hi, lo, full)
	return unit.Time(lost)
}
