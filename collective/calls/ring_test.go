package calls_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective/calls"
	"collsim/internal/tier"
)

// TestRings: a log that has overwritten the oldest calls of each rank, which have completed, gives
// the same finding.
func TestRings(t *testing.T) {
	for seed := range tier.Of[uint64](1000, 10000) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := randomProgram(r)
		p.mutate(r)
		l := p.log(true)
		want := l.Judge().Findings
		for i := range l.Ranks {
			all := l.Ranks[i].Calls
			for n := r.IntN(len(all) + 1); n > 0 && all[0].State == calls.Completed; n-- {
				all = all[1:]
			}
			l.Ranks[i].Calls = all
		}
		got := l.Judge().Findings
		require.Len(t, got, len(want), "seed %d", seed)
		for i := range got {
			require.Equal(t, want[i].Fault, got[i].Fault, "seed %d", seed)
			require.Equal(t, want[i].Ranks, got[i].Ranks, "seed %d", seed)
			require.Equal(t, want[i].Meeting.Seq, got[i].Meeting.Seq, "seed %d", seed)
			require.Equal(t, want[i].Group, got[i].Group, "seed %d", seed)
		}
	}
}
