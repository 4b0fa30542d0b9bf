package program_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/program"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// On two ranks 2 µs and 10 GB/s apart, a ring sums 20 000 bytes in two steps of 2 µs and 1 µs: 6
// µs. Kernels take no time there, but opaque ones.

// vectors are tensors of 5000 float32, given.
func vectors(names ...string) (list []program.Tensor) {
	for _, name := range names {
		list = append(list, program.Tensor{Name: name, Type: dtype.Float32,
			Shape: collective.Shape{5000}})
	}
	return list
}

// sum and twice are ops of one tensor, and wait is a kernel that only takes a time.
func sum(in, out string) program.Op {
	return program.Op{Name: "sum " + in, Call: "all_reduce", In: []string{in}, Out: out}
}

func twice(in, out string) program.Op {
	return program.Op{Name: out, Kernel: "add", In: []string{in, in}, Out: out}
}

func wait(micros int) program.Op {
	return program.Op{Name: "wait", Kernel: fmt.Sprintf("opaque %d us", micros)}
}

// onTwo lowers ops on two ranks, and says how long they take.
func onTwo(t *testing.T, passes program.Lowering, given []program.Tensor,
	ops ...program.Op) (*program.Lowered, unit.Time) {
	t.Helper()
	return lowOnTwo(t, &program.Program{Name: "two", Ranks: 2, Tensors: given, Ops: ops}, passes)
}

// timeOnTwo is the time that a program takes on two ranks, as lowOnTwo has it.
func timeOnTwo(t *testing.T, p *program.Program, passes program.Lowering) unit.Time {
	_, took := lowOnTwo(t, p, passes)
	return took
}

// lowOnTwo is a program of two ranks that are joined by a switch, and its time.
func lowOnTwo(t *testing.T, p *program.Program, passes program.Lowering) (*program.Lowered,
	unit.Time) {
	t.Helper()
	graph, err := topology.Switch(2, 10*unit.Rate(unit.GB), unit.Microsecond)
	require.NoError(t, err)
	time := timedBy(sim.Env{Graph: graph, Device: device.Ideal(), Slots: 8})
	low, err := program.LowerBy(p, passes, program.Guide{Choose: byName, Time: time})
	require.NoError(t, err)
	took, err := time(low.Schedule)
	require.NoError(t, err)
	return low, took
}

// notesOf are notes as text.
func notesOf(low *program.Lowered) (lines []string) {
	for _, n := range low.Notes {
		text := fmt.Sprintf("%s %v: %s", n.Pass, n.Ops, n.Did)
		if n.Why != "" {
			text += " (" + n.Why + ")"
		}
		if n.Timed {
			text += fmt.Sprintf(" %v", n.Saved)
		}
		lines = append(lines, text)
	}
	return lines
}

// TestOneShot: one round of 2 µs and 2 µs instead of 6 µs, of sums at the threshold and below, on
// memory that can be symmetric.
func TestOneShot(t *testing.T) {
	on := program.Lowering{OneShot: 20000, SymmetricMemory: true}
	ops := []program.Op{twice("x", "a"), sum("a", "b"), wait(10)}
	low, took := onTwo(t, on, vectors("x"), ops...)
	require.Equal(t, []string{"one_shot [sum a]: one-shot (20 KB, at most 20 KB)",
		"one_shot []: 1 in one shot (14.0 us, 16.0 us without) 2.00 us"}, notesOf(low))
	require.Equal(t, 14*unit.Microsecond, took)
	require.Equal(t, "one-shot", low.Ops[1].Became)
	a := low.Schedule.Tensors[low.Where["a"].Tensor-schedule.FirstTensor]
	require.True(t, a.Symmetric)

	average := sum("a", "b")
	average.Call = "all_reduce avg"
	fixed := []program.Op{sum("x", "a"), sum("a", "b")}
	for _, c := range []struct {
		passes program.Lowering
		ops    []program.Op
		want   []string
	}{
		{program.Lowering{OneShot: 20000}, ops, nil}, // symmetric memory is not enabled
		{program.Lowering{OneShot: 19999, SymmetricMemory: true}, ops,
			[]string{"one_shot [sum a]: left as it is (20 KB, more than 19999 B)"}},
		{on, []program.Op{twice("x", "a"), average},
			[]string{"one_shot [sum a]: left as it is (avg is no sum)"}},
		{on, fixed, []string{
			"one_shot [sum x]: left as it is (x is given: its layout is fixed)",
			"one_shot [sum a]: left as it is (a is the result of a call: its layout is fixed)"}},
	} {
		low, _ := onTwo(t, c.passes, vectors("x"), c.ops...)
		require.Equal(t, c.want, notesOf(low))
	}
}

