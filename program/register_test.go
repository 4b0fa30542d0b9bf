package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/program"
	"collsim/proof"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// copying lowers ops on two ranks as onTwo does, where a copy of 20 000 bytes takes 2 µs; and
// proves them.
func copying(t *testing.T, passes program.Lowering, iterations int, given []program.Tensor,
	ops ...program.Op) (*program.Lowered, unit.Time) {
	t.Helper()
	graph, err := topology.Switch(2, 10*unit.Rate(unit.GB), unit.Microsecond)
	require.NoError(t, err)
	d := device.Ideal()
	d.CopyRate = 10 * unit.Rate(unit.GB)
	time := timedBy(sim.Env{Graph: graph, Device: d, Slots: 8})
	p := &program.Program{Name: "two", Ranks: 2, Iterations: iterations, Tensors: given, Ops: ops}
	low, err := program.LowerBy(p, passes, program.Guide{Choose: byName, Time: time})
	require.NoError(t, err)
	_, found := proof.Verify(low.Schedule, proof.Options{})
	require.Empty(t, found)
	took, err := time(low.Schedule)
	require.NoError(t, err)
	return low, took
}

// TestCommBuffer: what is private is copied in, 2 µs, and out; in two chunks the second is copied
// in while the first is summed.
func TestCommBuffer(t *testing.T) {
	ops := []program.Op{sum("x", "a"), twice("a", "b"), wait(1)}
	low, took := copying(t, program.Lowering{CommBuffer: 40000}, 1, vectors("x"), ops...)
	require.Equal(t, []string{
		"comm_buffer [sum x]: copied in and out in 1 chunk of 20 KB at most (x is private)",
		"comm_buffer []: 1 copied (11.0 us, 7.00 us without) -4.00 us"}, notesOf(low))
	require.Equal(t, (2+6+2+1)*unit.Microsecond, took)
	require.Equal(t, 80*unit.KB, low.Memory.Workspace) // two halves each of what goes in and comes out

	// 1 µs in; two sums of 2·2.5 µs; 1 µs out, and the kernel of 1 µs.
	low, took = copying(t, program.Lowering{CommBuffer: 20000}, 1, vectors("x"), ops...)
	require.Equal(t, (1+5+5+1+1)*unit.Microsecond, took)
	require.Len(t, low.Ops[0].Parts, 6)
	require.Equal(t, "ring", low.Ops[0].Became)

	// A gather comes out in blocks: 2 µs in, 4 µs, 4 µs out.
	gather := program.Op{Name: "gather", Call: "all_gather", In: []string{"x"}, Out: "xs"}
	_, took = copying(t, program.Lowering{CommBuffer: 1 << 20}, 1, vectors("x"), gather)
	require.Equal(t, (2+4+4)*unit.Microsecond, took)

	// What is registered needs no copies, and what copies itself none besides.
	known := vectors("x", "a")
	known[0].Memory, known[1].Memory = program.Registered, program.Symmetric
	low, _ = copying(t, program.Lowering{CommBuffer: 40000}, 1, append(known, vectors("y", "z")...),
		sum("x", "a"), program.Op{Name: "gather", Call: "all_gather", In: []string{"y"}, Out: "ys",
			Algorithm: "low-contention"}, program.Op{Name: "splits", Call: "all_gatherv splits 5000,5000",
			In: []string{"z"}, Out: "zs"})
	require.Equal(t, []string{
		"lowering [splits]: runs as it is (there is no lowering of all_gatherv)",
		"comm_buffer [sum x]: left as it is (nothing of it is private)",
		"comm_buffer [gather]: left as it is (low-contention copies it to symmetric memory itself)",
		"comm_buffer [splits]: left as it is (ranks have other lengths of all_gatherv)"}, notesOf(low))
	low, _ = copying(t, program.Lowering{CommBuffer: 16}, 1, vectors("x"), sum("x", "a"))
	require.Equal(t, []string{"comm_buffer [sum x]: left as it is (it would be 2500 chunks; at " +
		"most 1024)"}, notesOf(low))
}

