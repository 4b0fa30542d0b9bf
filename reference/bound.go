package reference

import (
	"math"

	"collsim/collective"
	"collsim/dtype"
)

// rounding has what the a priori bound of an element's error depends on.
//
// Let u = 2^−precision, the largest relative error of one rounding to nearest. A sum of n numbers x
// in a tree of additions of height h ≤ n−1 has an error of at most B·Σ|x|:
//
//	B = min((1+u)^h − 1, (n−1)·u)
//
// The first holds since every x goes through at most h roundings (Higham, Accuracy and Stability of
// Numerical Algorithms, 2nd edition, 2002, §4.2); it is h·u and terms of u². The second holds in
// any order and for any n (Rump, "Error estimation of floating-point summation and dot product",
// BIT 52, 2012). It keeps the bound meaningful where formats are narrow and ranks many. His
// argument is that a rounding is off by no more than either operand, since that is a number of the
// format. That is as true of a step that rounds a sum of many. Sums of a step in float32 add at
// most n+1 of its roundings: (1+B)·(1+2^−24)^(n+1) − 1. Products go through n−1 roundings in any
// tree: B = (1+u)^(n−1) − 1, times |Πx| (Higham, §3.1).
//
// All hold if nothing overflows or saturates on the way; see Check for that.
type rounding struct {
	n      int
	height int
	widens bool
}

// rounding returns what a survey has found. Where a switch adds, or parts overlap, the height is
// the largest that a tree of n inputs can have.
func (v *survey) rounding() rounding {
	spec := &v.s.Spec
	if v.kernels {
		return anyOrder(spec)
	}
	r := rounding{n: spec.Ranks, height: spec.Ranks - 1, widens: v.widens}
	if v.heights.needed && !v.ragged && !v.code.merges && v.heights.most < math.MaxUint16 {
		r.height = int(v.heights.most)
	}
	return r
}

// bound returns B for a collective; 0 if its operator does not round.
func (r rounding) bound(spec *collective.Spec) float64 {
	if !rounds(spec) || !spec.Kind.Reduces() {
		return 0
	}
	u := unitRoundoff(spec.Type)
	height := r.height
	if spec.Op == collective.Prod {
		height = r.n - 1
	}
	b := grown(u, height)
	if spec.Op != collective.Prod {
		b = min(b, float64(float64(r.n-1)*u))
	}
	if !r.widens {
		return b
	}
	wide := grown(unitRoundoff(dtype.Float32), r.n+1)
	return b + wide + float64(b*wide)
}

// unitRoundoff returns the largest relative error of rounding to a float type.
func unitRoundoff(t dtype.Type) float64 { return math.Ldexp(1, -t.Precision()) }

// grown returns an upper bound of (1+u)^n − 1. For small n·u it is n·u/(1−n·u), Higham's γ_n.
func grown(u float64, n int) float64 {
	nu := float64(float64(n) * u)
	if nu < 0x1p-10 {
		return nu / (1 - nu)
	}
	power, square := 1.0, 1+u
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			power *= square
		}
		square *= square
	}
	return float64(power*(1+0x1p-30)) - 1 // each product may be rounded down
}

// tolerate computes how far each wanted element may be from the definition: 0 for integers, minima,
// maxima and copies. Where floats are scaled, each leaf of the tree, or the root, has one more
// rounding. fl(1/n) differs from 1/n, and each product that underflows may lose half of the least
// number. The definition is itself rounded, by half a unit in the last place at most. In products
// of more factors underflow can grow: the bound holds while no partial product is below the normal
// numbers.
func (c *comparison[T]) tolerate() {
	c.tolerant = true
	n := len(c.want[:c.key.n])
	tolerance, spec := c.tolerance[:n], c.d.spec
	largest := c.largest[:n]
	clear(tolerance)
	clear(largest)
	if c.key.from != allRanks || !rounds(spec) {
		return
	}
	least := spec.Type.Smallest()
	if spec.Op == collective.Prod {
		for i := range tolerance {
			half := c.format.ulp(c.format.clip(c.right[i])) / 2
			tolerance[i] = float64(c.bound*(math.Abs(c.right[i])+half)) + half + least
		}
		return
	}
	c.magnitudes(tolerance, largest)
	weight, rest := c.weight(least)
	scale := c.scale()
	for i, sum := range tolerance {
		largest[i] = float64(largest[i] * scale)
		if math.IsInf(sum, 0) || math.IsNaN(sum) { // infinite inputs: nothing is approximate
			tolerance[i] = 0
			continue
		}
		half := c.format.ulp(c.format.clip(c.right[i])) / 2
		tolerance[i] = float64(weight*sum) + rest + half
	}
}

