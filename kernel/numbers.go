package kernel

import "math"

// Functions of float64 by products, sums and quotients alone, each rounded by itself: the same bits
// on every processor, which math's are not. Errors are some units in the last place of float64.

const (
	log2e  = 1.44269504088896340735992468100189214
	ln2    = 0.693147180559945309417232121458176568
	ln2Hi  = 6.93147180369123816490e-01 // its product with a whole number below 2^20 is exact
	ln2Lo  = 1.90821492927058770002e-10
	expMax = 709.782712893384
	expMin = -745.133219101941
)

// factorials are 1/n!, for the series of exp.
var factorials = [...]float64{1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040,
	1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800}

// exp returns e^x: 2^k·e^r, with r at most half of ln 2, by the series of e^r.
func exp(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x > expMax:
		return math.Inf(1)
	case x < expMin:
		return 0
	}
	k := math.Floor(float64(x*log2e) + 0.5)
	r := x - float64(k*ln2Hi) - float64(k*ln2Lo)
	sum := factorials[len(factorials)-1]
	for i := len(factorials) - 2; i >= 0; i-- {
		sum = float64(sum*r) + factorials[i]
	}
	return math.Ldexp(sum, int(k))
}

// ln returns the natural logarithm: of m·2^k, k·ln 2 + 2·artanh((m−1)/(m+1)), by its series.
func ln(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = float64(2*m), k-1
	}
	s := (m - 1) / (m + 1)
	square, sum := float64(s*s), 0.0
	for n := 25.0; n >= 1; n -= 2 {
		sum = float64(sum*square) + 1/n
	}
	return float64(float64(k)*ln2Hi) + (float64(2*float64(s*sum)) + float64(float64(k)*ln2Lo))
}

// sigmoid returns 1 / (1 + e^−x).
func sigmoid(x float64) float64 {
	if x < 0 {
		e := exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + exp(-x))
}

// tanh returns the hyperbolic tangent, with an error relative to 1.
func tanh(x float64) float64 {
	e := exp(float64(-2 * math.Abs(x)))
	return math.Copysign((1-e)/(1+e), x)
}

// erf returns the error function: 2/√π·e^(−x²)·Σ 2^n·x^(2n+1) / (1·3·…·(2n+1)), whose terms are
// positive. Beyond 6 it is 1 to the last bit.
func erf(x float64) float64 {
	a := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return x
	case a >= 6:
		return math.Copysign(1, x)
	}
	square, term, sum := float64(a*a), a, a
	for n := 1.0; term > float64(sum*0x1p-54); n++ {
		term = float64(term*float64(2*square)) / float64(float64(2*n)+1)
		sum += term
	}
	return math.Copysign(float64(float64(2/math.Sqrt(math.Pi)*exp(-square))*sum), x)
}
