package cuda

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/kernel"
	"collsim/program"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
	"collsim/unit"
)

// computes is a schedule of one rank that computes a kernel of given tensors.
func computes(t *testing.T, o kernel.Op) *schedule.Schedule {
	t.Helper()
	text := "schedule one\ncollective custom float32\nranks 1\n"
	var names []string
	for _, operand := range o.Operands() {
		names = append(names, operand.Name)
		text += fmt.Sprintf("tensor %s given %v %v\n", operand.Name, operand.Type, operand.Shape)
	}
	out := o.Output()
	list := strings.Join(names, ", ")
	text += fmt.Sprintf("tensor out_ result %v %v\ndefine out_ = (%v) of %s\nrank 0\n  lane 0\n"+
		"    compute (%v) %s into out_ @0\n", out.Type, out.Shape, o, list, o, list)
	s, err := schedule.Parse(text)
	require.NoError(t, err, text)
	return s
}

// anyTensors are values of given tensors of which every bit may be anything.
func anyTensors(s *schedule.Schedule, r *rand.Rand) [][][]byte {
	all := make([][][]byte, len(s.Tensors))
	for i := range s.Tensors {
		if !s.Tensors[i].Role.IsGiven() {
			continue
		}
		for rank := range s.Spec.Ranks {
			b := make([]byte, hw.BufferBytes(s, schedule.FirstTensor+schedule.Buffer(i), rank))
			for j := range b {
				b[j] = byte(r.Uint32())
			}
			all[i] = append(all[i], b)
		}
	}
	return all
}

// agreesOnTensors compares the results of a program with the interpreter's.
func agreesOnTensors(t *testing.T, e hw.Executor, s *schedule.Schedule, given [][][]byte,
	env hw.Env) *hw.Result {
	t.Helper()
	want, err := reference.RunTensors(s, given, reference.RunOptions{})
	require.NoError(t, err)
	result, err := e.Run(context.Background(), &hw.Job{Schedule: s, Tensors: given, Env: env})
	require.NoError(t, err, s.Name)
	if env.Trace {
		require.NoError(t, result.Trace.Validate())
	}
	for i := range s.Tensors {
		if !s.Tensors[i].Role.IsResult() {
			continue
		}
		for rank := range s.Spec.Ranks {
			require.Equal(t, want[i][rank], append([]byte{}, result.Tensors[i][rank]...),
				"%s: %s on rank %d\n%s", s.Name, s.Tensors[i].Name, rank, s)
		}
	}
	return result
}

// someOps are kernels of all kinds, in which each type is each operand and result that it may be.
func someOps(t *testing.T) (list []kernel.Op) {
	t.Helper()
	all := dtype.All()
	add := func(o kernel.Op) {
		bools := o.Kind == kernel.Cast && (o.A == dtype.Bool || o.Out == dtype.Bool) // refused
		if o.Validate() == nil && !bools {
			list = append(list, o)
		}
	}
	shape := kernel.ShapeOf(3, 5, 7)
	for i, a := range all {
		for j, b := range all {
			add(kernel.Op{Kind: kernel.Cast, In: kernel.ShapeOf(2000), A: a, Out: b})
			if out := all[(i+j)%len(all)]; out.IsFloat() == a.IsFloat() {
				add(kernel.Op{Kind: kernel.Matmul, In: kernel.ShapeOf(2, 9, 17), N: 5, A: a, B: b, Out: out})
			}
			add(kernel.Op{Kind: kernel.Add, In: kernel.ShapeOf(1000), A: a, B: b,
				Out: []dtype.Type{a, b}[(i+j)%2]})
			if j%5 == i%5 {
				add(kernel.Op{Kind: kernel.Sum, In: shape, Axis: (i + j) % 3, A: a, Out: b})
				add(kernel.Op{Kind: kernel.Mean, In: shape, Axis: (i + j + 1) % 3, A: a, Out: b})
			}
		}
		add(kernel.Op{Kind: kernel.Move, In: shape, Axis: 1 + i%2, A: a, Out: a})
		add(kernel.Op{Kind: kernel.Expand, In: shape, Axis: i % 4, N: 6, A: a, Out: a})
		for j, out := range all {
			if i%3 == j%3 {
				add(kernel.Op{Kind: kernel.Scale, In: shape, Factor: 0.3, A: a, Out: out})
			}
		}
	}
	for _, text := range []string{
		"matmul m=1 k=0 n=3 bfloat16*bfloat16->bfloat16",
		"matmul m=40 k=33 n=29 bfloat16*bfloat16->bfloat16",
		"sum 2x0 axis=1 float32->float32",
		"expand 3x5 axis=2 times=7 bfloat16->bfloat16",
		"expand 3x5 axis=0 times=2 float32->float32",
		"scale 100 by=0.125 bfloat16->bfloat16",
		"scale 100 by=-1.7 float64->float32",
		"matmul m=9 k=7 n=5 bfloat16*bfloat16->bfloat16 transpose=a",
		"matmul m=17 k=7 n=5 float32*float16->float32 transpose=b",
		"matmul m=9 k=7 n=5 int32*int8->int64 transpose=ab",
		"scaled_matmul m=9 k=32 n=16 float8_e4m3fn*float8_e5m2->bfloat16 row-wise bias=bfloat16",
		"scaled_matmul m=9 k=32 n=16 float8_e5m2*float8_e4m3fn->float16 row-wise",
		"scaled_matmul m=9 k=7 n=5 float8_e4m3fn*float8_e4m3fn->float8_e4m3fn tensor-wise result-scale",
		"scaled_matmul m=9 k=7 n=5 float8_e4m3fn*float8_e5m2->float8_e5m2 tensor-wise bias=float16 " +
			"result-scale",
		"scaled_matmul m=9 k=7 n=5 float8_e4m3fn*float8_e4m3fn->float32 tensor-wise",
	} {
		o, err := kernel.Parse(text)
		require.NoError(t, err)
		list = append(list, o)
	}
	return list
}

