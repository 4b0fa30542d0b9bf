package plots_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/plots"
	"collsim/trace"
	"collsim/unit"
)

// TestTimelineText draws the runs of testdata/text; go test ./plots -rewrite renews it.
func TestTimelineText(t *testing.T) {
	datadriven.RunTest(t, "testdata/text", func(t *testing.T, d *datadriven.TestData) string {
		ranks, lanes, slices, size := 4, 1, 1, "64MiB"
		var o plots.TextOptions
		d.MaybeScanArgs(t, "ranks", &ranks)
		d.MaybeScanArgs(t, "lanes", &lanes)
		d.MaybeScanArgs(t, "slices", &slices)
		d.MaybeScanArgs(t, "size", &size)
		d.MaybeScanArgs(t, "width", &o.Width)
		d.MaybeScanArgs(t, "rows", &o.Rows)
		o.Each = d.HasArg("each")
		bytes, err := unit.ParseBytes(size)
		require.NoError(t, err)
		var run *trace.Trace
		switch d.Cmd {
		case "ring":
			run = ringAllReduce(ranks, lanes, slices, bytes)
		case "recursive-doubling":
			run = recursiveDoubling(ranks, bytes)
		case "every-kind":
			run = everyKind()
		case "at-once":
			run = atOnce()
		case "empty":
			run = &trace.Trace{}
		default:
			d.Fatalf(t, "unknown command %q", d.Cmd)
		}
		percent := 0
		if d.MaybeScanArgs(t, "beside", &percent); percent > 0 {
			text, err := plots.TimelinesText(pair(run, unit.Time(percent), unit.Microsecond), o)
			require.NoError(t, err)
			return text
		}
		text, err := plots.TimelinesText(alone(run), o)
		require.NoError(t, err)
		return text
	})
}

// laneFrom makes a trace of two lanes from numbers: each is a wait and a length, both often 0.
func laneFrom(numbers []int64) *trace.Trace {
	t := &trace.Trace{Tracks: []trace.Track{{Lane: 0}, {Lane: 1}}}
	var ready [2]unit.Time
	for n, v := range numbers {
		lane := n % 2
		start := ready[lane] + unit.Time(v%7*(v%3))
		end := start + unit.Time(v/7%50*(v%2))
		t.Intervals = append(t.Intervals, trace.Interval{
			Track: int32(lane), Kind: trace.Kind(v % 6), Ready: ready[lane], Start: start,
			Done: start, End: end, Chunk: int32(v%130) - 1, Slice: int32(v % 5),
		})
		ready[lane] = end
		t.End = max(t.End, end)
	}
	t.Sort()
	return t
}

// Whatever happened: no line is too long, all of it is ASCII, each lane has its row, and both
// pictures are the same when drawn again.
func TestAnyTraceGivesCleanText(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(1)
	p.MinSuccessfulTests = 200
	properties := gopter.NewProperties(p)
	properties.Property("lines fit, in ASCII", prop.ForAll(
		func(numbers []int64, width int) (bool, error) {
			run := laneFrom(numbers)
			text, err := plots.TimelinesText(alone(run), plots.TextOptions{Width: width})
			if err != nil {
				return false, err
			}
			lines := strings.Split(text, "\n")
			for _, line := range lines {
				if len(line) > width || strings.Trim(line, " ") != strings.TrimLeft(line, " ") {
					return false, fmt.Errorf("line %q", line)
				}
			}
			if i := strings.IndexFunc(text, func(r rune) bool { return r > '~' }); i >= 0 {
				return false, fmt.Errorf("no ASCII at byte %d", i)
			}
			again, err := plots.TimelinesText(alone(run), plots.TextOptions{Width: width})
			rows := strings.HasPrefix(lines[0], "rank 0  lane 0  ") ||
				lines[0] == "rank 0  lane 0"
			return err == nil && again == text && rows &&
				strings.HasPrefix(lines[1], "        lane 1"), nil
		},
		gen.SliceOf(gen.Int64Range(0, 1_000_000)), gen.IntRange(40, 200)))
	properties.TestingRun(t)
}

// A step that has columns of its own is a bar of its own, whose letter can be found in its row.
func TestEveryLongStepIsSeen(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(2)
	properties := gopter.NewProperties(p)
	properties.Property("letters", prop.ForAll(
		func(kinds []uint8) bool {
			run := &trace.Trace{Tracks: []trace.Track{{}}}
			want := ""
			for n, k := range kinds {
				kind := trace.Kind(k % 6)
				start := unit.Time(n) * 10
				run.Intervals = append(run.Intervals, trace.Interval{Kind: kind, Chunk: -1,
					Ready: start, Start: start, Done: start, End: start + 10})
				run.End = start + 10
				want += [...]string{"S", "R", "+", "=", "!", "C"}[kind]
			}
			text, err := plots.TimelinesText(alone(run), plots.TextOptions{Width: 200})
			if err != nil || len(kinds) == 0 {
				return err == nil
			}
			row, _, _ := strings.Cut(strings.TrimPrefix(text, "rank 0"), "\n")
			return strings.NewReplacer("-", "", "|", "", " ", "").Replace(row) == want
		},
		gen.SliceOfN(60, gen.UInt8())))
	properties.TestingRun(t)
}

func ExampleTimelinesText() {
	const us = unit.Microsecond
	run := &trace.Trace{
		Tracks: []trace.Track{{Rank: 0}, {Rank: 1}},
		Intervals: []trace.Interval{
			{Track: 0, Kind: trace.Send, Chunk: 0, End: 4 * us},
			{Track: 1, Kind: trace.Reduce, Chunk: 0, Start: 5 * us, Done: 5 * us, End: 9 * us},
		},
		End: 9 * us,
	}
	text, err := plots.TimelinesText(alone(run), plots.TextOptions{Width: 50})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text)
	// Output:
	// rank 0  S0---------------|
	// rank 1  .......................+0----------------|
	// time us |0       |2       |4        |6       |8
	// S send   + reduce   . waiting
	// the number is the chunk
}