// TestBucket: two sums of 6 µs become one of two steps of 2 µs and 2 µs. What is given is copied,
// what kernels write is written where it goes.
func TestBucket(t *testing.T) {
	ops := []program.Op{twice("x", "a"), sum("a", "c"), sum("y", "d")}
	low, took := onTwo(t, program.Lowering{Bucket: 40000}, vectors("x", "y"), ops...)
	require.Equal(t, []string{
		"bucket [sum a sum y]: 2 calls in one of 40 KB, 1 copied there first (they do the same, " +
			"until 40 KB are reached)",
		"bucket []: calls: 1 instead of 2 (8.00 us, 12.0 us without) 4.00 us"}, notesOf(low))
	require.Equal(t, 8*unit.Microsecond, took)
	require.Equal(t, low.Where["a"].Tensor, low.Where["packed_y"].Tensor)
	require.Equal(t, int64(5000), low.Where["d"].Offset(0))

	// A bucket is closed when it has reached the size, and before what reads or overwrites.
	low, took = onTwo(t, program.Lowering{Bucket: 20000}, vectors("x", "y"), ops...)
	require.Empty(t, notesOf(low))
	require.Equal(t, 12*unit.Microsecond, took)
	low, took = onTwo(t, program.Lowering{Bucket: 40000}, vectors("x", "y"), sum("x", "c"),
		twice("c", "e"), sum("y", "d"))
	require.Empty(t, notesOf(low))
	require.Equal(t, 12*unit.Microsecond, took)
	gather := sum("x", "c")
	gather.Call = "all_gather"
	low, _ = onTwo(t, program.Lowering{Bucket: 40000}, vectors("x"), gather)
	require.Equal(t, []string{"bucket [sum x]: left as it is (of all_gather the parts of a rank " +
		"would lie apart)"}, notesOf(low))
	again := sum("y", "c")
	low, _ = onTwo(t, program.Lowering{Bucket: 40000}, vectors("x", "y"), sum("x", "c"), again)
	require.Equal(t, "bucket [sum x]: left as it is (c is written more than once)", notesOf(low)[0])
}

// TestCoalesce: neighbours alone, whatever their size.
func TestCoalesce(t *testing.T) {
	low, took := onTwo(t, program.Lowering{Coalesce: true}, vectors("x", "y"), sum("x", "c"),
		sum("y", "d"), wait(3))
	require.Equal(t, []string{
		"coalesce [sum x sum y]: 2 calls in one of 40 KB, 2 copied there first (they do the " +
			"same, next to each other)",
		"coalesce []: calls: 1 instead of 2 (11.0 us, 15.0 us without) 4.00 us"}, notesOf(low))
	require.Equal(t, 11*unit.Microsecond, took)
	low, took = onTwo(t, program.Lowering{Coalesce: true}, vectors("x", "y"), sum("x", "c"), wait(3),
		sum("y", "d"))
	require.Empty(t, notesOf(low))
	require.Equal(t, 12*unit.Microsecond, took)
}

