package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"collsim/unit"
)

// A Series is a collective's times over its sizes, with the curve of its algorithm.
type Series struct {
	Name   string // prefix of its residuals; "" for none
	Points []Point
	Curve  Curve
	// Message returns the size of the messages of a call of a size. Nil: calls have messages of
	// several sizes, so all are in one range.
	Message func(size unit.Bytes) unit.Bytes
}

// Ranges holds a machine's latency and bandwidth by ranges of the message size.
type Ranges struct {
	// Launch is the cost of a call besides its messages. It is nil with one series, where it cannot
	// be separated from the latency.
	Launch    *Estimate
	Ranges    []Range    // by size
	Residuals []Residual // of all points, by size of message
	Trained   Quality
	HeldOut   Quality
}

// A Range is a range of message sizes with one latency and one bandwidth.
type Range struct {
	// From and To are the smallest and the largest fitted call in it. MessageFrom and MessageTo are
	// those of their messages.
	From, To, MessageFrom, MessageTo unit.Bytes
	// UpTo is the longest message in it. Between the fitted sizes of two ranges, it is where both
	// take the same time, since libraries choose their protocols so. The last range has no upper
	// bound.
	UpTo unit.Bytes
	Fit  *Fit // of "latency" in picoseconds and "time per byte", in that order
	// Wire holds the figures of the preset. They are the fit's, but no byte is faster than on the
	// fastest wire that is known.
	Wire Wire
}

// The parameters of a range.
const (
	latency = "latency"
	perByte = "time per byte"
)

// Constants of the search for ranges. Relative errors below 0.2 % count as equal, since tables
// print three digits.
const (
	leastSizes   = 4 // sizes in a range, at least
	maxRanges    = 6
	leastError   = 0.002
	rangeFigures = 5 // parameters of one more range: latency, bandwidth, and 3 for its start
)

// FitRanges fits latency and bandwidth to the times of collectives with the given curves, by ranges
// of the message size. The breakpoints minimise the sum of absolute relative errors (Bellman's
// dynamic programming over all sizes). Their number minimises Schwarz's criterion (Annals of
// Statistics 6(2), 1978) for errors with Laplace's distribution. A breakpoint counts as three
// parameters (Ninomiya, Statistics and Probability Letters 72(3), 2005).
//
// Held-out points, all of every so many-th size, influence neither. Given several series, it fits
// the cost of a call besides its messages over all ranges at once.
func FitRanges(series []Series, o Options) (*Ranges, error) {
	f, err := newRangeFit(series, o)
	if err != nil {
		return nil, err
	}
	if err := f.settle(); err != nil {
		return nil, err
	}
	starts, err := f.starts()
	if err != nil {
		return nil, err
	}
	r := &Ranges{}
	for i, start := range starts {
		end := len(f.seen)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		r.Ranges = append(r.Ranges, Range{MessageFrom: f.seen[start], MessageTo: f.seen[end-1]})
	}
	if len(series) > 1 {
		if err := f.findLaunch(r); err != nil {
			return nil, err
		}
	}
	for i := range r.Ranges {
		one := &r.Ranges[i]
		if one.Fit, err = f.fit(f.within(one), f.global); err != nil {
			return nil, err
		}
	}
	if err := f.wires(r); err != nil {
		return nil, err
	}
	return r, f.finish(r)
}

// A point is a Point of a series; key is the size of its messages.
type point struct {
	Point
	*Series
	key unit.Bytes
}

// A rangeFit is the state of a fit by ranges.
type rangeFit struct {
	points  []point // by key
	options Options
	seen    []unit.Bytes // keys of the fitted points
	global  Wire         // fit to all of them at once
	most    int          // ranges, at most
	free    bool         // the launch is a parameter of every fit
	launch  float64      // else its value, in picoseconds
}

// newRangeFit checks the points, sorts them and holds some out.
func newRangeFit(series []Series, o Options) (*rangeFit, error) {
	f := &rangeFit{options: o, most: maxRanges, free: len(series) > 1,
		global: Wire{Alpha: float64(unit.Microsecond), Beta: 1000}}
	for i := range series {
		if series[i].Message == nil {
			f.most = 1
		}
	}
	for i := range series {
		s := &series[i]
		for _, p := range s.Points {
			if p.Size <= 0 || p.Time <= 0 || p.Spread < 0 {
				return nil, fmt.Errorf("%v in %v, spread %v: a size and a time above 0 are "+
					"expected, and a spread of at least 0", p.Size, p.Time, p.Spread)
			}
			key := p.Size
			if f.most > 1 {
				key = s.Message(p.Size)
			}
			f.points = append(f.points, point{p, s, key})
		}
	}
	slices.SortStableFunc(f.points, func(a, b point) int { return cmp.Compare(a.key, b.key) })
	if len(f.points) == 0 {
		return nil, fmt.Errorf("no points")
	}
	var keys []unit.Bytes
	for _, p := range f.points {
		if len(keys) == 0 || p.key > keys[len(keys)-1] {
			keys = append(keys, p.key)
		}
	}
	every := o.every(len(keys))
	for i, key := range keys {
		if every == 0 || i%every != every/2 {
			f.seen = append(f.seen, key)
		}
	}
	return f, nil
}

