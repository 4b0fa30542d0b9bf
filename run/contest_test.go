package run

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/scenarios"
)

// TestContest: which candidate is the fastest does not depend on which of them wait for others, and
// one that is left out is slower.
func TestContest(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	leftOut := 0
	for range tier.Of(25, 300) {
		presets := []string{"preset = 'switch'", "preset = 'full-mesh'", "preset = 'ring'"}
		text := fmt.Sprintf("[topology]\n%s\nranks = %d\nbandwidth = '%d GB/s'\nlatency = '%d ns'\n"+
			"[sim]\nsharing = '%s'\n[[collective]]\nkind = '%s'\nalgorithm = 'fastest'\nbytes = '%d KiB'\n",
			presets[rng.IntN(3)], 2+rng.IntN(12), 1+rng.IntN(9), 100*rng.IntN(9),
			[]string{"fifo", "fluid"}[rng.IntN(2)],
			[]string{"all_reduce", "all_gather", "broadcast", "all_to_all"}[rng.IntN(4)],
			1<<rng.IntN(14))
		s, err := Load("contest.toml", []byte(text), LoadOptions{})
		require.NoError(t, err)
		p := s.Points[0]
		r := &runner{s: s, numbers: func(f func()) { f() }}
		require.NoError(t, r.enter(p))
		best, all, err := r.compare(p, standsFor(p))
		require.NoError(t, err)
		odd := 0
		other, some, err := compareUnless(r, p, standsFor(p), func(*made) bool {
			odd++
			return odd%3 > 0
		})
		require.NoError(t, err)
		require.Equal(t, best.algorithm, other.algorithm, text)
		leftOut += requireSlower(t, all, some, best.algorithm)
	}
	require.Greater(t, leftOut, 10)
}

// requireSlower compares candidates with those of which some were left out, and counts these.
func requireSlower(t *testing.T, all, some []Candidate, best scenarios.Algorithm) (leftOut int) {
	require.Len(t, some, len(all))
	least := all[0].Time
	for _, c := range all {
		if c.Algorithm.String() == best.String() {
			least = c.Time
		}
	}
	for i, c := range all {
		if some[i].Time >= 0 || c.Time < 0 {
			require.Equal(t, c, some[i])
			continue
		}
		leftOut++
		require.Contains(t, some[i].Why, "at least")
		require.Greater(t, c.Time, least)
	}
	return leftOut
}
