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

// Tolerance bounds the differences between measurements and predictions, over all cases together.
// Its zero value admits everything.
type Tolerance struct {
	Bits string // Equal: the bits of every case must be equal; Any or "": not judged
	// TimeMedian and TimeP90 are inclusive bounds of the median and the 90th percentile of absolute
	// errors; 0 is no bound.
	TimeMedian, TimeP90 unit.Share
}

// String returns the tolerance as a scenario has it: `bits = "equal", time_median = 5 %, time_p90 =
// 15 %`. Parts that are not judged are left out.
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

// Judge lists the requirements that are not met, in sentences such as "median error 6.1 % is above
// time_median = 5 %"; none if all are met. A bound on times is not met where no case was timed. It
// panics where Summarize does, and if Bits is unknown or a bound negative.
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

// bound is a bound on times, and the quantity that it bounds.
type bound struct {
	what, key string
	value     float64
	limit     unit.Share
}

func (b bound) String() string { return fmt.Sprintf("%s = %v", b.key, b.limit) }

// bounds lists the bounds on times that are set.
func (t Tolerance) bounds(q *Quality) []bound {
	all := []bound{
		{"median error", "time_median", q.Median, t.TimeMedian},
		{"90th percentile of errors", "time_p90", q.P90, t.TimeP90},
	}
	return slices.DeleteFunc(all, func(b bound) bool { return b.limit == 0 })
}

// exceeds reports whether a value is above a limit; each side is rounded once.
func exceeds(value float64, limit unit.Share) bool { return value > float64(limit)/1e6 }

// above formats a value that exceeds a limit, with enough decimals to show it.
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

// missBound returns the error above which a case misses: the bound of the 90th percentile, or else
// of the median. 0 is none.
func (t Tolerance) missBound() unit.Share { return cmp.Or(t.TimeP90, t.TimeMedian) }

// misses returns the indices of the cases that miss. First come those whose bits are not equal
// though they must be, then those whose error is above the bound, the worst first.
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

// wrong reports whether the bits of a case must be equal and are not known to be.
func (t Tolerance) wrong(c *Case) bool { return t.Bits == Equal && c.Bits != Equal }

// far reports whether the error of a case is above a bound, if there is one.
func far(c *Case, bound unit.Share) bool { return bound > 0 && exceeds(c.size(), bound) }

// missWords describes what makes a case miss.
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

// missOf describes what makes this case miss.
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

// why returns the reason for a miss.
func why(c *Case) string { return cmp.Or(c.Why, "not explained") }

// nameOf returns the ID of a case, with the network and the executor where these differ among
// cases.
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
