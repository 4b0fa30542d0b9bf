package plots

import (
	"math"
	"slices"
	"strconv"

	"collsim/unit"
)

// sizeAxis is a logarithmic axis of sizes or numbers; from and to are exponents of two. With names
// it has these instead, at equal distances.
type sizeAxis struct {
	from, to float64
	step     int      // exponents from one label to the next
	plain    bool     // labels are numbers without a unit
	numbers  []int64  // of a plain axis: all numbers that have a value, if there is room for them
	names    []string // of 1, 2, …
}

// newSizeAxis returns the axis of that kind that holds all sizes, with at most `most` steps from
// label to label. On a plain axis each number has a label if there are no more than that.
//
// REQUIRES: most >= 1; a series with a size.
func newSizeAxis(series []Series, kind sizeAxis, most int) sizeAxis {
	a := sizeAxis{plain: kind.plain, names: kind.names}
	least, largest := series[0].X[0], series[0].X[0]
	for _, s := range series {
		least, largest = min(least, s.X[0]), max(largest, s.X[len(s.X)-1])
		for _, x := range s.X {
			if at, there := slices.BinarySearch(a.numbers, int64(x)); !there {
				a.numbers = slices.Insert(a.numbers, at, int64(x))
			}
		}
	}
	if a.names != nil {
		a.step = (len(a.names) + most - 1) / most
		return a
	}
	a.from, a.to, a.step = log2(float64(least)), log2(float64(largest)), 1
	if a.to-a.from < 2 { // a curve of one point needs an axis of some length
		a.from, a.to = max(0, a.from-1), a.to+1
	}
	for _, a.step = range [...]int{1, 2, 5, 10, 20, 40} {
		if (a.to-a.from)/float64(a.step) <= float64(most) {
			break
		}
	}
	if !a.plain || a.crowded(most) {
		a.numbers = nil
	}
	return a
}

// crowded reports whether two numbers are too close for labels of their own: closer than a third of
// the usual distance, since the labels are short.
func (a sizeAxis) crowded(most int) bool {
	for n := range len(a.numbers) - 1 {
		apart := log2(float64(a.numbers[n+1])) - log2(float64(a.numbers[n]))
		if apart*float64(3*most) < a.to-a.from {
			return true
		}
	}
	return false
}

// across returns the position of a size, from 0 at the left to 1 at the right.
func (a sizeAxis) across(x unit.Bytes) float64 {
	if a.names != nil {
		return (float64(x) - 0.5) / float64(len(a.names))
	}
	return (log2(float64(x)) - a.from) / (a.to - a.from)
}

// name writes a size, number or name as the axis has it.
func (a sizeAxis) name(x unit.Bytes) string {
	switch {
	case a.names != nil:
		return a.names[x-1]
	case a.plain:
		return strconv.FormatInt(int64(x), 10)
	}
	return x.String()
}

// sizeTick is a mark on a sizeAxis; its label may be empty.
type sizeTick struct {
	at    unit.Bytes
	label string
}

// ticks returns the tick marks, from the left. They are powers of two, the numbers of a plain axis,
// or the names. Some powers have labels: 1 KiB, 32 KiB, 1 MiB at a step of 5.
func (a sizeAxis) ticks() []sizeTick {
	var ticks []sizeTick
	for n, name := range a.names {
		if n%a.step != 0 {
			name = ""
		}
		ticks = append(ticks, sizeTick{unit.Bytes(n + 1), printable(name)})
	}
	for _, n := range a.numbers {
		if a.names == nil {
			ticks = append(ticks, sizeTick{unit.Bytes(n), strconv.FormatInt(n, 10)})
		}
	}
	if ticks != nil {
		return ticks
	}
	for p := int(math.Ceil(a.from)); float64(p) <= a.to && p < 63; p++ {
		t := sizeTick{at: 1 << p}
		switch {
		case p%a.step != 0:
		case a.plain:
			t.label = strconv.FormatInt(1<<p, 10)
		default:
			t.label = t.at.String()
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// valueAxis is a linear axis from 0, or a logarithmic one of whole powers of ten.
type valueAxis struct {
	log      bool
	digits   []float64 // the digits with labels in each decade of a logarithmic axis; nil: 1
	from     float64   // exponent at the bottom of a logarithmic axis; end is that at its top
	end      float64
	step     float64 // 1, 2 or 5 times 10 to the power
	decimals int
}

// newValueAxis returns the axis up to the highest value or a little more. It has the closest ticks,
// but at most `most` after the one at 0.
//
// REQUIRES: highest >= 0 and finite; most >= 2.
func newValueAxis(highest float64, most int) valueAxis {
	if highest == 0 {
		highest = 1
	}
	for power := int(math.Floor(log10(highest))) - 2; ; power++ {
		for _, times := range [...]float64{1, 2, 5} {
			step := times * math.Pow10(power)
			if highest/step <= float64(most) {
				return valueAxis{end: highest * 1.04, step: step, decimals: max(0, -power)}
			}
		}
	}
}

// newLogAxis returns the logarithmic axis that holds both values. It runs from the last tick at or
// below the lowest value to the first tick at or above the highest. Ticks are at 1, 2 and 5 times
// powers of ten, or at six digits if all are within one decade. An axis over more than three
// decades has ticks at powers of ten only.
//
// REQUIRES: 0 < lowest <= highest, finite.
func newLogAxis(lowest, highest float64) valueAxis {
	a := valueAxis{log: true, from: math.Floor(log10(lowest)), end: math.Ceil(log10(highest))}
	a.end = max(a.end, a.from+1)
	a.step = math.Ceil((a.end - a.from) / 8)
	if a.end-a.from > 3 {
		return a
	}
	a.digits = []float64{1, 2, 5}
	if a.end-a.from == 1 {
		a.digits = []float64{1, 2, 3, 4, 6, 8}
	}
	ticks := a.ticks()
	for _, v := range ticks[:len(ticks)-1] {
		if v <= lowest { // the last one stays
			a.from = log10(v)
		}
	}
	for _, v := range slices.Backward(ticks) { // so the lowest one stays
		if v >= highest && log10(v) > a.from {
			a.end = log10(v)
		}
	}
	return a
}

// up returns the position of a value, from 0 at the bottom to 1 at the top.
func (a valueAxis) up(y float64) float64 {
	if a.log {
		return (log10(y) - a.from) / (a.end - a.from)
	}
	return y / a.end
}

// ticks returns the values of the tick marks, from the bottom of the axis.
func (a valueAxis) ticks() []float64 {
	var ticks []float64
	for e := math.Floor(a.from); a.log && e <= a.end; e += a.step {
		digits := a.digits
		if digits == nil {
			digits = []float64{1}
		}
		for _, digit := range digits {
			v := digit * math.Pow10(int(e))
			if e < 0 {
				v = digit / math.Pow10(int(-e)) // as it would be read
			}
			if log10(v) >= a.from && log10(v) <= a.end {
				ticks = append(ticks, v)
			}
		}
	}
	if a.log {
		return ticks
	}
	for n := 0; float64(n)*a.step <= a.end; n++ {
		ticks = append(ticks, float64(n)*a.step)
	}
	return ticks
}

func (a valueAxis) label(v float64) string {
	if a.log && v >= 1e-4 && v < 1e7 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	if a.log || a.decimals > 4 || v >= 1e7 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', a.decimals, 64)
}