// TestCommBufferKeepsValues: of every kind that goes through it, in uneven chunks, in two
// iterations, the proof and the definition stay what they are; and so in groups.
func TestCommBufferKeepsValues(t *testing.T) {
	for _, call := range []string{"all_reduce", "broadcast root 1", "all_gather", "reduce_scatter",
		"all_to_all", "all_to_all axis 1"} {
		for i, group := range []string{"", "pairs"} {
			if i == 1 && call[0] == 'a' { // one of each in groups will do
				continue
			}
			p := &program.Program{Name: "call", Ranks: 4, Iterations: 2, Groups: []program.Group{{
				Name: "pairs", Teams: [][]int{{2, 0}, {1, 3}}}}, Tensors: vectors("x", "unused"),
				Ops: []program.Op{{Name: "call", Call: call, Group: group, In: []string{"x"}, Out: "y"},
					{Name: "again", Kernel: "add", In: []string{"y", "y"}, Out: "z"}}}
			p.Tensors[0].Shape = collective.Shape{4, 8}
			plain, err := program.Lower(p, program.Lowering{}, byName)
			require.NoError(t, err, call)
			low, err := program.Lower(p, program.Lowering{CommBuffer: 70, Reuse: true}, byName)
			require.NoError(t, err, call)
			require.Greater(t, len(low.Schedule.Parts()), len(plain.Schedule.Parts())+4, call)
			_, found := proof.Verify(low.Schedule, proof.Options{})
			require.Empty(t, found, call)
		}
	}
}

// TestRegister: what is registered is not copied, which saves 4 µs of each of two sums, and costs 1
// µs for each of three buffers, the first of which is given.
func TestRegister(t *testing.T) {
	ops := []program.Op{sum("x", "a"), sum("a", "b"), wait(1)}
	on := program.Lowering{CommBuffer: 40000, Register: true, Registering: unit.Microsecond}
	low, took := copying(t, on, 1, vectors("x"), ops...)
	// x and a, then 6 µs, then b, then 6 µs; without, both communication buffers once
	require.Equal(t, []string{
		"register [sum x]: registers x and a (they are private)",
		"register [sum a]: registers b (it is private)",
		"register []: 3 buffers (16.0 us, 23.0 us without) 7.00 us",
		"comm_buffer [sum x]: left as it is (nothing of it is private)",
		"comm_buffer [sum a]: left as it is (nothing of it is private)"}, notesOf(low))
	require.Equal(t, (2+6+1+6+1)*unit.Microsecond, took)
	require.Len(t, low.Registering, 3)

	known := vectors("x", "a")
	known[0].Memory, known[1].Memory = program.Registered, program.Symmetric
	low, _ = copying(t, program.Lowering{Register: true}, 1, known, sum("x", "a"))
	require.Equal(t, []string{"register [sum x]: left as it is (nothing of it is private)"},
		notesOf(low))
}

// TestPersistent: of three iterations, what is written is registered in each, unless it is
// persistent; then it lies where nothing else does.
func TestPersistent(t *testing.T) {
	tensors := vectors("x", "a", "b")
	tensors[1].Memory = program.Registered
	ops := []program.Op{twice("x", "a"), sum("a", "b"), twice("b", "c")}
	on := program.Lowering{Registering: unit.Microsecond}
	low, took := copying(t, on, 3, tensors, ops...)
	require.Equal(t, 3*(1+6)*unit.Microsecond, took)
	require.Len(t, low.Registering, 3)
	on.Persistent = true
	low, took = copying(t, on, 3, tensors, ops...)
	require.Equal(t, (1+3*6)*unit.Microsecond, took)
	require.Equal(t, []string{
		"persistent [sum a]: keeps the allocation of a (b is private: nobody else knows where it lies)",
		"persistent []: 1 buffers (19.0 us, 21.0 us without) 2.00 us"}, notesOf(low))

	// It is not reused, whereas one that is allocated anew is.
	chain := []program.Op{twice("x", "a"), sum("a", "b"), twice("b", "c"), twice("c", "d"),
		twice("d", "e")}
	low, _ = copying(t, program.Lowering{Reuse: true, Persistent: true}, 1, tensors, chain...)
	require.Contains(t, notesOf(low), "reuse [a]: stays (it is a persistent buffer: nothing else "+
		"lies there)")
	require.NotEqual(t, low.Where["a"], low.Where["c"])
	anew, _ := copying(t, program.Lowering{Reuse: true}, 1, tensors, chain...)
	require.Equal(t, anew.Where["a"], anew.Where["c"])
	require.Less(t, anew.Memory.Bytes, low.Memory.Bytes)

	low, _ = copying(t, program.Lowering{Persistent: true}, 1, vectors("x"), sum("x", "y"))
	require.Equal(t, []string{"persistent [sum x]: left as it is (x is private: nobody else knows " +
		"where it lies; y is private: nobody else knows where it lies)"}, notesOf(low))
	tensors[0].Memory = program.Registered
	low, _ = copying(t, program.Lowering{Persistent: true}, 1, tensors[:1], sum("x", "y"))
	require.Equal(t, []string{"persistent [sum x]: left as it is (x is given: it stays where it is; " +
		"y is private: nobody else knows where it lies)"}, notesOf(low))
}
