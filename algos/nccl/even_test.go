package nccl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos/algostest"
	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
)

// TestRingsAreEven: on rings over one node or several, each rank does as much as any other, so that
// two of many are enough to ask.
func TestRingsAreEven(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather,
		collective.ReduceScatter} {
		for _, params := range [][]string{{"per_node", "72"}, {"per_node", "8", "nchannels", "16"},
			{"per_node", "6", "machine", "dgx-a100", "protocol", "ll128"}, {"per_node", "1"}} {
			for _, count := range []int64{1000, 72 * 600} {
				spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: 72, Count: count}
				if kind.Reduces() {
					spec.Op = collective.Sum
				}
				s := build(t, spec, "nccl:ring", params...)
				require.Equal(t, 1, s.RepresentativeRanks(), "%v %v", kind, params)
				for rank := range spec.Ranks {
					require.Equal(t, algostest.AmountOf(s, 0), algostest.AmountOf(s, rank),
						"%v %v: rank %d", kind, params, rank)
				}
			}
		}
	}
}

// TestRingsByOneRank: one rank stands for all in the proof of rings on nodes, whichever order their
// channels have; the proof is that of all ranks.
func TestRingsByOneRank(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather,
		collective.ReduceScatter} {
		for _, params := range [][]string{{"per_node", "4"}, {"per_node", "8", "nchannels", "16"},
			{"per_node", "8", "machine", "dgx-v100", "protocol", "simple"}, {"per_node", "1"},
			{"per_node", "8", "machine", "dgx-a100", "protocol", "ll128"}, {"per_node", "16"}} {
			for _, count := range []int64{16 << 14, 16 << 18, 10_001, 17} {
				walked := 1
				if kind == collective.AllReduce && count == 17 { // pieces without elements
					walked = 16
				}
				spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: 16, Count: count}
				if kind.Reduces() {
					spec.Op = collective.Sum
				}
				s := build(t, spec, "nccl:ring", params...)
				one, wrong := proof.Verify(s, proof.Options{})
				require.Empty(t, wrong)
				require.Equal(t, walked, one.Walked, "%v %v of %d", kind, params, count)
				all, _ := proof.Verify(s, proof.Options{Unfolded: true})
				all.Walked = one.Walked
				require.Equal(t, all, one, "%v %v of %d", kind, params, count)
			}
		}
	}
}
