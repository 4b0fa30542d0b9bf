package fidelity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// off is a case measured at 1 ms whose error is so many per mille.
func off(perMille int) Case {
	return Case{Executor: "host", Kind: "all_reduce", Algorithm: "ring", Bits: Equal,
		ID: fmt.Sprintf("all_reduce/ring/%d", perMille), Simulated: unit.Time(1000+perMille) *
			unit.Microsecond, Measured: unit.Millisecond, Repetitions: 1}
}

func offs(perMille ...int) (cases []Case) {
	for _, e := range perMille {
		cases = append(cases, off(e))
	}
	return cases
}

func TestError(t *testing.T) {
	for _, tt := range []struct {
		simulated, measured unit.Time
		want                float64
	}{
		{105, 100, 0.05}, // 105/100 − 1 in floats is 0.050000000000000044
		{95, 100, -0.05},
		{100, 100, 0},
		{0, 100, -1},
		{300, 100, 2},
		{1, 3, -2.0 / 3},
		{unit.Forever, 1, float64(unit.Forever - 1)},
	} {
		c := Case{Simulated: tt.simulated, Measured: tt.measured}
		require.Equal(t, tt.want, c.Error(), "%d, %d", tt.simulated, tt.measured)
	}
	c := Case{ID: "x", Simulated: 5}
	require.False(t, c.Timed())
	require.PanicsWithValue(t, "fidelity: x: the error of a case that was not timed",
		func() { c.Error() })
}

// The p90 of n errors is the ⌈0.9·n⌉-th: of 1 … 9 the last, of 10 the 9th, of 11 … 19 the 10th to
// the 18th, of 20 the 18th, of 21 the 19th.
func TestQuantiles(t *testing.T) {
	upTo := func(n int) (list []int) { // 10 ‰, 20 ‰, … with signs by turns
		for i := 1; i <= n; i++ {
			list = append(list, 10*i*(1-i%2*2))
		}
		return list
	}
	for _, tt := range []struct {
		errors      []int
		median, p90 float64
		worst       int
	}{
		{nil, 0, 0, -1},
		{[]int{-70}, 0.07, 0.07, 0},
		{[]int{20, -40}, 0.03, 0.04, 1},
		{[]int{-500, 10, 20}, 0.02, 0.5, 0},
		{[]int{30, 10, -40, 20}, 0.025, 0.04, 2},
		{[]int{50, -50, 50}, 0.05, 0.05, 0},
		{upTo(9), 0.05, 0.09, 8},
		{upTo(10), 0.055, 0.09, 9},
		{upTo(11), 0.06, 0.10, 10},
		{upTo(19), 0.10, 0.18, 18},
		{upTo(20), 0.105, 0.18, 19},
		{upTo(21), 0.11, 0.19, 20},
	} {
		q := Summarize(offs(tt.errors...)).All
		require.InDelta(t, tt.median, q.Median, 1e-15, "%v", tt.errors)
		require.Equal(t, tt.p90, q.P90, "%v", tt.errors)
		require.Equal(t, tt.worst, q.Worst, "%v", tt.errors)
		require.Equal(t, len(tt.errors), q.Timed)
	}
}

func TestGroups(t *testing.T) {
	cases := offs(10, 200, -30, 40, 0)
	cases[1].Executor, cases[1].Bits = "mpi", Differ
	cases[2].Algorithm, cases[2].Bits = "tree", NotComparable
	cases[4].Measured = 0
	cases[4].Network = "another, which makes no group"
	require.Equal(t, &Summary{
		Groups: []Row{
			{"host", "all_reduce", "ring",
				Quality{Cases: 3, Timed: 2, Equal: 3, Median: 0.025, P90: 0.04, Worst: 3}},
			{"mpi", "all_reduce", "ring",
				Quality{Cases: 1, Timed: 1, Differ: 1, Median: 0.2, P90: 0.2, Worst: 1}},
			{"host", "all_reduce", "tree",
				Quality{Cases: 1, Timed: 1, Median: 0.03, P90: 0.03, Worst: 2}},
		},
		// 1, 3, 4 and 20 %
		All: Quality{Cases: 5, Timed: 4, Equal: 3, Differ: 1, Median: 0.035, P90: 0.2, Worst: 1},
	}, Summarize(cases))
	require.Equal(t, &Summary{All: Quality{Worst: -1}}, Summarize(nil))
}

