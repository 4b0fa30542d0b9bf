package program_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/host"
	"collsim/program"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// experts is a mixture of experts on 3 ranks: 4 tokens of each go to experts, of which rank 1 has
// none, are multiplied there, and come back.
func experts() *program.Program {
	return &program.Program{Name: "experts", Ranks: 3, Iterations: 2, Tensors: []program.Tensor{
		{Name: "x", Type: dtype.Float32, Shape: collective.Shape{4, 5}},
		{Name: "w", Type: dtype.Float32, Shape: collective.Shape{5, 7}},
		{Name: "z", Type: dtype.Float32, Shape: collective.Shape{4, 7}, Keep: true}},
		Ops: []program.Op{
			{Name: "there", Call: "all_to_allv splits 1,0,3/2,0,2/4,0,0", In: []string{"x"}, Out: "xs"},
			{Name: "expert", Kernel: "matmul", In: []string{"xs", "w"}, Out: "ys"},
			{Name: "twice", Kernel: "add", In: []string{"ys", "ys"}, Out: "zs"},
			{Name: "back", Call: "all_to_allv splits 1,2,4/0,0,0/3,2,0", In: []string{"zs"}, Out: "z"},
			{Name: "meet", Call: "barrier"},
			{Name: "mean", Kernel: "sum axis=0", In: []string{"z"}, Out: "m"},
		}}
}

// TestExperts: kernels take the rows that a rank has, and a rank without any does nothing; what
// comes back is what one rank would have computed of its own tokens.
func TestExperts(t *testing.T) {
	p := experts()
	low, err := program.Lower(p, program.Lowering{}, byName)
	require.NoError(t, err)
	_, found := proof.Verify(low.Schedule, proof.Options{})
	require.Empty(t, found)
	report, err := reference.Check(low.Schedule, reference.CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, reference.NumbersExact, report.Numbers)
	require.Len(t, low.Ops[1].Parts, 2) // of 7 rows and of 5, and of none
	require.Equal(t, []int{0}, low.Schedule.Parts()[low.Ops[1].Parts[0]].Ranks)

	alone := &program.Program{Name: "alone", Ranks: 3, Tensors: p.Tensors, Ops: []program.Op{
		{Name: "expert", Kernel: "matmul", In: []string{"x", "w"}, Out: "y"},
		{Name: "twice", Kernel: "add", In: []string{"y", "y"}, Out: "z"}}}
	one, err := program.Lower(alone, program.Lowering{}, byName)
	require.NoError(t, err)
	given, _ := runOnNormal(t, low.Schedule)
	weights := low.Where["w"].Tensor - schedule.FirstTensor
	given[weights] = [][]byte{given[weights][0], given[weights][0], given[weights][0]}
	got, err := reference.RunTensors(low.Schedule, given, reference.RunOptions{})
	require.NoError(t, err)
	want, err := reference.RunTensors(one.Schedule, append(given[:2:2],
		make(reference.Tensors, len(one.Schedule.Tensors)-2)...), reference.RunOptions{})
	require.NoError(t, err)
	require.Equal(t, want[one.Where["z"].Tensor-schedule.FirstTensor],
		got[low.Where["z"].Tensor-schedule.FirstTensor])

	d, err := host.New(host.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	done, err := d.Run(context.Background(), &hw.Job{Schedule: low.Schedule, Tensors: given,
		Env: hw.Env{Repetitions: 2}})
	require.NoError(t, err)
	result := low.Where["m"].Tensor - schedule.FirstTensor
	require.Equal(t, [][]byte(got[result]), done.Tensors[result])
}

// TestExpertsTakeTheirTime: 30 ns a row of the matmul on the rank that has most of them, and the
// rows that go over the busiest port: 7·4·5 bytes in, 5·4·5 out, at a byte a nanosecond.
func TestExpertsTakeTheirTime(t *testing.T) {
	p := experts()
	p.Iterations, p.Ops = 1, p.Ops[:2]
	low, err := program.Lower(p, program.Lowering{}, byName)
	require.NoError(t, err)
	graph, err := topology.Switch(3, unit.Rate(unit.GB), 0)
	require.NoError(t, err)
	d := slow() // an operation of 2·5·7 takes 70 ns a row in one unit
	d.GPU.Vector.Float32, d.GPU.MatmulEfficiency = 1_000_000_000, 1_000_000
	ran, err := sim.Run(low.Schedule, sim.Env{Graph: graph, Device: d, Slots: 8}, sim.Options{})
	require.NoError(t, err)
	// rank 0 gets 2 rows of rank 1 and 4 of rank 2, 120 bytes, and then multiplies 7 rows
	require.Equal(t, 120*unit.Nanosecond+7*70*unit.Nanosecond, ran.Time)
}

// TestExpertsErrors: lengths that do not fit are refused by name.
func TestExpertsErrors(t *testing.T) {
	for _, c := range []struct {
		damage func(p *program.Program)
		want   string
	}{
		{func(p *program.Program) { p.Ops[0].Call = "all_to_allv splits 1,0,2/2,0,1/3,0,0" },
			"there: the splits of a rank add up to 3 at most; axis 0 of x has a length of 4"},
		{func(p *program.Program) { p.Ops[0].Call = "all_to_allv splits 1,0,3/2,0,2" },
			"there: all_to_allv on 3 ranks takes 3 rows of splits, not 2"},
		{func(p *program.Program) { p.Ops[3].Call = "all_to_allv splits 1,2,3/0,0,0/3,2,0" },
			"back: rank 0 has a length of 7 of zs; its splits add up to 6"},
		{func(p *program.Program) { p.Ops[3].Call = "all_reduce" },
			"back: zs has other lengths on its ranks; all_gatherv and all_to_allv, with splits, take such"},
		{func(p *program.Program) {
			p.Ops[2] = program.Op{Name: "turn", Kernel: "move axis=1",
				In: []string{"ys"}, Out: "zs"}
		},
			"turn: ranks have other lengths of ys along axis 0; of its result they would have them " +
				"along another"},
		{func(p *program.Program) {
			p.Ops[2].In = []string{"ys", "g"}
			p.Tensors = append(p.Tensors, program.Tensor{Name: "g", Type: dtype.Float32,
				Shape: collective.Shape{7, 7}})
		},
			"twice: on rank 1, of which ys has 0 rows: add: the shape of g = 7x7"},
		{func(p *program.Program) { p.Ops[4].In = []string{"x"} },
			"meet: a barrier reads and writes no tensor"},
		{func(p *program.Program) { p.Ops[5].Out = "ys" }, "mean: ys is "},
		{func(p *program.Program) {
			p.Ops[2].Kernel, p.Ops[2].In = "cast", []string{"ys"}
			p.Ops[2].Out = "q"
			p.Ops = append(p.Ops[:3:3], program.Op{Name: "again",
				Kernel: "matmul", In: []string{"g", "w"}, Out: "q"})
			p.Tensors = append(p.Tensors, program.Tensor{Name: "g", Type: dtype.Float32,
				Shape: collective.Shape{7, 5}})
		},
			"again: q has other lengths on its ranks: a tensor of its own is expected"},
	} {
		p := experts()
		c.damage(p)
		require.ErrorContains(t, p.Validate(), c.want, c.want)
	}
}
