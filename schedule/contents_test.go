package schedule

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/unit"
)

func TestContents(t *testing.T) {
	s := composed(t)
	// a 4x8 and b 8x2 of bfloat16, c 4x2 of float32, next 4x8 of bfloat16, all 2x4x2 of float32
	require.Equal(t, Contents{Kernels: 1, Collectives: 2, Parts: 3, Tensors: 5,
		Bytes: unit.Bytes(64 + 32 + 32 + 64 + 64)}, s.Contents())
	require.True(t, s.Computes())
	require.True(t, program(t, 3).Computes())
	plain := MustParse(t, plainText)
	require.Equal(t, Contents{Collectives: 1}, plain.Contents())
	require.False(t, plain.Computes())
	opaque := MustParse(t, strings.Replace(plainText, "nop @0", "compute 5ps @0", 1))
	require.False(t, opaque.Computes())
	adds := MustParse(t, strings.Replace(plainText, "nop @0",
		"compute (cast 12 float32->float32) in<0>[0 x4] into out @0", 1))
	require.True(t, adds.Computes())
}

// What computes has the types of its operands, and what is only defined lies in no memory.
func TestProgramRefuses(t *testing.T) {
	text := program(t, 2).String()
	for _, c := range []struct{ was, is, want string }{
		{"tensor b given bfloat16 8x2", "tensor b given float32 8x2", "b is float32 8x2"},
		{"a, b into c post", "a, b into next post",
			"next is of bfloat16; matmul has float32 for out"},
		{"a, b into c post", "a, c into c post", "c is of float32; matmul has bfloat16 for b"},
		{"tensor next result", "tensor next defined", "next is defined, and lies in no memory"},
	} {
		_, err := Parse(strings.ReplaceAll(text, c.was, c.is))
		require.ErrorContains(t, err, c.want, c.is)
	}
}

// TestComposeInPlace: in place, the output lies where the input's tensor is, and must fit there; an
// input of no elements may still say where that is.
func TestComposeInPlace(t *testing.T) {
	gather, err := Build(Plan{Name: "exchange", Spec: collective.Spec{Kind: collective.AllGather,
		Type: dtype.Float32, Ranks: 2, Count: 8, InPlace: true}, Lane: func(l *Lane) {
		l.Send(l.Rank+1, l.In(0))
		l.Recv(l.Rank+1, l.Out(l.Rank+1))
	}})
	require.NoError(t, err)
	for _, elements := range []int64{15, 16} {
		tensors := []Tensor{{Name: "x", Type: dtype.Float32, Shape: collective.Shape{elements}}}
		s, err := Compose("x", 2, tensors, []Part{{Schedule: gather,
			Memory: []Place{{Tensor: FirstTensor}}}})
		if elements < 16 {
			require.ErrorContains(t, err, "in, elements 8 to 16, does not lie in x")
			continue
		}
		require.NoError(t, err)
		memory, base := s.Locate(Spot{Rank: 1}, Input)
		require.Equal(t, FirstTensor, memory)
		require.Equal(t, int64(8), base)
		memory, base = s.Locate(Spot{Rank: 1}, Scratch) // it has none, and need not say where
		require.Zero(t, memory)
		require.Zero(t, base)
	}
}
