package programs

import "math"

// A dual is a number and its derivative in a direction, which every operation carries along. The
// gradients of layers are found by it, not by formulas of their own.
type dual struct{ v, d float64 }

func plus(a, b dual) dual  { return dual{a.v + b.v, a.d + b.d} }
func minus(a, b dual) dual { return dual{a.v - b.v, a.d - b.d} }

func times(a, b dual) dual { return dual{a.v * b.v, float64(a.v*b.d) + float64(a.d*b.v)} }

func over(a, b dual) dual {
	return dual{a.v / b.v, (a.d - float64(a.v/b.v*b.d)) / b.v}
}

// of applies a function, given its value and its slope there.
func of(a dual, value, slope float64) dual { return dual{value, float64(slope * a.d)} }

func power(a dual) dual { return of(a, math.Exp(a.v), math.Exp(a.v)) }
func ln(a dual) dual    { return of(a, math.Log(a.v), 1/a.v) }
func root(a dual) dual  { return of(a, math.Sqrt(a.v), 0.5/math.Sqrt(a.v)) }

func constant(x float64) dual { return dual{x, 0} }

// average returns the mean.
func average(list []dual) dual { return over(added(list), constant(float64(len(list)))) }

func added(list []dual) (sum dual) {
	for _, x := range list {
		sum = plus(sum, x)
	}
	return sum
}

// products returns the sum of products.
func products(a, b []dual) (sum dual) {
	for i := range a {
		sum = plus(sum, times(a[i], b[i]))
	}
	return sum
}

func sigmoid(a dual) dual { return over(constant(1), plus(constant(1), power(minus(dual{}, a)))) }

// shares returns the softmax.
func shares(list []dual) []dual {
	most := math.Inf(-1)
	for _, x := range list {
		most = max(most, x.v)
	}
	powers := make([]dual, len(list))
	for i, x := range list {
		powers[i] = power(minus(x, constant(most)))
	}
	sum := added(powers)
	for i := range powers {
		powers[i] = over(powers[i], sum)
	}
	return powers
}
