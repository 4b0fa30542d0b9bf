package program

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/program/lowering"
)

// sharded returns a program in which ranks keep a part of x, by their places in teams that have the
// ranks in another order.
func sharded(kernel string, shape collective.Shape) *Program {
	return &Program{Ranks: 4,
		Groups:  []Group{{"tp", [][]int{{1, 0}, {2, 3}}}, {"two", [][]int{{0, 1}}}},
		Tensors: []Tensor{{Name: "x", Type: dtype.Float32, Shape: shape}},
		Ops:     []Op{{Name: "cut", Kernel: kernel, In: []string{"x"}, Out: "y"}}}
}

// TestShard: each rank has the kernel of its place, and the text is that of all.
func TestShard(t *testing.T) {
	p := sharded("shard axis=1 over=tp", collective.Shape{3, 8})
	l, err := p.resolve()
	require.NoError(t, err)
	parts := map[int]float64{}
	for _, s := range l.ops[0].shares {
		for _, rank := range s.ranks {
			parts[rank] = s.kernel.Attribute("part")
		}
		require.Equal(t, 2.0, s.kernel.Attribute("of"))
	}
	require.Equal(t, map[int]float64{0: 1, 1: 0, 2: 0, 3: 1}, parts)
	require.Equal(t, collective.Shape{3, 4}, l.ops[0].out.Shape)
	low, err := Lower(p, lowering.Passes{}, nil)
	require.NoError(t, err)
	require.Equal(t, "shard 3x8:float32->3x4:float32 axis=1 over=tp", low.Ops[0].Became)
	for kernel, want := range map[string]string{
		"shard over=none":          "there is no group \"none\"",
		"shard axis=1 over=two":    "rank 2 is in no team of it",
		"shard axis=2 over=tp":     "an axis of 3x8 is expected",
		"shard axis=0 over=tp":     "a divisor of 3",
		"shard part=1 over=tp":     "it is expected once",
		"shard axis=1":             "the number of parts is expected",
		"shard axis=1 part=2 of=2": "one of 2, from 0, is expected",
	} {
		require.ErrorContains(t, sharded(kernel, collective.Shape{3, 8}).Validate(), want, kernel)
	}
}
