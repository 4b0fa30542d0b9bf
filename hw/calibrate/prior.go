package calibrate

import "math"

// A Prior is the distribution of a figure before any time is measured. The logarithm of the figure
// is normal around that of Value, with standard deviation Spread. If Added is set, the figure
// itself is normal around Value, with standard deviation Spread in its own unit, and at least 0.
type Prior struct {
	Name          string
	Value, Spread float64
	Added         bool
	IsRate        bool    // times are proportional to 1/figure, else to the figure
	Most          float64 // upper limit of the figure; 0: none
}

// at returns the figure that is z standard deviations from the prior's centre.
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

// cost returns the quantity that times are proportional to: the figure, or its inverse.
func (p *Prior) cost(value float64) float64 {
	if p.IsRate {
		return 1 / value
	}
	return value
}

// slope returns the derivative of the cost by the deviations z.
func (p *Prior) slope(z float64) float64 {
	const by = 1e-3
	return (p.cost(p.at(z+by)) - p.cost(p.at(z-by))) / (2 * by)
}

// A Posterior is the distribution of a figure after times were measured.
type Posterior struct {
	Prior
	Found     float64
	Low, High float64 // 95 % interval
	// Explained is the share of the prior's variance that times have removed; 0 if they do not
	// depend on the figure.
	Explained float64
}

// A Timed is a measured time, and the indices of the figures that its prediction depends on.
type Timed struct {
	Name string
	Time float64 // picoseconds, above 0
	On   []int
}

// Predict returns predicted times, in picoseconds. Each is that of a number among the times, with
// figures.
type Predict func(numbers []int, figures [][]float64) ([]float64, error)

// Constants of the search for figures.
const (
	priorNoise = 0.04 // error of the model, as a share of a time
	mostRounds = 6    // of predictions, at most
	insideOne  = 60   // steps on the planes between two rounds, at most
	probe      = 0.2  // step of finite differences, in deviations
	settled    = 5e-3 // least relative decrease that a round must promise
	farStep    = 1.0  // largest step of a figure, in deviations
)

// FitPriors returns the most likely figures, given times and priors, and the minimum of the
// objective. The objective sums Huber's function of the logarithms of predicted over measured
// times, and the squares of the deviations from the priors. Equal input gives equal bits.
//
// A simulated time is the longest of many paths through a schedule, each a sum of figures. So it is
// a nearly convex function of them. Each prediction with its derivatives gives a plane below it.
// The highest plane replaces the time while the objective is minimised; there the time is predicted
// again (Kelley's cutting planes, J. SIAM 8, 1960).
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

// A search is the state of a fit.
type search struct {
	priors  []Prior
	times   []Timed
	predict Predict
	planes  [][]plane // of each time
	factors []float64 // predicted time over model, at the best point
}

// A plane approximates a predicted time by a linear function of the figures' costs (Prior.cost),
// around one point.
type plane struct {
	at    float64   // time at zero costs
	parts []float64 // by figure: derivative of the time by its cost
}

// costs returns the costs of the figures at a point.
func (s *search) costs(z []float64) []float64 {
	costs := make([]float64, len(z))
	for j := range z {
		costs[j] = s.priors[j].cost(s.priors[j].at(z[j]))
	}
	return costs
}

// look predicts all times at a point, and their derivatives by the figures that they depend on. It
// adds the planes to the search. A figure with an upper limit is probed below the point, since it
// may have no effect above the limit; others are probed above.
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

// probed returns the coordinate at which a figure is probed for its derivative.
func (s *search) probed(z float64, j int) float64 {
	if s.priors[j].Most > 0 {
		return z - probe
	}
	return z + probe
}

// highest returns the highest plane of a time, and its value.
func (s *search) highest(i int, costs []float64) (most float64, p *plane) {
	for k := range s.planes[i] {
		one := &s.planes[i][k]
		if t := one.at + dot(one.parts, costs); p == nil || t > most {
			most, p = t, one
		}
	}
	return most, p
}

// fitAt scales the model so that it is exact at a point.
func (s *search) fitAt(z, t []float64) {
	costs := s.costs(z)
	s.factors = make([]float64, len(t))
	for i := range t {
		most, _ := s.highest(i, costs)
		s.factors[i] = t[i] / most
	}
}

// model returns all times as the planes predict them.
func (s *search) model(z []float64) []float64 {
	t, costs := make([]float64, len(s.times)), s.costs(z)
	for i := range t {
		most, _ := s.highest(i, costs)
		t[i] = max(float64(most*s.factors[i]), 1)
	}
	return t
}

// residual returns the logarithm of the predicted over the measured time, in units of noise.
func (s *search) residual(i int, t float64) float64 {
	return math.Log(t/s.times[i].Time) / priorNoise
}

// sum returns the objective.
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

// descend minimises the objective of the model from a point, by the Gauss-Newton method.
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

// normal returns the normal equations of the model. Each prior adds 1 to the diagonal.
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

// step solves the normal equations. It shortens a step beyond which the linear model is not
// trusted.
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

// posteriors returns the figures at a point, given the covariance of their deviations.
func (s *search) posteriors(z []float64, covariance [][]float64) []Posterior {
	all := make([]Posterior, len(z))
	for j := range z {
		wide := math.Sqrt(max(covariance[j][j], 0))
		p := &s.priors[j]
		all[j] = Posterior{Prior: *p, Found: p.at(z[j]), Low: p.at(z[j] - 1.96*wide),
			High: p.at(z[j] + 1.96*wide), Explained: max(0, 1-float64(wide*wide))}
	}
	return all
}
