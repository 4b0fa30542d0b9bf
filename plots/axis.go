package plots

import (
	"strconv"

	"collsim/unit"
)

// axis is a linear time axis from 0, with the unit of its labels.
type axis struct {
	end   unit.Time
	step  unit.Time // between two ticks: 1, 2 or 5 times a power of ten
	scale timeScale
}

type timeScale struct {
	name string
	one  unit.Time
}

// timeScales lists the units of time, each a thousand times the one before.
func timeScales() [5]timeScale {
	return [...]timeScale{
		{"ps", unit.Picosecond}, {"ns", unit.Nanosecond}, {"us", unit.Microsecond},
		{"ms", unit.Millisecond}, {"s", unit.Second},
	}
}

// newAxis returns the axis up to end with the closest ticks, but at most `most` after the one at 0.
// Its unit is the largest that end holds at least once.
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

// ticks returns the times of the tick marks, from 0.
func (a axis) ticks() []unit.Time {
	ticks := []unit.Time{0}
	for t := a.step; t <= a.end && t > 0; t += a.step {
		ticks = append(ticks, t)
	}
	return ticks
}

// label formats a tick's time in the axis's unit, with as many decimals as the step has.
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
