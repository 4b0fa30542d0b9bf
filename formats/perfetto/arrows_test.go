package perfetto_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/perfetto"
	"collsim/trace"
	"collsim/unit"
)

// lane is a track with steps of 10 ns, one after the other from the given times on.
type lane struct {
	rank  int32
	steps []planned
}

type planned struct {
	verb  trace.Verb
	peer  int32
	start unit.Time // ns
}

const (
	sends = trace.VerbSend
	recvs = trace.VerbRecv
)

func run(lanes []lane, messages ...trace.Message) *trace.Trace {
	t := &trace.Trace{End: 1000 * unit.Nanosecond}
	for n, l := range lanes {
		t.Tracks = append(t.Tracks, trace.Track{Rank: l.rank, Lane: int32(n)})
		ready := unit.Time(0)
		for _, s := range l.steps {
			start := s.start * unit.Nanosecond
			end := start + 10*unit.Nanosecond
			t.Intervals = append(t.Intervals, trace.Interval{Track: int32(n), Kind: s.verb.Kind(),
				Verb: s.verb, Peer: s.peer, Ready: ready, Start: start, Done: start, End: end})
			ready = end
		}
	}
	for _, m := range messages {
		m.Sent *= unit.Nanosecond
		m.Arrived *= unit.Nanosecond
		t.Messages = append(t.Messages, m)
	}
	t.Sort()
	return t
}

// TestArrows: what is certain has an arrow. Slices are numbered lane by lane.
func TestArrows(t *testing.T) {
	cases := []struct {
		name string
		run  *trace.Trace
		want []shownArrow
	}{
		{"told", run([]lane{
			{0, []planned{{sends, 1, 0}, {sends, 1, 10}}},
			{1, []planned{{recvs, 0, 30}, {recvs, 0, 40}}},
		}, trace.Message{From: 0, To: 1, Sent: 1, Arrived: 12, FromStep: 2, ToStep: 1}),
			[]shownArrow{{1, 2}}},
		{"one connection, in order", run([]lane{
			{0, []planned{{sends, 1, 0}, {sends, 1, 10}}},
			{1, []planned{{recvs | sends, 2, 20}, {recvs | sends, 2, 30}}},
			{2, []planned{{recvs, 1, 40}, {recvs, 1, 50}}},
		}, trace.Message{From: 0, To: 1, Sent: 0, Arrived: 12},
			trace.Message{From: 0, To: 1, Sent: 10, Arrived: 22},
			trace.Message{From: 1, To: 2, Sent: 20, Arrived: 32},
			trace.Message{From: 1, To: 2, Sent: 30, Arrived: 42}),
			[]shownArrow{{0, 2}, {1, 3}, {2, 4}, {3, 5}}},
		{"two senders that are named, the later one first", run([]lane{
			{0, []planned{{sends, 2, 0}}},
			{1, []planned{{sends, 2, 0}}},
			{2, []planned{{recvs, 1, 20}, {recvs, 0, 30}}},
		}, trace.Message{From: 0, To: 2, Sent: 0, Arrived: 12},
			trace.Message{From: 1, To: 2, Sent: 0, Arrived: 12}),
			[]shownArrow{{0, 3}, {1, 2}}},
		{"two senders, and a step that names its receiver: either could be meant", run([]lane{
			{0, []planned{{sends, 2, 0}}},
			{1, []planned{{sends, 2, 0}}},
			{2, []planned{{recvs | sends, 3, 20}, {recvs, 0, 30}}},
			{3, []planned{{recvs, 2, 40}}},
		}, trace.Message{From: 0, To: 2, Sent: 0, Arrived: 12},
			trace.Message{From: 1, To: 2, Sent: 0, Arrived: 12},
			trace.Message{From: 2, To: 3, Sent: 20, Arrived: 32}),
			[]shownArrow{{2, 4}}},
		{"two lanes of one rank: either could be meant", run([]lane{
			{0, []planned{{sends, 1, 0}}},
			{0, []planned{{sends, 1, 0}}},
			{1, []planned{{recvs, 0, 20}, {recvs, 0, 30}}},
		}, trace.Message{From: 0, To: 2, Sent: 0, Arrived: 12},
			trace.Message{From: 1, To: 2, Sent: 0, Arrived: 12}), nil},
		{"each step sends to both, each takes from both", run([]lane{
			{0, []planned{{sends, 1, 0}, {sends, 1, 10}}},
			{1, []planned{{recvs | sends, 3, 20}, {recvs | sends, 3, 30}}},
			{2, []planned{{recvs | sends, 3, 20}, {recvs | sends, 3, 30}}},
			{3, []planned{{recvs, 1, 40}, {recvs, 1, 50}}},
		}, trace.Message{From: 0, To: 1, Sent: 0, Arrived: 12},
			trace.Message{From: 0, To: 2, Sent: 0, Arrived: 12},
			trace.Message{From: 0, To: 1, Sent: 10, Arrived: 22},
			trace.Message{From: 0, To: 2, Sent: 10, Arrived: 22},
			trace.Message{From: 1, To: 3, Sent: 20, Arrived: 32},
			trace.Message{From: 2, To: 3, Sent: 20, Arrived: 32},
			trace.Message{From: 1, To: 3, Sent: 30, Arrived: 42},
			trace.Message{From: 2, To: 3, Sent: 30, Arrived: 42}),
			[]shownArrow{{0, 2}, {0, 4}, {1, 3}, {1, 5}, {2, 6}, {3, 7}, {4, 6}, {5, 7}}},
		{"the first step sends to both, the second to one: only one is named", run([]lane{
			{0, []planned{{sends, 1, 0}, {sends, 2, 10}}},
			{1, []planned{{recvs, 0, 20}}},
			{2, []planned{{recvs, 0, 20}, {recvs, 0, 30}}},
		}, trace.Message{From: 0, To: 1, Sent: 0, Arrived: 12},
			trace.Message{From: 0, To: 2, Sent: 0, Arrived: 12},
			trace.Message{From: 0, To: 2, Sent: 10, Arrived: 22}), nil},
		{"a message that nobody took", run([]lane{
			{0, []planned{{sends, 1, 0}, {sends, 1, 10}}},
			{1, []planned{{recvs, 0, 20}}},
		}, trace.Message{From: 0, To: 1, Sent: 0, Arrived: 12},
			trace.Message{From: 0, To: 1, Sent: 10, Arrived: 22}), nil},
		{"taken before it came: not that one", run([]lane{
			{0, []planned{{sends, 1, 0}}},
			{1, []planned{{recvs, 0, 5}}},
		}, trace.Message{From: 0, To: 1, Sent: 0, Arrived: 12}), nil},
		{"signals have no verb to go by", run([]lane{
			{0, []planned{{0, 1, 0}}},
			{1, []planned{{0, 0, 20}}},
		}, trace.Message{From: 0, To: 1, Sent: 0, Arrived: 12}), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, c.run.Validate())
			proto, json := write(t, c.run, perfetto.Options{})
			require.Equal(t, c.want, readProto(t, proto).shown.Arrows)
			require.Equal(t, c.want, readJSON(t, json).Arrows)
		})
	}
}
