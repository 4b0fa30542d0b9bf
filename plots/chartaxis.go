package plots

import (
	"math"
	"strconv"

	"collsim/unit"
)

// sizeAxis is a logarithmic axis of sizes: from and to are powers of two, as the labels' step is.
type sizeAxis struct {
	from, to float64
	step     int // powers from one label to the next
}

// newSizeAxis returns the axis that holds all sizes, with at most that many steps from label to
// label.
//
// REQUIRES: most >= 1; a series with a size.
func newSizeAxis(series []Series, most int) sizeAxis {
	least, largest := series[0].X[0], series[0].X[0]
	for _, s := range series {
		least, largest = min(least, s.X[0]), max(largest, s.X[len(s.X)-1])
	}
	a := sizeAxis{from: math.Log2(float64(least)), to: math.Log2(float64(largest)), step: 1}
	if a.to-a.from < 2 { // a curve of one point would be nowhere
		a.from, a.to = max(0, a.from-1), a.to+1
	}
	for _, a.step = range [...]int{1, 2, 5, 10, 20, 40} {
		if (a.to-a.from)/float64(a.step) <= float64(most) {
			break
		}
	}
	return a
}

// powers returns the powers of two on the axis.
func (a sizeAxis) powers() []int {
	var powers []int
	for p := int(math.Ceil(a.from)); float64(p) <= a.to && p < 63; p++ {
		powers = append(powers, p)
	}
	return powers
}

// label returns the size of a power, "" where none is due: 1 KiB, 32 KiB, 1 MiB at a step of 5.
func (a sizeAxis) label(power int) string {
	if power%a.step != 0 {
		return ""
	}
	return (unit.Bytes(1) << power).String()
}

// valueAxis is a linear axis from 0.
type valueAxis struct {
	end      float64
	step     float64 // 1, 2 or 5 times 10 to the power
	decimals int
}

// newValueAxis returns the axis up to the highest value or a little more, whose ticks are the
// closest of which there are at most that many after the one at 0.
//
// REQUIRES: highest >= 0 and finite; most >= 2.
func newValueAxis(highest float64, most int) valueAxis {
	if highest == 0 {
		highest = 1
	}
	for power := int(math.Floor(math.Log10(highest))) - 2; ; power++ {
		for _, times := range [...]float64{1, 2, 5} {
			step := times * math.Pow10(power)
			if highest/step <= float64(most) {
				return valueAxis{end: highest * 1.04, step: step, decimals: max(0, -power)}
			}
		}
	}
}

// ticks returns the values of the tick marks, the first of which is 0.
func (a valueAxis) ticks() []float64 {
	var ticks []float64
	for n := 0; float64(n)*a.step <= a.end; n++ {
		ticks = append(ticks, float64(n)*a.step)
	}
	return ticks
}

func (a valueAxis) label(v float64) string {
	if a.decimals > 4 || v >= 1e7 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', a.decimals, 64)
}
