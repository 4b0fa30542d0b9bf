package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// TestUnscaled: a gradient that was not scaled, or twice, is found; each way to scale is right.
func TestUnscaled(t *testing.T) {
	for _, spec := range []collective.Spec{
		{Kind: collective.Reduce, Op: collective.Avg, Type: dtype.BFloat16, Ranks: 7},
		{Kind: collective.Reduce, Op: collective.Avg, Avg: collective.AvgPost, Type: dtype.BFloat16,
			Ranks: 7},
		{Kind: collective.Reduce, Op: collective.PremulSum, Factor: 0.3, Type: dtype.BFloat16, Ranks: 7},
	} {
		n := numberOf(spec.Type)
		x := make([]byte, 1<<17) // every number of bfloat16
		for i := range 1 << 16 {
			x[2*i], x[2*i+1] = byte(i), byte(i>>8)
		}
		once := n.scale(&spec, x)
		require.Zero(t, n.unscaled(&spec, x, once))
		require.Positive(t, n.unscaled(&spec, x, x))
		require.Positive(t, n.unscaled(&spec, x, n.scale(&spec, once)))
	}
}
