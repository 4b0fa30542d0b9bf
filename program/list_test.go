package program_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/host"
	"collsim/internal/tier"
	"collsim/program"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
	"collsim/unit"
)

// sums is a call of several tensors.
func sums(in, out []string) program.Op {
	return program.Op{Name: "sums", Call: "all_reduce", In: in, Outs: out}
}

// soundly holds a lowered program to its proof, its numbers and what the ranks of one process
// compute of it.
func soundly(t *testing.T, low *program.Lowered) {
	t.Helper()
	_, found := proof.Verify(low.Schedule, proof.Options{})
	require.Empty(t, found)
	report, err := reference.Check(low.Schedule, reference.CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, reference.NumbersExact, report.Numbers)
	given, want := runOnNormal(t, low.Schedule)
	d, err := host.New(host.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	done, err := d.Run(context.Background(), &hw.Job{Schedule: low.Schedule, Tensors: given,
		Env: hw.Env{Repetitions: 1}})
	require.NoError(t, err)
	for i := range low.Schedule.Tensors {
		if low.Schedule.Tensors[i].Role.IsResult() {
			require.Equal(t, [][]byte(want[i]), done.Tensors[i])
		}
	}
}

// TestLists: a call of two tensors is two sums of 6 µs on one stream, or with coalesce one of two
// steps of 2 µs and 2 µs, whether it gives new tensors, declared ones, or works in place. In place,
// what kernels write lies where it is summed; what holds something before is copied there and back.
func TestLists(t *testing.T) {
	declared := vectors("x", "y", "c", "d")
	one := " 2 calls in one of 40 KB"
	why := " (they do the same, next to each other)"
	for _, c := range []struct {
		tensors []program.Tensor
		ops     []program.Op
		note    string
	}{
		{vectors("x", "y"), []program.Op{sums([]string{"x", "y"}, []string{"c", "d"})},
			one + ", 2 copied there first" + why},
		{declared, []program.Op{sums([]string{"x", "y"}, []string{"c", "d"})},
			one + ", 2 copied there first" + why},
		{vectors("x", "y"), []program.Op{twice("x", "a"), twice("y", "b"),
			sums([]string{"a", "b"}, []string{"a", "b"})}, one + why},
		{vectors("x", "y"), []program.Op{twice("x", "a"), twice("y", "b"), twice("b", "e"),
			sums([]string{"a", "b"}, []string{"a", "b"}), twice("a", "f"), twice("b", "g")}, one + why},
		{vectors("x", "y"), []program.Op{twice("x", "a"), sum("a", "a"), twice("y", "b"),
			sums([]string{"b", "a"}, []string{"b", "a"}), twice("b", "g")}, one + why},
		{vectors("x", "y"), []program.Op{sum("x", "a"), sum("y", "b"), twice("y", "c"),
			sums([]string{"a", "b"}, []string{"a", "b"}), twice("a", "f"), twice("b", "g")}, one + why},
		{vectors("x", "y"), []program.Op{twice("x", "a"), twice("y", "b"),
			{Name: "before", Call: "all_reduce", In: []string{"b", "a"}, Outs: []string{"b", "a"}},
			twice("b", "c"), sums([]string{"a", "b"}, []string{"a", "b"})},
			one + ", 2 copied there first, and back" + why},
	} {
		plain, took := onTwo(t, program.Lowering{}, c.tensors, c.ops...)
		require.Empty(t, notesOf(plain))
		soundly(t, plain)
		low, shorter := onTwo(t, program.Lowering{Coalesce: true}, c.tensors, c.ops...)
		require.Contains(t, notesOf(low), "coalesce [sums[0] sums[1]]:"+c.note)
		pairs := unit.Time(len(low.Decided.Merged))
		require.Equal(t, pairs*4*unit.Microsecond, took-shorter)
		soundly(t, low)
		all, _ := onTwo(t, program.Lowering{Coalesce: true, InPlace: true, Reorder: true, Reuse: true,
			OneShot: 20000, SymmetricMemory: true}, c.tensors, c.ops...)
		soundly(t, all)
	}
}

// TestListsKeepTheLaws: of random programs whose neighbouring calls of a kind are one of several.
func TestListsKeepTheLaws(t *testing.T) {
	env := machine(t, 4)
	lists := 0
	for seed := uint64(0); lists < tier.Of(4, 20); seed++ {
		p := anyProgram(seed)
		var ops []program.Op
		several := false
		for i := 0; i < len(p.Ops); i++ {
			o := p.Ops[i]
			if i+1 < len(p.Ops) {
				next := &p.Ops[i+1]
				reads := o.In[0] == next.Out || next.In[0] == o.Out || o.Out == next.Out
				if o.Call != "" && o.Call == next.Call && o.Group == next.Group && !reads {
					o.In, o.Outs = []string{o.In[0], next.In[0]}, []string{o.Out, next.Out}
					o.Out, several = "", true
					i++
				}
			}
			ops = append(ops, o)
		}
		if p.Ops = ops; several {
			lists++
			require.Empty(t, brokenLaw(t, p, env), "seed %d", seed)
		}
	}
}

// TestListAlone: of calls that have nothing beside them to become one with, each is one, and it is
// said why; those of which parts would lie apart are one launch.
func TestListAlone(t *testing.T) {
	short := vectors("y")
	short[0].Type = dtype.Int32
	low, took := onTwo(t, program.Lowering{Coalesce: true}, append(vectors("x"), short...),
		sums([]string{"x", "y"}, []string{"a", "b"}))
	require.Equal(t, []string{"coalesce [sums[0]]: on its own (no call next to it does the same)",
		"coalesce [sums[1]]: on its own (no call next to it does the same)"}, notesOf(low))
	require.Equal(t, 12*unit.Microsecond, took)
	soundly(t, low)
	gathers := sums([]string{"x", "y"}, []string{"a", "b"})
	gathers.Call = "all_gather"
	low, _ = onTwo(t, program.Lowering{Coalesce: true}, vectors("x", "y"), gathers)
	require.Equal(t, "coalesce [sums[0] sums[1]]: 2 calls in one launch (they do the same, next to "+
		"each other; each has its own tensors)", notesOf(low)[0])
	soundly(t, low)
}

// TestListAfter: who comes after a call of several comes after each, and each after what that does.
func TestListAfter(t *testing.T) {
	list := sums([]string{"x", "y"}, []string{"a", "b"})
	list.After, list.Async = []string{"wait"}, true
	late := program.Op{Name: "late", Kernel: "opaque 5 us", After: []string{"sums"}}
	for coalesce, want := range map[bool]unit.Time{false: 10 + 12 + 5, true: 10 + 8 + 5} {
		_, took := onTwo(t, program.Lowering{Coalesce: coalesce}, vectors("x", "y"), wait(10), list, late)
		require.Equal(t, want*unit.Microsecond, took)
	}
}

// TestListGradient: the backward pass of a call of several is that of each.
func TestListGradient(t *testing.T) {
	list := sums([]string{"x", "y"}, []string{"a", "b"})
	apart := []program.Op{{Name: "sums[0]", Call: "all_reduce", In: []string{"x"}, Out: "a"},
		{Name: "sums[1]", Call: "all_reduce", In: []string{"y"}, Out: "b"}}
	var lowered []*program.Lowered
	for _, ops := range [][]program.Op{{list}, apart} {
		ops = append(ops, program.Op{Name: "c", Kernel: "add", In: []string{"a", "b"}, Out: "c"})
		low, err := program.Lower(&program.Program{Name: "two", Ranks: 2, Tensors: vectors("x", "y"),
			Ops: ops, Gradient: true}, program.Lowering{}, byName)
		require.NoError(t, err)
		soundly(t, low)
		lowered = append(lowered, low)
	}
	require.True(t, schedule.Equal(lowered[0].Schedule, lowered[1].Schedule))
	require.Greater(t, len(lowered[0].Ops), 3)
}

// TestListErrors: lists that do not fit are refused, by the op that they stand in.
func TestListErrors(t *testing.T) {
	for want, o := range map[string]program.Op{
		"sums: 2 tensors in, 3 out: a call of several has as many of each": sums([]string{"x", "y"},
			[]string{"a", "b", "c"}),
		"sums: it writes a twice": sums([]string{"x", "y"}, []string{"a", "a"}),
		"sums: it writes x in the place of y, and reads it for b": sums([]string{"x", "y"},
			[]string{"b", "x"}),
		"sums: it writes c, or a list: not both": {Name: "sums", Call: "all_reduce",
			In: []string{"x", "y"}, Out: "c", Outs: []string{"a", "b"}},
		"sums: a kernel writes one tensor, not 2": {Name: "sums", Kernel: "add",
			In: []string{"x", "y"}, Outs: []string{"a", "b"}},
		`sums[1]: "z" is no tensor: neither declared nor written by an op before`: sums(
			[]string{"x", "z"}, []string{"a", "b"}),
		"sums[1]: w is float32 7; what is written is float32 5000": sums([]string{"x", "y"},
			[]string{"a", "w"}),
	} {
		p := &program.Program{Ranks: 2, Tensors: append(vectors("x", "y"), program.Tensor{Name: "w",
			Type: dtype.Float32, Shape: collective.Shape{7}}), Ops: []program.Op{twice("x", "t"), o}}
		err := p.Validate()
		require.EqualError(t, err, ""+want)
		var wrong *program.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, 1, wrong.Op)
	}
	taken := &program.Program{Ranks: 2, Tensors: vectors("x", "y"), Ops: []program.Op{
		{Name: "sums[1]", Call: "all_reduce", In: []string{"x"}, Out: "t"},
		sums([]string{"x", "y"}, []string{"a", "b"})}}
	require.EqualError(t, taken.Validate(), `op "sums[1]": a name of its own is expected`)
}
