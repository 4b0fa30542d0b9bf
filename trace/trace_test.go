package trace_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/trace"
)

// pair is a send of 8 ps, whose receiver waits 5 ps for its first byte and sends an acknowledgement
// of no length.
//
//	rank 0  SSSSSSSS
//	rank 1  .....RRRRR!
func pair() *trace.Trace {
	return &trace.Trace{
		Tracks: []trace.Track{{Rank: 0}, {Rank: 1}},
		Intervals: []trace.Interval{
			{Track: 0, Kind: trace.Send, Verb: trace.VerbSend, Peer: 1, Bytes: 8, Done: 1, End: 8},
			{Track: 1, Kind: trace.Recv, Verb: trace.VerbRecv, Bytes: 8, Start: 5, Done: 5,
				End: 10},
			{Track: 1, Kind: trace.Signal, Ready: 10, Start: 10, Done: 10, End: 10},
		},
		Messages: []trace.Message{
			{From: 0, To: 1, Sent: 1, Arrived: 10, Bytes: 8, FromStep: 1, ToStep: 1},
			{From: 1, To: 0, Sent: 10, Arrived: 10},
		},
		Counters: []trace.Counter{
			{Name: "gpu0->gpu1", Samples: []trace.Sample{{At: 1}, {At: 8, Value: 8}}},
			{Name: "gpu1->gpu0"},
		},
		End: 10,
	}
}

func TestReaders(t *testing.T) {
	p := pair()
	require.NoError(t, p.Validate())
	require.Len(t, p.On(0), 1)
	require.Len(t, p.On(1), 2)
	require.Empty(t, p.On(2))
	require.EqualValues(t, 8, p.Busy(0))
	require.EqualValues(t, 5, p.Busy(1))
	require.EqualValues(t, 0, p.Busy(2))
	require.EqualValues(t, 8, p.Finish(0))
	require.EqualValues(t, 10, p.Finish(1))
	require.EqualValues(t, 0, p.Finish(2))
	require.EqualValues(t, 8, p.Counters[0].Total())
	require.EqualValues(t, 0, p.Counters[1].Total())
	require.NoError(t, (&trace.Trace{}).Validate(), "nothing happened: that is a trace too")
}

func TestSortRestoresTheOrder(t *testing.T) {
	p := pair()
	p.Intervals[0], p.Intervals[2] = p.Intervals[2], p.Intervals[0]
	p.Messages[0], p.Messages[1] = p.Messages[1], p.Messages[0]
	require.Error(t, p.Validate())
	p.Sort()
	require.Equal(t, pair(), p)
}

func TestSortPutsStepsOfNoLengthFirst(t *testing.T) {
	p := &trace.Trace{
		Tracks: []trace.Track{{}},
		Intervals: []trace.Interval{
			{Start: 0, Done: 4, End: 4, Round: 2},
			{Start: 0, Done: 0, End: 0, Round: 0},
			{Start: 0, Done: 0, End: 0, Round: 1},
		},
		End: 4,
	}
	p.Sort()
	require.NoError(t, p.Validate())
	for n, i := range p.Intervals {
		require.EqualValues(t, n, i.Round, "equal steps keep their order")
	}
}

