package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBoundsOfLongSums: a softmax of 20,000 numbers that are added up one after the other in
// float32, off by hundreds of u, is within the bound; and all layers but an opaque one have one.
func TestBoundsOfLongSums(t *testing.T) {
	o, err := Parse("softmax 1x20000:float32->1x20000:float32")
	require.NoError(t, err)
	x, sum := make([]float64, 20000), float32(1)
	for i := range x[1:] {
		x[i+1] = float64(float32(-0.1))
		sum += float32(math.Exp(x[i+1]))
	}
	data := [][]byte{tensor(o.A, x...)}
	out := applied(t, o, [][]float64{x})
	off := math.Abs(out[0] - float64(1/sum))
	require.Greater(t, off, 300*0x1p-24*out[0])
	require.LessOrEqual(t, off, Bounds(o, data, [][]float64{nil})[0])
	for _, of := range layers() {
		row := of()
		require.Equal(t, row.kind == Opaque, row.bound == nil, row.kind)
	}
}

// TestBoundOfWelford: Welford's moments in float32, of rows far from 0, are within the bound;
// results of operands that are off by as much as is said are, too.
func TestBoundOfWelford(t *testing.T) {
	const n = 500
	o, err := Parse("layer_norm 1x500:float32->1x500:float32")
	require.NoError(t, err)
	rng, worst := rand.New(rand.NewPCG(3, 3)), 0.0
	for range 200 {
		x, y, off := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(float32(1000 + rng.NormFloat64()))
			y[i] = float64(float32(x[i] + 0.01*rng.NormFloat64()))
			off[i] = math.Abs(y[i] - x[i])
		}
		data := [][]byte{tensor(o.A, x...)}
		ours := applied(t, o, [][]float64{x})
		others := applied(t, o, [][]float64{y})
		exact, moved := Bounds(o, data, [][]float64{nil}), Bounds(o, data, [][]float64{off})
		for i, theirs := range welford(x) {
			require.LessOrEqual(t, math.Abs(theirs-ours[i]), exact[i])
			require.LessOrEqual(t, math.Abs(others[i]-ours[i]), moved[i])
			worst = max(worst, math.Abs(theirs-ours[i])/exact[i])
		}
	}
	require.Greater(t, worst, 0.002)
	o, err = Parse("layer_norm 1x2:float32->1x2:float32")
	require.NoError(t, err) // squares of these overflow in float32: PyTorch has NaN
	huge := Bounds(o, [][]byte{tensor(o.A, 1e24, 1e24)}, [][]float64{nil})
	require.True(t, math.IsNaN(huge[0]))
}

// welford returns a layer_norm in float32, by moments that are updated element by element.
func welford(x []float64) []float64 {
	mean, m := float32(0), float32(0)
	for i, of := range x {
		d := float32(of) - mean
		mean += d / float32(i+1)
		m += float32(d * (float32(of) - mean))
	}
	r := 1 / float32(math.Sqrt(float64(m/float32(len(x))+1e-5)))
	out := make([]float64, len(x))
	for i, of := range x {
		out[i] = float64(float32((float32(of) - mean) * r))
	}
	return out
}