// within returns the fitted keys in a range.
func (f *rangeFit) within(r *Range) []unit.Bytes {
	from, _ := slices.BinarySearch(f.seen, r.MessageFrom)
	to, _ := slices.BinarySearch(f.seen, r.MessageTo)
	return f.seen[from : to+1]
}

// samples returns the points of some keys as samples, with curves linearised near a wire.
func (f *rangeFit) samples(keys []unit.Bytes, at Wire) ([]Sample, error) {
	var all []Sample
	for i := range f.points {
		p := &f.points[i]
		if _, in := slices.BinarySearch(keys, p.key); !in {
			continue
		}
		parts, err := p.Curve.parts(p.Size, at)
		if err != nil {
			return nil, err
		}
		if f.free {
			parts = append(parts, 1)
		}
		all = append(all, Sample{Name: p.name(), Time: float64(p.Time), Fixed: f.launch,
			Spread: float64(p.Spread), Parts: parts})
	}
	return all, nil
}

// name returns the name of a point in residuals.
func (p *point) name() string {
	if p.Name == "" {
		return p.Size.String()
	}
	return p.Name + " " + p.Size.String()
}

// fit fits the points of some keys. It linearises the curves at the last result and repeats until
// that is stable.
func (f *rangeFit) fit(keys []unit.Bytes, at Wire) (*Fit, error) {
	names := []string{latency, perByte}
	if f.free {
		names = append(names, launch)
	}
	var last *Fit
	for range 12 {
		samples, err := f.samples(keys, at)
		if err != nil {
			return nil, err
		}
		next := solve(names, samples, make([]bool, len(samples)), f.options)
		if last != nil && next.Trained.Median > last.Trained.Median+1e-4 {
			return last, nil // a curve with a kink may oscillate
		}
		found := next.wire()
		near := math.Abs(found.Alpha-at.Alpha) <= float64(1e-6*at.Alpha) &&
			math.Abs(found.Beta-at.Beta) <= float64(1e-6*at.Beta)
		if last, at = next, found; near {
			break
		}
	}
	return last, nil
}

// wire returns the figures of a fitted range.
func (f *Fit) wire() Wire { return Wire{f.Estimates[0].Value, f.Estimates[1].Value}.clamp() }

// settle fits all ranges at once, as a start for the others.
func (f *rangeFit) settle() error {
	all, err := f.fit(f.seen, f.global)
	if err == nil {
		f.global = all.wire()
	}
	return err
}

// finish sets the ends of ranges, and predicts every point by its range.
func (f *rangeFit) finish(r *Ranges) error {
	for i := range r.Ranges {
		one := &r.Ranges[i]
		one.UpTo = math.MaxInt64
		if i+1 < len(r.Ranges) {
			bytes, err := f.bytesALatency(one)
			if err != nil {
				return err
			}
			one.UpTo = boundary(one, &r.Ranges[i+1], bytes)
		}
	}
	for i := range f.points {
		p := &f.points[i]
		in := 0
		for f.most > 1 && p.key > r.Ranges[in].UpTo {
			in++
		}
		one := &r.Ranges[in]
		predicted, err := f.predict(p, one.Wire)
		if err != nil {
			return err
		}
		_, seen := slices.BinarySearch(f.seen, p.key)
		if seen && (one.From == 0 || p.Size < one.From) {
			one.From = p.Size
		}
		if seen {
			one.To = max(one.To, p.Size)
		}
		measured := float64(p.Time)
		r.Residuals = append(r.Residuals, Residual{Name: p.name(), Measured: measured,
			Predicted: predicted, Error: (predicted - measured) / measured, HeldOut: !seen})
	}
	r.Trained, r.HeldOut = qualities(r.Residuals)
	return nil
}

// predict returns the time of a point by the figures of a range.
func (f *rangeFit) predict(p *point, w Wire) (float64, error) {
	parts, err := p.Curve.parts(p.Size, w)
	if err != nil {
		return 0, err
	}
	return f.launch + dot(parts, []float64{w.Alpha, w.Beta}), nil
}

// bytesALatency returns the ratio of bytes to latencies in the time of a call, divided by the
// message size. It takes the call with the longest message of the range. The result is 1 for
// successive messages, and more if messages share a port. It is also 1 if the time has no latency
// or no bytes.
func (f *rangeFit) bytesALatency(r *Range) (float64, error) {
	at, _ := slices.BinarySearchFunc(f.points, r.MessageTo, func(p point, key unit.Bytes) int {
		return cmp.Compare(p.key, key)
	})
	parts, err := f.points[at].Curve.parts(f.points[at].Size, r.Wire)
	if err != nil || parts[0] == 0 || parts[1] == 0 {
		return 1, err
	}
	return parts[1] / parts[0] / float64(r.MessageTo), nil
}

// boundary returns the longest message of a range before the next range: up to there, calls of the
// first take no longer.
func boundary(r, next *Range, bytes float64) unit.Bytes {
	least, most := float64(r.MessageTo), float64(next.MessageFrom-1)
	alike := most
	if slower := float64(bytes * (r.Wire.Beta - next.Wire.Beta)); slower > 0 {
		alike = (next.Wire.Alpha - r.Wire.Alpha) / slower
	} else if r.Wire.Alpha > next.Wire.Alpha {
		alike = least
	}
	return unit.Bytes(min(max(math.Floor(alike), least), most))
}
