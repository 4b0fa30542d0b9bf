package kernel

import (
	"math"

	"collsim/dtype"
)

// An approx is a number x and an error bound: what an implementation computes in its place is at
// most off away. NaN as a bound stands for none at all: anything may be there, NaN too.
//
// Bounds follow a computation step by step, as in a running error analysis (Higham, Accuracy and
// Stability of Numerical Algorithms, 2nd edition, 2002, §3.3): each step propagates the bounds of
// its operands in full, not to first order, and adds that of its own rounding.
type approx struct{ x, off float64 }

// A precision has the parameters of the float type in which a layer is computed: its unit roundoff,
// its least normal number, below which results may be flushed to 0, and its largest.
type precision struct{ u, least, most float64 }

// Errors of a GPU's functions, in units of u. A unit in the last place is at most 2u of the result.
// From the CUDA C Programming Guide, appendix "Mathematical Functions", maximum errors in ulp:
// sqrtf 1, rsqrtf 2, tanhf 2, logf 1, powf 4, divisions 2 (-prec-div=false), __logf 3, and of
// __expf 2 + 1.173·|x|, which is more than expf's. erf is used in 1 + erf alone, and its error is
// of 1: PyTorch's on vector units of CPUs is Abramowitz and Stegun's 7.1.26, off by 1.5e-7 < 3u,
// and rounded as often.
const (
	rootError  = 4
	logError   = 6
	powError   = 8
	tanhError  = 4
	erfError   = 8
	quotient   = 4
	expError   = 4
	expPerUnit = 2.5
)

// precisionOf returns the parameters of a float type.
func precisionOf(t dtype.Type) precision {
	return precision{u: math.Ldexp(1, -t.Precision()),
		least: math.Ldexp(t.Smallest(), t.Precision()-1), most: t.Largest()}
}

// rounded returns x with what a rounding adds to a bound; none if that may overflow.
func (p precision) rounded(x, off float64) approx {
	return p.within(x, off, 1)
}

// within returns x with a bound, and an error of the last step of so many u.
func (p precision) within(x, off, units float64) approx {
	size := math.Abs(x) + off
	if !(size <= p.most) {
		return approx{x, math.NaN()}
	}
	return approx{x, off + float64(float64(units*p.u)*size) + p.least}
}

// constant returns a number of the scenario, which may be rounded.
func (p precision) constant(x float64) approx { return approx{x, float64(p.u * math.Abs(x))} }

func (p precision) plus(a, b approx) approx { return p.rounded(a.x+b.x, a.off+b.off) }

func (p precision) minus(a, b approx) approx { return p.rounded(a.x-b.x, a.off+b.off) }

func (p precision) times(a, b approx) approx {
	return p.rounded(float64(a.x*b.x), float64(math.Abs(a.x)*b.off)+
		float64(math.Abs(b.x)*a.off)+float64(a.off*b.off))
}

// over returns a quotient; without a bound if the divisor may be 0.
func (p precision) over(a, b approx) approx {
	x, least := a.x/b.x, math.Abs(b.x)-b.off
	if !(least > 0) {
		return approx{x, math.NaN()}
	}
	return p.within(x, (a.off+float64(math.Abs(x)*b.off))/least, quotient)
}

// apply returns a monotone function of a number, whose own error is so many u.
func (p precision) apply(f func(float64) float64, a approx, units float64) approx {
	y := f(a.x)
	off := max(math.Abs(f(a.x+a.off)-y), math.Abs(f(a.x-a.off)-y))
	return p.within(y, off, units)
}

// exp returns e^x, of −∞ 0.
func (p precision) exp(a approx) approx {
	if math.IsInf(a.x, -1) && a.off == 0 {
		return approx{}
	}
	return p.apply(exp, a, expError+float64(expPerUnit*(math.Abs(a.x)+a.off)))
}

// sigmoid returns 1/(1 + e^−x), which is 0 where e^−x overflows.
func (p precision) sigmoid(a approx) approx {
	return p.apply(sigmoid, a, 1+quotient+expError+float64(expPerUnit*min(math.Abs(a.x)+a.off, 1024)))
}

// sum returns the bound of a sum in any order of additions. In each, and in float32 with products
// that are fused or not, the error is at most (n−1)·u·Σ|x| (Rump, "Error estimation of
// floating-point summation and dot product", BIT 52, 2012).
func (p precision) sum(list []approx) approx {
	total, off, size := 0.0, 0.0, 0.0
	for _, a := range list {
		total += a.x
		off += a.off
		size += math.Abs(a.x) + a.off
	}
	return p.summed(total, off, size, len(list))
}

// summed returns the bound of a sum of n numbers whose magnitudes add up to size, and bounds to
// off.
func (p precision) summed(total, off, size float64, n int) approx {
	if !(size <= p.most) {
		return approx{total, math.NaN()}
	}
	return approx{total, off + float64(float64(float64(n)*p.u)*size) + p.least}
}

// stored returns a number that an implementation may keep in a type of unit roundoff u meanwhile.
func stored(a approx, u float64) approx {
	if math.IsInf(a.x, 0) {
		return a
	}
	return approx{a.x, a.off + float64(u*(math.Abs(a.x)+a.off))}
}

// exactly returns numbers without errors.
func exactly(list []float64) []approx {
	all := make([]approx, len(list))
	for i, x := range list {
		all[i].x = x
	}
	return all
}
