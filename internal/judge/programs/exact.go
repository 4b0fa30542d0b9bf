package programs

import "math"

// An account records whether all computations were exact.
type account struct{ inexact bool }

// note records whether something was rounded.
func (a *account) note(rounded bool) { a.inexact = a.inexact || rounded }

// round rounds a float to a type.
func (a *account) round(t numberType, x float64) float64 {
	r := t.round(x)
	a.note(r != x)
	return r
}

// sum adds floats as if partial sums had the precision of a type. The sum is exact in any order if
// all terms are multiples of a unit, and the sum of their magnitudes is a number of units that the
// type can represent.
func (a *account) sum(terms []float64, as numberType) float64 {
	total, magnitude, unit := 0.0, 0.0, math.Inf(1)
	for i, x := range terms {
		if i == 0 {
			total = x // -0 remains
		} else {
			total += x
		}
		magnitude += math.Abs(x)
		unit = min(unit, lastBit(x))
	}
	a.fits(magnitude, unit, as)
	return total
}

// product multiplies floats. Partial products are exact in any order if the product of all odd
// parts fits the type's precision, and no power of two leaves its range.
func (a *account) product(factors []float64, as numberType) float64 {
	total, odd, high, low := 1.0, 1.0, 1.0, 1.0
	for i, x := range factors {
		if i == 0 {
			total = x
		} else {
			total *= x
		}
		if x == 0 {
			continue
		}
		bit := lastBit(x)
		odd *= math.Abs(x) / bit
		high, low = high*max(math.Abs(x), 1), low*min(bit, 1)
	}
	a.note(!(odd <= math.Ldexp(1, as.fraction+1)) || !(high <= as.largest()) || low < as.smallest())
	return total
}

// fits records whether a type can represent the multiples of a unit up to a magnitude.
func (a *account) fits(magnitude, unit float64, as numberType) {
	if magnitude == 0 {
		return
	}
	a.note(!(magnitude/unit <= math.Ldexp(1, as.fraction+1)) || !(magnitude <= as.largest()) ||
		unit < as.smallest())
}

// lastBit returns the largest power of two that divides a float; infinity for 0.
func lastBit(x float64) float64 {
	if x == 0 {
		return math.Inf(1)
	}
	m, e := math.Frexp(math.Abs(x))
	whole := int64(math.Ldexp(m, 53))
	return math.Ldexp(float64(whole&-whole), e-53)
}
