package reference

import (
	"fmt"
	"math"

	"collsim/collective"
	"collsim/schedule"
)

// comparison holds what a machine has computed against the definition, and sums up.
type comparison[T Number] struct {
	m       *machine[T]
	d       *definition[T]
	common  bool // all ranks' outputs are the same elements
	report  Report
	inexact bool // some element differs, within its bound

	// The elements that were wanted last. Ranks follow each other with the same ones, so they are
	// defined once, and what the first rank's were like is known of all that have the same bits.
	key       origin
	want      [block]T
	tolerance [block]float64
	tolerant  bool // tolerance is computed
	first     []T
	found     finding
}

// finding is what some elements are like.
type finding struct {
	wrong  int64
	at     int // the first wrong one
	differ bool
	ulp    float64
}

func newComparison[T Number](m *machine[T], d *definition[T]) *comparison[T] {
	return &comparison[T]{m: m, d: d, common: common(d.spec.Kind), report: Report{RanksAgree: true}}
}

// outputs compares all outputs of the machine's window.
func (c *comparison[T]) outputs() {
	s := c.m.s
	home, _ := s.Home(schedule.Output, 0)
	c.key = origin{}
	c.m.overlap(home, 0, c.m.survey.longest(home), func(at, off, n int64) {
		for ; n > 0; at, off, n = at+block, off+block, n-block {
			c.stretch(home, at, off, min(n, block))
		}
	})
}

// stretch compares the n elements of every rank's memory that are in the machine's from at on, and
// are really those from off on.
func (c *comparison[T]) stretch(home schedule.Buffer, at, off, n int64) {
	ranks := c.m.s.Spec.Ranks
	together := 1 // ranks whose elements are the same
	if c.common {
		together = ranks
	}
	for rank := 0; rank < ranks; rank += together {
		_, base := c.m.s.Home(schedule.Output, rank)
		end := min(off+n, base+c.m.s.Len(schedule.Output, rank))
		for x := max(off, base); x < end; {
			o := c.d.origin(rank, x-base)
			o.n = min(o.n, end-x)
			for r := rank; r < rank+together; r++ {
				from := at + x - off
				c.elements(r, x-base, c.m.of(home, r)[from:from+o.n], o)
			}
			x += o.n
		}
	}
}

// elements compares elements of a rank, from off of its output on, with what they should be.
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
	if off += int64(f.at); f.wrong > 0 && c.report.First.after(rank, off) {
		c.report.First = &Mismatch{Rank: rank, Element: off, Got: fmt.Sprint(got[f.at]),
			Want: fmt.Sprint(c.want[f.at])}
	}
}

// judge says what elements are like, compared with those that are wanted.
func (c *comparison[T]) judge(got []T) finding {
	want := c.want[:len(got)]
	if sameBits(got, want) {
		return finding{}
	}
	var f finding
	for i, x := range got {
		y := want[i]
		if x == y || isNaN(x) && isNaN(y) {
			continue
		}
		if !c.tolerant {
			c.tolerate()
		}
		f.differ = true
		distance := apart(x, y)
		if ulps := distance / ulp(y); !math.IsNaN(ulps) && !math.IsInf(ulps, 0) {
			f.ulp = max(f.ulp, ulps)
		}
		if !(distance <= c.tolerance[i]) { // so NaN is wrong
			if f.wrong == 0 {
				f.at = i
			}
			f.wrong++
		}
	}
	return f
}

// apart is the distance of two numbers; of two integers, never 0 unless they are equal, however
// large they are.
func apart[T Number](x, y T) float64 {
	if isFloat[T]() {
		return math.Abs(float64(x) - float64(y))
	}
	return float64(uint64(int64(max(x, y))) - uint64(int64(min(x, y))))
}

// ulp is the distance from |x| to the next larger number; 1 for integers.
func ulp[T Number](x T) float64 {
	switch x := any(x).(type) {
	case float32:
		x = max(x, -x)
		return float64(math.Nextafter32(x, float32(math.Inf(1)))) - float64(x)
	case float64:
		x = max(x, -x)
		return math.Nextafter(x, math.Inf(1)) - x
	}
	return 1
}

// tolerate computes how far from the definition each wanted element may be: 0 for integers, minima,
// maxima and copies. With γ_k = k·u/(1−k·u), u = 2^−24 or 2^−53, and n ranks, a sum in any order
// has an error of at most γ_{n−1}·Σ|x| (Higham, Accuracy and Stability of Numerical Algorithms,
// 2nd edition, 2002, §4.2), a product one of γ_{n−1}·|Πx| (§3.1). A scale before adds the
// roundings of 1/n and of the product to every x, a scale after one to the sum, and rounding
// the definition one: γ_{n+2} covers all. Each rounding may also lose half of the smallest number
// where it underflows; for products, in which that can grow, only while no partial one does.
func (c *comparison[T]) tolerate() {
	c.tolerant = true
	n := len(c.want[:c.key.n])
	tolerance, spec := c.tolerance[:n], c.d.spec
	clear(tolerance)
	if c.key.from != allRanks || !isFloat[T]() || spec.Op == collective.Min ||
		spec.Op == collective.Max {
		return
	}
	k, least := float64(spec.Ranks+2), math.SmallestNonzeroFloat64
	if size[T]() == 4 {
		least = math.SmallestNonzeroFloat32
	}
	ku := math.Ldexp(k, -int(precision[T]()))
	gamma := ku / (1 - ku)
	if spec.Op == collective.Prod {
		for i := range tolerance {
			tolerance[i] = float64(gamma*math.Abs(float64(c.want[i]))) + least
		}
		return
	}
	weight := 1.0
	switch spec.Op {
	case collective.Avg:
		weight = 1 / float64(spec.Ranks)
	case collective.PremulSum:
		weight = math.Abs(float64(T(spec.Factor)))
	}
	buffer := c.d.buffer[:n]
	for rank := range spec.Ranks {
		c.d.input(buffer, rank, c.key.off)
		for i, x := range buffer {
			tolerance[i] += math.Abs(float64(x))
		}
	}
	// The sum of magnitudes is itself rounded n times, to 53 bits.
	gamma *= weight * (1 + math.Ldexp(k, -50))
	for i := range tolerance {
		tolerance[i] = float64(gamma*tolerance[i]) + float64(k*least)
	}
}
