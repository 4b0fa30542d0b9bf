package calibrate

import "math"

// Prior describes a figure before any time is seen: its logarithm is normal around that of Value,
// with a standard deviation of Spread. Where Added is set, the figure itself is normal around Value
// with a standard deviation of Spread, in its own unit, and not below 0.
type Prior struct {
	Name          string
	Value, Spread float64
	Added         bool
	IsRate        bool    // times go with 1 over the figure, else with the figure
	Most          float64 // above which it is not looked for; 0: there is no such limit
}

// at returns the figure that is so many deviations from what is known.
func (p *Prior) at(z float64) float64 {
	value := 0.0
	if p.Added {
		value = max(p.Value+float64(p.Spread*z), 0)
	} else {
		value = p.Value * math.Exp(p.Spread*z)
	}
	if p.Most > 0 {
		value = min(value, p.Most)
	}
	return value
}

// cost returns what times go with: the figure, or 1 over it.
func (p *Prior) cost(value float64) float64 {
	if p.IsRate {
		return 1 / value
	}
	return value
}

// slope returns by how much that changes with the deviations.
func (p *Prior) slope(z float64) float64 {
	const by = 1e-3
	return (p.cost(p.at(z+by)) - p.cost(p.at(z-by))) / (2 * by)
}

// Posterior is a figure as times and what was known before have it.
type Posterior struct {
	Prior
	Found     float64
	Low, High float64 // of 95 % confidence
	// Told is the part of the variance that times took away: 0 where they say nothing of it.
	Told float64
}

// Timed is a measured time, and the numbers of the figures that its prediction depends on.
type Timed struct {
	Name string
	Time float64 // picoseconds, above 0
	On   []int
}

// Predict returns the times of those numbers with figures, in picoseconds.
type Predict func(numbers []int, figures [][]float64) ([]float64, error)

// Of the search for figures.
const (
	priorNoise = 0.04 // how far a time is from any model, as a share of it
	mostRounds = 6    // of predictions, at most
	insideOne  = 60   // steps on planes between two of them, at most
	probe      = 0.2  // deviations by which a figure is moved to see what that does
	settled    = 5e-3 // of the sum, that a round promises at least
	farStep    = 1.0  // deviations that a figure moves in a step at most
)

// FitPriors finds the figures that are most likely after times: the least sum of Huber's function
// of the logarithms of predicted over measured times, and of the squares of the deviations from
// what was known before. It returns the sum, too. Equal input gives equal bits.
//
// A simulated time is the longest of many ways through a schedule, each a sum of figures: as a
// function of them it is convex, and all but that. So each prediction, with how it changes with the
// figures, is a plane below it, and the highest of all planes seen stands for the time while the
// sum is made least; there the time is predicted again (Kelley's cutting planes, J. SIAM 8, 1960).
func FitPriors(priors []Prior, times []Timed, predict Predict) (_ []Posterior, sum float64,
	err error) {
	s := search{priors: priors, times: times, predict: predict, planes: make([][]plane, len(times))}
	best := make([]float64, len(priors))
	t, err := s.look(best)
	if err != nil {
		return nil, 0, err
	}
	for range mostRounds {
		s.fitAt(best, t)
		before := s.sum(best, t)
		next := s.descend(best)
		if before-s.sum(next, s.model(next)) <= settled*before {
			break
		}
		ahead, err := s.look(next)
		if err != nil {
			return nil, 0, err
		}
		if s.sum(next, ahead) < before {
			best, t = next, ahead
		}
	}
	s.fitAt(best, t)
	g, _ := s.normal(best)
	return s.posteriors(best, inverse(g)), s.sum(best, t), nil
}

// search is a fit on its way.
type search struct {
	priors  []Prior
	times   []Timed
	predict Predict
	planes  [][]plane // of each time
	factors []float64 // by which the model of a time is wrong at the best place
}

// plane is a time and how it changes with what figures cost.
type plane struct {
	at    float64 // where all costs are 0
	parts []float64
}

// costs returns what figures cost at a place.
func (s *search) costs(z []float64) []float64 {
	costs := make([]float64, len(z))
	for j := range z {
		costs[j] = s.priors[j].cost(s.priors[j].at(z[j]))
	}
	return costs
}

// look predicts all times at a place, and how they change with every figure that they depend on:
// below where a figure has a limit, as it may bound nothing above, else above. It keeps the planes.
func (s *search) look(z []float64) ([]float64, error) {
	figures := func(j int) []float64 {
		values := make([]float64, len(z))
		for k := range z {
			values[k] = s.priors[k].at(z[k])
		}
		if j >= 0 {
			values[j] = s.priors[j].at(s.probed(z[j], j))
		}
		return values
	}
	var numbers, of []int
	var places [][]float64
	for i := range s.times {
		for _, j := range append([]int{-1}, s.times[i].On...) {
			numbers, of, places = append(numbers, i), append(of, j), append(places, figures(j))
		}
	}
	times, err := s.predict(numbers, places)
	if err != nil {
		return nil, err
	}
	t, costs := make([]float64, len(s.times)), s.costs(z)
	for k, i := range numbers {
		all := s.planes[i]
		if of[k] < 0 {
			t[i] = times[k]
			s.planes[i] = append(all, plane{times[k], make([]float64, len(z))})
			continue
		}
		p, j := &all[len(all)-1], of[k]
		apart := s.priors[j].cost(places[k][j]) - costs[j]
		if apart != 0 {
			p.parts[j] = (times[k] - t[i]) / apart
		}
		p.at -= float64(p.parts[j] * costs[j])
	}
	return t, nil
}

