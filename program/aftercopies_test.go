package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
	"collsim/proof"
	"collsim/unit"
)

// TestAfterCopies: what an op comes after, copies before it come after as well; and who comes after
// an op comes after the copies behind it.
func TestAfterCopies(t *testing.T) {
	matrix := []program.Tensor{{Name: "x", Type: dtype.Float32, Shape: collective.Shape{4, 50}}}
	turn := program.Op{Name: "turn", Call: "all_to_all axis 1 concat 1", In: []string{"x"}, Out: "y",
		After: []string{"wait"}}
	late := program.Op{Name: "late", Kernel: "opaque 5 us", Stream: "other", After: []string{"turn"}}
	low, _ := onTwo(t, program.Lowering{}, matrix, wait(20), turn, late)
	names := []string{"wait", "turn: layout", "turn", "turn: layout of the result", "late"}
	for i, name := range names {
		require.Equal(t, []string{name}, low.Ops[i].Names)
		require.Equal(t, []int{i}, low.Ops[i].Parts)
	}
	parts := low.Schedule.Parts()
	require.Contains(t, parts[1].After, 0)
	require.Contains(t, parts[4].After, 3)

	// Of a sum of 4 µs in one shot, the copy back is on the stream behind a kernel of 10 µs.
	passes := program.Lowering{OneShot: 20000, SymmetricMemory: true}
	for _, reorder := range []bool{false, true} {
		passes.Reorder = reorder
		late.After = []string{"sum a"}
		_, took := onTwo(t, passes, vectors("x"), twice("x", "a"), wait(10), sum("a", "a"), late)
		require.Equal(t, 15*unit.Microsecond, took)
	}
}

// TestInPlaceOneShotAlone: a sum of 6 µs that nobody reads until 10 µs of another stream are over.
// Only in place and in one shot is it copied back, and waited for by that alone: 10 µs. In one shot
// elsewhere, and in place by a ring, the 10 µs begin when it has ended, after 4 µs and after 6.
func TestInPlaceOneShotAlone(t *testing.T) {
	other := wait(10)
	other.Stream = "other"
	shot := program.Lowering{OneShot: 20000, SymmetricMemory: true}
	for _, c := range []struct {
		passes program.Lowering
		out    string
		want   unit.Time
		ops    int
	}{
		{shot, "a", 10, 4},
		{shot, "b", 14, 3},
		{program.Lowering{}, "a", 16, 3},
		{program.Lowering{InPlace: true}, "b", 16, 3},
	} {
		low, took := onTwo(t, c.passes, vectors("x"), twice("x", "a"), sum("a", c.out), other)
		require.Equal(t, c.want*unit.Microsecond, took)
		require.Len(t, low.Ops, c.ops)
	}
}

// TestCloneStays: a clone is there before what it is of is overwritten, and after that is written,
// whatever is reordered; a clone that nobody needs is none. A sum takes 6 µs, on a stream of its
// own beside a kernel of 10 µs.
func TestCloneStays(t *testing.T) {
	for _, call := range []string{"all_reduce", "broadcast root 1"} {
		for _, passes := range []program.Lowering{{InPlace: true}, {InPlace: true, Reorder: true},
			{InPlace: true, Reorder: true, Reuse: true, Pipeline: program.RepairedPipeline}} {
			total := sum("a", "b")
			total.Call = call
			again := twice("a", "a")
			again.Name = "again"
			ops := []program.Op{wait(10), twice("x", "a"), total, again, twice("b", "c"),
				twice("a", "d")}
			low, _ := onTwo(t, passes, vectors("x"), ops...)
			require.Equal(t, "in_place [sum a]: a clone, and in place on that (a is needed afterwards)",
				notesOf(low)[0])
			_, found := proof.Verify(low.Schedule, proof.Options{})
			require.Empty(t, found)
			at := map[string]int{}
			for i, o := range low.Ops {
				at[o.Names[0]] = i
			}
			require.Less(t, at["a"], at["sum a: clone"])
			require.Less(t, at["sum a: clone"], at["sum a"])
			require.Less(t, at["sum a: clone"], at["again"])
			parts := low.Schedule.Parts() // and nobody overtakes it there
			require.Contains(t, parts[low.Ops[at["sum a: clone"]].Parts[0]].After, low.Ops[at["a"]].Parts[0])
			require.Contains(t, parts[low.Ops[at["again"]].Parts[0]].After,
				low.Ops[at["sum a: clone"]].Parts[0])
			require.NotEqual(t, low.Where["a"], low.Where["b"])
		}
	}
}
