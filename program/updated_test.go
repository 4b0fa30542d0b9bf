package program_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
)

// updating returns a program that reads x, overwrites it in place, and reads it again.
func updating(iterations int) *program.Program {
	vector := func(name string) program.Tensor {
		return program.Tensor{Name: name, Type: dtype.Float32, Shape: collective.Shape{8}}
	}
	return &program.Program{Ranks: 2, Iterations: iterations, Tensors: []program.Tensor{vector("x")},
		Ops: []program.Op{
			{Name: "before", Kernel: "scale by=2", In: []string{"x"}, Out: "old", Stream: "other"},
			{Name: "sum", Call: "all_reduce", Algorithm: "ring", In: []string{"x"}, Out: "x"},
			{Name: "after", Kernel: "scale by=4", In: []string{"x"}, Out: "new"},
		}}
}

// TestUpdated: an op before one that overwrites what is given reads what was there, one behind it
// the result, and the next iteration, too. With whatever passes, it is proven.
func TestUpdated(t *testing.T) {
	for _, lowering := range []program.Lowering{{}, {InPlace: true}, {Bucket: 1 << 20},
		{CommBuffer: 16}, {Reuse: true, Reorder: true}, {OneShot: 1 << 20, SymmetricMemory: true}} {
		low, err := program.Lower(updating(2), lowering, byName)
		require.NoError(t, err)
		s := low.Schedule
		_, found := proof.Verify(s, proof.Options{})
		require.Empty(t, found)
		read, err := schedule.Parse(s.String())
		require.NoError(t, err)
		require.Equal(t, s.String(), read.String())
		given := make(reference.Tensors, len(s.Tensors))
		at := func(name string) int { return int(low.Where[name].Tensor - schedule.FirstTensor) }
		require.Equal(t, schedule.Updated, s.Tensors[at("x")].Role)
		for rank := range 2 {
			x := make([]float32, 8)
			for i := range x {
				x[i] = float32(1 + rank)
			}
			bytes := make([]byte, 4*len(x))
			dtype.Put(bytes, x)
			given[at("x")] = append(given[at("x")], bytes)
		}
		got, err := reference.RunTensors(s, given, reference.RunOptions{})
		require.NoError(t, err)
		for name, want := range map[string]float32{"x": 6, "old": 6, "new": 24} {
			for rank := range 2 {
				off := low.Where[name].Offset(rank)
				var have [1]float32
				dtype.Get(have[:], got[at(name)][rank][4*off:])
				require.Equal(t, want, have[0], "%s of rank %d, %+v", name, rank, lowering)
			}
		}
	}
}

// TestUpdatedGradient: a step of an optimizer that overwrites a parameter waits for the backward
// pass, which reads it; the forward pass cannot overwrite what gradients need.
func TestUpdatedGradient(t *testing.T) {
	matrix := func(name string) program.Tensor {
		return program.Tensor{Name: name, Type: dtype.Float32, Shape: collective.Shape{4, 4}}
	}
	p := &program.Program{Ranks: 2, Gradient: true, Iterations: 2,
		Tensors: []program.Tensor{matrix("a"), matrix("v"), matrix("w")}, Ops: []program.Op{
			{Name: "first", Kernel: "matmul", In: []string{"a", "v"}, Out: "h"},
			{Name: "second", Kernel: "matmul", In: []string{"h", "w"}, Out: "y"},
			{Name: "step w", Kernel: "sgd lr=0.5", In: []string{"w", "w_grad"}, Out: "w"},
			{Name: "mean", Call: "all_reduce avg", Algorithm: "ring", In: []string{"v_grad"}, Out: "v_mean"},
			{Name: "step v", Kernel: "sgd lr=0.5", In: []string{"v", "v_mean"}, Out: "v"},
		}}
	low, err := program.Lower(p, program.Lowering{}, byName)
	require.NoError(t, err)
	var names []string
	for _, o := range low.Ops[:len(low.Ops)/2] {
		names = append(names, o.Names...)
	}
	require.Equal(t, "first second second:grad h second:grad w first:grad a first:grad v mean step w "+
		"step v", strings.ReplaceAll(strings.Join(names, " "), "0: ", ""))
	_, found := proof.Verify(low.Schedule, proof.Options{})
	require.Empty(t, found)
	p.Ops[0].Out, p.Ops[1].In = "a", []string{"a", "w"}
	_, err = program.Lower(p, program.Lowering{}, byName)
	require.EqualError(t, err, "first: a is overwritten; what was there is needed for gradients: it "+
		"needs another name")
}
