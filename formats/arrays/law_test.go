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
			a.Data[k] = byte(r.Uint32())
		}
		arrays[i] = a
	}
	return arrays
}

// TestThereAndBack is the law that what is written is read again, bit for bit.
func TestThereAndBack(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(1))
	for _, format := range []string{npy, npz, safetensors} {
		properties.Property(format, prop.ForAll(func(seed uint64) bool {
			arrays := someArrays(seed)
			if format == npy {
				arrays = arrays[:1]
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
		ready[i], err = arrays[i].checked()
		require.NoError(t, err)
	}
	var file bytes.Buffer
	require.NoError(t, encode(&file, format, ready))
	got, err := readBytes("x"+format, file.Bytes())
	require.NoError(t, err)
	if len(got) != len(arrays) {
		return false
	}
	for _, want := range arrays {
		found := false
		for _, a := range got {
			if format != npy && a.Name != want.Name {
				continue
			}
			as, err := a.As(want.Type)
			require.NoError(t, err)
			found = as.Type == want.Type && shapeText(as.Shape) == shapeText(want.Shape) &&
				bytes.Equal(as.Data, want.Data)
		}
		if !found {
			return false
		}
	}
	return true
}

// TestCOrder compares with the definition: the element at a place is the same in both orders.
func TestCOrder(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(2))
	properties.Property("definition", prop.ForAll(func(seed uint64) bool {
		r := rand.New(rand.NewPCG(seed, 2))
		width := voidWidths()[r.IntN(4)]
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

// TestAs holds each pair of types to the rule: the same, or an integer of the width.
func TestAs(t *testing.T) {
	for _, have := range dtype.All() {
		for _, want := range dtype.All() {
			a := Array{Name: "a", Type: have, Shape: []int64{0}, Data: []byte{}}
			as, err := a.As(want)
			if have == want || !have.IsFloat() && have.Width() == want.Width() {
				require.NoError(t, err)
				require.Equal(t, want, as.Type)
				require.Equal(t, want.Width(), as.Width)
				continue
			}
			require.ErrorContains(t, err, "holds "+have.String()+"; "+want.String()+" is expected")
		}
	}
}
