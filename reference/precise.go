package reference

import (
	"math"
	"math/big"

	"collsim/collective"
	"collsim/dtype"
)

// precisely returns the exact reduction of one element of all ranks, in arbitrary precision,
// rounded once. Infinities, NaNs and zeros give what IEEE 754 gives.
func (d *definition[T]) precisely(off int64) T {
	product := d.spec.Op == collective.Prod
	factor := 1.0
	if d.spec.Op == collective.PremulSum {
		factor = dtype.Value(dtype.From[T](d.spec.Factor))
	}
	// Sums of products of two float64 span 2·2046 + 2·53 bits; a product of n has 53·n.
	precision := uint(4400)
	if product {
		precision = uint(53*d.spec.Ranks + 64)
	}
	total := new(big.Float).SetPrec(precision)
	total.Neg(total)                              // −0, which is neutral: 0 is not
	special, finite := math.Copysign(0, -1), true // what floats make of it, for what is not finite
	if product {
		total.SetInt64(1)
		special = 1
	}
	one := make([]T, 1)
	for rank := range d.spec.Ranks {
		d.input(one, rank, off)
		x := dtype.Value(one[0])
		if math.IsInf(x, 0) || math.IsNaN(x) {
			finite = false
		}
		if product {
			special = float64(special * clip(x))
		} else {
			special += float64(clip(x) * clip(factor))
		}
		if finite && product {
			total.Mul(total, big.NewFloat(x))
		} else if finite {
			y := new(big.Float).SetPrec(106).Mul(big.NewFloat(x), big.NewFloat(factor))
			total.Add(total, y)
		}
	}
	if !finite {
		return dtype.From[T](special)
	}
	return rounded[T](total, d.divisor())
}

// clip replaces finite numbers by ±1, so that float64 does not overflow.
func clip(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	return math.Copysign(1, x)
}

// divisor returns the number by which the sum is divided.
func (d *definition[T]) divisor() int64 {
	if d.spec.Op == collective.Avg {
		return int64(d.spec.Ranks)
	}
	return 1
}

// rounded returns x/n rounded to T, once: for types narrower than float64 by way of a float64 that
// is rounded to odd, as in toOdd.
func rounded[T dtype.Number](x *big.Float, n int64) T {
	if dtype.Of[T]() == dtype.Float64 {
		y, _ := x.Float64()
		if n != 1 && x.Sign() != 0 {
			r, _ := x.Rat(nil)
			y, _ = r.Quo(r, big.NewRat(n, 1)).Float64()
		}
		return dtype.From[T](y)
	}
	q := new(big.Float).SetPrec(53).SetMode(big.ToZero)
	q.Quo(x, new(big.Float).SetInt64(n))
	y, _ := q.Float64()
	if bits := math.Float64bits(y); q.Acc() != big.Exact && !math.IsInf(y, 0) {
		y = math.Float64frombits(bits | 1)
	}
	return dtype.From[T](y)
}
