// Package diagnose ranks single changes of a scenario by how well their simulated times fit a
// measured log: a slow or absent NIC, an oversubscribed network, another algorithm.
//
// It simulates nothing and reads nothing: times come from its caller.
package diagnose

import (
	"cmp"
	"math"
	"slices"

	"collsim/collective"
	"collsim/fidelity"
	"collsim/unit"
)

// Limits of a diagnosis.
const (
	leastNoise = 0.03 // of times measured twice
	farthest   = 0.15 // distance beyond which no cause fits
)

// Call is a measured call. Spread is between the quartiles of its time, 0 if not known.
type Call struct {
	Kind         collective.Kind
	Size         unit.Bytes
	Time, Spread unit.Time
	BusBW        float64 // GB/s, by Time; 0 if not known
}

// Candidate is a cause with its simulated times, one for each call. One is 0 where there is none.
type Candidate struct {
	Cause
	Times []unit.Time
}

// Fit holds causes whose times differ by less than the noise.
type Fit struct {
	Causes   []Cause     // in the order of the candidates
	Times    []unit.Time // of the nearest
	Distance float64     // from the log: 0.05 is 5 %
	Worst    int         // the call that fits worst
	Off      float64     // its simulated time over the measured one, less 1

	order []int // of the causes among the candidates
}

// Diagnosis holds what a log says about the causes.
type Diagnosis struct {
	Calls []Call
	Noise float64
	Fits  []Fit // the nearest first
	AsIs  Fit   // the scenario without a change
	// Found says that the nearest is near enough, Unchanged that the scenario as it is fits.
	Found, Unchanged bool
}

// Rank orders candidates by their distance from a log, and merges those that noise hides from each
// other. The first candidate is the scenario as it is.
func Rank(calls []Call, candidates []Candidate) *Diagnosis {
	d := &Diagnosis{Calls: calls, Noise: noise(calls)}
	log := make([]unit.Time, len(calls))
	for i, c := range calls {
		log[i] = c.Time
	}
	all := make([]Fit, len(candidates))
	for i, c := range candidates {
		all[i] = Fit{Causes: []Cause{c.Cause}, Times: c.Times, Distance: Distance(log, c.Times),
			order: []int{i}}
		all[i].worst(log)
	}
	d.AsIs = all[0]
	slices.SortStableFunc(all, func(a, b Fit) int { return cmp.Compare(a.Distance, b.Distance) })
	for _, f := range all {
		near := slices.IndexFunc(d.Fits, func(head Fit) bool {
			return Distance(head.Times, f.Times) < d.Noise
		})
		if near < 0 {
			d.Fits = append(d.Fits, f)
			continue
		}
		d.Fits[near].add(&f)
	}
	d.Found = d.Fits[0].Distance <= max(farthest, d.Noise)
	d.Unchanged = d.Found && d.AsIs.Distance <= d.Fits[0].Distance+d.Noise
	return d
}

// add takes in the cause of another fit.
func (f *Fit) add(other *Fit) {
	at, _ := slices.BinarySearch(f.order, other.order[0])
	f.order = slices.Insert(f.order, at, other.order[0])
	f.Causes = slices.Insert(f.Causes, at, other.Causes[0])
}

// Distance returns how far two tables of times are apart: the root mean square of the logarithms
// of their ratios, as a share. It is infinite if no call has a time in both.
func Distance(a, b []unit.Time) float64 {
	sum, n := 0.0, 0
	for i := range a {
		if i < len(b) && a[i] > 0 && b[i] > 0 {
			l := math.Log(float64(a[i]) / float64(b[i]))
			sum += float64(l * l)
			n++
		}
	}
	if n == 0 {
		return math.Inf(1)
	}
	return math.Expm1(math.Sqrt(sum / float64(n)))
}

// worst finds the call that fits worst.
func (f *Fit) worst(log []unit.Time) {
	far := 0.0
	for i, t := range f.Times {
		if t == 0 || log[i] == 0 {
			continue
		}
		ratio := float64(t) / float64(log[i])
		if apart := math.Max(ratio, 1/ratio); apart > far {
			far, f.Worst, f.Off = apart, i, ratio-1
		}
	}
}

// noise returns the median spread of the calls as a standard deviation, at least leastNoise.
func noise(calls []Call) float64 {
	const quartiles = 1.349 // of a normal distribution, in standard deviations
	var spreads []float64
	for _, c := range calls {
		if c.Spread > 0 && c.Time > 0 {
			spreads = append(spreads, float64(c.Spread)/float64(c.Time)/quartiles)
		}
	}
	if len(spreads) == 0 {
		return leastNoise
	}
	return math.Max(leastNoise, fidelity.NearestRank(spreads, 0.5))
}
