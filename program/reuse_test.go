package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
)

// TestReuse: of a chain of kernels, one tensor lies where one lay two before.
func TestReuse(t *testing.T) {
	low, _ := onTwo(t, program.Lowering{Reuse: true}, vectors("x"), twice("x", "a"), twice("a", "b"),
		twice("b", "c"), twice("c", "d"))
	require.Equal(t, []string{"reuse [c]: 20 KB where a was (a is dead when c begins)",
		"reuse []: 80 KB a rank instead of 100 KB"}, notesOf(low))
	require.Equal(t, low.Where["a"], low.Where["c"])
	require.NotEqual(t, low.Where["a"], low.Where["b"])
	require.Equal(t, program.Usage{Bytes: 80000, Peak: 80000, At: []string{"b"}, Alive: []program.Held{
		{Name: "x", Bytes: 20000}, {Name: "a", Bytes: 20000}, {Name: "b", Bytes: 20000},
		{Name: "d", Bytes: 20000}}}, low.Memory)

	// A call that nobody has waited for may still read a.
	async := sum("a", "e")
	async.Async = true
	low, _ = onTwo(t, program.Lowering{Reuse: true}, vectors("x"), twice("x", "a"), async,
		twice("a", "b"), twice("b", "c"), twice("c", "d"))
	require.Equal(t, []string{"reuse []: 120 KB a rank instead of 120 KB"}, notesOf(low))
	symmetric := vectors("x", "a")
	symmetric[1].Memory = program.Symmetric
	low, _ = onTwo(t, program.Lowering{Reuse: true}, symmetric, twice("x", "a"), twice("a", "b"),
		twice("b", "c"), twice("c", "d"))
	require.Equal(t, "reuse [a]: stays (it is symmetric: another rank may still read it)",
		notesOf(low)[0])
}

// TestReuseOfSizes: a small tensor that stays in use does not keep a large one out of the memory of
// another. Where nothing large follows, it takes that memory, which costs nothing.
func TestReuseOfSizes(t *testing.T) {
	given := append(vectors("x"), program.Tensor{Name: "s", Type: dtype.Float32,
		Shape: collective.Shape{10}})
	a, b, small, last := twice("x", "a"), twice("a", "b"), twice("s", "t"), twice("t", "r")
	low, _ := onTwo(t, program.Lowering{Reuse: true}, given, a, b, small, twice("b", "c"),
		twice("c", "d"), twice("d", "e"), last)
	require.Equal(t, []string{"reuse [c]: 20 KB where a was (a is dead when c begins)",
		"reuse [d]: 20 KB where b was (b is dead when d begins)",
		"reuse []: 80120 B a rank instead of 120120 B"}, notesOf(low))
	low, _ = onTwo(t, program.Lowering{Reuse: true}, given, a, b, small, twice("b", "c"), last)
	require.Equal(t, []string{"reuse [t]: 40 B where a was (a is dead when t begins)",
		"reuse []: 80080 B a rank instead of 80120 B"}, notesOf(low))
}
