package hw

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/kernel"
)

// TestCompute: a matmul that is computed in pieces has the bits of one that is not, and ends in
// between if it is to.
func TestCompute(t *testing.T) {
	for _, text := range []string{
		"matmul m=2x65 k=1024 n=2100 float32*bfloat16->float16",
		"scaled_matmul m=3x65 k=1024 n=2000 float8_e4m3fn*float8_e5m2->bfloat16 row-wise bias=bfloat16",
		"scaled_matmul m=200 k=1024 n=1400 float8_e4m3fn*float8_e5m2->bfloat16 tensor-wise",
		"add 8 float32+float32->float32",
	} {
		op, err := kernel.Parse(text)
		require.NoError(t, err)
		r, asked := rand.New(rand.NewPCG(1, 2)), 0
		var operands [][]byte
		for _, o := range op.Operands() {
			b := make([]byte, o.Bytes())
			for i := range b {
				b[i] = 0x30 | byte(r.Uint32())&0x0f // below 1, and no NaN
			}
			operands = append(operands, b)
		}
		want, err := kernel.Apply(op, operands)
		require.NoError(t, err)
		got, err := Compute(op, operands, func() error { asked++; return nil })
		require.NoError(t, err)
		require.True(t, string(want) == string(got), text)
		require.Equal(t, op.IsMatmul(), asked > 1, text)
		if op.IsMatmul() {
			enough := errors.New("enough")
			_, err = Compute(op, operands, func() error { return enough })
			require.Equal(t, enough, err)
			_, err = Compute(op, operands[:1], nil)
			require.ErrorContains(t, err, "the number of operands")
			operands[0] = operands[0][1:]
			_, err = Compute(op, operands, func() error { return nil })
			require.ErrorContains(t, err, "the size of a")
		}
	}
}
