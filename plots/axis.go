package plots

import (
	"strconv"

	"collsim/unit"
)

// axis is a time axis from 0: its tick marks, and the one unit that they are labelled in.
type axis struct {
	end   unit.Time
	step  unit.Time // between two ticks: 1, 2 or 5 times a power of ten
	scale timeScale
}

type timeScale struct {
	name string
	one  unit.Time
}

// timeScales are the units of time, each a thousand of the one before.
func timeScales() [5]timeScale {
	return [...]timeScale{
		{"ps", unit.Picosecond}, {"ns", unit.Nanosecond}, {"us", unit.Microsecond},
		{"ms", unit.Millisecond}, {"s", unit.Second},
	}
}

// newAxis returns the axis up to end that has the closest ticks, but at most `most` after the one
// at 0. Its unit is the largest of which end holds at least one.
//
// REQUIRES: most >= 2: then a tick follows the one at 0.
func newAxis(end unit.Time, most int) axis {
	a := axis{end: end, step: 1, scale: timeScale{"us", unit.Microsecond}}
	for _, s := range timeScales() {
		if end >= s.one {
			a.scale = s
		}
	}
	for power := unit.Time(1); end/a.step > unit.Time(most); power *= 10 {
		for _, m := range [...]unit.Time{1, 2, 5, 10} {
			if a.step = m * power; end/a.step <= unit.Time(most) {
				break
			}
		}
	}
	return a
}

// ticks returns the times of the tick marks, the first of which is 0.
func (a axis) ticks() []unit.Time {
	ticks := []unit.Time{0}
	for t := a.step; t <= a.end && t > 0; t += a.step {
		ticks = append(ticks, t)
	}
	return ticks
}

// label returns a tick's time in the axis's unit, with as many decimals as the step has.
func (a axis) label(t unit.Time) string {
	s := strconv.FormatInt(int64(t/a.scale.one), 10)
	if a.step >= a.scale.one || a.end == 0 {
		return s
	}
	s += "."
	for one := a.scale.one / 10; one >= 1; one /= 10 {
		s += string(rune('0' + t/one%10))
		if a.step%one == 0 {
			break
		}
	}
	return s
}