// TestReorder: a sum of 6 µs is issued before a kernel of 10 µs that does not need it, which no
// longer waits.
func TestReorder(t *testing.T) {
	low, took := onTwo(t, program.Lowering{Reorder: true}, vectors("x"), sum("x", "a"), wait(10),
		twice("a", "b"))
	require.Equal(t, []string{"reorder [sum x]: waited for by b (it needs nothing before)",
		"reorder []: wait late (as written 16.0 us; wait late 10.0 us; issue early, wait late 10.0 us; " +
			"issue early, and what waits last 10.0 us) 6.00 us"}, notesOf(low))
	require.Equal(t, 10*unit.Microsecond, took)

	// What waits goes last: the kernel of 10 µs does not need the sum.
	low, took = onTwo(t, program.Lowering{Reorder: true}, vectors("x"), sum("x", "a"), twice("a", "b"),
		wait(10))
	require.Equal(t, 10*unit.Microsecond, took)
	require.Equal(t, "wait", low.Ops[1].Names[0])
	require.Equal(t, []string{"sum x", "wait", "b"}, low.Decided.Order)
	require.Equal(t, []string{"reorder [sum x]: waited for by b (it needs nothing before)",
		"reorder []: issue early, and what waits last (as written 16.0 us; wait late 16.0 us; issue " +
			"early, wait late 16.0 us; issue early, and what waits last 10.0 us) 6.00 us"}, notesOf(low))

	// Nothing can move: all needs what is before.
	low, took = onTwo(t, program.Lowering{Reorder: true}, vectors("x"), twice("x", "a"), sum("a", "b"),
		twice("b", "c"))
	require.Equal(t, []string{"reorder []: as written (as written 6.00 us; wait late 6.00 us; " +
		"issue early, wait late 6.00 us; issue early, and what waits last 6.00 us) 0 s"}, notesOf(low))
	require.Equal(t, 6*unit.Microsecond, took)
}

// mlp is a gather, a matmul, and another whose result is scattered, of matrices of n columns.
func mlp(n int64) []program.Tensor {
	var list []program.Tensor
	for _, name := range []string{"x", "w1", "w2"} {
		list = append(list, program.Tensor{Name: name, Type: dtype.Float32,
			Shape: collective.Shape{n, n}})
	}
	return list
}

// TestPipelineIfFaster: what is hidden must be more than what barriers and launches cost: both are
// simulated, and what is said of them is so.
func TestPipelineIfFaster(t *testing.T) {
	ops := []program.Op{{Name: "gather", Call: "all_gather", In: []string{"x"}, Out: "xs"},
		{Name: "up", Kernel: "matmul", In: []string{"xs", "w1"}, Out: "h"},
		{Name: "down", Kernel: "matmul", In: []string{"h", "w2"}, Out: "p"},
		{Name: "scatter", Call: "reduce_scatter", In: []string{"p"}, Out: "y"}}
	env := machine(t, 4)
	time := timedBy(env)
	faster := map[int64]int{8: 0, 128: 2}
	for n, pipelines := range faster {
		p := &program.Program{Name: "mlp", Ranks: 4, Tensors: mlp(n), Ops: ops}
		took := map[program.Pipeline]unit.Time{}
		for _, how := range []program.Pipeline{program.NoPipeline, program.RepairedPipeline,
			program.PipelineIfFaster} {
			low, err := program.LowerBy(p, program.Lowering{Pipeline: how},
				program.Guide{Choose: byName, Time: time})
			require.NoError(t, err)
			took[how], err = time(low.Schedule)
			require.NoError(t, err)
			if how == program.PipelineIfFaster {
				require.Len(t, low.Decided.Piped, pipelines, "%v", notesOf(low))
			}
		}
		require.Equal(t, min(took[program.NoPipeline], took[program.RepairedPipeline]),
			took[program.PipelineIfFaster])
	}

	// Why there is none: the scattered sum is needed whole, and a sum is not scattered.
	p := &program.Program{Name: "mlp", Ranks: 4, Tensors: mlp(8), Ops: append(ops[2:4:4],
		program.Op{Name: "again", Kernel: "add", In: []string{"p", "p"}, Out: "q"})}
	p.Ops[0].In = []string{"x", "w2"}
	low, err := program.Lower(p, program.Lowering{Pipeline: program.RepairedPipeline}, byName)
	require.NoError(t, err)
	require.Equal(t, []string{"pipeline [scatter]: left as it is (p is needed whole)"}, notesOf(low))
	p.Ops = p.Ops[:2]
	p.Ops[1].Call = "all_reduce"
	low, err = program.Lower(p, program.Lowering{Pipeline: program.RepairedPipeline}, byName)
	require.NoError(t, err)
	require.Equal(t, []string{"pipeline [scatter]: left as it is (there is no pipeline of a matmul " +
		"and all_reduce)"}, notesOf(low))
}

