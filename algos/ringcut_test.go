package algos_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
)

// TestRingCuts: chunks are as long as the library that is named cuts them, and the ring is proven,
// also where chunks are shorter or empty. Rank 0's last receive is of chunk 1 or 3.
func TestRingCuts(t *testing.T) {
	ring, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	for _, c := range []struct {
		order, cut string
		count      int64
		bytes      int64 // that all send: each chunk goes 2·3 hops, of 1 byte an element
	}{
		{"gloo", "order", 203, 6 * 203}, {"gloo", "even", 203, 6 * 203}, {"nccl", "equal", 203, 6 * 203},
		{"openmpi", "pairs", 5, 6 * 5}, {"gloo", "order", 1, 6}, {"nccl", "equal", 6, 36},
	} {
		spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Uint8,
			Ranks: 4, Count: c.count}
		s, err := ring.Build(spec, algos.Options{Params: []algos.Param{{Name: "order", Value: c.order},
			{Name: "cut", Value: c.cut}}})
		require.NoError(t, err)
		proven, wrong := proof.Verify(s, proof.Options{})
		require.Empty(t, wrong, "%+v", c)
		require.EqualValues(t, c.bytes, proven.BytesSent, "%+v", c)
	}
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Uint8,
		Ranks: 4, Count: 203}
	for cut, longest := range map[string]int64{"even": 51, "equal": 51, "pairs": 52} {
		form, err := ring.ClosedForm(spec, algos.Options{Params: []algos.Param{{Name: "cut",
			Value: cut}}}, algos.Model{Rate: 1e12})
		require.NoError(t, err)
		require.EqualValues(t, 6*longest, form, cut)
	}
	_, err = ring.Build(spec, algos.Options{Params: []algos.Param{{Name: "cut", Value: "odd"}}})
	require.ErrorContains(t, err, "cut=odd: one of order, even, equal, pairs is expected")
}
