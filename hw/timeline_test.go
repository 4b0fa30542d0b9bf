package hw

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/trace"
	"collsim/unit"
)

// TestTimeline: what ranks have noted becomes the simulator's kind of trace. Rank 1's clock is 10
// behind, and 1 wrong: a message that would arrive before it was sent arrives at once.
func TestTimeline(t *testing.T) {
	c01, c10 := Connection{From: 0, To: 1}, Connection{From: 1, To: 0}
	ranks := []Recording{
		{Lanes: [][]Stamp{{{0, 1, 2, 3, 12}, {3, 6, 7, 8, 12}}},
			Sent: []Messages{{c01, []Mark{{2, 1}}}}, Got: []Messages{{c10, []Mark{{5, 2}}}}},
		{Lanes: [][]Stamp{{{-9, -8, -7, -6, 12}, {-6, -6, -5, -4, 12}}},
			Sent: []Messages{{c10, []Mark{{-7, 1}}}}, Got: []Messages{{c01, []Mark{{-9, 2}}}}},
	}
	ranks[1].Shift(10)
	got := Timeline(parsed(t), 1, ranks)
	require.NoError(t, got.Validate())
	require.Equal(t, []trace.Track{{Rank: 0}, {Rank: 1}}, got.Tracks)
	require.Equal(t, unit.Time(8), got.End)
	require.Equal(t, []trace.Message{
		{From: 0, To: 1, Sent: 2, Arrived: 2, Bytes: 12, FromStep: 1, ToStep: 2},
		{From: 1, To: 0, Sent: 3, Arrived: 5, Bytes: 12, FromStep: 1, ToStep: 2}}, got.Messages)
	require.Equal(t, trace.Interval{Track: 1, Kind: trace.Reduce,
		Verb: trace.VerbRecv | trace.VerbReduce | trace.VerbCopy, Peer: 0, Bytes: 12,
		Ready: 4, Start: 4, Done: 5, End: 6}, got.On(1)[1])
	require.Equal(t, "send", got.On(0)[0].Name())
}
