package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

// TestCampaign lowers random programs by random passes, 1,000 times in the long tier. None may be
// refused that is not without passes, break the proof or the numbers, or give another digest than
// the judge's; nearly all are compared, and every pass has done something in many.
func TestCampaign(t *testing.T) {
	c := contest{seed: 1, each: 4, every: 20}
	n := tier.Raced(20, 250, 1000)
	sum := c.run(0, n, func(_ int, r *result) {
		for i := range r.failures {
			f := r.failures[i].shrink()
			t.Errorf("program %d of seed %d: %s: %s\n%s", r.index, c.seed, f.kind, f.why,
				f.program.text())
		}
	})
	t.Log(sum)
	require.Greater(t, sum.compared, n*8/10)
	require.Less(t, sum.refused, sum.programs/10)
	require.Positive(t, sum.public)
	for _, pass := range []string{"one_shot", "bucket", "coalesce", "in_place", "pipeline", "register",
		"persistent", "reorder", "comm_buffer", "reuse"} {
		require.Greater(t, sum.acted[pass], tier.Raced(-1, n/100, n/50), pass)
	}
}

// TestNumber: a program's number says what it is, and what comes of it.
func TestNumber(t *testing.T) {
	c := contest{seed: 3, each: 3}
	var first []result
	c.run(7, 12, func(_ int, r *result) { first = append(first, *r) })
	for i := len(first) - 1; i >= 0; i-- {
		require.Equal(t, first[i], c.try(7+i))
	}
}
