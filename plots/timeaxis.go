package plots

import (
	"fmt"
	"math"
)

// timeAxis is a logarithmic axis of times; from and to are exponents of ten, in picoseconds.
type timeAxis struct {
	from, to float64
	digits   []int // the digits with labels in each labelled decade, such as 1, 2 and 5
	every    int   // decades from one with labels to the next
	fine     bool  // all nine digits have a mark, not only those with a label
}

// The least distance between two labels, and the length of a decade below which its digits have no
// marks.
const (
	timeLabelAir  length = 8
	timeMarksFrom length = 40
)

// newTimeAxis returns the axis that holds both times, in picoseconds, with some margin. It is at
// least a decade long, so that almost equal times look almost equal.
//
// REQUIRES: 0 < least <= largest.
func newTimeAxis(least, largest float64) timeAxis {
	from, to := log10(least), log10(largest)
	middle, half := (from+to)/2, float64(max(to-from, 1)/2*1.08)
	return timeAxis{from: middle - half, to: middle + half, digits: []int{1, 2, 5}, every: 1,
		fine: true}
}

// label chooses the closest labels, of width wide, for which an axis of length long has room.
func (a *timeAxis) label(long, wide length) {
	decade := float64(long) / (a.to - a.from)
	a.fine = decade >= float64(timeMarksFrom)
	room := func(share float64) bool { return share*decade >= float64(wide+timeLabelAir) }
	switch a.every = 1; {
	case room(log10(2)):
		a.digits = []int{1, 2, 5}
	case room(log10(3)):
		a.digits = []int{1, 3}
	default:
		for a.digits = []int{1}; !room(float64(a.every)); {
			a.every++
		}
	}
}

// labelWidth returns the width of the widest label that label may choose.
func (a timeAxis) labelWidth(f typeface) (width length) {
	for _, t := range a.ticks() {
		width = max(width, f.room(t.label))
	}
	return width
}

// up returns the position of a time in picoseconds, from 0 at the start of the axis to 1 at its
// end.
func (a timeAxis) up(t float64) float64 { return (log10(t) - a.from) / (a.to - a.from) }

// share returns the length of a factor as a share of the axis.
func (a timeAxis) share(factor float64) float64 { return log10(factor) / (a.to - a.from) }

// timeTick is a mark on a timeAxis, from 0 to 1. Most have no label.
type timeTick struct {
	at    float64
	label string
}

// ticks returns the tick marks in their order.
func (a timeAxis) ticks() []timeTick {
	var ticks []timeTick
	for e := max(0, int(math.Floor(a.from))); float64(e) <= a.to; e++ {
		for digit := 1; digit < 10 && (digit == 1 || a.fine); digit++ {
			t := timeTick{at: a.up(float64(digit) * math.Pow10(e))}
			for _, d := range a.digits {
				if d == digit && e%a.every == 0 {
					t.label = timeLabel(digit, e)
				}
			}
			if t.at >= 0 && t.at <= 1 {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

// timeLabel formats a digit times a power of ten, in picoseconds: "20 us".
func timeLabel(digit, power int) string {
	units := timeScales()
	n := min(power/3, len(units)-1)
	return fmt.Sprintf("%.0f %s", float64(digit)*math.Pow10(power-3*n), units[n].name)
}