func TestValidateRefuses(t *testing.T) {
	cases := []struct {
		name   string
		damage func(*trace.Trace)
		want   string
	}{
		{"end", func(t *trace.Trace) { t.End = -1 },
			"end = -1 ps: at least 0 is expected"},
		{"negative lane", func(t *trace.Trace) { t.Tracks[1].Lane = -1 },
			"track 1: rank 1 lane -1: at least 0 is expected"},
		{"tracks out of order", func(t *trace.Trace) { t.Tracks[0].Rank = 1 },
			"track 1: rank 1 lane 0 does not follow rank 1 lane 0"},
		{"no such track", func(t *trace.Trace) { t.Intervals[2].Track = 2 },
			"interval 2: track 2: there are 2"},
		{"no such kind", func(t *trace.Trace) { t.Intervals[0].Kind = 77 },
			"interval 0: unknown kind(77)"},
		{"ends before its data is sent", func(t *trace.Trace) { t.Intervals[0].Done = 9 },
			"interval 0: 0 <= ready <= start <= done <= end <= 10 ps is expected, " +
				"not 0, 0, 9, 8"},
		{"beyond the end", func(t *trace.Trace) { t.End = 9 },
			"interval 1: 0 <= ready <= start <= done <= end <= 9 ps is expected, " +
				"not 0, 5, 5, 10"},
		{"bytes", func(t *trace.Trace) { t.Intervals[0].Bytes = -8 },
			"interval 0: -8 bytes: at least 0 is expected"},
		{"out of order", func(t *trace.Trace) {
			t.Intervals[1], t.Intervals[2] = t.Intervals[2], t.Intervals[1]
		}, "interval 2: track 1 start 5 ps comes after track 1 start 10 ps"},
		{"overlap", func(t *trace.Trace) { t.Intervals[2].Ready = 9 },
			"interval 2: ready at 9 ps, while the lane is busy until 10 ps"},
		{"no such receiver", func(t *trace.Trace) { t.Messages[0].To = -1 },
			"message 0: from track 0 to track -1: there are 2"},
		{"arrives before it is sent", func(t *trace.Trace) { t.Messages[0].Arrived = 0 },
			"message 0: 0 <= sent <= arrived <= 10 ps is expected, not 1, 0"},
		{"message bytes", func(t *trace.Trace) { t.Messages[1].Bytes = -1 },
			"message 1: -1 bytes: at least 0 is expected"},
		{"no such sending step", func(t *trace.Trace) { t.Messages[0].FromStep = 2 },
			"message 0: sent by step 2 of track 0: 0 to 1 is expected"},
		{"no such taking step", func(t *trace.Trace) { t.Messages[0].ToStep = -1 },
			"message 0: taken by step -1 of track 1: 0 to 2 is expected"},
		{"a counter beyond the end", func(t *trace.Trace) { t.Counters[0].Samples[1].At = 11 },
			`counter 0 ("gpu0->gpu1"): sample 1: 11 ps: 1 to 10 is expected`},
		{"a counter that goes back in time", func(t *trace.Trace) {
			t.Counters[0].Samples[1].At = 0
		}, `counter 0 ("gpu0->gpu1"): sample 1: 0 ps: 1 to 10 is expected`},
		{"a counter that counts down", func(t *trace.Trace) { t.Counters[0].Samples[0].Value = 9 },
			`counter 0 ("gpu0->gpu1"): sample 1: 8 bytes: at least 9 is expected`},
		{"messages out of order", func(t *trace.Trace) {
			t.Messages[0], t.Messages[1] = t.Messages[1], t.Messages[0]
		}, "message 1: sent at 1 ps, comes after one sent at 10 ps"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := pair()
			c.damage(p)
			require.EqualError(t, p.Validate(), c.want)
		})
	}
}

func TestVerb(t *testing.T) {
	const (
		recv, reduce = trace.VerbRecv, trace.VerbReduce
		copies, send = trace.VerbCopy, trace.VerbSend
	)
	cases := []struct {
		verb trace.Verb
		name string
		kind trace.Kind
	}{
		{0, "none", trace.Signal},
		{send, "send", trace.Send},
		{recv, "recv", trace.Recv},
		{recv | reduce, "recvReduce", trace.Reduce},
		{recv | reduce | copies, "recvReduceCopy", trace.Reduce},
		{recv | reduce | send, "recvReduceSend", trace.Reduce},
		{recv | reduce | copies | send, "recvReduceCopySend", trace.Reduce},
		{recv | copies | send, "recvCopySend", trace.Copy},
		{recv | send, "recvSend", trace.Send},
		{copies, "copy", trace.Copy},
		{reduce, "reduce", trace.Reduce},
		{reduce | copies, "reduce", trace.Reduce},
	}
	for _, c := range cases {
		require.Equal(t, c.name, c.verb.String())
		require.Equal(t, c.kind, c.verb.Kind(), c.name)
	}
}

func TestKindsHaveNames(t *testing.T) {
	want := []string{"send", "recv", "reduce", "copy", "signal", "compute", "kind(6)"}
	for k, name := range want {
		require.Equal(t, name, trace.Kind(k).String())
	}
}

func ExampleTrace_On() {
	run := trace.Trace{
		Tracks: []trace.Track{{Rank: 0}, {Rank: 1}},
		Intervals: []trace.Interval{
			{Track: 1, Kind: trace.Signal, Start: 900, Done: 900, End: 900, Ready: 900},
			{Track: 1, Kind: trace.Reduce, Verb: trace.VerbRecv | trace.VerbReduce,
				Start: 400, Done: 400, End: 900},
			{Track: 0, Kind: trace.Send, Verb: trace.VerbSend, End: 500},
		},
		End: 900,
	}
	run.Sort()
	for _, i := range run.On(1) {
		fmt.Printf("%s waits %d ps, works %d ps\n", i.Name(), i.Start-i.Ready, i.End-i.Start)
	}
	fmt.Println("busy", run.Busy(1), "of", run.End)
	// Output:
	// recvReduce waits 400 ps, works 500 ps
	// signal waits 0 ps, works 0 ps
	// busy 500 ps of 900 ps
}
