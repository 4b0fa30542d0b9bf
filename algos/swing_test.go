package algos_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/proof"
)

// TestSwingSendsOnce: on an even number of ranks, where ways round the ring meet, no block is sent
// to a rank twice.
func TestSwingSendsOnce(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter} {
		a, err := algos.Find(kind, "swing")
		require.NoError(t, err)
		for ranks := 2; ranks <= 34; ranks += 2 {
			spec := specOf(kind, ranks, 1)
			s, err := a.Build(spec, algos.Options{})
			require.NoError(t, err)
			proven, violations := proof.Verify(s, proof.Options{})
			require.Empty(t, violations)
			blocks := ranks * (ranks - 1)
			require.Equal(t, int64(blocks*spec.Type.Width()), int64(proven.BytesSent), "%d ranks", ranks)
		}
	}
}
