package proof

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
)

// TestWrongCostsLittle: of folded schedules of all families, right and damaged, the verdict is what
// it should be at every size; what is done to tell all ranks' violations keeps to its bounds,
// counted, and beyond them those of rank 0 are told.
func TestWrongCostsLittle(t *testing.T) {
	sizes := []int{16, 100, 200, 8192}
	if tier.Long {
		sizes = append(sizes, 1000, 2500, 16384, 65536)
	}
	reported := map[string]int{}
	for _, f := range families() {
		for _, n := range sizes {
			plan := f.plan(n)
			s, err := schedule.Build(plan)
			require.NoError(t, err)
			v := newVerifier(s)
			if v.fold, _ = foldingOf(s, Options{}); v.fold == nil && n > 200 {
				continue // all ranks are walked in any case
			}
			proof, found := Verify(s, Options{})
			require.Equal(t, f.right(n), proof != nil, "%s on %d ranks: %v", f.name, n, found)
			if v.fold == nil || proof != nil {
				continue
			}
			first, _ := v.prove(Options{Iterations: 1}, nil)
			require.Nil(t, first)
			if v.onlyStalls() {
				reported["stalls"]++
				continue
			}
			only0 := !slices.ContainsFunc(found, func(x *schedule.Violation) bool { return x.Rank != 0 })
			if !v.mayWalkAll() {
				reported["rank 0"]++
				require.True(t, only0, "%s on %d ranks", f.name, n)
				continue
			}
			reported["all"]++
			all := newVerifier(s)
			all.bounds = true
			all.prove(Options{Iterations: 1}, nil)
			require.False(t, all.exceeds(), "%s on %d ranks: %+v", f.name, n, all.effort)
			require.LessOrEqual(t, all.cells(), int64(mostBytes/cellBytes))
			require.False(t, only0 && n > 16, "%s on %d ranks", f.name, n)
		}
	}
	t.Log(reported)
	require.Greater(t, reported["all"], 20)
	require.Greater(t, reported["rank 0"], 10)
	require.Greater(t, reported["stalls"], 2)
}

// TestEffortEnds: a proof of all ranks that turns out to do more than it may ends there, also where
// it looks for races.
func TestEffortEnds(t *testing.T) {
	for _, f := range families() {
		s, err := schedule.Build(f.plan(100))
		require.NoError(t, err)
		whole := newVerifier(s)
		whole.prove(Options{Iterations: 1}, nil)
		for _, spent := range []int64{0, whole.accesses / 2, whole.accesses - 1} {
			if whole.accesses == 0 {
				continue // nobody begins
			}
			v := newVerifier(s)
			v.bounds, v.accesses = true, mostAccesses-spent
			v.prove(Options{Iterations: 1}, nil)
			require.True(t, v.exceeds(), f.name)
			require.Less(t, v.accesses-mostAccesses, int64(1000), "%s: it ends at once", f.name)
		}
	}
}

// TestFarBlock: the block of an element is named also where there are more than anybody looks
// through.
func TestFarBlock(t *testing.T) {
	for _, f := range families() {
		if f.name != "gather, one block twice" {
			continue
		}
		s, err := schedule.Build(f.plan(1 << 17))
		require.NoError(t, err)
		_, found := Verify(s, Options{})
		require.Equal(t, "missing: rank 0 chunk 65536: output element 131072 is never written",
			found[0].Error())
	}
}
