package calibrate

import (
	"fmt"
	"math"
	"slices"
)

// A Sample is a measured time, and its decomposition by the model.
type Sample struct {
	Name   string
	Time   float64   // picoseconds, above 0
	Spread float64   // interquartile range of the repetitions, in picoseconds
	Parts  []float64 // multiple of each parameter in the time, none negative
	Fixed  float64   // part of the time without a parameter, in picoseconds
}

// Options configure a fit. The zero value suits most data.
type Options struct {
	// HoldOut keeps every so many-th sample out of the fit, to test it; none if negative. 0 stands
	// for 5, or for none if fewer than leastHeldOut would be held out: one or two errors say
	// little, and a fit of few points needs all. Fewer samples than HoldOut are all used.
	HoldOut int
	// Noise is the relative error of the model itself, at least; 0 stands for 0.01. If the median
	// error of an unweighted fit is larger, that is taken. A sample's weight is 1/√(1 +
	// (s/noise)²), with s its relative spread. So all weigh about the same if the model's error
	// exceeds their spread.
	Noise float64
}

// leastHeldOut is the least number of points whose error is worth reporting.
const leastHeldOut = 3

// An Estimate is a fitted parameter. Predictions use Value even if it is not Known.
type Estimate struct {
	Name  string
	Value float64
	// Low and High bound the 95 % interval, if errors are independent and the model is right:
	// Huber's asymptotic covariance (Huber and Ronchetti, Robust Statistics, 2009, §7.6).
	Low, High float64
	Known     bool   // the data determine it, to half of its value or better
	Why       string // reason why it is not known
}

// A Residual compares a sample with the fit.
type Residual struct {
	Name                string
	Measured, Predicted float64 // picoseconds
	Error               float64 // predicted minus measured, as a share of measured
	HeldOut             bool    // not used in the fit
}

// A Quality summarizes absolute relative errors of predictions.
type Quality struct {
	Points      int
	Median, P90 float64
}

// A Fit holds the parameters of a linear model, found from samples.
type Fit struct {
	Estimates []Estimate
	Residuals []Residual // in the order of the samples
	Trained   Quality    // errors on the fitted samples
	HeldOut   Quality    // errors on the held-out samples: the honest error
	parts     [][]float64
}

// Solve fits the named parameters to samples. It minimises the sum of Huber's function of the
// relative errors over non-negative parameters, starting at the least absolute deviations. An error
// names an invalid sample. Equal samples give equal bits.
func Solve(names []string, samples []Sample, o Options) (*Fit, error) {
	if err := check(names, samples); err != nil {
		return nil, err
	}
	every := o.every(len(samples))
	held := make([]bool, len(samples))
	for i := range samples {
		held[i] = every > 0 && turn(i) < 1/float64(every)
	}
	return solve(names, samples, held, o), nil
}

// every returns how often a sample is held out, 0 for never.
func (o Options) every(samples int) int {
	every := o.HoldOut
	if every == 0 {
		if every = 5; samples < leastHeldOut*every {
			return 0
		}
	}
	if every < 0 || samples < max(every, 3) {
		return 0
	}
	return max(every, 2)
}

// turn returns the fractional part of (i+1)·(φ−1). The sequence is evenly distributed and not
// periodic, so no kind of experiment is held out as a whole (Weyl's sequence).
func turn(i int) float64 {
	_, fraction := math.Modf(float64(i+1) * (math.Phi - 1))
	return fraction
}

// noise returns the model's relative error: the median error of an unweighted fit, but at least
// Options.Noise.
func (o Options) noise(samples []Sample) float64 {
	var r regression
	for i := range samples {
		r.add(&samples[i], 1)
	}
	least := o.Noise
	if least <= 0 {
		least = 0.01
	}
	if len(samples) == 0 {
		return least
	}
	return max(least, median(r.errors(r.absolute())))
}

// weight returns the weight of a sample, at most 1.
func weight(s *Sample, noise float64) float64 { return 1 / math.Hypot(1, s.Spread/s.Time/noise) }

// check validates the samples.
func check(names []string, samples []Sample) error {
	if len(samples) == 0 {
		return fmt.Errorf("no samples")
	}
	for i := range samples {
		s := &samples[i]
		switch {
		case !(s.Time > 0) || math.IsInf(s.Time, 0):
			return fmt.Errorf("sample %d (%s): time %v: a time above 0 is expected", i+1,
				s.Name, s.Time)
		case !(s.Spread >= 0) || math.IsInf(s.Spread, 0):
			return fmt.Errorf("sample %d (%s): spread %v: at least 0 is expected", i+1,
				s.Name, s.Spread)
		case len(s.Parts) != len(names):
			return fmt.Errorf("sample %d (%s) has %d parts: %d are expected", i+1, s.Name,
				len(s.Parts), len(names))
		}
		for j, part := range s.Parts {
			if !(part >= 0) || math.IsInf(part, 0) {
				return fmt.Errorf("sample %d (%s): %v of %s: at least 0 is expected", i+1,
					s.Name, part, names[j])
			}
		}
	}
	return nil
}

// solve does the work of Solve for given held-out samples.
func solve(names []string, samples []Sample, held []bool, o Options) *Fit {
	var seen []Sample
	for i := range samples {
		if !held[i] {
			seen = append(seen, samples[i])
		}
	}
	var r regression
	noise := o.noise(seen)
	for i := range seen {
		r.add(&seen[i], weight(&seen[i], noise))
	}
	theta, scale := r.huber()
	f := &Fit{Estimates: r.estimates(names, theta, scale)}
	for i := range samples {
		s := &samples[i]
		predicted := s.Fixed + dot(s.Parts, theta)
		f.parts = append(f.parts, s.Parts)
		f.Residuals = append(f.Residuals, Residual{Name: s.Name, Measured: s.Time,
			Predicted: predicted, Error: (predicted - s.Time) / s.Time, HeldOut: held[i]})
	}
	f.Trained, f.HeldOut = qualities(f.Residuals)
	return f
}

// Depends returns the errors of the fitted samples that depend on a parameter: at least a tenth of
// their predicted time.
func (f *Fit) Depends(parameter int) Quality {
	var some []Residual
	for i, r := range f.Residuals {
		share := float64(f.parts[i][parameter] * f.Estimates[parameter].Value)
		if !r.HeldOut && share > 0 && share >= float64(0.1*r.Predicted) {
			some = append(some, r)
		}
	}
	trained, _ := qualities(some)
	return trained
}

// qualities returns the errors of the fitted and of the held-out samples.
func qualities(all []Residual) (trained, heldOut Quality) {
	var seen, unseen []float64
	for _, r := range all {
		if r.HeldOut {
			unseen = append(unseen, math.Abs(r.Error))
		} else {
			seen = append(seen, math.Abs(r.Error))
		}
	}
	return quality(seen), quality(unseen)
}

// quality summarizes absolute errors.
func quality(errors []float64) Quality {
	slices.Sort(errors)
	return Quality{Points: len(errors), Median: quantile(errors, 0.5), P90: quantile(errors, 0.9)}
}

// quantile interpolates a quantile of sorted values; 0 of none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := float64(q * float64(len(sorted)-1))
	i := min(int(at), len(sorted)-1)
	next := sorted[min(i+1, len(sorted)-1)]
	return sorted[i] + float64((at-float64(i))*(next-sorted[i]))
}

// dot returns the scalar product.
func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}
