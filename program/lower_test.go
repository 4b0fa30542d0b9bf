package program_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
	"collsim/schedule"
)

// byName makes schedules by algorithms of the table.
func byName(spec collective.Spec, name string, _ []int, symmetric bool) (program.Chosen, error) {
	if name == "" {
		name = "direct"
		switch spec.Kind {
		case collective.AllReduce:
			name = "ring"
		case collective.Broadcast, collective.Gather, collective.Scatter, collective.Reduce:
			name = "flat"
		case collective.Barrier:
			name = "dissemination"
		}
	}
	a, err := algos.Find(spec.Kind, name)
	if err != nil {
		return program.Chosen{}, err
	}
	o := algos.Options{}
	if name == "low-contention" && !symmetric {
		o.Params = []algos.Param{{Name: "symmetric", Value: "false"}}
	}
	s, err := a.Build(spec, o)
	return program.Chosen{Schedule: s, Name: name}, err
}

// layer is a tensor-parallel layer on 4 ranks, in two groups of 2: gather, multiply, multiply,
// scatter; and a sum over the other groups meanwhile.
func layer() *program.Program {
	bf := dtype.BFloat16
	return &program.Program{Name: "layer", Ranks: 4, Iterations: 2,
		Groups: []program.Group{{Name: "tp", Teams: [][]int{{0, 1}, {2, 3}}},
			{Name: "dp", Teams: [][]int{{0, 2}, {1, 3}}}},
		Tensors: []program.Tensor{
			{Name: "x", Type: bf, Shape: collective.Shape{8, 16}},
			{Name: "w1", Type: bf, Shape: collective.Shape{16, 6}},
			{Name: "w2", Type: bf, Shape: collective.Shape{6, 16}},
			{Name: "grads", Type: dtype.Float32, Shape: collective.Shape{100}}},
		Ops: []program.Op{
			{Name: "reduce", Call: "all_reduce", In: []string{"grads"}, Out: "sums", Group: "dp",
				Async: true},
			{Name: "gather", Call: "all_gather", In: []string{"x"}, Out: "xs", Group: "tp"},
			{Name: "up", Kernel: "matmul", In: []string{"xs", "w1"}, Out: "h"},
			{Name: "down", Kernel: "matmul", In: []string{"h", "w2"}, Out: "partial"},
			{Name: "scatter", Call: "reduce_scatter", In: []string{"partial"}, Out: "y", Group: "tp"},
			{Name: "wait", Kernel: "opaque 5 us"},
			{Name: "cast", Kernel: "cast", Type: bf, In: []string{"sums"}, Out: "small"},
		}}
}

func TestLower(t *testing.T) {
	for _, c := range []struct {
		pipeline program.Pipeline
		became   []string
		parts    int
	}{
		{program.NoPipeline, []string{"ring", "direct",
			"matmul m=16 k=16 n=6 bfloat16*bfloat16->bfloat16",
			"matmul m=16 k=6 n=16 bfloat16*bfloat16->bfloat16", "direct", "opaque 5.00 us",
			"cast 100 float32->bfloat16"}, 10},
		{program.RepairedPipeline, []string{"ring", "pipeline repaired", "pipeline repaired",
			"opaque 5.00 us", "cast 100 float32->bfloat16"}, 8},
	} {
		low, err := program.Lower(layer(), program.Lowering{Pipeline: c.pipeline}, byName)
		require.NoError(t, err)
		var became []string
		for _, o := range low.Ops[:len(low.Ops)/2] {
			became = append(became, o.Became)
		}
		require.Equal(t, c.became, became)
		require.Len(t, low.Schedule.Parts(), 2*c.parts)
		_, err = schedule.Execute(low.Schedule, schedule.Limits{Slots: 8}, schedule.Hooks{})
		require.NoError(t, err)
		read, err := schedule.Parse(low.Schedule.String())
		require.NoError(t, err)
		require.True(t, schedule.Equal(low.Schedule, read))
	}
}