// probed returns the deviations at which it is seen how times change with a figure.
func (s *search) probed(z float64, j int) float64 {
	if s.priors[j].Most > 0 {
		return z - probe
	}
	return z + probe
}

// highest returns the time of the highest plane, and that.
func (s *search) highest(i int, costs []float64) (most float64, p *plane) {
	for k := range s.planes[i] {
		one := &s.planes[i][k]
		if t := one.at + dot(one.parts, costs); p == nil || t > most {
			most, p = t, one
		}
	}
	return most, p
}

// fitAt makes the model exact at a place.
func (s *search) fitAt(z, t []float64) {
	costs := s.costs(z)
	s.factors = make([]float64, len(t))
	for i := range t {
		most, _ := s.highest(i, costs)
		s.factors[i] = t[i] / most
	}
}

// model returns all times as planes have them.
func (s *search) model(z []float64) []float64 {
	t, costs := make([]float64, len(s.times)), s.costs(z)
	for i := range t {
		most, _ := s.highest(i, costs)
		t[i] = max(float64(most*s.factors[i]), 1)
	}
	return t
}

// residual returns the logarithm of a predicted over the measured time, in units of noise.
func (s *search) residual(i int, t float64) float64 {
	return math.Log(t/s.times[i].Time) / priorNoise
}

// sum returns the value that the fit makes least.
func (s *search) sum(z, t []float64) (sum float64) {
	for i := range t {
		if r := math.Abs(s.residual(i, t[i])); r <= tuning {
			sum += float64(r * r / 2)
		} else {
			sum += float64(tuning * (r - tuning/2))
		}
	}
	for _, x := range z {
		sum += float64(x * x / 2)
	}
	return sum
}

// descend returns where the sum of the model is least, from a place on (Gauss and Newton's method).
func (s *search) descend(from []float64) []float64 {
	z, least := from, s.sum(from, s.model(from))
	for range insideOne {
		step := s.step(z)
		moved := false
		for range 12 {
			next := make([]float64, len(z))
			for j := range next {
				next[j] = z[j] + step[j]
			}
			if sum := s.sum(next, s.model(next)); sum < least {
				moved = least-sum > 1e-6*least
				z, least = next, sum
				break
			}
			multiply(step, 0.5)
		}
		if !moved {
			break
		}
	}
	return z
}

// normal returns the normal equations of the model: what was known before adds 1 to the diagonal.
func (s *search) normal(z []float64) (g [][]float64, down []float64) {
	g, down = square(len(z)), make([]float64, len(z))
	for j := range z {
		g[j][j], down[j] = 1, -z[j]
	}
	costs, slopes := s.costs(z), make([]float64, len(z))
	for i := range s.times {
		most, p := s.highest(i, costs)
		t := max(float64(most*s.factors[i]), 1)
		r := s.residual(i, t)
		w := min(1, tuning/max(math.Abs(r), leastScale))
		for j := range z {
			slopes[j] = float64(p.parts[j]*s.priors[j].slope(z[j])) * s.factors[i] / t / priorNoise
		}
		for j := range z {
			down[j] -= float64(float64(w*slopes[j]) * r)
			for k := range z {
				g[j][k] += float64(float64(w*slopes[j]) * slopes[k])
			}
		}
	}
	return g, down
}

// step solves them, and goes no further than straight lines can be trusted.
func (s *search) step(z []float64) []float64 {
	g, down := s.normal(z)
	right := make([][]float64, len(g))
	for j := range g {
		right[j] = []float64{down[j]}
	}
	eliminate(g, right)
	step, most := make([]float64, len(g)), 0.0
	for j := range right {
		step[j] = right[j][0]
		most = max(most, math.Abs(step[j]))
	}
	if most > farStep {
		multiply(step, farStep/most)
	}
	return step
}

// posteriors returns the figures of a place with the covariance of their deviations.
func (s *search) posteriors(z []float64, covariance [][]float64) []Posterior {
	all := make([]Posterior, len(z))
	for j := range z {
		wide := math.Sqrt(max(covariance[j][j], 0))
		p := &s.priors[j]
		all[j] = Posterior{Prior: *p, Found: p.at(z[j]), Low: p.at(z[j] - 1.96*wide),
			High: p.at(z[j] + 1.96*wide), Told: max(0, 1-float64(wide*wide))}
	}
	return all
}
