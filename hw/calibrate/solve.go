package calibrate

import (
	"fmt"
	"math"
	"slices"
)

// Sample is a measured time and what the model says that it is made of.
type Sample struct {
	Name   string
	Time   float64   // picoseconds, above 0
	Spread float64   // of repetitions, in picoseconds: the distance between their quartiles
	Parts  []float64 // how many of each parameter the time is the sum of, none negative
	Fixed  float64   // a part of the time that is of no parameter, in picoseconds
}

// Options say how to fit. The zero value is meant for most data.
type Options struct {
	// HoldOut keeps one sample of so many from the fit, to try it on; none if negative. 0 is 5, but
	// none where that would be fewer than leastHeldOut: one or two errors tell nothing, and a fit
	// of few points is the better for them. Fewer samples than HoldOut are all used.
	HoldOut int
	// Noise is how far, as a share of it, a time may be from the model whatever its own spread: at
	// least as far as the median sample is if all weigh the same, and 0.01 if 0. Samples weigh as 1
	// over the root of Noise and their relative spread, squared and added: where the model is
	// wrong by more than the times spread, all weigh about the same.
	Noise float64
}

// leastHeldOut is of how many points an error is worth telling.
const leastHeldOut = 3

// Estimate is a parameter as the data have it. Value is what the fit's predictions use, even if it
// is not Known.
type Estimate struct {
	Name  string
	Value float64
	// Low and High are where it lies with 95 % confidence if errors are independent and the model
	// is right: Huber's asymptotic covariance (Huber and Ronchetti, Robust Statistics, 2009, §7.6).
	Low, High float64
	Known     bool   // the data determine it, to at least half of its value
	Why       string // it is not known
}

// Residual is a sample against the fit.
type Residual struct {
	Name                string
	Measured, Predicted float64 // picoseconds
	Error               float64 // predicted minus measured, as a share of measured
	HeldOut             bool    // the fit has not seen it
}

// Quality is how far predictions are off, as shares of what was measured, signs aside.
type Quality struct {
	Points      int
	Median, P90 float64
}

// Fit is the parameters of a linear model, found from samples.
type Fit struct {
	Estimates []Estimate
	Residuals []Residual // in the order of the samples
	Trained   Quality    // on what was fitted
	HeldOut   Quality    // on what was not: the honest error
	parts     [][]float64
}

// Solve fits the parameters of these names to samples: the least sum of Huber's function of the
// relative errors, from the least absolute deviations on, over parameters of at least 0. Errors say
// which sample nobody can use. Equal samples give equal bits.
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

// turn is the fraction of i+1 golden ratios: evenly spread, and in step with no order that samples
// may have, so that no kind of experiment is held out as a whole (Weyl's sequence).
func turn(i int) float64 {
	_, fraction := math.Modf(float64(i+1) * (math.Phi - 1))
	return fraction
}

// noise is at least how far the median sample is from a model that weighs them all the same.
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

// weight is of a sample, 1 at most.
func weight(s *Sample, noise float64) float64 { return 1 / math.Hypot(1, s.Spread/s.Time/noise) }

func check(names []string, samples []Sample) error {
	if len(samples) == 0 {
		return fmt.Errorf("calibrate: no samples")
	}
	for i := range samples {
		s := &samples[i]
		switch {
		case !(s.Time > 0) || math.IsInf(s.Time, 0):
			return fmt.Errorf("calibrate: sample %d (%s): time %v: a time above 0 is expected", i+1,
				s.Name, s.Time)
		case !(s.Spread >= 0) || math.IsInf(s.Spread, 0):
			return fmt.Errorf("calibrate: sample %d (%s): spread %v: at least 0 is expected", i+1,
				s.Name, s.Spread)
		case len(s.Parts) != len(names):
			return fmt.Errorf("calibrate: sample %d (%s) has %d parts: %d are expected", i+1, s.Name,
				len(s.Parts), len(names))
		}
		for j, part := range s.Parts {
			if !(part >= 0) || math.IsInf(part, 0) {
				return fmt.Errorf("calibrate: sample %d (%s): %v of %s: at least 0 is expected", i+1,
					s.Name, part, names[j])
			}
		}
	}
	return nil
}

// solve is Solve for given held-out samples.
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

// Depends is the quality on the fitted samples of whose predicted time the parameter is at least a
// tenth: what its value rests on.
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

// qualities are those of what was fitted and of what was not.
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

func quality(errors []float64) Quality {
	slices.Sort(errors)
	return Quality{Points: len(errors), Median: quantile(errors, 0.5), P90: quantile(errors, 0.9)}
}

// quantile of sorted values, between two of them in proportion; 0 of none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := float64(q * float64(len(sorted)-1))
	i := min(int(at), len(sorted)-1)
	next := sorted[min(i+1, len(sorted)-1)]
	return sorted[i] + float64((at-float64(i))*(next-sorted[i]))
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}