func TestBoundsIncludeThemselves(t *testing.T) {
	cases := offs(50, -50, 50)
	require.Empty(t, Tolerance{TimeMedian: 50_000, TimeP90: 50_000}.Judge(cases))
	require.Equal(t, []string{"median error 5.0 % is above time_median = 4.9999 %",
		"90th percentile of errors 5.0 % is above time_p90 = 4.9999 %"},
		Tolerance{TimeMedian: 49_999, TimeP90: 49_999}.Judge(cases))
	cases[0].Simulated += unit.Nanosecond // 5.0001 %
	cases[2].Simulated += unit.Nanosecond
	require.Equal(t, []string{"median error 5.0001 % is above time_median = 5 %"},
		Tolerance{TimeMedian: 50_000}.Judge(cases))
}

// TestUncomparedBits: equal bits are asked for, and nobody has looked.
func TestUncomparedBits(t *testing.T) {
	cases := offs(10, 20, 30)
	cases[1].Bits, cases[1].Uncompared = NotComparable, "that takes 5 GiB of memory"
	require.Empty(t, Tolerance{Bits: Any}.Judge(cases))
	outside := Tolerance{Bits: Equal}.Judge(cases)
	require.Len(t, outside, 1)
	require.Contains(t, outside[0], "bits were not compared in 1 of 3 cases, first in ")
	require.Contains(t, outside[0], ` (that takes 5 GiB of memory); bits = "equal" is asked for`)
	require.Equal(t, []int{1}, Tolerance{Bits: Equal}.misses(cases, 0))
}

func TestBadCasesPanic(t *testing.T) {
	for _, change := range []func(*Case){
		func(c *Case) { c.Simulated = -1 },
		func(c *Case) { c.Measured = -1 },
		func(c *Case) { c.Spread = -1 },
		func(c *Case) { c.Repetitions = -1 },
		func(c *Case) { c.Bits = "" },
		func(c *Case) { c.Bits = Any },
	} {
		c := off(1)
		change(&c)
		require.Panics(t, func() { Summarize([]Case{c}) }, "%+v", c)
		require.Panics(t, func() { Tolerance{}.Judge([]Case{c}) }, "%+v", c)
	}
	for _, bad := range []Tolerance{{Bits: Differ}, {TimeMedian: -1}, {TimeP90: -1}} {
		require.Panics(t, func() { bad.Judge(nil) }, "%+v", bad)
	}
}

func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		time unit.Time
		want string
	}{
		{0, "0 s"}, {1, "1 ps"}, {999, "999 ps"}, {1000, "1.000 ns"},
		{12_345, "12.35 ns"}, // 12.345 is a little above it as a float64
		{999_949, "999.9 ns"}, {999_951, "1.000 us"}, {9_999_600, "10.00 us"},
		{1_250 * unit.Microsecond, "1.250 ms"}, {123_449 * unit.Microsecond, "123.4 ms"},
		{999_960 * unit.Microsecond, "1.000 s"}, {59 * unit.Second, "59.00 s"},
		{12_345 * unit.Second, "12345 s"},
	} {
		require.Equal(t, tt.want, timeText(tt.time))
	}
	c := Case{Measured: 1_250_400, Spread: 12_000, Repetitions: 20}
	require.Equal(t, "1.250 ± 0.012 us", c.measuredText())
	c.Spread = 3 * unit.Microsecond
	require.Equal(t, "1.250 ± 3.000 us", c.measuredText())
	c.Repetitions = 1
	require.Equal(t, "1.250 us", c.measuredText(), "one repetition has no spread")
}

// laws are checked on cases made of numbers: of three groups, three kinds of bits, some untimed.
func laws(t *testing.T, name string, law func(cases []Case) error) {
	p := gopter.DefaultTestParametersWithSeed(8)
	p.MinSuccessfulTests = 300
	properties := gopter.NewProperties(p)
	properties.Property(name, prop.ForAll(func(numbers []int64) (bool, error) {
		err := law(made(numbers))
		return err == nil, err
	}, gen.SliceOf(gen.Int64Range(0, math.MaxInt32))))
	properties.TestingRun(t)
}

func made(numbers []int64) (cases []Case) {
	for i, n := range numbers {
		c := Case{Network: []string{"star", "two racks"}[n%2],
			Executor: []string{"host (tcp)", "mpi library"}[n/2%2], Kind: "all_reduce",
			Algorithm: []string{"ring", "recursive-doubling"}[n/4%2], Bytes: 64 << (n % 30),
			Simulated: unit.Time(n/8%1_000_000 + 1), Measured: unit.Time(n/64%1_000_000 + 10_000),
			Spread: unit.Time(n % 1000), Repetitions: int(n % 30),
			Bits: []string{Equal, Differ, NotComparable}[n%3]}
		c.ID = fmt.Sprintf("all_reduce/%s/%d", c.Algorithm, int64(c.Bytes))
		if n%7 == 0 {
			c.ID += fmt.Sprintf("/op=%d", i)
		}
		if n%11 == 0 {
			c.Measured = 0
		}
		cases = append(cases, c)
	}
	return cases
}