// scale returns the factor of an addend in the result.
func (c *comparison[T]) scale() float64 {
	switch spec := c.d.spec; {
	case spec.ScalesBefore():
		return math.Abs(dtype.Value(factor[T](spec)))
	case spec.ScalesAfter():
		return 1 / float64(spec.Ranks)
	}
	return 1
}

// magnitudes computes Σ|x| over the ranks, and the largest finite |x|.
func (c *comparison[T]) magnitudes(sums, largest []float64) {
	buffer := c.d.buffer[:len(sums)]
	for rank := range c.d.spec.Ranks {
		c.d.input(buffer, rank, c.key.off)
		if narrow, ok := any(buffer).([]float32); ok { // widened on the way
			addMagnitudes(sums, largest, narrow)
		} else {
			addMagnitudes(sums, largest, c.d.widen(buffer))
		}
	}
}

// addMagnitudes adds |x| to sums, and raises largest to the largest finite |x|.
func addMagnitudes[F float32 | float64](sums, largest []float64, values []F) {
	sums, largest = sums[:len(values)], largest[:len(values)]
	for i, x := range values {
		size := math.Abs(float64(x))
		sums[i] += size
		if size > largest[i] && size <= math.MaxFloat64 {
			largest[i] = size
		}
	}
}

// weight returns the factor of Σ|x| in the tolerance, and the term added to it.
func (c *comparison[T]) weight(least float64) (weight, rest float64) {
	spec, n := c.d.spec, float64(c.d.spec.Ranks)
	u := unitRoundoff(spec.Type)
	b := float64(c.bound * (1 + 0x1p-30)) // Σ|x| is itself rounded n times, to 53 bits
	switch {
	case spec.ScalesBefore():
		f := math.Abs(dtype.Value(factor[T](spec)))
		off := 0.0 // of fl(1/n) from 1/n
		if spec.Op == collective.Avg {
			off = float64(float64(math.Abs(math.FMA(f, n, -1))/n) * (1 + 0x1p-50))
		}
		return float64(f*(b+u+float64(b*u))) + off, float64(float64((1+b)*n)*least) / 2
	case spec.ScalesAfter():
		return (b + u + float64(b*u)) / n, least / 2
	}
	return b, 0
}

// A layout has the parameters of a float type that determine distances.
type layout struct {
	precision int
	least     float64 // the least positive number
	beyond    float64 // the power of two after the largest number; infinity for float64
}

// layoutOf returns the layout of a type.
func layoutOf(t dtype.Type) layout {
	_, e := math.Frexp(t.Largest())
	return layout{t.Precision(), t.Smallest(), math.Ldexp(1, e)}
}

// ulp returns the distance from |y| to the next larger number of the type, as if its exponents were
// unbounded above. REQUIRES: y is a number of the type.
func (l *layout) ulp(y float64) float64 {
	if y == 0 {
		return l.least
	}
	_, e := math.Frexp(y)
	return max(math.Ldexp(1, e-l.precision), l.least)
}

// apart returns the distance of two numbers. An infinite one counts as the power of two after the
// largest number: from there on, rounding gives infinity or the largest.
func (l *layout) apart(x, y float64) float64 {
	return math.Abs(l.clip(x) - l.clip(y))
}

// clip replaces infinity by that power of two.
func (l *layout) clip(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.Copysign(l.beyond, x)
	}
	return x
}
