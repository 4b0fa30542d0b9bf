package plots

import (
	"math"
	"strconv"

	"collsim/unit"
)

// sizeAxis is a logarithmic axis of sizes: from and to are powers of two, as the labels' step is.
type sizeAxis struct {
	from, to float64
	step     int  // powers from one label to the next
	plain    bool // labels are numbers without a unit
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
	a := sizeAxis{from: log2(float64(least)), to: log2(float64(largest)), step: 1}
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
	if a.plain {
		return strconv.FormatInt(1<<power, 10)
	}
	return (unit.Bytes(1) << power).String()
}

// valueAxis is a linear axis from 0, or a logarithmic one of whole powers of ten.
type valueAxis struct {
	log      bool
	from     float64 // exponent at the bottom of a logarithmic axis; its end is that at the top
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
	for power := int(math.Floor(log10(highest))) - 2; ; power++ {
		for _, times := range [...]float64{1, 2, 5} {
			step := times * math.Pow10(power)
			if highest/step <= float64(most) {
				return valueAxis{end: highest * 1.04, step: step, decimals: max(0, -power)}
			}
		}
	}
}

// newLogAxis returns the logarithmic axis that holds both values, from a power of ten to another.
//
// REQUIRES: 0 < lowest <= highest, finite.
func newLogAxis(lowest, highest float64) valueAxis {
	a := valueAxis{log: true, from: math.Floor(log10(lowest)),
		end: math.Ceil(log10(highest))}
	a.end = max(a.end, a.from+1)
	a.step = math.Ceil((a.end - a.from) / 8)
	return a
}

// up returns where a value is, from 0 at the bottom to 1 at the top.
func (a valueAxis) up(y float64) float64 {
	if a.log {
		return (log10(y) - a.from) / (a.end - a.from)
	}
	return y / a.end
}

// ticks returns the values of the tick marks, from the bottom of the axis.
func (a valueAxis) ticks() []float64 {
	var ticks []float64
	for e := a.from; a.log && e <= a.end; e += a.step {
		ticks = append(ticks, math.Pow10(int(e)))
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