// judged is all of a quality that an order of cases must not change.
func judged(cases []Case) (groups []string, all string) {
	text := func(q Quality) string {
		worst := 0.0
		if q.Worst >= 0 {
			worst = cases[q.Worst].size()
		}
		q.Worst = 0
		return fmt.Sprintf("%+v worst %v", q, worst)
	}
	s := Summarize(cases)
	for _, g := range s.Groups {
		groups = append(groups, strings.Join([]string{g.Executor, g.Kind, g.Algorithm,
			text(g.Quality)}, " "))
	}
	slices.Sort(groups)
	return groups, text(s.All)
}

func TestOrderChangesNoQuality(t *testing.T) {
	laws(t, "order", func(cases []Case) error {
		groups, all := judged(cases)
		other := slices.Clone(cases)
		random := rand.New(rand.NewPCG(8, uint64(len(cases))))
		random.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		otherGroups, otherAll := judged(other)
		if all != otherAll || !slices.Equal(groups, otherGroups) {
			return fmt.Errorf("%v %s\n%v %s", groups, all, otherGroups, otherAll)
		}
		return nil
	})
}

func TestScaleChangesNoError(t *testing.T) {
	laws(t, "scale", func(cases []Case) error {
		_, all := judged(cases)
		other := slices.Clone(cases)
		for i := range other {
			other[i].Simulated, other[i].Measured = 1357*other[i].Simulated, 1357*other[i].Measured
		}
		for i := range other {
			if c := &other[i]; c.Timed() && c.Error() != cases[i].Error() {
				return fmt.Errorf("%v instead of %v", c.Error(), cases[i].Error())
			}
		}
		if _, otherAll := judged(other); otherAll != all {
			return fmt.Errorf("%s\n%s", all, otherAll)
		}
		return nil
	})
}

// Quantiles by their definition: at least half the errors are no larger than the median's upper
// neighbour …; nine tenths are no larger than p90, which is the least error with that property.
func TestQuantilesByDefinition(t *testing.T) {
	laws(t, "quantiles", func(cases []Case) error {
		q := Summarize(cases).All
		noLarger := func(bound float64, orEqual bool) (n int) {
			for i := range cases {
				if c := &cases[i]; c.Timed() && (c.size() < bound || orEqual && c.size() == bound) {
					n++
				}
			}
			return n
		}
		if q.Timed == 0 {
			return nil
		}
		if 10*noLarger(q.P90, true) < 9*q.Timed || 10*noLarger(q.P90, false) >= 9*q.Timed {
			return fmt.Errorf("p90 %v", q.P90)
		}
		if 2*noLarger(q.Median, true) < q.Timed || 2*noLarger(q.Median, false) > q.Timed {
			return fmt.Errorf("median %v", q.Median)
		}
		return nil
	})
}

// In a terminal: no line is too long, and those that are not behind a # are the cases.
func TestTextFits(t *testing.T) {
	laws(t, "text", func(cases []Case) error {
		rows := 0
		for i := range cases {
			cases[i].ID, _, _ = strings.Cut(cases[i].ID, "/op") // which would be a column more
		}
		text := Text(cases, Tolerance{Equal, 50_000, 150_000})
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if !strings.HasPrefix(line, "#") {
				rows++
			}
			if utf8.RuneCountInString(line) > 80 || strings.TrimRight(line, " ") != line {
				return fmt.Errorf("line %q", line)
			}
		}
		if rows != len(cases) {
			return fmt.Errorf("%d rows of %d cases\n%s", rows, len(cases), text)
		}
		return nil
	})
}

// A page of Markdown is tables of as many cells in every row, whatever the names are.
func TestTablesHoldAnyName(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(8)
	properties := gopter.NewProperties(p)
	properties.Property("cells", prop.ForAll(func(name string) (bool, error) {
		c := off(500)
		c.Network, c.Why = name, name
		text := Markdown(Head{Title: "t"}, []Case{c}, Tolerance{TimeP90: 1})
		tables := 0
		for _, line := range strings.Split(text, "\n") {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			tables++
			cells := strings.Count(line, "|") - strings.Count(line, `\|`) - 1
			if cells != 8 && cells != 7 {
				return false, fmt.Errorf("%d cells: %s", cells, line)
			}
		}
		return tables == 4+3+3, nil
	}, gen.SliceOf(gen.OneConstOf('a', '|', '\\', '\n', '*', '_', ' ', 'é')).
		Map(func(list []rune) string { return string(list) })))
	properties.TestingRun(t)
}
