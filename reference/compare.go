package reference

import (
	"fmt"
	"math"
	"math/bits"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// A comparison compares what a machine has computed with the definition, and sums up.
type comparison[T dtype.Number] struct {
	m       *machine[T]
	d       *definition[T]
	common  bool // all ranks' outputs are the same elements
	places  []outputPlace
	bound   float64 // of sums or products, see rounding
	format  layout
	report  Report
	mean    mean
	inexact bool                                  // some element differs, within its bound
	each    func(rank int, element int64, want T) // called for wrong elements unless nil

	// The elements wanted last. Ranks with the same ones follow each other, so they are defined
	// once. The finding of the first rank holds for all ranks with the same bits.
	key       origin
	want      [block]T
	right     []float64 // the same as float64
	tolerance [block]float64
	largest   [block]float64 // base of the ulp where operands are larger than the result
	tolerant  bool           // right, tolerance and largest are computed
	first     []T
	found     finding

	rightWide, gotWide []float64
}

// A finding is the comparison of some elements.
type finding struct {
	wrong   int64
	at      int // the first wrong one
	differ  bool
	ulp     float64
	units   uint64  // Σ ulp, in units of 1/ulpUnit
	share   float64 // the largest relative distance
	places  []int   // of the wrong ones, if reports is set
	reports bool
}

// mean is a sum of 128 bits, so that it does not depend on the order.
type mean struct {
	hi, lo   uint64
	elements int64
}

// ulpUnit and mostULP are the resolution of MeanULP, and the most that an element counts.
const (
	ulpUnit = 1 << 20
	mostULP = 1 << 32
)

// add adds a sum of so many elements.
func (m *mean) add(hi, lo uint64, elements int64) {
	sum, carry := bits.Add64(m.lo, lo, 0)
	m.hi, m.lo, m.elements = m.hi+hi+carry, sum, m.elements+elements
}

// value returns the mean in units in the last place.
func (m *mean) value() float64 {
	if m.elements == 0 {
		return 0
	}
	sum := math.Ldexp(float64(m.hi), 64) + float64(m.lo)
	return sum / ulpUnit / float64(m.elements)
}

// newComparison returns a comparison with a definition, for values that were rounded as r says.
func newComparison[T dtype.Number](d *definition[T], r rounding) *comparison[T] {
	c := &comparison[T]{d: d, common: d.spec.Kind.Shared(), report: Report{RanksAgree: true}}
	if c.bound = r.bound(d.spec); c.bound > 0 {
		if c.report.Depth = r.height; d.spec.Op == collective.Prod {
			c.report.Depth = r.n - 1
		}
		c.report.Bound = c.bound
	}
	if isFloat[T]() {
		c.format = layoutOf(dtype.Of[T]())
	}
	return c
}

// outputs compares all outputs of the machine's window.
func (c *comparison[T]) outputs() {
	s := c.m.s
	home, _ := s.Home(schedule.Output, 0)
	c.key = origin{}
	if c.places == nil {
		c.places = placesOf(s, c.common)
	}
	c.m.overlap(home, 0, c.m.survey.longest(home), func(at, off, n int64) {
		for ; n > 0; at, off, n = at+block, off+block, n-block {
			c.stretch(home, at, off, min(n, block))
		}
	})
}

// An outputPlace is the range of a rank's output in its memory, and how many ranks from it on have
// the same elements.
type outputPlace struct {
	rank, together int
	base, end      int64
}

// placesOf lists the outputs that are not empty: one for all where they are the same.
func placesOf(s *schedule.Schedule, common bool) (list []outputPlace) {
	together := 1
	if common {
		together = s.Spec.Ranks
	}
	for rank := 0; rank < s.Spec.Ranks; rank += together {
		_, base := s.Home(schedule.Output, rank)
		if n := s.Len(schedule.Output, rank); n > 0 {
			list = append(list, outputPlace{rank, together, base, base + n})
		}
	}
	return list
}

// stretch compares n elements of every rank's memory: those at index at in the machine's memory, at
// offset off in the real one.
func (c *comparison[T]) stretch(home schedule.Buffer, at, off, n int64) {
	for i := range c.places {
		p := &c.places[i]
		end := min(off+n, p.end)
		for x := max(off, p.base); x < end; {
			o := c.d.origin(p.rank, x-p.base)
			o.n = min(o.n, end-x)
			for r := p.rank; r < p.rank+p.together; r++ {
				from := at + x - off
				c.elements(r, x-p.base, c.m.of(home, r)[from:from+o.n], o)
			}
			x += o.n
		}
	}
}

// elements compares elements of a rank, from off of its output on, with their definition.
func (c *comparison[T]) elements(rank int, off int64, got []T, o origin) {
	if o != c.key {
		c.key, c.tolerant, c.first = o, false, nil
		c.d.produce(c.want[:o.n], o)
	}
	f := c.found
	switch {
	case c.first == nil:
		f = c.judge(got)
		c.first, c.found = got, f
	case !sameBits(got, c.first):
		c.report.RanksAgree = c.report.RanksAgree && !c.common
		f = c.judge(got)
	}
	c.inexact = c.inexact || f.differ
	c.report.Wrong += f.wrong
	c.report.MaxULP = max(c.report.MaxULP, f.ulp)
	c.report.MaxRelative = max(c.report.MaxRelative, f.share)
	c.mean.add(0, f.units, int64(len(got)))
	for _, i := range f.places {
		c.each(rank, off+int64(i), c.want[i])
	}
	if off += int64(f.at); f.wrong > 0 && c.report.First.after(rank, off) {
		c.report.First = &Mismatch{Rank: rank, Element: off, Got: fmt.Sprint(got[f.at]),
			Want: fmt.Sprint(c.want[f.at])}
	}
}

// judge returns the comparison of elements with those that are wanted.
func (c *comparison[T]) judge(got []T) finding {
	want := c.want[:len(got)]
	switch {
	case sameBits(got, want):
		return finding{}
	case isFloat[T]():
		return c.judgeFloats(got)
	}
	f := finding{differ: true, reports: c.each != nil}
	for i, x := range got {
		if y := want[i]; x != y {
			f.note(gap(x, y), 1, math.Abs(dtype.Value(y)))
			f.reject(i)
		}
	}
	return f
}

// judgeFloats compares floats (judge). Zeros of both signs are equal, and so are all NaN.
func (c *comparison[T]) judgeFloats(got []T) finding {
	f := finding{reports: c.each != nil}
	n := len(got)
	if !c.tolerant {
		c.right = room(&c.rightWide, n)
		dtype.Widen(c.right, c.want[:n])
		c.tolerate()
	}
	wide := room(&c.gotWide, n)
	dtype.Widen(wide, got)
	for i, x := range wide {
		y := c.right[i]
		if x == y || math.IsNaN(x) && math.IsNaN(y) {
			continue
		}
		distance := c.format.apart(x, y)
		f.note(distance, c.format.ulp(max(math.Abs(c.format.clip(y)), c.largest[i])), math.Abs(y))
		if !(distance <= c.tolerance[i]) { // so NaN is wrong
			f.reject(i)
		}
	}
	return f
}

// note records an element that differs.
func (f *finding) note(distance, ulp, size float64) {
	f.differ = true
	if math.IsNaN(distance) || math.IsInf(distance, 0) {
		return
	}
	ulps := distance / ulp
	f.ulp = max(f.ulp, ulps)
	f.units += uint64(min(ulps, mostULP) * ulpUnit)
	if size > 0 && !math.IsInf(size, 0) {
		f.share = max(f.share, distance/size)
	}
}

// reject counts an element as wrong.
func (f *finding) reject(i int) {
	if f.wrong == 0 {
		f.at = i
	}
	f.wrong++
	if f.reports {
		f.places = append(f.places, i)
	}
}

// gap returns the distance of two integers: never 0 unless they are equal, however large they are.
func gap[T dtype.Number](x, y T) float64 {
	return float64(uint64(int64(max(x, y))) - uint64(int64(min(x, y))))
}
