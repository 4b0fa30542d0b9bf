package trace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/trace"
	"collsim/unit"
)

func everyRank(int32) bool { return true }

// two makes a run of two ranks: each sends, then receives.
func two() *trace.Trace {
	t := &trace.Trace{End: 40, Tracks: []trace.Track{{Rank: 0}, {Rank: 1}}}
	for rank := range int32(2) {
		t.Intervals = append(t.Intervals,
			trace.Interval{Track: rank, Kind: trace.Send, End: 20},
			trace.Interval{Track: rank, Kind: trace.Recv, Ready: 20, Start: 30, Done: 30, End: 40})
		t.Messages = append(t.Messages, trace.Message{From: rank, To: 1 - rank, Sent: 0, Arrived: 30,
			FromStep: 1, ToStep: 2})
	}
	t.SMs = [][]trace.Level{{{At: 0, Value: 4}, {At: 10, Value: 2}, {At: 35, Value: 0}}, nil}
	t.Memories = []trace.Counter{{Name: "m",
		Samples: []trace.Sample{{At: 0, Value: 0}, {At: 40, Value: 400}}}}
	t.Sort()
	return t
}

// TestPart takes all of a run, a window of it, and a rank.
func TestPart(t *testing.T) {
	all := two()
	require.NoError(t, all.Validate())
	whole := all.Part(everyRank, 0, unit.Forever)
	require.NoError(t, whole.Validate())
	require.Equal(t, all.Intervals, whole.Intervals)
	require.Equal(t, all.Messages, whole.Messages)
	require.Equal(t, all.SMs, whole.SMs)

	part := all.Part(everyRank, 15, 35)
	require.NoError(t, part.Validate())
	require.Equal(t, unit.Time(20), part.End)
	require.Equal(t, []trace.Interval{{Track: 0, Kind: trace.Send, End: 5},
		{Track: 0, Kind: trace.Recv, Ready: 5, Start: 15, Done: 15, End: 20}}, part.On(0))
	require.Len(t, part.Messages, 2)
	require.Equal(t, []trace.Level{{At: 0, Value: 2}, {At: 20, Value: 0}}, part.SMs[0])
	require.Equal(t, []trace.Sample{{At: 0, Value: 0}, {At: 20, Value: 200}}, part.Memories[0].Samples)

	later := all.Part(everyRank, 25, 40)
	require.NoError(t, later.Validate())
	require.Len(t, later.Intervals, 2)
	require.Empty(t, later.Messages, "the steps that sent them are before")

	one := all.Part(func(rank int32) bool { return rank == 1 }, 0, 40)
	require.NoError(t, one.Validate())
	require.Equal(t, []trace.Track{{Rank: 1}}, one.Tracks)
	require.Len(t, one.Intervals, 2)
	require.Empty(t, one.Messages)
}
