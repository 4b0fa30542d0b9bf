package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParts: what layers that keep, choose or add parts of a tensor give, and their gradients, by
// hand.
func TestParts(t *testing.T) {
	const half = 0.5
	for text, c := range map[string]struct{ x, out, g, dx []float64 }{
		"shard 2x4:float64->2x2:float64 axis=1 part=1 of=2": {[]float64{1, 2, 3, 4, 5, 6, 7, 8},
			[]float64{3, 4, 7, 8}, []float64{9, 8, 7, 6}, []float64{0, 0, 9, 8, 0, 0, 7, 6}},
		"shard 4:float64->2:float64 of=2": {[]float64{1, 2, 3, 4}, []float64{1, 2}, []float64{5, 6},
			[]float64{5, 6, 0, 0}},
		"pad 1x2:float64->2x2:float64 rows=2": {[]float64{1, 2}, []float64{1, 2, 0, 0},
			[]float64{3, 4, 5, 6}, []float64{3, 4}},
		// of equal logits the first are taken
		"route 1x4:float64->1x4:float64 k=2": {[]float64{7, 1, 7, 7}, []float64{half, 0, half, 0},
			[]float64{3, 9, 1, 9}, []float64{half, 0, -half, 0}},
		"route 1x3:float64->1x3:float64 k=1": {[]float64{-2, 5, 4}, []float64{0, 1, 0},
			[]float64{3, 9, 1}, []float64{0, 0, 0}},
	} {
		o, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, c.out, applied(t, o, [][]float64{c.x}), text)
		require.Equal(t, c.dx, applied(t, gradientOf(t, o, 0), [][]float64{c.x, c.g}), text)
	}
}
