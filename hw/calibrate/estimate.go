package calibrate

import (
	"fmt"
	"math"
)

// alike is the variance inflation factor 1/(1 − R²) above which a parameter cannot be distinguished
// from the others.
const alike = 1e8

// estimates returns the estimate of each parameter with its confidence interval, and whether the
// data determine it.
func (r *regression) estimates(names []string, theta []float64, scale float64) []Estimate {
	all := make([]Estimate, len(names))
	if len(r.x) == 0 {
		theta = make([]float64, len(names))
	}
	for j, name := range names {
		all[j] = Estimate{Name: name, Value: theta[j], Low: 0, High: math.Inf(1)}
	}
	freedom := len(r.y) - len(names)
	if len(r.x) == 0 || freedom <= 0 {
		for j := range all {
			all[j].Why = fmt.Sprintf("%d points cannot determine %d parameters", len(r.y), len(names))
		}
		return all
	}
	u := make([]float64, len(r.y))
	for i := range u {
		u[i] = 1
	}
	norms := r.norms(u)
	g, _ := r.normal(u, norms)
	inflation := inverse(g)
	deviation := r.deviation(theta, scale, freedom) * student(freedom)
	for j := range all {
		e := &all[j]
		if !r.depends(j) {
			e.Why = "no point depends on it"
			continue
		}
		if inflation[j][j] > alike {
			e.Why = "it cannot be told from " + names[twin(inflation, j)]
			continue
		}
		half := float64(deviation*math.Sqrt(inflation[j][j])) / norms[j]
		e.Low, e.High = max(0, theta[j]-half), theta[j]+half
		e.Known = theta[j] > 0 && half <= theta[j]/2
		if !e.Known {
			e.Why = "the data only bound it"
		}
	}
	return all
}

// depends reports whether any sample depends on a parameter.
func (r *regression) depends(j int) bool {
	for _, row := range r.x {
		if row[j] > 0 {
			return true
		}
	}
	return false
}

// deviation returns the standard deviation of an error for the covariance of estimates: the root of
// Σψ²/(n−p) over the mean of ψ′, with ψ the derivative of Huber's function.
func (r *regression) deviation(theta []float64, scale float64, freedom int) float64 {
	squares, inside := 0.0, 0
	for _, e := range r.errors(theta) {
		if e <= tuning*scale {
			inside++
		}
		psi := min(e, tuning*scale)
		squares += float64(psi * psi)
	}
	return math.Sqrt(squares/float64(freedom)) * float64(len(r.y)) / float64(max(inside, 1))
}

// student returns the 97.5 % quantile of Student's distribution. It is exact for 1 and 2 degrees of
// freedom. Beyond, it is at most 0.2 % off: the first terms of the expansion about the normal
// quantile (Abramowitz and Stegun 26.7.5).
func student(freedom int) float64 {
	switch freedom {
	case 1:
		return 12.706
	case 2:
		return 4.303
	}
	n := float64(freedom)
	return 1.95996 + 2.37227/n + 2.82202/(n*n) + 2.55587/(n*n*n) + 1.589/(n*n*n*n)
}

// twin returns the parameter with the largest partial correlation with another.
func twin(inverse [][]float64, j int) int {
	best, most := j, -1.0
	for k := range inverse {
		with := math.Abs(inverse[j][k]) / math.Sqrt(float64(inverse[j][j]*inverse[k][k]))
		if k != j && with > most {
			best, most = k, with
		}
	}
	return best
}
