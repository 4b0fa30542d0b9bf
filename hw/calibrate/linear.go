package calibrate

import "math"

// ridge is added to the diagonal of normal equations whose columns have length 1. Equal columns
// then share what they explain, and no pivot is 0.
const ridge = 1e-12

// nonNegative minimises x·g·x/2 − c·x over x ≥ 0, for a positive definite g. It is the active set
// method of Lawson and Hanson (Solving Least Squares Problems, 1974, ch. 23) on the normal
// equations.
func nonNegative(g [][]float64, c []float64) []float64 {
	p := len(c)
	x := make([]float64, p)
	free := make([]bool, p)
	for range 10 * p {
		best, steepest := -1, 1e-13
		for j := range p {
			if slope := c[j] - dot(g[j], x); !free[j] && slope > steepest {
				best, steepest = j, slope
			}
		}
		if best < 0 {
			break
		}
		free[best] = true
		for !advance(g, c, x, free) {
		}
	}
	return x
}

// advance moves x to the minimum over the free variables and reports true. If a free variable would
// become negative, it stops where the first reaches 0, fixes that one, and reports false.
func advance(g [][]float64, c, x []float64, free []bool) bool {
	goal := minimum(g, c, free)
	step, first := 1.0, -1
	for j := range x {
		if !free[j] || goal[j] > 0 {
			continue
		}
		part := 0.0
		if x[j] > 0 {
			part = x[j] / (x[j] - goal[j])
		}
		if first < 0 || part < step {
			step, first = part, j
		}
	}
	if first < 0 {
		copy(x, goal)
		return true
	}
	for j := range x {
		if free[j] {
			x[j] += float64(step * (goal[j] - x[j]))
		}
	}
	x[first], free[first] = 0, false
	return false
}

// minimum returns the minimiser of x·g·x/2 − c·x over the free variables; the others are 0.
func minimum(g [][]float64, c []float64, free []bool) []float64 {
	var chosen []int
	for j := range free {
		if free[j] {
			chosen = append(chosen, j)
		}
	}
	small, right := square(len(chosen)), make([][]float64, len(chosen))
	for a, j := range chosen {
		for b, k := range chosen {
			small[a][b] = g[j][k]
		}
		right[a] = []float64{c[j]}
	}
	eliminate(small, right)
	x := make([]float64, len(c))
	for a, j := range chosen {
		x[j] = right[a][0]
	}
	return x
}

// inverse returns the inverse of a positive definite matrix, which it destroys.
func inverse(g [][]float64) [][]float64 {
	one := square(len(g))
	for j := range one {
		one[j][j] = 1
	}
	eliminate(g, one)
	return one
}

// eliminate replaces right by g⁻¹·right, by Gauss-Jordan elimination with diagonal pivots, the
// largest first. No pivot of a positive definite g is 0.
func eliminate(g, right [][]float64) {
	done := make([]bool, len(g))
	for range g {
		pivot := -1
		for j := range g {
			if !done[j] && (pivot < 0 || g[j][j] > g[pivot][pivot]) {
				pivot = j
			}
		}
		done[pivot] = true
		by := math.Max(g[pivot][pivot], ridge/16)
		multiply(g[pivot], 1/by)
		multiply(right[pivot], 1/by)
		for j := range g {
			if factor := g[j][pivot]; j != pivot && factor != 0 {
				subtract(g[j], factor, g[pivot])
				subtract(right[j], factor, right[pivot])
			}
		}
	}
}

// multiply scales a row.
func multiply(row []float64, by float64) {
	for i := range row {
		row[i] *= by
	}
}

// subtract subtracts a multiple of another row.
func subtract(row []float64, times float64, other []float64) {
	for i := range row {
		row[i] -= float64(times * other[i])
	}
}

// square returns a square matrix of zeros.
func square(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}
