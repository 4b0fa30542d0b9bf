package formats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
	"collsim/proof"
)

// TestScratchScales: a schedule of our text form with scratch is one for any other count, and is
// then what its algorithm would have made.
func TestScratchScales(t *testing.T) {
	tried := 0
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			if kind.Splits() || kind == collective.Barrier {
				continue
			}
			spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: 4, Count: 1001}
			if kind.Reduces() {
				spec.Op = collective.Sum
			}
			s, err := a.Build(spec, algos.Options{})
			if err != nil || s.Memory == 0 {
				continue
			}
			for _, count := range []int64{1, 7, 1000, 4096} {
				other := spec
				other.Count = count
				fitted, err := formats.Fit(s, other)
				require.NoError(t, err, "%v %s", kind, a.Name)
				want, err := a.Build(other, algos.Options{})
				require.NoError(t, err)
				require.Equal(t, want.Memory, fitted.Memory, "%v %s, count %d", kind, a.Name, count)
				_, found := proof.Verify(fitted, proof.Options{})
				require.Empty(t, found, "%v %s, count %d", kind, a.Name, count)
				tried++
			}
		}
	}
	require.Greater(t, tried, 10)
}
