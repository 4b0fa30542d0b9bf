package plots_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/plots"
	"collsim/trace"
	"collsim/unit"
)

// later is a run as a machine may have executed it: all takes percent as long, and the lanes of
// rank r start r times as late.
func later(run *trace.Trace, percent, start unit.Time) *trace.Trace {
	out := &trace.Trace{Tracks: run.Tracks}
	for _, i := range run.Intervals {
		by := start * unit.Time(run.Tracks[i.Track].Rank)
		for _, t := range []*unit.Time{&i.Ready, &i.Start, &i.Done, &i.End} {
			*t = *t*percent/100 + by
		}
		out.Intervals = append(out.Intervals, i)
		out.End = max(out.End, i.End)
	}
	for _, m := range run.Messages {
		m.Sent = m.Sent*percent/100 + start*unit.Time(run.Tracks[m.From].Rank)
		m.Arrived = max(m.Sent, m.Arrived*percent/100+start*unit.Time(run.Tracks[m.To].Rank))
		out.Messages = append(out.Messages, m)
		out.End = max(out.End, m.Arrived)
	}
	out.Sort()
	return out
}

// pair is a run beside a slower one of the same.
func pair(run *trace.Trace, percent, start unit.Time) []plots.Panel {
	slow := later(run, percent, start)
	return []plots.Panel{{Heading: fmt.Sprint("simulated: ", run.End), Trace: run},
		{Heading: fmt.Sprint("measured: ", slow.End), Trace: slow}}
}

func TestTimelinesGolden(t *testing.T) {
	run := recursiveDoubling(4, unit.MiB)
	svg, err := plots.Timelines(pair(run, 125, 10*unit.Microsecond), plots.Options{
		Title: "all_reduce recursive-doubling, 4 ranks", Caption: caption, WidthMM: 120})
	require.NoError(t, err)
	requireXML(t, svg)
	path := filepath.Join("testdata", "pair.svg")
	if *update {
		require.NoError(t, os.WriteFile(path, svg, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(svg), "look at both, then run with -update")
}

func TestTimelinesSayWhatTheyShow(t *testing.T) {
	panels := pair(ringAllReduce(4, 1, 1, 64*unit.MiB), 110, unit.Microsecond)
	for g := plots.Page; g <= plots.Slide; g++ {
		svg, err := plots.Timelines(panels, plots.Options{Title: "a pair", Figure: g})
		require.NoError(t, err)
		texts := requireXML(t, svg)
		all := strings.Join(texts, "\n")
		for _, want := range []string{"a pair", "rank 3", "time (ms)", "send", "message",
			"end of a timeline"} {
			require.Contains(t, texts, want)
		}
		require.Equal(t, 2, strings.Count(all, "rank 0"), "a row in each")
		require.Equal(t, 1, strings.Count(all, "time (ms)"), "one axis")
		require.Less(t, strings.Index(all, "simulated:"), strings.Index(all, "rank 0"))
		require.Greater(t, strings.Index(all, "measured:"), strings.Index(all, "rank 3"))
		require.Less(t, strings.Index(all, "measured:"), strings.LastIndex(all, "rank 0"))
	}
	alone, err := plots.Timelines(panels[:1], plots.Options{})
	require.NoError(t, err)
	require.NotContains(t, requireXML(t, alone), "end of a timeline", "one can see where")
	require.NotContains(t, string(alone), "dasharray")
}

// TestTimelinesShareTheScale: of a run that is twice as slow, and ends at the axis's end, all is
// where it is when it is alone; of the other all is half as far from the axis's begin.
func TestTimelinesShareTheScale(t *testing.T) {
	run := ringAllReduce(2, 1, 1, 64*unit.MiB)
	panels := pair(run, 200, 0)
	o := plots.TextOptions{Width: 72}
	both, err := plots.TimelinesText(panels, o)
	require.NoError(t, err)
	slow, err := plots.TimelinesText(alone(panels[1].Trace), o)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(both, "\n"+slow))
	o.Width = 8 + 32 // half of the columns beside the labels
	fast, err := plots.TimelinesText(alone(run), o)
	require.NoError(t, err)
	rows := strings.Split(both, "\n")
	for n, row := range strings.Split(fast, "\n")[:2] {
		// The last receive takes no time: it has the column after the last bar, if there is one.
		row = strings.TrimSuffix(row, "R")
		require.True(t, strings.HasPrefix(rows[1+n], row[:len(row)-1]), "%q\n%q", row, rows[1+n])
	}
}

func TestTimelinesTellWhatTheyLeaveOut(t *testing.T) {
	ring := func(ranks int) *trace.Trace { return ringAllReduce(ranks, 1, 1, unit.MiB) }
	cases := []struct {
		name   string
		panels []plots.Panel
		o      plots.Options
		want   string
	}{
		{"rows of all", pair(ring(8), 120, 0), plots.Options{Rows: 10},
			"10 of 16 rows are shown: the lowest ranks, and those that finish last"},
		{"rows of one", []plots.Panel{{Trace: ring(8)}, {Trace: ring(4)}}, plots.Options{Rows: 10},
			"9 of 12 rows are shown: the lowest ranks, and those that finish last"},
		{"a row each", pair(ring(8), 120, 0), plots.Options{Rows: 1},
			"2 of 16 rows are shown: the lowest ranks, and those that finish last"},
		{"lanes of one", []plots.Panel{{Trace: ring(2)}, {Trace: ringAllReduce(2, 9, 1, unit.MiB)}},
			plots.Options{Rows: 8}, "6 of 20 rows are shown: the first lanes of the lowest ranks, " +
				"and of those that finish last"},
		{"messages, all of them", []plots.Panel{{Trace: ring(2)}, {Trace: ring(32)}},
			plots.Options{}, "1988 messages are not drawn: they would hide the rest"},
		{"narrow steps", []plots.Panel{{Trace: ringAllReduce(64, 1, 16, 64*unit.MiB)},
			{Trace: ring(2)}}, plots.Options{Rows: 128},
			"130048 steps that are too narrow to be seen are drawn together"},
		{"no time", []plots.Panel{{Trace: atOnce()}, {Trace: atOnce()}}, plots.Options{},
			"no step takes any time"},
		{"nothing", []plots.Panel{{Trace: ring(2)}, {Trace: &trace.Trace{}}}, plots.Options{},
			"no steps"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			svg, err := plots.Timelines(c.panels, c.o)
			require.NoError(t, err)
			texts := requireXML(t, svg)
			require.Contains(t, texts, c.want)
			require.NotContains(t, string(svg), "NaN")
			if strings.Contains(c.name, "messages") {
				require.NotContains(t, texts, "message")
			}
		})
	}
}