// TestProgramKernels: every kernel of package kernel has its bits, of random patterns and of normal
// data, NaN, infinities and denormal numbers among the former.
func TestProgramKernels(t *testing.T) {
	standin(t, "")
	e, kinds := executor(t), map[kernel.Kind]int{}
	for i, o := range sampled(someOps(t)) {
		s := computes(t, o)
		agreesOnTensors(t, e, s, anyTensors(s, rand.New(rand.NewPCG(uint64(i), 11))), hw.Env{})
		given, err := reference.GivenTensors(s, reference.Normal, uint64(i))
		require.NoError(t, err)
		agreesOnTensors(t, e, s, given, hw.Env{})
		kinds[o.Kind]++
	}
	t.Logf("%v", kinds)
	for _, k := range kernel.Kinds() {
		require.True(t, kinds[k] > 0 || k >= kernel.Opaque, "%v", k)
	}
}

// TestRefusesLayers: what no program for GPUs computes is refused by name, before anything is done.
func TestRefusesLayers(t *testing.T) {
	for text, want := range map[string]string{
		"gelu 8:float32->8:float32":        "no program for GPUs computes gelu; the executor host does",
		"opaque 8:float32->4:float32 1 us": "no program for GPUs computes opaque; the executor host does",
		"cast 8 bool->int32":               "no program for GPUs casts bools; the executor host does",
	} {
		o, err := kernel.Parse(text)
		require.NoError(t, err)
		require.EqualError(t, refusal(computes(t, o), 1), want)
	}
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Xor, Type: dtype.Bool,
		Ranks: 2, Count: 8}, algos.Options{})
	require.NoError(t, err)
	require.EqualError(t, refusal(s, 1), "no program for GPUs combines by xor; the executor host does")
}

// TestOpaque: a kernel of which only the time is known takes it.
func TestOpaque(t *testing.T) {
	standin(t, "")
	s, err := schedule.Parse(`schedule opaque
collective broadcast float32
ranks 1
root 0
count 4
rank 0
  lane 0
    compute (opaque 20 ms) @0
    copy in into out @0
`)
	require.NoError(t, err)
	e := executor(t)
	agrees(t, e, s, hw.Env{}, rand.New(rand.NewPCG(1, 1)))
	result, err := e.Run(context.Background(), &hw.Job{Schedule: s,
		Inputs: hwtest.AnyInputs(s, rand.New(rand.NewPCG(1, 1)))})
	require.NoError(t, err)
	require.GreaterOrEqual(t, result.Repetitions[0].Time, 20*unit.Millisecond)
}

// programsOf are the programs in a folder: schedules that the interpreter's tests hold against
// their definitions.
func programsOf(t *testing.T, pattern string) (all []*schedule.Schedule) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		s, err := schedule.Parse(string(text))
		require.NoError(t, err, path)
		all = append(all, s)
	}
	require.GreaterOrEqual(t, len(all), 7)
	return all
}

