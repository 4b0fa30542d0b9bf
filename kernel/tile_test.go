package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// TestPlainTiles: without vectors there are the same bits.
func TestPlainTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 4))
	for _, types := range [][3]dtype.Type{
		{dtype.Float32, dtype.Float16, dtype.Float32}, {dtype.Float64, dtype.Float64, dtype.Float64},
		{dtype.Float64, dtype.BFloat16, dtype.Float32}, {dtype.Int8, dtype.Int8, dtype.Int32},
		{dtype.Int8, dtype.Uint8, dtype.Int64}, {dtype.Int32, dtype.Int32, dtype.Int64},
		{dtype.Int32, dtype.Uint32, dtype.Int64}, {dtype.Uint64, dtype.Uint8, dtype.Uint64},
	} {
		for range 20 {
			o := Op{Kind: Matmul, In: ShapeOf(rng.Int64N(70), rng.Int64N(40)), N: rng.Int64N(70),
				A: types[0], B: types[1], Out: types[2]}
			in := random(rng, o, rng.IntN(2) == 0)
			want, err := Apply(o, in)
			require.NoError(t, err)
			got := make([]byte, o.Written())
			switch {
			case !o.A.IsFloat():
				multiply(o, got, in, tiler[uint64]{plainColumns, plainTile[uint64]})
			case o.A == dtype.Float64:
				multiply(o, got, in, tiler[float64]{plainColumns, plainTile[float64]})
			default:
				multiply(o, got, in, tiler[float32]{plainColumns, plainTile[float32]})
			}
			require.Equal(t, want, got, "%v", o)
		}
	}
}
