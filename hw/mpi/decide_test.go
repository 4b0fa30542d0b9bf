package mpi

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
)

// TestDecisions: every function has a decision for any number of ranks and bytes, in rising order,
// of an algorithm that there is.
func TestDecisions(t *testing.T) {
	require.Len(t, decisions(), len(functions()))
	for _, d := range decisions() {
		f, err := functionOf(d.function)
		require.NoError(t, err)
		ranks := 2
		for i, s := range d.sizes {
			require.Equal(t, i == len(d.sizes)-1, s.ranks == 0, d.function)
			if s.ranks > 0 {
				require.Greater(t, s.ranks, ranks, d.function)
				ranks = s.ranks
			}
			bytes := int64(0)
			for j, l := range s.limits {
				require.Equal(t, j == len(s.limits)-1, l.bytes == 0, "%s below %d", d.function, s.ranks)
				if l.bytes > 0 {
					require.Greater(t, l.bytes, bytes, "%s below %d", d.function, s.ranks)
					bytes = l.bytes
				}
				require.True(t, 1 <= l.algorithm && l.algorithm <= len(f.algorithms), d.function)
			}
		}
	}
}

// TestDecided: what some open choices come to, read off the library's source by hand.
func TestDecided(t *testing.T) {
	for _, test := range []struct {
		choice Choice
		ranks  int
		bytes  int64
		want   string
	}{
		{Choice{Function: "allreduce"}, 8, 8191, "allreduce recursive_doubling"},
		{Choice{Function: "allreduce"}, 8, 8192, "allreduce rabenseifner"},
		{Choice{Function: "allreduce"}, 200, 1000,
			"allreduce nonoverlapping, reduce binomial, bcast binary_tree"},
		{Choice{Function: "allreduce", Algorithm: "nonoverlapping"}, 4, 1 << 20,
			"allreduce nonoverlapping, reduce linear, bcast chain(fanout=1)"},
		{Choice{Function: "allreduce", Algorithm: "nonoverlapping"}, 16, 1 << 20,
			"allreduce nonoverlapping, reduce binomial, bcast scatter_allgather"},
		// A gather of the blocks, and a broadcast of all of them.
		{Choice{Function: "allgather", Algorithm: "linear"}, 6, 200 << 10,
			"allgather linear, gather basic_linear, bcast chain(fanout=1)"},
		{Choice{Function: "reduce_scatter"}, 4, 1, "reduce_scatter non-overlapping, reduce binary, " +
			"scatter basic_linear"},
		{Choice{Function: "reduce_scatter_block", Algorithm: "basic_linear"}, 12, 16 << 10,
			"reduce_scatter_block basic_linear, reduce binomial, scatter linear_nb"},
		{Choice{Function: "allreduce", Algorithm: "ring"}, 4, 8, "allreduce ring"},
		{Choice{Function: "allreduce"}, 1, 8, "allreduce recursive_doubling"},
		{Choice{Function: "allreduce", Algorithm: "nonoverlapping", Inner: "chain", Fanout: 2,
			Segment: 64}, 4, 800, "allreduce nonoverlapping(fanout=2, segment=64, reduce=chain), " +
			"reduce chain(fanout=2, segment=64), bcast binomial(segment=64)"},
	} {
		spec := specOf(t, test.choice, test.ranks, 0, test.bytes)
		spec.Type = dtype.Uint8
		require.Equal(t, test.want, names(test.choice.Decided(spec)))
	}
	none := Choice{Function: "exscan"}
	require.Equal(t, []Choice{none}, none.Decided(collective.Spec{}))
}

// TestLikeOpen: what the library decides by itself is written down and proven for 2 to 20 ranks, at
// every size where it begins to do otherwise; and of all that it leaves open it says what it is.
func TestLikeOpen(t *testing.T) {
	for _, c := range openChoices() {
		for _, ranks := range []int{2, 3, 4, 6, 7, 9, 16, 20} {
			for _, count := range turns(t, c, ranks) {
				spec := specOf(t, c, ranks, 0, count)
				s, err := Like(c, spec)
				require.NoError(t, err, "%v on %d ranks, %d elements", c, ranks, count)
				require.Contains(t, s.Name, fmt.Sprintf("Open MPI %v as ", c))
				_, found := proof.Verify(s, proof.Options{})
				require.Empty(t, found, "%v on %d ranks, %d elements", c, ranks, count)
			}
		}
	}
}

// TestLikeInside: a reduce that cuts the vector, inside of another algorithm.
func TestLikeInside(t *testing.T) {
	for _, c := range []Choice{
		{Function: "allreduce", Algorithm: "nonoverlapping", Inner: "rabenseifner"},
		{Function: "reduce_scatter", Algorithm: "non-overlapping", Inner: "rabenseifner"}} {
		for _, count := range []int64{1, 2, 131} {
			spec := specOf(t, c, 2, 0, count)
			if spec.Kind == collective.AllReduce {
				spec.Ranks = 6
			}
			s, err := Like(c, spec)
			require.NoError(t, err)
			_, found := proof.Verify(s, proof.Options{})
			require.Empty(t, found, "%v", c)
		}
	}
}
