package arrays

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
)

// someArrays returns random arrays whose names can be in any format: a pure function of the seed.
func someArrays(seed uint64) []Array {
	r := rand.New(rand.NewPCG(seed, 1))
	arrays := make([]Array, 1+r.IntN(4))
	for i := range arrays {
		types := dtype.All()
		a := Array{Name: string(rune('α'+i)) + "\"\\<\n", Type: types[r.IntN(len(types))]}
		size := a.Type.Width()
		a.Shape = make([]int64, r.IntN(5))
		for k := range a.Shape {
			a.Shape[k] = int64(r.IntN(5))
			size *= int(a.Shape[k])
		}
		a.Data = make([]byte, size)
		for k := range a.Data {
			if a.Data[k] = byte(r.Uint32()); a.Type == dtype.Bool {
				a.Data[k] &= 1
			}
		}
		arrays[i] = a
	}
	return arrays
}

// TestThereAndBack is the law that what is written is read again, bit for bit.
func TestThereAndBack(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(1))
	for _, format := range []string{tensor.NPY, tensor.NPZ, tensor.Safetensors} {
		properties.Property(format, prop.ForAll(func(seed uint64) bool {
			arrays := someArrays(seed)
			if format == tensor.NPY {
				arrays = arrays[:1]
			}
			for i := range arrays { // which has no complex128
				if a := &arrays[i]; format == tensor.Safetensors && a.Type == dtype.Complex128 {
					a.Type, a.Data = dtype.Complex64, a.Data[:len(a.Data)/2]
				}
			}
			return sameAgain(t, format, arrays)
		}, gen.UInt64()))
	}
	properties.TestingRun(t)
}

// sameAgain writes arrays and compares what is read, whatever order the format gave them.
func sameAgain(t *testing.T, format string, arrays []Array) bool {
	ready := make([]Array, len(arrays))
	for i := range arrays {
		var err error
		ready[i], err = tensor.Checked(&arrays[i])
		require.NoError(t, err)
	}
	var file bytes.Buffer
	require.NoError(t, encode(&file, format, ready, false))
	got, err := readBytes("x"+format, file.Bytes())
	require.NoError(t, err)
	if len(got) != len(arrays) {
		return false
	}
	for _, want := range arrays {
		found := false
		for _, a := range got {
			if format != tensor.NPY && a.Name != want.Name {
				continue
			}
			as, err := a.As(want.Type)
			require.NoError(t, err)
			found = as.Type == want.Type && tensor.ShapeText(as.Shape) == tensor.ShapeText(want.Shape) &&
				bytes.Equal(as.Data, want.Data)
		}
		if !found {
			return false
		}
	}
	return true
}
