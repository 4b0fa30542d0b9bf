package calibrate

import (
	"fmt"
	"math"
)

// alike is how much less of its variance a parameter may have to itself before nobody can tell it
// from the others: the inverse of 1 − R², the variance inflation factor, is above this.
const alike = 1e8

// estimates says how well each parameter is known.
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

func (r *regression) depends(j int) bool {
	for _, row := range r.x {
		if row[j] > 0 {
			return true
		}
	}
	return false
}

// deviation is the standard deviation that an error has as far as estimates are concerned: the root
// of Σψ²/(n−p) over the mean of ψ' squared, ψ being the derivative of Huber's function.
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

// student is the 97.5 % quantile of Student's distribution of so many degrees of freedom, exactly
// for 1 and 2, and beyond by the first terms of its expansion about the normal quantile (Abramowitz
// and Stegun 26.7.5), at most 0.2 % off.
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

// twin is the parameter that goes most with another: the largest partial correlation.
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
