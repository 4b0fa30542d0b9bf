package calibrate

import (
	"math"
	"slices"
)

// A regression is a linear model with relative errors: x·θ should equal y in every row. A row is
// divided by the sample's time and multiplied by its weight. So y is the weight, if no part of the
// time is fixed.
type regression struct {
	x [][]float64
	y []float64
}

// add adds a sample with a weight.
func (r *regression) add(s *Sample, weight float64) {
	row := make([]float64, len(s.Parts))
	for j, part := range s.Parts {
		row[j] = part / s.Time * weight
	}
	r.x, r.y = append(r.x, row), append(r.y, float64((1-s.Fixed/s.Time)*weight))
}

// leastScale is the least scale of errors that differs from 0: rounding is below it.
const leastScale = 1e-7

// tuning marks where Huber's function changes from squares to absolute values, in scales. It is 95
// % efficient for normal errors (Huber and Ronchetti 2009, §1.4).
const tuning = 1.345

// absolute minimises the sum of absolute errors by iteratively reweighted least squares
// (Schlossmacher, JASA 68(344), 1973). A decreasing floor bounds the weights.
func (r *regression) absolute() []float64 {
	u := make([]float64, len(r.y))
	for i := range u {
		u[i] = 1
	}
	theta := r.squares(u)
	for floor := 0.1; floor > leastScale; floor *= 0.5 {
		for i := range u {
			u[i] = 1 / max(math.Abs(r.error(i, theta)), floor)
		}
		theta = r.squares(u)
	}
	return theta
}

// huber minimises the sum of Huber's function. It returns the scale of errors, too, from the median
// error of the least absolute fit.
func (r *regression) huber() (theta []float64, scale float64) {
	theta = r.absolute()
	scale = max(1.4826*median(r.errors(theta)), leastScale)
	u := make([]float64, len(r.y))
	for range 200 {
		for i := range u {
			u[i] = min(1, tuning*scale/max(math.Abs(r.error(i, theta)), leastScale))
		}
		next := r.squares(u)
		done := true
		for j := range next {
			done = done && math.Abs(next[j]-theta[j]) <= 1e-12*math.Abs(next[j])
		}
		theta = next
		if done {
			break
		}
	}
	return theta, scale
}

// error returns the error of a row.
func (r *regression) error(i int, theta []float64) float64 { return dot(r.x[i], theta) - r.y[i] }

// errors returns the absolute errors of all rows.
func (r *regression) errors(theta []float64) []float64 {
	all := make([]float64, len(r.y))
	for i := range all {
		all[i] = math.Abs(r.error(i, theta))
	}
	return all
}

// median sorts values and returns their median.
func median(values []float64) float64 {
	slices.Sort(values)
	return quantile(values, 0.5)
}

// norms returns the weighted lengths of the columns; 1 for a column of zeros.
func (r *regression) norms(u []float64) []float64 {
	norms := make([]float64, len(r.x[0]))
	for i, row := range r.x {
		for j, v := range row {
			norms[j] += float64(float64(u[i]*v) * v)
		}
	}
	for j, n := range norms {
		norms[j] = math.Sqrt(n)
		if n == 0 {
			norms[j] = 1
		}
	}
	return norms
}

// normal returns the matrix and the right side of the normal equations, for columns scaled to
// length 1.
func (r *regression) normal(u, norms []float64) (g [][]float64, c []float64) {
	p := len(norms)
	g, c = square(p), make([]float64, p)
	for i, row := range r.x {
		for j := range p {
			v := float64(u[i]*row[j]) / norms[j]
			c[j] += float64(v * r.y[i])
			for k := range p {
				g[j][k] += float64(v * (row[k] / norms[k]))
			}
		}
	}
	for j := range p {
		g[j][j] += ridge
	}
	return g, c
}

// squares minimises the weighted sum of squared errors over non-negative parameters.
func (r *regression) squares(u []float64) []float64 {
	if len(r.x) == 0 {
		return nil
	}
	norms := r.norms(u)
	theta := nonNegative(r.normal(u, norms))
	for j := range theta {
		theta[j] /= norms[j]
	}
	return theta
}