// TestNames: ops and groups may be called anything; the text form is read back all the same.
func TestNames(t *testing.T) {
	for _, name := range []string{"op %d", "%d: the é-#(", "ranks", "launch(%d", "x=%d", "\n\t%d",
		strings.Repeat("wörter", 30) + "%d", "-"} {
		for _, pipeline := range []program.Pipeline{program.NoPipeline, program.RepairedPipeline} {
			p := layer()
			for i := range p.Groups {
				p.Groups[i].Name = fmt.Sprintf(name, i)
			}
			for i := range p.Ops {
				switch p.Ops[i].Group {
				case "tp":
					p.Ops[i].Group = p.Groups[0].Name
				case "dp":
					p.Ops[i].Group = p.Groups[1].Name
				}
				p.Ops[i].Name = strings.Repeat(" ", i) + fmt.Sprintf(name, i)
			}
			low, err := program.Lower(p, program.Lowering{Pipeline: pipeline}, byName)
			require.NoError(t, err, name)
			read, err := schedule.Parse(low.Schedule.String())
			require.NoError(t, err, name)
			require.True(t, schedule.Equal(low.Schedule, read), name)
		}
	}
}

func TestProgramErrors(t *testing.T) {
	for _, c := range []struct {
		damage func(p *program.Program)
		want   string
	}{
		{func(p *program.Program) { p.Ops[2].In[0] = "xz" }, `up: "xz" is no tensor`},
		{func(p *program.Program) { p.Ops[2].In[1] = "w2" },
			"up: matmul: the shape of w2 = 6x16: 16 rows"},
		{func(p *program.Program) { p.Tensors[0].Name = "x-1" }, `tensor "x-1": a name of letters`},
		{func(p *program.Program) { p.Ops[2].Out = "in" }, `up: tensor "in": a name of letters`},
		{func(p *program.Program) { p.Ops[1].Group = "pp" }, `gather: there is no group "pp"`},
		{func(p *program.Program) { p.Ops[1].Call = "all_gater" }, "gather: "},
		{func(p *program.Program) { p.Ops[1].Algorithm = "rang" }, "gather: "},
		{func(p *program.Program) { p.Ops[1].Kernel = "matmul" },
			"gather: a call, a kernel or a wait is expected"},
		{func(p *program.Program) { p.Ops[3].Name = "up" }, `op "up": a name of its own`},
		{func(p *program.Program) { p.Ops[4].Out = "x" }, "x is given, and read by gather before " +
			"scatter writes it"},
		{func(p *program.Program) { p.Tensors[1].Name = "x" }, `a second tensor "x"`},
		{func(p *program.Program) { p.Tensors[0].Shape = nil }, "tensor x: a type and a shape"},
		{func(p *program.Program) { p.Ops[5].Kernel = "sleep" },
			`wait: there is no kernel "sleep"; matmul, scaled_matmul, add`},
		{func(p *program.Program) { p.Ops[5].Out = "z" }, "wait: it writes z and reads nothing: " +
			"what is made of nothing is given, and declared"},
		{func(p *program.Program) { p.Ops[5].Out, p.Ops[5].In = "z", []string{"h"} },
			"wait: it writes z, whose shape nobody states: shape = [16, 6], that of h, or another is " +
				"expected"},
		{func(p *program.Program) { p.Ops[5].Shape = collective.Shape{4} },
			"wait: it has a shape and writes nothing: out names what it writes"},
		{func(p *program.Program) { p.Ops[2].Shape = collective.Shape{4} },
			"up: its shape follows from what it reads; an opaque kernel states one"},
		{func(p *program.Program) { p.Ops[2].Backward = "opaque 3 us" },
			"up: its backward pass follows from it; an opaque kernel states one"},
		{func(p *program.Program) { p.Ops[2].Kernel = "rms_norm eps=2" },
			"up: rms_norm: eps = 2: a number from 0 to 1 is expected"},
		{func(p *program.Program) { p.Ops[2].Kernel = "attention heads=5" },
			"up: attention: the number of operands = 2: q, k and v, or one of all three side by side, " +
				"are expected"},
		{func(p *program.Program) { p.Ops[5].Kernel = "opaque 3 us flops=4" },
			"wait: opaque: time = 3.00 us: a time, or flops and bytes, is expected, and not both"},
		{func(p *program.Program) { p.Ops[2].Out = "" }, "up: it writes a tensor, which needs a name"},
		{func(p *program.Program) { p.Groups[0].Teams[1] = []int{2} }, "gather: teams of 2 and of 1"},
		{func(p *program.Program) { p.Ops[4].Call = "reduce_scatterv axis 1 splits 8,8" },
			"scatter: axis 1 of 16x16 does not lie in front"},
	} {
		p := layer()
		c.damage(p)
		_, err := program.Lower(p, program.Lowering{}, byName)
		require.ErrorContains(t, err, c.want)
	}
}