// TestPrograms: kernels, gets, puts and parts, on one GPU and on three, which reach each other's
// memory or do not, bit for bit; with iterations, and with a timeline.
func TestPrograms(t *testing.T) {
	for _, options := range []string{"seed=3 delay=30", "seed=4 delay=30 devices=3",
		"seed=5 delay=30 devices=3 apart=1"} {
		standin(t, options)
		e := executor(t)
		for i, s := range programsOf(t, "../../reference/testdata/programs/*.schedule") {
			if s.Tensors == nil {
				agrees(t, e, s, hw.Env{Iterations: 2}, rand.New(rand.NewPCG(uint64(i), 2)))
				continue
			}
			given, err := reference.GivenTensors(s, reference.Normal, 6)
			require.NoError(t, err)
			agreesOnTensors(t, e, s, given, hw.Env{Iterations: 2})
			result := agreesOnTensors(t, e, s, given, hw.Env{Repetitions: 2, Trace: true})
			require.Len(t, result.Repetitions, 2)
		}
	}
}

// TestPipelines: torch's pipelines, on any number of ranks and of GPUs, in their repaired form and
// as they are where that is proven to have no race; several times in a row.
func TestPipelines(t *testing.T) {
	measured := map[program.Variant]int{}
	for _, options := range []string{"seed=8 delay=40", "seed=9 delay=40 devices=2"} {
		standin(t, options)
		e := executor(t)
		for _, v := range []program.Variant{program.Seed, program.Repaired} {
			for _, ranks := range []int{1, 2, 4} {
				shards := program.Shards{Ranks: ranks, Variant: v,
					A:  kernel.Tensor{Type: dtype.BFloat16, Shape: []int64{int64(3 * ranks), 8}},
					Bs: []kernel.Tensor{{Type: dtype.BFloat16, Shape: []int64{8, 5}}}}
				for _, build := range []func(program.Shards) (*schedule.Schedule, error){
					program.AllGatherMatmul, program.MatmulReduceScatter} {
					s, err := build(shards)
					require.NoError(t, err)
					if _, found := proof.Verify(s, proof.Options{}); len(found) > 0 {
						require.Equal(t, program.Seed, v)
						continue
					}
					given, err := reference.GivenTensors(s, reference.Normal, 3)
					require.NoError(t, err)
					agreesOnTensors(t, e, s, given, hw.Env{Repetitions: 2})
					measured[v]++
				}
			}
		}
	}
	t.Logf("%v", measured)
	require.Equal(t, 12, measured[program.Repaired])
	require.Positive(t, measured[program.Seed])
}

// TestDroppedInPrograms: whichever wait of a pipeline is left out, the result is wrong, or other
// waits keep the two in order all the same.
func TestDroppedInPrograms(t *testing.T) {
	s, err := program.AllGatherMatmul(program.Shards{Ranks: 3, Variant: program.Repaired,
		A:  kernel.Tensor{Type: dtype.BFloat16, Shape: []int64{9, 8}},
		Bs: []kernel.Tensor{{Type: dtype.BFloat16, Shape: []int64{8, 5}}}})
	require.NoError(t, err)
	given, err := reference.GivenTensors(s, reference.Normal, 3)
	require.NoError(t, err)
	want, err := reference.RunTensors(s, given, reference.RunOptions{})
	require.NoError(t, err)
	waits, _ := standin(t, "seed=1")
	e := executor(t)
	agreesOnTensors(t, e, s, given, hw.Env{})
	all, wrong := waits(), 0
	for drop := 1; drop <= all; drop++ {
		_, inverted := standin(t, fmt.Sprintf("seed=%d drop=%d", drop, drop))
		result, err := e.Run(context.Background(), &hw.Job{Schedule: s, Tensors: given})
		require.NoError(t, err)
		same := true
		for i := range s.Tensors {
			for rank := range result.Tensors[i] {
				same = same && bytes.Equal(want[i][rank], result.Tensors[i][rank])
			}
		}
		if inverted() == 0 {
			require.True(t, same, "wait %d of %d", drop, all)
		} else if !same {
			wrong++
		}
	}
	t.Logf("%d waits: without %d the result is wrong", all, wrong)
	require.Greater(t, wrong, 6)
}

// TestGivenAgain: what is given is given again before the next iteration, and a kernel may store
// its result where it reads.
func TestGivenAgain(t *testing.T) {
	s := hwtest.Doubled(t)
	standin(t, "seed=1 delay=50")
	given, err := reference.GivenTensors(s, reference.Normal, 6)
	require.NoError(t, err)
	agreesOnTensors(t, executor(t), s, given, hw.Env{Iterations: 3})
}
