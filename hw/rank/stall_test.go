package rank

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
)

// TestStalled: what lanes wait for is told; where none waits, which ranks are in which function.
func TestStalled(t *testing.T) {
	calls := []Status{{Calls: []Call{{3, "MPI_Bcast"}}}, {Calls: []Call{{1, "MPI_Barrier"}}}}
	require.EqualError(t, stalled(calls, time.Second, 0), "rank 1: wait: timeout: no progress "+
		"for 1s: rank 1 is in MPI_Barrier, rank 3 is in MPI_Bcast")
	calls[1].Waits = []schedule.Waiting{{Rank: 3, Lane: 1, Step: 4, Name: "recv", Chunk: 2,
		For: "a message", OnRank: 2}}
	require.EqualError(t, stalled(calls, time.Second, 0), "rank 3 lane 1 step 4: wait: timeout: "+
		"no progress for 1s: 1 lane waits for what never comes\n"+
		"  rank 3 lane 1 step 4  recv chunk 2  waits for a message from rank 2 lane 0, "+
		"which has come to its end")
}
