package fidelity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"collsim/unit"
)

// Tolerance is how far measurements may be from what was predicted, over all cases together. Its
// zero value admits everything.
type Tolerance struct {
	Bits string // Equal: those of every case are to be equal; Any or "": not judged
	// TimeMedian and TimeP90 bound the median and the 90th percentile of the errors without their
	// signs, themselves included; 0 is no bound.
	TimeMedian, TimeP90 unit.Share
}

// String is what a scenario says: `bits = "equal", time_median = 5 %, time_p90 = 15 %`, without
// what is not judged.
func (t Tolerance) String() string {
	var parts []string
	if t.Bits == Equal {
		parts = append(parts, `bits = "equal"`)
	}
	for _, b := range t.bounds(&Quality{}) {
		parts = append(parts, b.String())
	}
	return strings.Join(parts, ", ")
}

// Judge says what is outside the tolerance, in sentences such as "median error 6.1 % is above
// time_median = 5 %": none is good. A bound on times is not met where no case was timed. It panics
// where Summarize does, and where Bits is unknown or a bound negative.
func (t Tolerance) Judge(cases []Case) []string {
	if t.Bits != Equal && t.Bits != Any && t.Bits != "" || t.TimeMedian < 0 || t.TimeP90 < 0 {
		panic(fmt.Sprintf("fidelity: %+v: bits equal or any, and bounds of at least 0, are expected", t))
	}
	q := Summarize(cases).All
	var outside []string
	if t.Bits == Equal && q.Differ > 0 {
		first := slices.IndexFunc(cases, func(c Case) bool { return c.Bits == Differ })
		outside = append(outside, fmt.Sprintf(`bits differ in %d of %d cases, first in %s; `+
			`bits = "equal" is asked for`, q.Differ, q.Cases, nameOf(cases, first)))
	}
	if n := q.Cases - q.Equal - q.Differ; t.Bits == Equal && n > 0 {
		first := slices.IndexFunc(cases, func(c Case) bool { return c.Bits == NotComparable })
		why := ""
		if cases[first].Uncompared != "" {
			why = " (" + cases[first].Uncompared + ")"
		}
		outside = append(outside, fmt.Sprintf(`bits were not compared in %d of %d cases, first in `+
			`%s%s; bits = "equal" is asked for`, n, q.Cases, nameOf(cases, first), why))
	}
	for _, b := range t.bounds(&q) {
		if q.Timed == 0 {
			outside = append(outside, fmt.Sprintf("no case was timed, so %v cannot be judged", b))
		} else if exceeds(b.value, b.limit) {
			outside = append(outside, fmt.Sprintf("%s %s is above %v", b.what,
				above(b.value, b.limit), b))
		}
	}
	return outside
}

// bound is a bound on times, and what it bounds.
type bound struct {
	what, key string
	value     float64
	limit     unit.Share
}

func (b bound) String() string { return fmt.Sprintf("%s = %v", b.key, b.limit) }

// bounds are those on times that are stated.
func (t Tolerance) bounds(q *Quality) []bound {
	all := []bound{
		{"median error", "time_median", q.Median, t.TimeMedian},
		{"90th percentile of errors", "time_p90", q.P90, t.TimeP90},
	}
	return slices.DeleteFunc(all, func(b bound) bool { return b.limit == 0 })
}

// exceeds compares with a limit, each side rounded once.
func exceeds(value float64, limit unit.Share) bool { return value > float64(limit)/1e6 }

// above prints a value that exceeds a limit, with as many decimals as show it.
func above(value float64, limit unit.Share) string {
	decimals := 1
	for ; decimals < 15; decimals++ {
		shown, err := strconv.ParseFloat(strconv.FormatFloat(value*100, 'f', decimals, 64), 64)
		if err != nil || shown > float64(limit)/1e4 {
			break
		}
	}
	return strconv.FormatFloat(value*100, 'f', decimals, 64) + " %"
}

// missBound is the error above which a case misses: what nine of ten must keep to, or else half of
// them. 0 is none.
func (t Tolerance) missBound() unit.Share { return cmp.Or(t.TimeP90, t.TimeMedian) }

// misses are the indices of the cases that miss: whose bits are not equal though they must be, then
// those whose error is above the bound, the worst first.
func (t Tolerance) misses(cases []Case, bound unit.Share) (indices []int) {
	for i := range cases {
		if t.wrong(&cases[i]) || far(&cases[i], bound) {
			indices = append(indices, i)
		}
	}
	weight := func(c *Case) float64 {
		if t.wrong(c) {
			return math.Inf(1)
		}
		return c.size()
	}
	slices.SortStableFunc(indices, func(i, j int) int {
		return cmp.Compare(weight(&cases[j]), weight(&cases[i]))
	})
	return indices
}

// wrong reports whether the bits of a case are not equal though they must be, or nobody knows.
func (t Tolerance) wrong(c *Case) bool { return t.Bits == Equal && c.Bits != Equal }

// far reports whether the error of a case is above a bound, if there is one.
func far(c *Case, bound unit.Share) bool { return bound > 0 && exceeds(c.size(), bound) }

// missWords says what makes a case miss.
func (t Tolerance) missWords(bound unit.Share) string {
	var words []string
	if t.Bits == Equal {
		words = append(words, "bits that differ")
	}
	if bound > 0 {
		words = append(words, fmt.Sprintf("an error above %v", bound))
	}
	return strings.Join(words, " or ")
}

// missOf says what makes this case miss.
func (t Tolerance) missOf(c *Case, bound unit.Share) string {
	var words []string
	switch {
	case t.wrong(c) && c.Bits == Differ:
		words = append(words, "bits differ")
	case t.wrong(c):
		words = append(words, "bits not compared")
	}
	if far(c, bound) {
		words = append(words, c.errorText())
	}
	return strings.Join(words, ", ")
}

// why is the reason for a miss.
func why(c *Case) string { return cmp.Or(c.Why, "not explained") }

// nameOf is the ID of a case, with the network and the executor where these are not all cases'.
func nameOf(cases []Case, i int) string {
	c := &cases[i]
	other := func(key func(*Case) string) bool {
		return slices.ContainsFunc(cases, func(o Case) bool { return key(&o) != key(c) })
	}
	text := c.ID
	if other(func(c *Case) string { return c.Network }) {
		text += ", " + c.Network
	}
	if other(func(c *Case) string { return c.Executor }) {
		text += ", " + c.Executor
	}
	return text
}
