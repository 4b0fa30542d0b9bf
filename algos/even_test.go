package algos_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
)

// TestEven: what says that all ranks do as much keeps to it, also where Build asks but two of them.
func TestEven(t *testing.T) {
	tried, several := 0, tier.Of([]int{2, 3, 8, 17, 65}, []int{2, 3, 8, 17, 65, 128})
	for _, a := range append(algos.Table(), algos.Further()...) {
		if !a.Even {
			continue
		}
		for _, ranks := range several {
			if a.Ranks != nil && a.Ranks(ranks) != "" {
				continue
			}
			for _, kind := range a.Kinds {
				spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks, Count: 1000}
				if kind.Reduces() {
					spec.Op = collective.Sum
				}
				if kind.Splits() {
					row := make([]int64, ranks)
					row[ranks-1] = 7
					spec.Count, spec.Splits = 0, [][]int64{row}
					for kind == collective.AllToAllV && len(spec.Splits) < ranks {
						spec.Splits = append(spec.Splits, row)
					}
				}
				s, err := a.Build(spec, algos.Options{Channels: 2})
				require.NoError(t, err)
				require.Equal(t, ranks > 64, s.RepresentativeRanks() == 1, "%s of %d ranks", a.Name, ranks)
				first := algostest.AmountOf(s, 0)
				for rank := 1; rank < ranks; rank++ {
					require.Equal(t, first, algostest.AmountOf(s, rank), "%s rank %d", a.Name, rank)
				}
				tried++
			}
		}
	}
	require.Equal(t, tier.Of(46, 60), tried)
}
