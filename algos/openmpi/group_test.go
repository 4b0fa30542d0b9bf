package openmpi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos/algostest"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// TestGroups: where an algorithm declares a group, each rank does what its author says for it; and
// rings, pairwise exchanges and doublings declare one, so that a thousand ranks are one to ask.
func TestGroups(t *testing.T) {
	declared := map[string]int{}
	for _, f := range Functions() {
		for _, a := range f.Algorithms {
			kind, c := f.Kind, Choice{Function: f.Name, Algorithm: a.Name}
			for ranks := 2; ranks <= tier.Of(9, 17); ranks++ {
				for _, count := range []int64{1, 7, 100} {
					spec := collective.Spec{Kind: kind, Type: dtype.Float32, Op: collective.Sum,
						Ranks: ranks, Count: count}
					if !kind.Reduces() {
						spec.Op = 0
					}
					if kind == collective.Barrier {
						spec.Type, spec.Count = 0, 0
					}
					for _, spec.InPlace = range []bool{false, true} {
						if spec.InPlace && spec.Kind == collective.Barrier {
							continue
						}
						p := schedule.Plan{Spec: spec}
						if c.plan(&p) != nil || p.Group == nil {
							continue
						}
						grouped, err := schedule.Build(p)
						require.NoError(t, err, "%v", c)
						require.Equal(t, 1, grouped.RepresentativeRanks())
						p.Group = nil
						each, err := schedule.Build(p)
						require.NoError(t, err, "%v", c)
						for rank := range ranks {
							if schedule.Equal(each, grouped) {
								break // else it is said where they differ
							}
							require.Equal(t, algostest.StepsOf(each, rank), algostest.StepsOf(grouped, rank),
								"%v of %d ranks, %d elements: rank %d", c, ranks, count, rank)
						}
						declared[c.String()]++
					}
				}
			}
		}
	}
	require.Len(t, declared, 14, "%v", declared)
}

// TestSegmentedRingsAreEven: in a ring of several phases each rank does as much as any other, so
// that two of many are enough to ask.
func TestSegmentedRingsAreEven(t *testing.T) {
	spec := collective.Spec{Kind: collective.AllReduce, Type: dtype.Float32, Op: collective.Sum,
		Ranks: 70, Count: 70*100 + 33}
	s, err := Build(Choice{Function: "allreduce", Algorithm: "segmented_ring", Segment: 100}, spec)
	require.NoError(t, err)
	require.Nil(t, s.Group)
	require.Equal(t, 1, s.RepresentativeRanks())
	for rank := range spec.Ranks {
		require.Equal(t, algostest.AmountOf(s, 0), algostest.AmountOf(s, rank), "rank %d", rank)
	}
}
