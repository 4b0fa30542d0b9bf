package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/scenarios"
	"collsim/schedule"
)

// TestDisagrees: what a rank may be told of a run in which rank 2 has died and ranks 0 and 1 have
// ended, where ranks end alone and where they do not.
func TestDisagrees(t *testing.T) {
	f := &Faulted{Hangs: true, Ended: []int{0, 1},
		Faults: []Strike{{Fault: scenarios.Fault{Rank: 2, Does: "dies"}, Struck: true}}}
	rooted := &schedule.Schedule{Spec: collective.Spec{Kind: collective.Broadcast, Ranks: 4}}
	all := &schedule.Schedule{Spec: collective.Spec{Kind: collective.AllReduce, Ranks: 4}}
	const early = "it was told of success, though it depends on a rank that has failed"
	for _, c := range []struct {
		told Told
		of   *schedule.Schedule
		want string
	}{
		{Told{Rank: 0, Times: 1}, rooted, ""},
		{Told{Rank: 0, Times: 1, Err: "rank 2 has died"}, rooted, ""},
		{Told{Rank: 3, Times: 1, Err: "rank 2 has died"}, all, ""},
		{Told{Rank: 0, Times: 0}, rooted, "it was told 0 times"},
		{Told{Rank: 0, Times: 2}, rooted, "it was told 2 times"},
		{Told{Rank: 0, Times: 1}, all, early},
		{Told{Rank: 3, Times: 1}, rooted, early},
		{Told{Rank: 3, Times: 1, Err: "rank 21 has died"}, all,
			"what it was told names no rank that has failed"},
	} {
		require.Equal(t, c.want, f.disagrees(&c.told, c.of), "%+v", c.told)
	}
	f.Hangs = false
	require.Equal(t, "it was told of a failure, where the simulation ends",
		f.disagrees(&Told{Rank: 0, Times: 1, Err: "rank 2 has died"}, all))
}
