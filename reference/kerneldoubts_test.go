package reference

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/kernel"
)

// TestKernelDoubts: however far operands are off within their doubts, the result is within its own;
// and these are no more than a few times what such operands really make of it.
func TestKernelDoubts(t *testing.T) {
	for _, text := range []string{
		"matmul m=3 k=40 n=5 float32*float32->float32",
		"matmul m=3 k=40 n=5 bfloat16*float16->bfloat16",
		"matmul m=3 k=40 n=5 float64*float64->float64",
		"scaled_matmul m=3 k=40 n=5 float8_e4m3fn*float8_e5m2->bfloat16 row-wise bias=bfloat16",
		"scaled_matmul m=3 k=40 n=5 float8_e4m3fn*float8_e4m3fn->float8_e4m3fn tensor-wise result-scale",
		"add 100 float32+bfloat16->bfloat16",
		"cast 100 float32->float8_e5m2",
		"cast 100 float32->int8",
		"sum 2x20x5 axis=1 bfloat16->bfloat16",
		"mean 2x20x5 axis=1 float32->float16",
	} {
		op, err := kernel.Parse(text)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(7, 7))
		for range 30 {
			var operands, others [][]byte
			var doubts []*doubt
			for i, o := range op.Operands() {
				n := o.Shape.Elements()
				x, y, d := make([]float64, n), make([]float64, n), newDoubt(n)
				for k := range x {
					x[k] = r.NormFloat64()
				}
				b := typeOf(o.Type).numbers(x)
				typeOf(o.Type).widened(x, b)
				share := []float64{0.01, 0.2}[r.IntN(2)]
				for k := range x {
					y[k] = x[k] + float64(share*r.NormFloat64())
				}
				other := typeOf(o.Type).numbers(y)
				typeOf(o.Type).widened(y, other)
				for k := range x {
					d.most[k] = math.Abs(y[k] - x[k])
				}
				if i == 1 && r.IntN(2) == 0 { // this one is certain
					d, other = nil, b
				}
				operands, others, doubts = append(operands, b), append(others, other), append(doubts, d)
			}
			d, err := kernelDoubts(&op, operands, doubts)
			require.NoError(t, err)
			a, err := kernel.Apply(op, operands)
			require.NoError(t, err)
			b, err := kernel.Apply(op, others)
			require.NoError(t, err)
			x, y := make([]float64, len(d.most)), make([]float64, len(d.most))
			typeOf(op.Out).widened(x, a)
			typeOf(op.Out).widened(y, b)
			off, most := 0.0, 0.0
			for k := range x {
				require.LessOrEqual(t, math.Abs(x[k]-y[k]), d.most[k], text)
				off, most = max(off, math.Abs(x[k]-y[k])), max(most, d.most[k])
			}
			require.Less(t, most, 40*off+3, text)
		}
	}
}

// A result that is wrong by more is found, though its operands may be off.
func TestWrongAfterSums(t *testing.T) {
	s := twoSums(t, dtype.Float32, true)
	given, err := GivenTensors(s, Normal, 7)
	require.NoError(t, err)
	got, err := RunTensors(s, given, RunOptions{})
	require.NoError(t, err)
	c := getAll[float32](got[3][6])
	c[7] += 1e-4
	got[3][6] = put(c)
	r, err := compareTensors(s, given, got, RunOptions{})
	require.NoError(t, err)
	require.Equal(t, NumbersMismatch, r.Numbers)
	require.Equal(t, int64(1), r.Wrong)
	require.Equal(t, int64(7), r.First.Element)
}
