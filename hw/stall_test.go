package hw

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
)

// TestStalled: the chain is followed from the first that waits; a circle begins with its lowest
// lane.
func TestStalled(t *testing.T) {
	waits := func(rank, on int) schedule.Waiting {
		return schedule.Waiting{Rank: rank, Step: 4, Name: "recv", Chunk: 2, For: "a message",
			OnRank: on}
	}
	for _, c := range []struct {
		waits []schedule.Waiting
		ranks []int
		cycle bool
	}{
		{[]schedule.Waiting{waits(0, 2), waits(1, 2), waits(2, 3)}, []int{0, 2}, false},
		{[]schedule.Waiting{waits(0, 3), waits(3, 2), waits(2, 3)}, []int{2, 3}, true},
		{[]schedule.Waiting{waits(5, 5)}, []int{5}, true},
	} {
		e := Stalled(c.waits, time.Second, 8)
		var ranks []int
		for _, w := range e.Stall.Waits {
			ranks = append(ranks, w.Rank)
		}
		require.Equal(t, c.ranks, ranks)
		require.Equal(t, c.cycle, e.Stall.Cycle)
		require.Equal(t, []int{c.ranks[0], 0, 4}, []int{e.Rank, e.Lane, e.Step})
		var stall *schedule.StallError
		require.ErrorAs(t, error(e), &stall)
	}
	require.EqualError(t, Stalled(nil, time.Second, 0), "wait: timeout: no progress for 1s")
}