// TestIterations: what all ranks do one after the other takes n times as long n times, if launches
// cost nothing; else every iteration after the first takes as long, and the first what its host
// takes before the first call: two launches.
func TestIterations(t *testing.T) {
	graph, err := topology.Switch(2, 10*unit.Rate(unit.GB), unit.Microsecond)
	require.NoError(t, err)
	for _, launch := range []string{"0 s", "1 us"} {
		d := device.Ideal()
		for _, f := range [][2]string{{"sms", "8"}, {"blocks_per_sm", "4"}, {"launch", launch}} {
			require.NoError(t, device.Find(f[0]).Set(&d, f[1]))
		}
		time := timedBy(sim.Env{Graph: graph, Device: d, Slots: 8})
		var took []unit.Time
		for n := 1; n <= 4; n++ {
			low, err := program.Lower(&program.Program{Name: "chain", Ranks: 2, Iterations: n,
				Tensors: vectors("x"), Ops: []program.Op{twice("x", "a"), sum("a", "b"), wait(4),
					sum("b", "c")}}, program.Lowering{}, byName)
			require.NoError(t, err)
			is, err := time(low.Schedule)
			require.NoError(t, err)
			took = append(took, is)
		}
		steady := 16 * unit.Microsecond
		first := map[string]unit.Time{"0 s": steady, "1 us": steady + 2*unit.Microsecond}[launch]
		for i, is := range took {
			require.Equal(t, first+unit.Time(i)*steady, is, "%s, %d", launch, i+1)
		}
	}
}

// TestInPlace: a sum overwrites what is dead afterwards, and else a copy of it.
func TestInPlace(t *testing.T) {
	low, took := onTwo(t, program.Lowering{InPlace: true}, vectors("x"), twice("x", "a"),
		sum("a", "b"), twice("b", "c"))
	require.Equal(t, []string{"in_place [sum a]: in place (a is dead afterwards)",
		"in_place []: 1 in place (6.00 us, 6.00 us without) 0 s"}, notesOf(low))
	require.Equal(t, 6*unit.Microsecond, took)
	require.Equal(t, low.Where["a"], low.Where["b"])
	require.Equal(t, 60*unit.KB, low.Memory.Bytes)

	low, _ = onTwo(t, program.Lowering{InPlace: true}, vectors("x"), sum("x", "b"), wait(2))
	require.Equal(t, "in_place [sum x]: a clone, and in place on that (x is needed afterwards)",
		notesOf(low)[0])
	require.Equal(t, "sum x: clone", low.Ops[0].Names[0])
	gather := sum("x", "c")
	gather.Call = "all_gather"
	low, _ = onTwo(t, program.Lowering{InPlace: true}, vectors("x"), gather)
	require.Equal(t, []string{"in_place [sum x]: left as it is (all_gather gives its result " +
		"elsewhere)"},
		notesOf(low))

	// One-shot gives its result elsewhere; in place, it is copied back, which alone waits for it.
	low, took = onTwo(t, program.Lowering{OneShot: 20000, SymmetricMemory: true}, vectors("x"),
		twice("x", "a"), program.Op{Name: "sum", Call: "all_reduce", In: []string{"a"}, Out: "a"},
		wait(10))
	require.Equal(t, "one_shot [sum]: one-shot, copied back (20 KB, at most 20 KB)", notesOf(low)[0])
	require.Equal(t, "sum: copy back", low.Ops[2].Names[0])
	require.Equal(t, 14*unit.Microsecond, took) // the kernel is behind the copy on its stream
}

