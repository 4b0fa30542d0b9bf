package measured

import (
	"regexp"
	"slices"
	"strings"

	"collsim/unit"
)

// column is a fact of the rows of a table, such as size_bytes, or a measurement. It sets what a
// field states.
type column struct {
	name string // as the package knows it; a table has it once
	set  func(r *record, text string) error
}

// record holds what a line of a table, or an object, has: facts of all its measurements, and those
// of both places. In a wide table a column is named after a collective or an algorithm.
type record struct {
	common    Row
	inPlace   bool // a fact; then the measurements of the first place are in place
	place     [2]Row
	call      unit.Time // of a loop of calls, beside that of one alone
	low, high unit.Time // deciles
	wide      []Row
}

// columnOf returns the column of a name, by its words: "time (us)" and "Time_us" are one. A column
// without set is not known. The note says what is assumed of a column, or why it is left out.
func columnOf(written string) (c column, note string) {
	name := nameOf(written)
	for _, f := range facts() {
		if slices.Contains(strings.Fields(f.name), name) {
			f.name, _, _ = strings.Cut(f.name, " ")
			return f, ""
		}
	}
	place := 0
	what, isOut := without(name, "out_of_place", "oop")
	what, isIn := without(what, "in_place", "ip")
	if isIn && !isOut {
		place = 1
	}
	suffix := [2]string{"_oop", "_ip"}[place]
	bare, rate, of := rateOf(what)
	if bare == "algbw" || bare == "busbw" || bare == "alg_bw" || bare == "bus_bw" {
		if rate == 0 {
			return column{}, "is left out: GB/s and Gbit/s are both written " + of
		}
		bare = strings.ReplaceAll(bare, "_", "")
		return column{bare + suffix, setRate(place, bare == "busbw", rate)}, ""
	}
	bare, scale := scaleOf(what)
	switch {
	case slices.Contains(callNames(), bare):
		if scale == 0 {
			scale, note = 1, "has no unit and is taken for microseconds"
		}
		return column{"time_us" + suffix, setTime(place, scale)}, note
	case bare == "call" && scale > 0:
		return column{"call", setCall(scale)}, ""
	case scale > 0 && slices.Contains(statistics(), bare):
		return column{bare + suffix, setStatistic(bare, scale)}, ""
	}
	return column{}, ""
}

// nameOf spells a name in small letters, with "_" between its words.
func nameOf(written string) string {
	written = regexp.MustCompile(`GB(/s|ps|_s)\b`).ReplaceAllString(written, "gbyte")
	written = regexp.MustCompile(`G(bps|b/s|bit/s|bits)\b`).ReplaceAllString(written, "gbit")
	written = regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(written, "${1}_$2")
	written = strings.ReplaceAll(strings.ToLower(written), "µs", "us")
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(written, "_"), "_")
}

// without removes words from a name.
func without(name string, all ...string) (rest string, found bool) {
	for _, words := range all {
		padded := "_" + name + "_"
		if i := strings.Index(padded, "_"+words+"_"); i >= 0 {
			return strings.Trim(padded[:i]+padded[i+len(words)+1:], "_"), true
		}
	}
	return name, false
}

// rateOf splits a unit off the name of a bandwidth, and returns it in GB/s: 1 if there is none, 0
// if it has two meanings.
func rateOf(name string) (bare string, rate float64, of string) {
	for _, u := range []struct {
		name string
		rate float64
	}{{"gbyte", 1}, {"gbs", 1}, {"gbit", 0.125}, {"gbps", 0}} {
		if bare, ok := without(name, u.name); ok {
			return bare, u.rate, u.name
		}
	}
	return name, 1, ""
}

// scaleOf splits a unit off the name of a time, and returns it in microseconds; 0 if there is none.
func scaleOf(name string) (bare string, scale float64) {
	for _, u := range []struct {
		names string
		scale float64
	}{{"us usec usecs microseconds", 1}, {"ms msec milliseconds", 1e3}, {"ns nsec nanoseconds", 1e-3},
		{"ps", 1e-6}, {"s sec secs seconds", 1e6}} {
		if bare, ok := without(name, strings.Fields(u.names)...); ok {
			return bare, u.scale
		}
	}
	return name, 0
}

// callNames lists the names of columns with the time of a call.
func callNames() []string {
	return strings.Fields("time latency lat duration elapsed median p50 mean avg average " +
		"avg_latency avg_time average_latency average_time mean_time mean_latency median_time " +
		"median_latency latency_avg time_avg latency_mean time_mean latency_median time_median " +
		"exec_time")
}

// statistics lists those of how times spread; only the deciles are used.
func statistics() []string {
	return strings.Fields("min max p10 p25 p75 p90 p95 p99 std stddev min_latency max_latency " +
		"min_time max_time")
}

// setRate returns what sets a bandwidth.
func setRate(place int, isBus bool, rate float64) func(*record, string) error {
	return func(r *record, s string) error {
		p := &r.place[place]
		v, err := number(s)
		if isBus {
			p.BusBW, p.BusStep = v*rate, step(s)*rate
		} else {
			p.AlgBW, p.AlgStep = v*rate, step(s)*rate
		}
		return err
	}
}

// setTime returns what sets the time of a call.
func setTime(place int, scale float64) func(*record, string) error {
	return func(r *record, s string) (err error) {
		r.place[place].Time, err = scaled(s, scale)
		return err
	}
}

// setCall returns what sets the time of a call of a loop.
func setCall(scale float64) func(*record, string) error {
	return func(r *record, s string) (err error) {
		r.call, err = scaled(s, scale)
		return err
	}
}

// setStatistic returns what sets a decile, or checks a number that is not used.
func setStatistic(name string, scale float64) func(*record, string) error {
	return func(r *record, s string) (err error) {
		switch name {
		case "p10":
			r.low, err = scaled(s, scale)
		case "p90":
			r.high, err = scaled(s, scale)
		default:
			_, err = number(s)
		}
		return err
	}
}

// rows returns the measurements of a record that have a time.
func (r *record) rows() (all []Row) {
	for i, p := range r.place {
		one := r.common
		one.InPlace, one.Time = i == 1 || r.inPlace, p.Time
		one.AlgBW, one.BusBW, one.AlgStep, one.BusStep = p.AlgBW, p.BusBW, p.AlgStep, p.BusStep
		if i == 0 && r.call > 0 {
			one.Time = r.call
		}
		if i == 0 && r.high > 0 && r.low > 0 {
			// In a normal distribution the quartiles are 1.349 σ apart, the deciles 2.563.
			one.Spread = unit.Time(float64(r.high-r.low) * 1.349 / 2.563)
		}
		if one.Time > 0 {
			all = append(all, one)
		}
	}
	for _, w := range r.wide {
		one := r.common
		one.Time = w.Time
		if w.Kind != 0 {
			one.Kind = w.Kind
		} else {
			one.Algorithm = w.Algorithm
		}
		all = append(all, one)
	}
	return all
}
