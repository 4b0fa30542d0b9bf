package reference

import (
	"math"

	"collsim/collective"
)

// reduceFloats makes dst the exact sum, product or mean of all ranks' elements, rounded once.
// It carries each result as hi+lo, an unevaluated sum of two float64, and asks arbitrary precision
// about the few elements that this leaves open.
func (d *definition[T]) reduceFloats(dst []T, off int64) {
	n := len(dst)
	clear(d.hi[:n])
	clear(d.lo[:n])
	clear(d.lost[:n])
	if d.spec.Op == collective.Prod {
		d.multiplyAll(n, off)
	} else {
		d.addAll(n, off)
	}
	for i := range dst {
		x, sure := d.round(i)
		if !sure {
			x = d.precisely(off + int64(i))
		}
		dst[i] = x
	}
}

// addAll sums over the ranks. With simple inputs nothing is lost in hi alone.
func (d *definition[T]) addAll(n int, off int64) {
	hi, buffer := d.hi[:n], d.buffer[:n]
	factor := 1.0
	if d.spec.Op == collective.PremulSum {
		factor = float64(T(d.spec.Factor))
	}
	for rank := range d.spec.Ranks {
		d.input(buffer, rank, off)
		switch {
		case !d.simple:
			d.addExactly(buffer, factor)
		case factor == 1:
			for i, x := range buffer {
				hi[i] += float64(x)
			}
		default:
			for i, x := range buffer {
				hi[i] += float64(factor * float64(x))
			}
		}
	}
}

// addExactly adds factor·x to hi+lo without error, or marks the element as lost.
func (d *definition[T]) addExactly(values []T, factor float64) {
	for i, x := range values {
		product := factor * float64(x)
		rest := 0.0
		if factor != 1 {
			rest = math.FMA(factor, float64(x), -product)
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
		for i, x := range buffer {
			if d.simple {
				d.hi[i] *= float64(x)
				continue
			}
			m, e := math.Frexp(float64(x))
			product := d.hi[i] * m
			rest := math.FMA(d.hi[i], m, -product)
			rest += float64(d.lo[i] * m)
			hi, lo := fastTwoSum(product, rest)
			hi, shift := math.Frexp(hi)
			d.hi[i], d.lo[i] = hi, math.Ldexp(lo, -shift)
			d.power[i] += e + shift
		}
	}
}

// round rounds the i-th result to T, and reports whether that is certain.
func (d *definition[T]) round(i int) (T, bool) {
	hi, lo := d.hi[i], d.lo[i]
	if d.simple && (d.spec.Op != collective.Avg || hi == 0) {
		return T(hi), true
	}
	if d.lost[i] || hi == 0 || math.IsNaN(hi) || math.IsInf(hi, 0) {
		return 0, false
	}
	slack := 0.0
	switch d.spec.Op {
	case collective.Prod:
		power := d.power[i]
		if lowest := -100; power < lowest || power > -lowest { // stay far from float32's ends
			return 0, false
		}
		hi, lo = math.Ldexp(hi, power), math.Ldexp(lo, power)
		slack = float64(math.Abs(hi) * float64(d.spec.Ranks) * 0x1p-100)
	case collective.Avg:
		hi, lo, slack = quotient(hi, lo, float64(d.spec.Ranks))
		if math.Abs(hi) < 0x1p-100 {
			return 0, false
		}
	}
	low, high := nearest[T](hi, lo-slack), nearest[T](hi, lo+slack)
	return low, low == high
}

// quotient is (hi+lo)/n as the sum of two, and the error that this may have.
func quotient(hi, lo, n float64) (q, rest, slack float64) {
	hi, lo = fastTwoSum(hi, lo)
	q = hi / n
	rest = math.FMA(-q, n, hi) + lo
	rest /= n
	return q, rest, float64(math.Abs(rest) * 0x1p-50)
}

// nearest rounds hi+lo to T, once. For float32, hi+lo is first rounded to odd, which forgets
// nothing that the second rounding wants to know (Boldo and Melquiond, "Emulation of FMA and
// correctly rounded sums: proved algorithms using rounding to odd", IEEE TC 57(4), 2008).
func nearest[T Number](hi, lo float64) T {
	hi, lo = twoSum(hi, lo)
	if size[T]() == 8 || lo == 0 {
		return T(hi)
	}
	if b := math.Float64bits(hi); b&1 == 0 {
		if (lo > 0) == (hi > 0) {
			b++
		} else {
			b--
		}
		hi = math.Float64frombits(b)
	}
	return T(hi)
}

// twoSum is a+b rounded, and the error of that. Knuth, TAOCP volume 2, §4.2.2, theorem B.
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}

// fastTwoSum is twoSum for |a| ≥ |b|. Dekker, Numerische Mathematik 18, 1971.
func fastTwoSum(a, b float64) (sum, err float64) {
	sum = a + b
	return sum, b - (sum - a)
}
