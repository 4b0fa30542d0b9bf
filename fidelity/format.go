package fidelity

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/unit"
)

// none stands for a missing value, as in nccl-tests.
const none = "N/A"

// scale is a unit of time and the decimals of a time in it.
type scale struct {
	unit     unit.Time
	name     string
	decimals int
}

// scaleOf returns the scale in which a time of at least 0 has four digits. Below a nanosecond it
// has one for each digit of the picoseconds; from 10,000 seconds on it has more.
func scaleOf(t unit.Time) scale {
	if t == 0 {
		return scale{unit.Second, "s", 0}
	}
	if t < unit.Nanosecond {
		return scale{unit.Picosecond, "ps", 0}
	}
	for _, s := range []scale{{unit.Nanosecond, "ns", 3}, {unit.Microsecond, "us", 3},
		{unit.Millisecond, "ms", 3}, {unit.Second, "s", 3}} {
		for ; s.decimals > 0; s.decimals-- {
			if len(s.number(t)) <= len("1.234") {
				return s
			}
		}
	}
	return scale{unit.Second, "s", 0}
}

// number formats a time in this scale, without the unit.
func (s scale) number(t unit.Time) string {
	return strconv.FormatFloat(float64(t)/float64(s.unit), 'f', s.decimals, 64)
}

// timeText formats a time in a unit of its size: "1.234 ms".
func timeText(t unit.Time) string {
	s := scaleOf(t)
	return s.number(t) + " " + s.name
}

// measuredText formats the measured time and its spread, in the same scale. One repetition has no
// spread.
func (c *Case) measuredText() string {
	switch {
	case !c.Timed():
		return none
	case c.Repetitions < 2:
		return timeText(c.Measured)
	}
	s := scaleOf(c.Measured)
	return s.number(c.Measured) + " ± " + s.number(c.Spread) + " " + s.name
}

// reps formats the number of repetitions.
func (c *Case) reps() string {
	if c.Repetitions == 0 {
		return none
	}
	return fmt.Sprint(c.Repetitions)
}

// simulatedText formats the simulated time; "N/A" if the case has neither time.
func (c *Case) simulatedText() string {
	if !c.Timed() && c.Simulated == 0 {
		return none
	}
	return timeText(c.Simulated)
}

// percent formats a share by a verb such as "%.1f". From ten times the whole on it has no decimals.
func percent(verb string, share float64) string {
	if share >= 10 {
		verb = strings.Replace(verb, ".1", ".0", 1)
	}
	return fmt.Sprintf(verb, share*100) + " %"
}

// errorText formats the error in percent with its sign.
func (c *Case) errorText() string {
	if !c.Timed() {
		return none
	}
	text := percent("%+.1f", c.Error())
	if text == "+0.0 %" || text == "-0.0 %" {
		return "0.0 %"
	}
	return text
}

// rest returns the ID without kind, algorithm and size: "dtype=bfloat16".
func (c *Case) rest() string {
	rest := strings.TrimPrefix(c.ID, fmt.Sprintf("%s/%s/%d", c.Kind, c.Algorithm, int64(c.Bytes)))
	return strings.TrimPrefix(rest, "/")
}

// share formats one of the quantiles.
func (q *Quality) share(value float64) string {
	if q.Timed == 0 {
		return none
	}
	return percent("%.1f", value)
}

// timed formats the number of cases with times, and the number of all if it is larger.
func (q *Quality) timed() string {
	if q.Timed == q.Cases {
		return fmt.Sprint(q.Cases)
	}
	return fmt.Sprintf("%d/%d", q.Timed, q.Cases)
}

// worst formats the largest error, with its sign.
func (q *Quality) worst(cases []Case) string {
	if q.Worst < 0 {
		return none
	}
	return cases[q.Worst].errorText()
}

// bits sums up the bits: "equal", "2 differ", "10/12 equal"; "N/A" where none are comparable.
func (q *Quality) bits() string {
	switch {
	case q.Differ > 0:
		return fmt.Sprintf("%d differ", q.Differ)
	case q.Equal == 0:
		return none
	case q.Equal == q.Cases:
		return Equal
	}
	return fmt.Sprintf("%d/%d equal", q.Equal, q.Cases)
}
