package program_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/hw"
	"collsim/hw/host"
	"collsim/kernel"
	"collsim/program"
	"collsim/reference"
	"collsim/schedule"
)

// TestGatherHasTheBitsOfItsDefinition: all-gather-matmul equals the gather and then the matmul, bit
// for bit, on data that rounds.
func TestGatherHasTheBitsOfItsDefinition(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 4, 7} {
		for _, name := range []string{"gather", "gather scaled"} {
			s := pipelines(t, ranks, program.Repaired)[name]
			r, err := reference.Check(s, reference.CheckOptions{Data: reference.Normal, Seed: 7})
			require.NoError(t, err)
			require.Equal(t, reference.NumbersExact, r.Numbers, "%s, %d ranks", name, ranks)
		}
	}
}

// runOnNormal runs a schedule on normally distributed data.
func runOnNormal(t testing.TB, s *schedule.Schedule) (given, got reference.Tensors) {
	t.Helper()
	given, err := reference.GivenTensors(s, reference.Normal, 7)
	require.NoError(t, err)
	got, err = reference.RunTensors(s, given, reference.RunOptions{})
	require.NoError(t, err)
	return given, got
}

// TestScatterHasTheBitsOfDirect: matmul-reduce-scatter equals the matmul and then reduce_scatter by
// the algorithm direct that accumulates in float32, bit for bit.
func TestScatterHasTheBitsOfDirect(t *testing.T) {
	direct, err := algos.Find(collective.ReduceScatter, "direct")
	require.NoError(t, err)
	for _, ranks := range []int{1, 2, 3, 4, 7} {
		for _, name := range []string{"scatter", "scatter scaled"} {
			s := pipelines(t, ranks, program.Repaired)[name]
			given, got := runOnNormal(t, s)
			partials, spec := partialsOf(t, s, given)
			alone, err := direct.Build(*spec, algos.Options{})
			require.NoError(t, err)
			want, err := reference.RunBytes(alone, partials,
				reference.RunOptions{Accumulate: reference.InFloat32})
			require.NoError(t, err)
			last := s.Defs[len(s.Defs)-1].To - schedule.FirstTensor
			require.Equal(t, [][]byte(want), got[last], "%s, %d ranks", name, ranks)
		}
	}
}

// partialsOf applies the kernels that a program defines, up to its collective, which comes last.
func partialsOf(t testing.TB, s *schedule.Schedule, given reference.Tensors) ([][]byte,
	*collective.Spec) {
	t.Helper()
	values := append(reference.Tensors{}, given...)
	for _, d := range s.Defs[:len(s.Defs)-1] {
		out := make([][]byte, s.Spec.Ranks)
		for rank := range out {
			var operands [][]byte
			for _, b := range d.From {
				operands = append(operands, values[b-schedule.FirstTensor][rank])
			}
			var err error
			out[rank], err = kernel.Apply(*d.Kernel, operands)
			require.NoError(t, err)
		}
		values[d.To-schedule.FirstTensor] = out
	}
	last := s.Defs[len(s.Defs)-1]
	return values[last.From[0]-schedule.FirstTensor], last.Spec
}

// TestPipelinesOnHost: threads that compute have the interpreter's bits, call after call.
func TestPipelinesOnHost(t *testing.T) {
	d, err := host.New(host.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	for _, ranks := range []int{2, 3, 5} {
		for name, s := range pipelines(t, ranks, program.Repaired) {
			given, want := runOnNormal(t, s)
			done, err := d.Run(context.Background(), &hw.Job{Schedule: s, Tensors: given,
				Env: hw.Env{Iterations: 3, Repetitions: 2}})
			require.NoError(t, err, name)
			for i := range s.Tensors {
				if s.Tensors[i].Role.IsResult() {
					require.Equal(t, [][]byte(want[i]), done.Tensors[i], "%s, %d ranks: %s", name, ranks,
						s.Tensors[i].Name)
				}
			}
		}
	}
}