// TestPassesWithoutTimes: where nobody says how long a program takes, or it comes to no end,
// nothing is chosen for being faster, and the others do what they do.
func TestPassesWithoutTimes(t *testing.T) {
	p := &program.Program{Name: "two", Ranks: 2, Tensors: vectors("x", "y"), Ops: []program.Op{
		sum("x", "a"), sum("y", "b"), wait(10)}}
	for why, time := range map[string]func(*schedule.Schedule) (unit.Time, error){
		"nobody says what is faster": nil,
		"a stall": func(*schedule.Schedule) (unit.Time, error) {
			return 0, errors.New("a stall")
		},
	} {
		passes := program.Lowering{Coalesce: true, Reorder: true}
		low, err := program.LowerBy(p, passes, program.Guide{Choose: byName, Time: time})
		require.NoError(t, err)
		require.Len(t, low.Notes, 3)
		require.False(t, low.Notes[1].Timed)
		require.Equal(t, program.Note{Pass: "reorder", Did: "left as it is", Why: why}, low.Notes[2])
	}
}

// TestAfter: an op waits for those that it names, of which it needs nothing; passes keep that.
// Alone, the sums take 12 µs on one stream; the second one behind 20 µs of a kernel begins then.
func TestAfter(t *testing.T) {
	second := sum("b", "B")
	second.After, second.Async = []string{"wait"}, true
	first := sum("a", "A")
	first.Async = true
	for _, c := range []struct {
		passes program.Lowering
		want   unit.Time
	}{
		{program.Lowering{}, 26 * unit.Microsecond},
		{program.Lowering{Reorder: true}, 26 * unit.Microsecond},
		// In one call of two tensors, of 4 + 4 µs, which waits as the second of them does.
		{program.Lowering{Bucket: 1 << 20}, 28 * unit.Microsecond},
	} {
		_, took := onTwo(t, c.passes, vectors("a", "b"), wait(20), first, second)
		require.Equal(t, c.want, took)
	}
	// The kernel that waits for the first sum keeps that from the bucket of the second.
	late := wait(20)
	late.After = []string{"sum a"}
	second.After = nil
	low, took := onTwo(t, program.Lowering{Bucket: 1 << 20}, vectors("a", "b"), first, late, second)
	require.Equal(t, 26*unit.Microsecond, took)
	require.Len(t, low.Ops, 3)
	bad := &program.Program{Ranks: 2, Tensors: vectors("a"), Ops: []program.Op{late, first}}
	require.EqualError(t, bad.Validate(), `wait: "sum a" is no op before it`)
}

// TestNoLowering: what there is no lowering of is said so, and runs as it is, where passes are on.
func TestNoLowering(t *testing.T) {
	ops := []program.Op{{Name: "send", Call: "send_recv", In: []string{"x"}, Out: "a"},
		{Name: "meet", Call: "barrier"},
		{Name: "pick", Call: "reduce", In: []string{"a"}, Out: "b"}}
	plain, took := onTwo(t, program.Lowering{}, vectors("x"), ops...)
	require.Empty(t, notesOf(plain))
	low, as := onTwo(t, program.Lowering{Coalesce: true, InPlace: true}, vectors("x"), ops...)
	require.Equal(t, took, as)
	require.True(t, schedule.Equal(plain.Schedule, low.Schedule))
	require.Equal(t, []string{"lowering [send]: runs as it is (there is no lowering of send_recv)",
		"lowering [meet]: runs as it is (there is no lowering of barrier)",
		"lowering [pick]: runs as it is (there is no lowering of reduce)"}, notesOf(low)[:3])
}
