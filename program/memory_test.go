package program

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/unit"
)

// TestMemoryOfStages: a rank has the tensors of its own stage, and those that no op uses; the
// account is that of the rank that takes most.
func TestMemoryOfStages(t *testing.T) {
	kib := func(name string, n int64) Tensor {
		return Tensor{Name: name, Type: dtype.Uint8, Shape: collective.Shape{n << 10}}
	}
	p := &Program{Ranks: 2, Groups: []Group{{"first", [][]int{{0}}}, {"second", [][]int{{1}}}},
		Tensors: []Tensor{kib("a", 8), kib("b", 16), kib("unused", 1)},
		Ops: []Op{
			{Name: "early", Kernel: "cast", In: []string{"a"}, Out: "c", Group: "first"},
			{Name: "late", Kernel: "cast", In: []string{"b"}, Out: "d", Group: "second"},
			{Name: "later", Kernel: "cast", In: []string{"d"}, Out: "e", Group: "second"},
		}}
	low, err := Lower(p, Lowering{}, nil)
	require.NoError(t, err)
	require.Equal(t, unit.Bytes(3*16+1)<<10, low.Memory.Bytes) // b, d, e and unused
	require.Equal(t, low.Memory.Bytes, low.Memory.Peak)
	require.Equal(t, []string{"late"}, low.Memory.At)

	p.Groups[1].Teams[0][0] = 0 // both stages on one rank
	low, err = Lower(p, Lowering{}, nil)
	require.NoError(t, err)
	require.Equal(t, unit.Bytes(2*8+3*16+1)<<10, low.Memory.Bytes)
}