// TestPairsFitWhereTheyShall: many rows are on a sheet of paper, and on a slide.
func TestPairsFitWhereTheyShall(t *testing.T) {
	panels := pair(ringAllReduce(64, 1, 1, 64*unit.MiB), 110, unit.Microsecond)
	svg, err := plots.Timelines(panels, plots.Options{Title: "a pair", Caption: caption})
	require.NoError(t, err)
	require.Equal(t, 64, strings.Count(string(svg), "8px\">rank "))
	_, height := svgSize(t, svg)
	require.Less(t, height, 297/25.4*72-80, "A4 with margins")

	svg, err = plots.Timelines(panels, plots.Options{Title: "a pair", Figure: plots.Slide})
	require.NoError(t, err)
	width, height := svgSize(t, svg)
	require.InDelta(t, 480, width, 0.01)
	require.InDelta(t, 270, height, 0.01)
	require.Equal(t, 14, strings.Count(string(svg), "px\">rank "), "seven rows each")
}

func TestTimelinesRefuse(t *testing.T) {
	broken := []plots.Panel{{Heading: "simulated", Trace: atOnce()},
		{Heading: "measured", Trace: &trace.Trace{End: -1}}}
	const negative = `"measured": end = -1 ps: at least 0 is expected`
	_, err := plots.Timelines(broken, plots.Options{})
	require.EqualError(t, err, negative)
	_, err = plots.TimelinesText(broken, plots.TextOptions{})
	require.EqualError(t, err, negative)
	_, err = plots.Timelines(nil, plots.Options{})
	require.EqualError(t, err, "no timelines: at least one is expected")
	_, err = plots.TimelinesText(nil, plots.TextOptions{})
	require.EqualError(t, err, "no timelines: at least one is expected")
	_, err = plots.Timelines(broken[:1], plots.Options{Rows: 513})
	require.EqualError(t, err, "rows = 513: 1 to 512 is expected")
}

func TestTimelinesSurviveAnyHeading(t *testing.T) {
	run := everyKind()
	heading := "measured \x00\xff 環 <b>\n" + strings.Repeat("long ", 60) + strings.Repeat("W", 300)
	panels := []plots.Panel{{Heading: heading, Trace: run}, {Heading: heading, Trace: run}}
	o := plots.Options{Figure: plots.Column, WidthMM: tier.Of(60.0, 0)} // the smallest, or a column
	for o.Format = plots.SVG; o.Format <= plots.PDF; o.Format++ {
		file, err := plots.Timelines(panels, o)
		require.NoError(t, err)
		if o.Format == plots.SVG {
			require.Contains(t, strings.Join(requireXML(t, file), " "), "環 <b> long")
		}
		if o.Format > plots.SVG && !tier.Long {
			continue // TestPicturesAreTheSameBytesAgain has the others
		}
		again, err := plots.Timelines(panels, o)
		require.NoError(t, err)
		require.True(t, bytes.Equal(file, again), o.Format)
	}
	text, err := plots.TimelinesText(panels, plots.TextOptions{})
	require.NoError(t, err)
	require.Contains(t, text, "measured ?? ? <b> long")
	require.Contains(t, text, "\n"+strings.Repeat("W", 80)+"\n")
}

// Whatever two runs did: no line is too long, all of it is ASCII, and the lanes of both have their
// rows, below their headings.
func TestAnyTwoTracesGiveCleanText(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(3)
	properties := gopter.NewProperties(p)
	properties.Property("lines fit, in ASCII", prop.ForAll(
		func(one, other []int64, heading string, width int) (bool, error) {
			text, err := plots.TimelinesText([]plots.Panel{{Heading: "one", Trace: laneFrom(one)},
				{Heading: "other " + heading, Trace: laneFrom(other)}}, plots.TextOptions{Width: width})
			if err != nil {
				return false, err
			}
			rows, second := 0, 0
			for n, line := range strings.Split(text, "\n") {
				if len(line) > width {
					return false, fmt.Errorf("line %q", line)
				}
				if strings.HasPrefix(line, "rank 0  lane 0") {
					rows++
				}
				if strings.HasPrefix(line, "other") && second == 0 {
					second = n
				}
			}
			ascii := !strings.ContainsFunc(text, func(r rune) bool { return r > '~' })
			return ascii && rows == 2 && strings.HasPrefix(text, "one\n") && second >= 3, nil
		},
		gen.SliceOf(gen.Int64Range(0, 1_000_000)), gen.SliceOf(gen.Int64Range(0, 1_000_000)),
		gen.AnyString(), gen.IntRange(40, 200)))
	properties.TestingRun(t)
}
