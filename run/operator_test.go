package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// TestFactorIsPrinted: wherever a factor is printed, what reads it gets the same number.
func TestFactorIsPrinted(t *testing.T) {
	for _, factor := range []float64{1.0 / 3, 16777217, 1e-300, -0x1p-52} {
		spec := collective.Spec{Kind: collective.Reduce, Op: collective.PremulSum, Factor: factor,
			Type: dtype.Float64, Ranks: 3, Count: 5}
		_, read, err := collective.ParseOp(OpOf(spec))
		require.NoError(t, err)
		require.Equal(t, factor, read)
		a, err := algos.Find(spec.Kind, "chain")
		require.NoError(t, err)
		s, err := a.Build(spec, algos.Options{})
		require.NoError(t, err)
		again, err := schedule.Parse(s.String())
		require.NoError(t, err)
		require.Equal(t, factor, again.Spec.Factor)
	}
}
