package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"collsim/unit"
)

// Ranges is a collective's latency and bandwidth by ranges of its size.
type Ranges struct {
	Ranges    []Range    // by size
	Residuals []Residual // of all points, by size
	Trained   Quality
	HeldOut   Quality
}

// Range is a range of sizes with one latency and one bandwidth.
type Range struct {
	// From and To are the least and the largest size that the fit has seen in it. A size between two
	// ranges belongs to that which takes less time: so do libraries choose their protocols.
	From, To unit.Bytes
	Fit      *Fit // of "latency" in picoseconds and "time per byte", in that order
}

// The parameters of a range.
const (
	latency = "latency"
	perByte = "time per byte"
)

// What ranges are made of. Errors are told apart from 0.2 % on: what is printed has three digits.
const (
	leastSizes   = 4 // of a range
	maxRanges    = 6
	leastError   = 0.002
	rangeFigures = 5 // that a further range adds: latency, bandwidth, and 3 for where it begins
)

// FitRanges fits latency and bandwidth to the times of a collective whose algorithm has this curve,
// in as many ranges of sizes as pay: breakpoints minimise the sum of absolute relative errors
// (Bellman's dynamic programme over all of them), their number Schwarz's criterion (Annals of
// Statistics 6(2), 1978) for errors of Laplace's distribution, where a breakpoint counts as three
// parameters (Ninomiya, Statistics and Probability Letters 72(3), 2005). Points that are held out,
// all of every so many-th size, have no say in either.
func FitRanges(points []Point, curve Curve, o Options) (*Ranges, error) {
	f, err := newRangeFit(points, curve, o)
	if err != nil {
		return nil, err
	}
	if err := f.settle(); err != nil {
		return nil, err
	}
	r := &Ranges{}
	starts, err := f.starts()
	if err != nil {
		return nil, err
	}
	for i, start := range starts {
		end := len(f.seen)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		one, err := f.fit(f.seen[start:end], f.global)
		if err != nil {
			return nil, err
		}
		r.Ranges = append(r.Ranges, Range{From: f.seen[start], To: f.seen[end-1], Fit: one})
	}
	return r, f.finish(r)
}

// rangeFit is the work on a set of points.
type rangeFit struct {
	points  []Point // by size
	curve   Curve
	options Options
	seen    []unit.Bytes // sizes that are fitted
	global  wire         // of all of them at once
}

func newRangeFit(points []Point, curve Curve, o Options) (*rangeFit, error) {
	f := &rangeFit{points: slices.Clone(points), curve: curve, options: o,
		global: wire{alpha: float64(unit.Microsecond), beta: 1000}}
	slices.SortStableFunc(f.points, func(a, b Point) int { return cmp.Compare(a.Size, b.Size) })
	var sizes []unit.Bytes
	for _, p := range f.points {
		if p.Size <= 0 || p.Time <= 0 || p.Spread < 0 {
			return nil, fmt.Errorf("calibrate: %v in %v, spread %v: a size and a time above 0 are "+
				"expected, and a spread of at least 0", p.Size, p.Time, p.Spread)
		}
		if len(sizes) == 0 || p.Size > sizes[len(sizes)-1] {
			sizes = append(sizes, p.Size)
		}
	}
	if len(sizes) == 0 {
		return nil, fmt.Errorf("calibrate: no points")
	}
	every := o.every(len(sizes))
	for i, size := range sizes {
		if every == 0 || i%every != every/2 {
			f.seen = append(f.seen, size)
		}
	}
	return f, nil
}

// samples are the points of some sizes, taken apart near a wire.
func (f *rangeFit) samples(sizes []unit.Bytes, at wire) ([]Sample, error) {
	var all []Sample
	for _, p := range f.points {
		if _, in := slices.BinarySearch(sizes, p.Size); !in {
			continue
		}
		parts, err := f.curve.parts(p.Size, at)
		if err != nil {
			return nil, err
		}
		all = append(all, Sample{Name: p.Size.String(), Time: float64(p.Time),
			Spread: float64(p.Spread), Parts: parts})
	}
	return all, nil
}

// fit is the fit of some sizes: the curve is taken apart near what it gives, again and again.
func (f *rangeFit) fit(sizes []unit.Bytes, at wire) (*Fit, error) {
	var last *Fit
	for range 12 {
		samples, err := f.samples(sizes, at)
		if err != nil {
			return nil, err
		}
		next := solve([]string{latency, perByte}, samples, make([]bool, len(samples)), f.options)
		if last != nil && next.Trained.Median > last.Trained.Median+1e-4 {
			return last, nil // a kinked curve leads back and forth
		}
		found := wire{next.Estimates[0].Value, next.Estimates[1].Value}.clamp()
		near := math.Abs(found.alpha-at.alpha) <= float64(1e-6*at.alpha) &&
			math.Abs(found.beta-at.beta) <= float64(1e-6*at.beta)
		if last, at = next, found; near {
			break
		}
	}
	return last, nil
}

func (f *rangeFit) settle() error {
	all, err := f.fit(f.seen, f.global)
	if err == nil {
		f.global = wire{all.Estimates[0].Value, all.Estimates[1].Value}.clamp()
	}
	return err
}

// finish predicts every point by its range.
func (f *rangeFit) finish(r *Ranges) error {
	for _, p := range f.points {
		in := 0
		for in+1 < len(r.Ranges) && p.Size >= r.Ranges[in+1].From {
			in++
		}
		predicted, err := f.predict(&r.Ranges[in], p.Size)
		if err == nil && in+1 < len(r.Ranges) && p.Size > r.Ranges[in].To {
			var next float64
			next, err = f.predict(&r.Ranges[in+1], p.Size)
			predicted = min(predicted, next)
		}
		if err != nil {
			return err
		}
		_, seen := slices.BinarySearch(f.seen, p.Size)
		measured := float64(p.Time)
		r.Residuals = append(r.Residuals, Residual{Name: p.Size.String(), Measured: measured,
			Predicted: predicted, Error: (predicted - measured) / measured, HeldOut: !seen})
	}
	r.Trained, r.HeldOut = qualities(r.Residuals)
	return nil
}

// predict is the time of a size by the figures of a range.
func (f *rangeFit) predict(r *Range, size unit.Bytes) (float64, error) {
	e := r.Fit.Estimates
	w := wire{e[0].Value, e[1].Value}
	parts, err := f.curve.parts(size, w)
	if err != nil {
		return 0, err
	}
	return dot(parts, []float64{w.alpha, w.beta}), nil
}
