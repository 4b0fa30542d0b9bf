package reference

import (
	"math"

	"collsim/collective"
	"collsim/dtype"
)

// reduceFloats sets dst to the exact sum, product or mean of all ranks' elements, rounded once. It
// keeps each result as hi+lo, an unevaluated sum of two float64, and recomputes in arbitrary
// precision the few elements whose rounding that does not decide.
func (d *definition[T]) reduceFloats(dst []T, off int64) {
	n := len(dst)
	spread(d.hi[:n], math.Copysign(0, -1)) // the neutral element: 0 + −0 is 0
	clear(d.lo[:n])
	clear(d.lost[:n])
	if d.spec.Op == collective.Prod {
		d.multiplyAll(n, off)
	} else {
		d.addAll(n, off)
	}
	if d.simple && d.spec.Op != collective.Avg {
		if values, ok := any(dst).([]float32); ok { // none is a NaN
			for i, x := range d.hi[:n] {
				values[i] = float32(x)
			}
			return
		}
		dtype.Narrow(dst, d.hi[:n])
		return
	}
	d.round(dst)
	for i := range dst {
		if d.lost[i] {
			dst[i] = d.precisely(off + int64(i))
		}
	}
}

// widen converts elements to float64, exactly.
func (d *definition[T]) widen(values []T) []float64 {
	if wide, ok := any(values).([]float64); ok {
		return wide
	}
	wide := room(&d.wide, len(values))
	dtype.Widen(wide, values)
	return wide
}

// addAll sums over the ranks. With simple inputs, hi alone is exact.
func (d *definition[T]) addAll(n int, off int64) {
	hi, buffer := d.hi[:n], d.buffer[:n]
	factor := 1.0
	if d.spec.Op == collective.PremulSum {
		factor = dtype.Value(dtype.From[T](d.spec.Factor))
	}
	for rank := range d.spec.Ranks {
		d.input(buffer, rank, off)
		narrow, ok := any(buffer).([]float32) // widened on the way
		switch {
		case d.simple && ok:
			addScaled(hi, narrow, factor)
		case d.simple:
			addScaled(hi, d.widen(buffer), factor)
		case ok:
			addExactly(&d.sums, narrow, factor)
		default:
			addExactly(&d.sums, d.widen(buffer), factor)
		}
	}
}

// addScaled adds factor·x to every sum.
func addScaled[F float32 | float64](sums []float64, values []F, factor float64) {
	sums = sums[:len(values)]
	if factor == 1 {
		for i, x := range values {
			sums[i] += float64(x)
		}
		return
	}
	for i, x := range values {
		sums[i] += float64(factor * float64(x))
	}
}

// sums are exact results, hi+lo, for products times 2^power.
type sums struct {
	hi, lo [block]float64
	power  [block]int
	lost   [block]bool // hi+lo is not exact
}

// addExactly adds factor·x to hi+lo without error, or marks the element as lost.
func addExactly[F float32 | float64](d *sums, values []F, factor float64) {
	for i, y := range values {
		x := float64(y)
		product := float64(factor * x)
		rest := 0.0
		if factor != 1 {
			rest = math.FMA(factor, x, -product)
			if p := math.Abs(product); p < 0x1p-900 && x != 0 {
				d.lost[i] = true // the rest may be too small to be held
			}
		}
		sum, e := twoSum(d.hi[i], product)
		lo, f := twoSum(d.lo[i], e)
		lo, g := twoSum(lo, rest)
		d.hi[i], d.lo[i] = sum, lo
		if f != 0 || g != 0 {
			d.lost[i] = true
		}
	}
}

