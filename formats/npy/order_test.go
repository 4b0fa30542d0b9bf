package npy

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/formats/internal/tensor"
)

// TestCOrder compares with the definition: the element at a place is the same in both orders.
func TestCOrder(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(2))
	properties.Property("definition", prop.ForAll(func(seed uint64) bool {
		r := rand.New(rand.NewPCG(seed, 2))
		width := tensor.Widths()[r.IntN(4)]
		shape := make([]int64, 1+r.IntN(5))
		count := 1
		for k := range shape {
			shape[k] = int64(1 + r.IntN(6))
			if r.IntN(8) == 0 {
				shape[k] = int64(30 + r.IntN(10)) // beyond a tile
			}
			count *= int(shape[k])
		}
		data := make([]byte, count*width)
		for k := range data {
			data[k] = byte(r.Uint32())
		}
		return bytes.Equal(naiveC(data, shape, width), toC(data, shape, width))
	}, gen.UInt64()))
	properties.TestingRun(t)
}

// naiveC places each element by its indices.
func naiveC(data []byte, shape []int64, width int) []byte {
	out := make([]byte, len(data))
	for i := range len(data) / width {
		index := make([]int, len(shape)) // element i in Fortran order
		rest := i
		for k, s := range shape {
			index[k] = rest % int(s)
			rest /= int(s)
		}
		at := 0
		for k, s := range shape {
			at = at*int(s) + index[k]
		}
		copy(out[at*width:(at+1)*width], data[i*width:])
	}
	return out
}

func TestSwap(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	tests := []struct {
		width int
		want  []byte
	}{
		{1, []byte{1, 2, 3, 4, 5, 6, 7, 8}}, {2, []byte{2, 1, 4, 3, 6, 5, 8, 7}},
		{4, []byte{4, 3, 2, 1, 8, 7, 6, 5}}, {8, []byte{8, 7, 6, 5, 4, 3, 2, 1}},
	}
	for _, tt := range tests {
		got := bytes.Clone(data)
		swap(got, tt.width)
		require.Equal(t, tt.want, got)
	}
}
