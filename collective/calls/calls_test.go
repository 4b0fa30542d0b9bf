package calls_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/collective/calls"
)

// of returns the log of ranks in one group of all.
func logOf(ranks ...[]calls.Call) *calls.Log {
	l := &calls.Log{Groups: []calls.Group{{Name: "0"}}}
	for rank, list := range ranks {
		seq := int64(0)
		for i := range list {
			list[i].Root = -1
			if !list[i].Message() {
				list[i].Seq = seq
				seq++
			}
		}
		l.Ranks = append(l.Ranks, calls.Rank{Number: rank, Calls: list})
	}
	return l
}

func reduce(n int64) calls.Call {
	return calls.Call{Kind: collective.AllReduce, Name: "all_reduce", Type: "float32", In: n, Out: n}
}

func message(peer int, sends bool, batch int) calls.Call {
	return calls.Call{Kind: collective.SendRecv, Peer: peer, Sends: sends, Batch: batch, In: 4, Out: 4}
}

// TestFaults: a call left out, one too many and two that have changed places are named as such.
func TestFaults(t *testing.T) {
	usual := func() []calls.Call {
		return []calls.Call{reduce(1), reduce(2), reduce(3), reduce(4), reduce(5)}
	}
	for _, one := range []struct {
		fault calls.Fault
		odd   []calls.Call
	}{{calls.Skipped, []calls.Call{reduce(1), reduce(3), reduce(4), reduce(5)}},
		{calls.Extra, []calls.Call{reduce(1), reduce(9), reduce(2), reduce(3), reduce(4), reduce(5)}},
		{calls.Swapped, []calls.Call{reduce(1), reduce(3), reduce(2), reduce(4), reduce(5)}},
		{calls.Differs, []calls.Call{reduce(1), reduce(9), reduce(3), reduce(4), reduce(5)}},
		{calls.Missing, []calls.Call{reduce(1)}}} {
		found := logOf(usual(), one.odd, usual()).Judge().Findings
		require.Len(t, found, 1)
		require.Equal(t, one.fault, found[0].Fault)
		require.Equal(t, []int{1}, found[0].Ranks)
		require.Equal(t, int64(1), found[0].Meeting.Seq)
	}
}

// TestMessages: two that send first wait for each other, unless the calls are made together.
func TestMessages(t *testing.T) {
	pair := func(batch int) *calls.Log {
		return logOf([]calls.Call{message(1, true, batch), message(1, false, batch)},
			[]calls.Call{message(0, true, batch), message(0, false, batch)})
	}
	require.Empty(t, pair(1).Judge().Findings)
	found := pair(0).Judge().Findings
	require.Len(t, found, 1)
	require.Equal(t, calls.Crossed, found[0].Fault)
	require.Equal(t, []int{0, 1}, found[0].Ranks)
	require.Empty(t, logOf([]calls.Call{message(0, true, 0), message(0, false, 0)}).Judge().Findings)
	alone := logOf([]calls.Call{message(1, true, 0)}, nil).Judge().Findings
	require.Equal(t, calls.Missing, alone[0].Fault)
	require.Equal(t, []int{1}, alone[0].Ranks)
}

// TestStates: what has completed waits for nothing, a log may begin behind it, and what all have
// called alike and has not completed is stuck.
func TestStates(t *testing.T) {
	done, started := reduce(1), reduce(2)
	done.State, started.State = calls.Completed, calls.Started
	l := logOf([]calls.Call{done, started}, []calls.Call{done, started})
	l.Ranks[1].Calls = l.Ranks[1].Calls[1:]
	found := l.Judge().Findings
	require.Len(t, found, 1)
	require.Equal(t, calls.Stuck, found[0].Fault)
	require.Equal(t, []int{0, 1}, found[0].Ranks)
	l = logOf([]calls.Call{done, started})
	l.Groups[0].Ranks = []int{0, 1}
	found = l.Judge().Findings
	require.Equal(t, calls.Missing, found[0].Fault, "a rank without a log")
	require.Equal(t, []int{1}, found[0].Ranks)
	odd := reduce(7)
	odd.State = calls.Completed
	found = logOf([]calls.Call{done}, []calls.Call{odd}, []calls.Call{done}).Judge().Findings
	require.Len(t, found, 1)
	require.True(t, found[0].Completed)
	require.Equal(t, []int{1}, found[0].Ranks)
}

// TestSplits: what a rank expects of an all_to_all is what the other sends it.
func TestSplits(t *testing.T) {
	exchange := func(to, from []int64) calls.Call {
		return calls.Call{Kind: collective.AllToAll, Name: "all_to_all", Uneven: true, To: to,
			From: from, In: to[0] + to[1], Out: from[0] + from[1]}
	}
	require.Empty(t, logOf([]calls.Call{exchange([]int64{1, 2}, []int64{1, 3})},
		[]calls.Call{exchange([]int64{3, 4}, []int64{2, 4})}).Judge().Findings)
	found := logOf([]calls.Call{exchange([]int64{1, 2}, []int64{1, 3})},
		[]calls.Call{exchange([]int64{3, 4}, []int64{5, 4})}).Judge().Findings
	require.Len(t, found, 1)
	require.Equal(t, calls.Difference{Field: calls.SplitsField, Values: []calls.Value{
		{Text: "2", Ranks: []int{0}}, {Text: "5", Ranks: []int{1}}}}, found[0].Difference)
	require.Equal(t, []int{0, 1}, found[0].Ranks)
}

// TestChain: the cause comes first, and the others wait for it.
func TestChain(t *testing.T) {
	inGroup := func(group int) calls.Call {
		c := reduce(1)
		c.Group, c.State = group, calls.Started
		return c
	}
	l := &calls.Log{Groups: []calls.Group{{Name: "a", Ranks: []int{0, 1}},
		{Name: "b", Ranks: []int{1, 2}}},
		Ranks: []calls.Rank{{Number: 0}, {Number: 1, Calls: []calls.Call{inGroup(0)}},
			{Number: 2, Calls: []calls.Call{inGroup(1)}}}}
	j := l.Judge()
	require.Len(t, j.Findings, 1)
	require.Equal(t, []int{0}, j.Findings[0].Ranks)
	require.Len(t, j.Waits, 2)
	require.Equal(t, []int{2}, j.Waits[1].Ranks)
	require.Equal(t, []int{1}, j.Waits[1].For)
}