// multiplyAll multiplies over the ranks. Unless inputs are simple, hi is kept between ½ and 1,
// and a few units of 2^−104 are lost at every factor.
func (d *definition[T]) multiplyAll(n int, off int64) {
	buffer := d.buffer[:n]
	for i := range n {
		d.hi[i], d.power[i] = 1, 0
	}
	for rank := range d.spec.Ranks {
		d.input(buffer, rank, off)
		for i, x := range d.widen(buffer) {
			if d.simple {
				d.hi[i] *= x
				continue
			}
			m, e := math.Frexp(x)
			product := float64(d.hi[i] * m)
			rest := math.FMA(d.hi[i], m, -product)
			rest += float64(d.lo[i] * m)
			hi, lo := fastTwoSum(product, rest)
			hi, shift := math.Frexp(hi)
			d.hi[i], d.lo[i] = hi, math.Ldexp(lo, -shift)
			d.power[i] += e + shift
		}
	}
}

// round rounds all results to T, and marks as lost those that need arbitrary precision. A product
// or mean is only known to be between two bounds, so it is lost if they round differently. hi and
// lo are overwritten.
func (d *definition[T]) round(dst []T) {
	// From here on, hi and lo hold the lower and the upper bound of each result.
	n, slack := len(dst), d.spec.Op == collective.Prod || d.spec.Op == collective.Avg
	for i := range dst {
		low, high, sure := d.between(i)
		d.hi[i], d.lo[i], d.lost[i] = low, high, !sure
	}
	dtype.Narrow(dst, d.hi[:n])
	if !slack {
		return
	}
	upper := room(&d.upper, n)
	dtype.Narrow(upper, d.lo[:n])
	for i, x := range dst {
		if x != upper[i] {
			d.lost[i] = true
		}
	}
}

// between returns bounds of the i-th result, rounded to odd, and whether they are certain.
func (d *definition[T]) between(i int) (low, high float64, sure bool) {
	hi, lo := d.hi[i], d.lo[i]
	if d.simple && hi == 0 {
		return hi, hi, true
	}
	if d.lost[i] || hi == 0 || math.IsNaN(hi) || math.IsInf(hi, 0) {
		return 0, 0, false
	}
	slack := 0.0
	switch d.spec.Op {
	case collective.Prod:
		power := d.power[i]
		if lowest := -100; power < lowest || power > -lowest { // stay far from float32's ends
			return 0, 0, false
		}
		hi, lo = math.Ldexp(hi, power), math.Ldexp(lo, power)
		slack = float64(math.Abs(hi) * float64(d.spec.Ranks) * 0x1p-100)
	case collective.Avg:
		hi, lo, slack = quotient(hi, lo, float64(d.spec.Ranks))
		if math.Abs(hi) < 0x1p-100 {
			return 0, 0, false
		}
	default:
		x := d.toOdd(hi, lo)
		return x, x, true
	}
	return d.toOdd(hi, lo-slack), d.toOdd(hi, lo+slack), true
}

// quotient returns (hi+lo)/n as the sum of two, and a bound of its error.
func quotient(hi, lo, n float64) (q, rest, slack float64) {
	hi, lo = fastTwoSum(hi, lo)
	q = hi / n
	rest = math.FMA(-q, n, hi) + lo
	rest /= n
	return q, rest, float64(math.Abs(rest) * 0x1p-50)
}

// toOdd returns hi+lo rounded to float64. For T float64 it rounds to nearest, for others to odd, so
// that the second rounding is right (Boldo and Melquiond, "Emulation of FMA and correctly rounded
// sums: proved algorithms using rounding to odd", IEEE TC 57(4), 2008).
func (d *definition[T]) toOdd(hi, lo float64) float64 {
	hi, lo = twoSum(hi, lo)
	if lo == 0 || d.double {
		return hi
	}
	if b := math.Float64bits(hi); b&1 == 0 {
		if (lo > 0) == (hi > 0) {
			b++
		} else {
			b--
		}
		hi = math.Float64frombits(b)
	}
	return hi
}

// twoSum returns a+b rounded, and the error of that. Knuth, TAOCP volume 2, §4.2.2, theorem B.
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}

// fastTwoSum computes twoSum for |a| ≥ |b|. Dekker, Numerische Mathematik 18, 1971.
func fastTwoSum(a, b float64) (sum, err float64) {
	sum = a + b
	return sum, b - (sum - a)
}
