package algos_test

import (
	"testing"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/collective"
	"collsim/dtype"

	"github.com/stretchr/testify/require"
)

// forEven is a ring that says to be for even numbers of ranks alone.
func forEven(t *testing.T, kind collective.Kind) algos.Algorithm {
	a, err := algos.Find(kind, "ring")
	require.NoError(t, err)
	limit := func(ranks int) string {
		if ranks%2 != 0 {
			return "an even number"
		}
		return ""
	}
	if a.Of != nil {
		original := *a.Of
		original.Ranks, a.Of = limit, &original
	} else {
		a.Ranks = limit
	}
	return a
}

// TestRanks: an algorithm refuses the numbers of ranks that it is not for, as does its transpose,
// and the suite passes over them.
func TestRanks(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter} {
		a := forEven(t, kind)
		algostest.Test(t, a, 1, 2, 3, 4, 5)
		for ranks, want := range map[int]string{1: "", 4: "",
			5: "ring: 5 ranks: an even number is expected"} {
			spec := collective.Spec{Kind: kind, Ranks: ranks, Count: 8, Type: dtype.Float32}
			if kind.Reduces() {
				spec.Op = collective.Sum
			}
			_, err := a.Build(spec, algos.Options{})
			if want == "" {
				require.NoError(t, err)
				continue
			}
			require.EqualError(t, err, want)
			var unfit *algos.Unfit
			require.ErrorAs(t, err, &unfit)
			_, err = a.Bound(ranks, algos.Options{})
			require.EqualError(t, err, want)
		}
	}
}
