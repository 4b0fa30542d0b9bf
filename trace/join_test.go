package trace

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestJoin: the second run's steps come behind the first's on each track, and totals add up at
// every time at which one of the two has a sample, also where it jumps.
func TestJoin(t *testing.T) {
	run := func(from unit.Time, samples ...Sample) *Trace {
		return &Trace{Tracks: []Track{{Rank: 0}, {Rank: 1}}, End: from + 10,
			Intervals: []Interval{
				{Track: 0, Verb: VerbSend, Kind: VerbSend.Kind(), Bytes: 8, Ready: from, Start: from,
					Done: from, End: from + 8},
				{Track: 1, Verb: VerbRecv, Kind: VerbRecv.Kind(), Bytes: 8, Ready: from + 2,
					Start: from + 9, Done: from + 9, End: from + 10}},
			Messages: []Message{{From: 0, To: 1, Sent: from, Arrived: from + 9, Bytes: 8, FromStep: 1,
				ToStep: 1}},
			Counters: []Counter{{Name: "a->b", Samples: samples}}}
	}
	first := run(0, Sample{0, 0}, Sample{9, 9})
	second := run(8, Sample{6, 0}, Sample{8, 1}, Sample{8, 3}, Sample{18, 8})
	second.Intervals[1].Ready = 10
	j := Join(first, second)
	require.NoError(t, j.Validate())
	require.EqualValues(t, 18, j.End)
	require.Len(t, j.On(0), 2)
	require.Equal(t, []Message{first.Messages[0],
		{From: 0, To: 1, Sent: 8, Arrived: 17, Bytes: 8, FromStep: 2, ToStep: 2}}, j.Messages)
	require.EqualValues(t, 1, second.Messages[0].FromStep, "the second run is as it was")
	// 9 bytes in 9 ps; at 9 the second has 3 + 5·1/10 of a byte, rounded down.
	require.Equal(t, []Counter{{Name: "a->b", Samples: []Sample{{0, 0}, {6, 6}, {8, 9}, {8, 11},
		{9, 12}, {18, 17}}}}, j.Counters)
	require.Equal(t, Counter{Name: "x"}, joinCounters(Counter{Name: "x"}, Counter{}))
}
