package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"collsim/unit"
)

// Series is a collective's times over its sizes, and how its algorithm makes them.
type Series struct {
	Name   string // that residuals begin with; "" for none
	Points []Point
	Curve  Curve
	// Message is how long the messages of a call of a size are. Nil says that a call has messages
	// of several sizes: all are then in one range.
	Message func(size unit.Bytes) unit.Bytes
}

// Ranges is a machine's latency and bandwidth by ranges of the size of messages.
type Ranges struct {
	// Launch is what every call costs besides; nil with one series, where it is a part of the
	// latency and cannot be told from that.
	Launch    *Estimate
	Ranges    []Range    // by size
	Residuals []Residual // of all points, by size of message
	Trained   Quality
	HeldOut   Quality
}

// Range is a range of sizes with one latency and one bandwidth.
type Range struct {
	// From and To are the least and the largest size of a call that the fit has seen in it,
	// MessageFrom and MessageTo those of their messages.
	From, To, MessageFrom, MessageTo unit.Bytes
	// UpTo is the longest message in it. Between what was seen of two ranges that is where both
	// take the same time: so do libraries choose their protocols. The last range has all that is
	// longer.
	UpTo unit.Bytes
	Fit  *Fit // of "latency" in picoseconds and "time per byte", in that order
	// Wire is what a preset has of both: the fit's figures, but that no byte is faster than on the
	// fastest wire that is known.
	Wire Wire
}

// The parameters of a range, and of all.
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

// FitRanges fits latency and bandwidth to the times of collectives whose algorithms have these
// curves, in as many ranges of the size of messages as pay: breakpoints minimise the sum of
// absolute relative errors (Bellman's dynamic programme over all of them), their number Schwarz's
// criterion (Annals of Statistics 6(2), 1978) for errors of Laplace's distribution, where a
// breakpoint counts as three parameters (Ninomiya, Statistics and Probability Letters 72(3),
// 2005). Points that are held out, all of every so many-th size, have no say in either. Of several
// series what a call costs besides its messages is found too, by all ranges at once.
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

// point is a Point of a series. Its key is the size of its messages.
type point struct {
	Point
	*Series
	key unit.Bytes
}

// rangeFit is the work on a set of points.
type rangeFit struct {
	points  []point // by key
	options Options
	seen    []unit.Bytes // keys that are fitted
	global  Wire         // of all of them at once
	most    int          // ranges
	free    bool         // the launch is a parameter of every fit
	launch  float64      // or known, in picoseconds
}

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
				return nil, fmt.Errorf("calibrate: %v in %v, spread %v: a size and a time above 0 are "+
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
		return nil, fmt.Errorf("calibrate: no points")
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

// within are the keys that are fitted in a range.
func (f *rangeFit) within(r *Range) []unit.Bytes {
	from, _ := slices.BinarySearch(f.seen, r.MessageFrom)
	to, _ := slices.BinarySearch(f.seen, r.MessageTo)
	return f.seen[from : to+1]
}

// samples are the points of some keys, taken apart near a wire.
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

// name is that of a point in residuals.
func (p *point) name() string {
	if p.Name == "" {
		return p.Size.String()
	}
	return p.Name + " " + p.Size.String()
}

// fit is the fit of some keys: the curve is taken apart near what it gives, again and again.
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
			return last, nil // a kinked curve leads back and forth
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

// wire is what a fit of a range has found.
func (f *Fit) wire() Wire { return Wire{f.Estimates[0].Value, f.Estimates[1].Value}.clamp() }

func (f *rangeFit) settle() error {
	all, err := f.fit(f.seen, f.global)
	if err == nil {
		f.global = all.wire()
	}
	return err
}

// finish says where ranges end, and predicts every point by its range.
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

// predict is the time of a point by the figures of a range.
func (f *rangeFit) predict(p *point, w Wire) (float64, error) {
	parts, err := p.Curve.parts(p.Size, w)
	if err != nil {
		return 0, err
	}
	return f.launch + dot(parts, []float64{w.Alpha, w.Beta}), nil
}

// bytesALatency is how many bytes, as multiples of a message, calls of a range have for each
// latency: 1 where messages follow one another, more where some share a port.
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

// boundary is the longest message of a range that another follows: as long as a call's takes no
// more time.
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
