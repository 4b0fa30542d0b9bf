package program_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/program"
	"collsim/schedule"
)

func tensor(t dtype.Type, shape ...int64) kernel.Tensor {
	return kernel.Tensor{Type: t, Shape: shape}
}

// bfloat is a pipeline's operands: 12 rows for each rank, or 4 blocks of 3.
func bfloat(ranks int, v program.Variant) program.Shards {
	return program.Shards{Ranks: ranks, Variant: v,
		A:  tensor(dtype.BFloat16, int64(3*ranks), 8),
		Bs: []kernel.Tensor{tensor(dtype.BFloat16, 8, 5)}}
}

// scaled is the same of 8-bit floats with a scale for every row, two right operands, and the axis
// behind another.
func scaled(ranks int, v program.Variant) program.Shards {
	s := program.Shards{Ranks: ranks, Variant: v, Axis: 1,
		A:    tensor(dtype.Float8E4M3, 2, int64(3*ranks), 8),
		Outs: []dtype.Type{dtype.BFloat16, dtype.Float32}}
	for _, n := range []int64{5, 7} {
		s.Bs = append(s.Bs, tensor(dtype.Float8E4M3, 8, n))
		s.Scales = append(s.Scales, kernel.Scales{A: tensor(dtype.Float32, 2, int64(3*ranks), 1),
			B: tensor(dtype.Float32, 1, n)})
	}
	bias := tensor(dtype.BFloat16, 5)
	s.Scales[0].Bias = &bias
	return s
}

// pipelines are all of them, by name.
func pipelines(t testing.TB, ranks int, v program.Variant) map[string]*schedule.Schedule {
	t.Helper()
	list := map[string]*schedule.Schedule{}
	add := func(name string, s *schedule.Schedule, err error) {
		require.NoError(t, err, name)
		list[name] = s
	}
	s, err := program.AllGatherMatmul(bfloat(ranks, v))
	add("gather", s, err)
	s, err = program.AllGatherMatmul(scaled(ranks, v))
	add("gather scaled", s, err)
	s, err = program.MatmulReduceScatter(bfloat(ranks, v))
	add("scatter", s, err)
	one := scaled(ranks, v)
	one.Bs, one.Scales, one.Outs, one.Mean = one.Bs[:1], one.Scales[:1], one.Outs[:1], true
	s, err = program.MatmulReduceScatter(one)
	add("scatter scaled", s, err)
	return list
}

// TestPipelinesComeToTheirEnd: at any number of ranks, three calls in a row, and as text.
func TestPipelinesComeToTheirEnd(t *testing.T) {
	for _, v := range []program.Variant{program.Seed, program.Repaired} {
		for ranks := 1; ranks <= 8; ranks++ {
			for name, s := range pipelines(t, ranks, v) {
				_, err := schedule.Execute(s, schedule.Limits{Iterations: 3}, schedule.Hooks{})
				require.NoError(t, err, "%s %v, %d ranks", name, v, ranks)
				read, err := schedule.Parse(s.String())
				require.NoError(t, err, "%s %v, %d ranks", name, v, ranks)
				require.True(t, schedule.Equal(s, read), "%s %v, %d ranks", name, v, ranks)
			}
		}
	}
}

// TestPipelinesRefuse: what torch refuses is refused, by name, value and what was expected.
func TestPipelinesRefuse(t *testing.T) {
	for _, c := range []struct {
		damage func(s *program.Shards)
		want   string
	}{
		{func(s *program.Shards) { s.A.Shape = collective.Shape{8} },
			"the shape of a = 8: at least 2 axes are expected"},
		{func(s *program.Shards) { s.Bs[0].Shape = collective.Shape{8, 5, 1} },
			"the shape of b0 = 8x5x1: a matrix is expected"},
		{func(s *program.Shards) { s.Bs[0].Shape = collective.Shape{9, 5} },
			"matmul: the shape of b = 9x5: 8 rows"},
		{func(s *program.Shards) { s.Axis = 2 }, "axis = 2: an axis of 12x8, from 0 to 1"},
		{func(s *program.Shards) { s.Axis = -1 }, "axis = -1: an axis"},
		{func(s *program.Shards) { s.Axis = 1 }, "axis = 1: any axis but the last"},
		{func(s *program.Shards) { s.Bs = nil }, "the number of bs = 0: at least 1"},
		{func(s *program.Shards) { s.Outs = make([]dtype.Type, 2) },
			"the number of out types = 2: 1, as there are bs"},
		{func(s *program.Shards) { s.Scales = make([]kernel.Scales, 2) },
			"the number of scales = 2: 1, as there are bs"},
		{func(s *program.Shards) { s.Ranks = 0 }, "ranks = 0: at least 1"},
	} {
		for _, build := range []func(program.Shards) (*schedule.Schedule, error){
			program.AllGatherMatmul, program.MatmulReduceScatter} {
			s := bfloat(4, program.Repaired)
			c.damage(&s)
			_, err := build(s)
			require.ErrorContains(t, err, c.want)
		}
	}
	s := bfloat(4, program.Repaired)
	s.A.Shape = collective.Shape{10, 8}
	_, err := program.MatmulReduceScatter(s)
	require.EqualError(t, err,
		"the length of axis 0 = 10: a multiple of the 4 ranks is expected")
}

// TestChannelsOfBarriers: barriers use the pads that torch's do: of gathering, channel 0 and then
// that of the number of ranks modulo 2; of scattering, that of the step modulo 2.
func TestChannelsOfBarriers(t *testing.T) {
	for _, v := range []program.Variant{program.Seed, program.Repaired} {
		for ranks := 2; ranks <= 5; ranks++ {
			for name, s := range pipelines(t, ranks, v) {
				again := 1 // barriers of a step
				if v == program.Repaired {
					again = 2
				}
				want := map[int32]int{0: 1}
				want[int32(ranks%2)]++
				if strings.HasPrefix(name, "scatter") {
					clear(want)
					for step := 1; step < ranks; step++ {
						want[int32(step%2)] += again
					}
				}
				got, p, step := map[int32]int{}, s.Program(1), schedule.Step{}
				for lane := range p.Lanes() {
					for c := p.Walk(lane); !c.Done(); c.Next(1) {
						if p.Load(&c, &step); step.Name() == "signal" && step.Send[0].Peer.Rank == 0 {
							got[step.Send[0].Peer.Tag]++
						}
					}
				}
				require.Equal(t, want, got, "%s %v, %d ranks", name, v, ranks)
			}
		}
	}
}
