// Package fidelity compares simulated times with measured ones.
//
// A Case is one point of a scenario whose time was simulated, and measured by executing its
// schedule for real. Its error is (simulated − measured) / measured: above 0 the simulation is too
// slow, below 0 too fast. Quantiles are those of absolute errors. The median of an even number of
// them is the mean of the middle two. The 90th percentile is the nearest rank's: of n sorted errors
// the ⌈0.9·n⌉-th. So it is always an observed error, and the largest of fewer than ten. (Hyndman
// and Fan, "Sample quantiles in statistical packages", 1996, definitions 2 and 1.)
//
//	Summarize    cases ─► quality, of each algorithm and of all
//	Judge        cases, tolerance ─► what is outside, in sentences
//	Text         the same for a terminal
//	Markdown     the same for docs
//
// The package knows nothing of simulators, executors or scenarios: names are texts to it, and the
// caller supplies times and bits. It reads no clock and no file.
package fidelity

import (
	"fmt"
	"math"
	"slices"

	"collsim/unit"
)

// The outcomes of comparing the bits of a result with those that its schedule predicts, and the
// requirement of a Tolerance on them.
const (
	Equal         = "equal"
	Differ        = "differ"
	NotComparable = "not comparable" // no result is predicted, or none was compared
	Any           = "any"            // a Tolerance without a requirement
)

// Case is a point with a simulated and a measured time.
type Case struct {
	Network         string // distinguishes scenarios: the scenario's name
	ID              string // of the point: "all_reduce/ring/1048576/dtype=bfloat16"
	Executor        string // short, such as "host (tcp)"
	Kind, Algorithm string
	Bytes           unit.Bytes
	Simulated       unit.Time
	Measured        unit.Time // median of the repetitions; 0: the case was not timed
	Spread          unit.Time // between the quartiles of the repetitions
	Repetitions     int
	Bits            string // Equal, Differ or NotComparable
	Uncompared      string // why bits are not comparable, where that is known
	Why             string // a known reason for a miss; may be empty
}

// Timed reports whether the case has a measured time. It then has an error; a simulated time of 0
// has one of −100 %.
func (c *Case) Timed() bool { return c.Measured > 0 }

// Error returns simulated over measured − 1, rounded once: 105 against 100 is the float64 next to
// 0.05, so a tolerance of 5 % admits it.
//
// REQUIRES: c.Timed(); it panics otherwise.
func (c *Case) Error() float64 {
	if !c.Timed() {
		panic("fidelity: " + c.ID + ": the error of a case that was not timed")
	}
	return float64(c.Simulated-c.Measured) / float64(c.Measured)
}

// check panics if a case is malformed, which is a bug of the caller.
func (c *Case) check() {
	if c.Simulated < 0 || c.Measured < 0 || c.Spread < 0 || c.Repetitions < 0 {
		panic(fmt.Sprintf("fidelity: %s: simulated %d ps, measured %d ps, spread %d ps, %d repetitions: "+
			"none may be negative", c.ID, c.Simulated, c.Measured, c.Spread, c.Repetitions))
	}
	if c.Bits != Equal && c.Bits != Differ && c.Bits != NotComparable {
		panic(fmt.Sprintf("fidelity: %s: bits = %q: equal, differ or not comparable is expected", c.ID,
			c.Bits))
	}
}

// Quality sums up how well simulated times predict measured ones, and schedules bits.
type Quality struct {
	Cases, Timed  int
	Equal, Differ int     // cases by their bits; the rest are not comparable
	Median, P90   float64 // of absolute errors of timed cases, as shares; 0 if none
	// index of the case with the largest absolute error, the first of equals, or −1
	Worst int
}

// Row is the quality of one algorithm on one executor.
type Row struct {
	Executor, Kind, Algorithm string
	Quality
}

// Summary is the quality of cases by algorithm, in order of first appearance, and of all together.
type Summary struct {
	Groups []Row
	All    Quality
}

// Summarize computes the quality of cases. Their order changes only the indices. It panics if a
// time is negative or Bits is not one of the three constants.
func Summarize(cases []Case) *Summary {
	all := upTo(len(cases))
	for i := range cases {
		cases[i].check()
	}
	s := &Summary{All: qualityOf(cases, all)}
	for _, part := range split(all, func(i int) [3]string { return cases[i].group() }) {
		c := &cases[part[0]]
		s.Groups = append(s.Groups, Row{c.Executor, c.Kind, c.Algorithm, qualityOf(cases, part)})
	}
	return s
}

// group returns the key of the Row that a case belongs to.
func (c *Case) group() [3]string { return [3]string{c.Executor, c.Kind, c.Algorithm} }

// split groups indices by key, in the order in which the keys first appear.
func split[K comparable](of []int, key func(int) K) (parts [][]int) {
	place := map[K]int{}
	for _, i := range of {
		k := key(i)
		at, ok := place[k]
		if !ok {
			at = len(parts)
			place[k] = at
			parts = append(parts, nil)
		}
		parts[at] = append(parts[at], i)
	}
	return parts
}

// upTo returns 0, 1, … n−1.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// qualityOf computes the quality of the cases with these indices.
func qualityOf(cases []Case, of []int) Quality {
	q := Quality{Cases: len(of), Worst: -1}
	var sizes []float64
	for _, i := range of {
		c := &cases[i]
		switch c.Bits {
		case Equal:
			q.Equal++
		case Differ:
			q.Differ++
		}
		if !c.Timed() {
			continue
		}
		sizes = append(sizes, c.size())
		if q.Worst < 0 || c.size() > cases[q.Worst].size() {
			q.Worst = i
		}
	}
	q.Timed = len(sizes)
	slices.Sort(sizes)
	q.Median, q.P90 = median(sizes), nearestRank(sizes, 90)
	return q
}

// size returns the absolute error; 0 if the case was not timed.
func (c *Case) size() float64 {
	if !c.Timed() {
		return 0
	}
	return math.Abs(c.Error())
}

// median returns the middle of sorted values, or the mean of the middle two; 0 if there are none.
func median(sorted []float64) float64 {
	n := len(sorted)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// nearestRank returns the ⌈percent·n/100⌉-th of n sorted values, counted from 1; 0 if there are
// none.
func nearestRank(sorted []float64, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(percent*len(sorted)+99)/100-1]
}
