package openmpi_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos/openmpi"
	"collsim/algos/openmpi/openmpitest"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/proof"
)

// TestDecided: what some open choices come to, read off the library's source by hand.
func TestDecided(t *testing.T) {
	for _, test := range []struct {
		choice openmpi.Choice
		ranks  int
		bytes  int64
		want   string
	}{
		{openmpi.Choice{Function: "allreduce"}, 8, 8191, "allreduce recursive_doubling"},
		{openmpi.Choice{Function: "allreduce"}, 8, 8192, "allreduce rabenseifner"},
		{openmpi.Choice{Function: "allreduce"}, 200, 1000,
			"allreduce nonoverlapping, reduce binomial, bcast binary_tree"},
		{openmpi.Choice{Function: "allreduce", Algorithm: "nonoverlapping"}, 4, 1 << 20,
			"allreduce nonoverlapping, reduce linear, bcast chain(fanout=1)"},
		{openmpi.Choice{Function: "allreduce", Algorithm: "nonoverlapping"}, 16, 1 << 20,
			"allreduce nonoverlapping, reduce binomial, bcast scatter_allgather"},
		// A gather of the blocks, and a broadcast of all of them.
		{openmpi.Choice{Function: "allgather", Algorithm: "linear"}, 6, 200 << 10,
			"allgather linear, gather basic_linear, bcast chain(fanout=1)"},
		{openmpi.Choice{Function: "reduce_scatter"}, 4, 1,
			"reduce_scatter non-overlapping, reduce binary, scatter basic_linear"},
		{openmpi.Choice{Function: "reduce_scatter_block", Algorithm: "basic_linear"}, 12, 16 << 10,
			"reduce_scatter_block basic_linear, reduce binomial, scatter linear_nb"},
		{openmpi.Choice{Function: "allreduce", Algorithm: "ring"}, 4, 8, "allreduce ring"},
		{openmpi.Choice{Function: "allreduce"}, 1, 8, "allreduce recursive_doubling"},
		{openmpi.Choice{Function: "allreduce", Algorithm: "nonoverlapping", Inner: "chain", Fanout: 2,
			Segment: 64}, 4, 800, "allreduce nonoverlapping(fanout=2, segment=64, reduce=chain), " +
			"reduce chain(fanout=2, segment=64), bcast binomial(segment=64)"},
	} {
		spec := openmpitest.SpecOf(t, test.choice, test.ranks, 0, test.bytes)
		spec.Type = dtype.Uint8
		require.Equal(t, test.want, openmpi.Names(test.choice.Decided(spec)))
	}
	none := openmpi.Choice{Function: "exscan"}
	require.Equal(t, []openmpi.Choice{none}, none.Decided(collective.Spec{}))
}

// TestOpen: what the library decides by itself is written down and proven for 2 to 20 ranks, at
// every size where it begins to do otherwise; and of all that it leaves open it says what it is.
func TestOpen(t *testing.T) {
	for _, c := range openmpitest.Open() {
		for _, ranks := range []int{2, 3, 4, 6, 7, 9, 16, 20} {
			for _, count := range openmpitest.Turns(t, c, ranks) {
				spec := openmpitest.SpecOf(t, c, ranks, 0, count)
				s, err := openmpi.Build(c, spec)
				require.NoError(t, err, "%v on %d ranks, %d elements", c, ranks, count)
				require.Contains(t, s.Name, fmt.Sprintf("Open MPI %v as ", c))
				_, found := proof.Verify(s, proof.Options{})
				require.Empty(t, found, "%v on %d ranks, %d elements", c, ranks, count)
			}
		}
	}
}

// TestInside: a reduce that cuts the vector, inside of another algorithm.
func TestInside(t *testing.T) {
	for _, c := range []openmpi.Choice{
		{Function: "allreduce", Algorithm: "nonoverlapping", Inner: "rabenseifner"},
		{Function: "reduce_scatter", Algorithm: "non-overlapping", Inner: "rabenseifner"}} {
		for _, count := range []int64{1, 2, 131} {
			spec := openmpitest.SpecOf(t, c, 2, 0, count)
			if spec.Kind == collective.AllReduce {
				spec.Ranks = 6
			}
			s, err := openmpi.Build(c, spec)
			require.NoError(t, err)
			_, found := proof.Verify(s, proof.Options{})
			require.Empty(t, found, "%v", c)
		}
	}
}

// TestProven: what is written down is a proven schedule, also in place, and of any count.
func TestProven(t *testing.T) {
	for i, c := range append(openmpitest.Reducing(), openmpitest.Moving()...) {
		for ranks := 1; ranks <= 9; ranks++ {
			left := !tier.Long && ranks > 3 && (i+ranks)%3 != 0 // in the short tier they take turns
			if left || !openmpitest.Legal(c, ranks) {
				continue
			}
			for root, count := range []int64{64, 1, 2, 5, 0, 131} {
				spec := openmpitest.SpecOf(t, c, ranks, root, count)
				for _, spec.InPlace = range []bool{false, true} {
					if spec.InPlace && (spec.Kind == collective.ReduceScatter ||
						spec.Kind == collective.Barrier) {
						continue
					}
					s, err := openmpi.Build(c, spec)
					require.NoError(t, err, "%v of %d ranks, %d elements", c, ranks, count)
					_, found := proof.Verify(s, proof.Options{})
					require.Empty(t, found, "%v of %d ranks, %d elements", c, ranks, count)
				}
			}
		}
	}
}

// TestRefused: what is not written down is named, with what the library would do.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		choice openmpi.Choice
		ranks  int
		count  int64
		want   string
	}{
		{openmpi.Choice{Function: "allgather", Algorithm: "linear"}, 257, 20, // 20 KiB, halves of 257
			"allgather linear: the library's own choice is gather binomial, bcast " +
				"split_binary_tree; together they are not written down"},
		{openmpi.Choice{Function: "reduce_scatter_block", Algorithm: "basic_linear",
			Inner: "rabenseifner"}, 3, 8, "reduce_scatter_block " +
			"basic_linear(reduce=rabenseifner): the library's own choice is " +
			"reduce rabenseifner, scatter basic_linear; together they are not written down"},
	} {
		spec := openmpitest.SpecOf(t, test.choice, test.ranks, 0, test.count)
		_, err := openmpi.Build(test.choice, spec)
		require.EqualError(t, err, test.want)
	}
}
