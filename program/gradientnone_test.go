package program_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
	"collsim/proof"
)

// TestNoGradient: of everything for which the gradient of x may not be there, what is said.
func TestNoGradient(t *testing.T) {
	const (
		opaque = "[] [x] none (read only by opaque kernels that write nothing: with out they have a " +
			"gradient)"
		nobody = "[] [x] none (read only by ops whose own result has none)"
		share  = "[work] [] what it reads has a gradient without its share (opaque: nothing but the " +
			"time is known)"
	)
	scale := func(in, out string) program.Op {
		return program.Op{Name: "scale " + out, Kernel: "scale by=2", In: []string{in}, Out: out}
	}
	work := func(backward string, in ...string) program.Op {
		return program.Op{Name: "work", Kernel: "opaque 5 us", In: in, Backward: backward}
	}
	on := func(group string, o program.Op) program.Op {
		o.Group = group
		return o
	}
	integers := program.Op{Name: "round", Kernel: "cast", Type: dtype.Int64, In: []string{"x"},
		Out: "i"}
	x := program.Tensor{Name: "x", Type: dtype.Float64, Shape: collective.Shape{4, 2}}
	one := func(change func(t *program.Tensor)) []program.Tensor {
		list := []program.Tensor{x}
		change(&list[0])
		return list
	}
	and := func(name string, typ dtype.Type) []program.Tensor {
		return []program.Tensor{x, {Name: name, Type: typ, Shape: x.Shape, NoGradient: typ.IsFloat()}}
	}
	for name, c := range map[string]struct {
		tensors []program.Tensor // x alone if nil
		ops     []program.Op
		ranks   string // on which x has a gradient
		notes   string
	}{
		"a result": {ops: []program.Op{scale("x", "y")}, ranks: "01"},
		"no gradient": {tensors: one(func(t *program.Tensor) { t.NoGradient = true }),
			ops: []program.Op{scale("x", "y")}},
		"integers": {tensors: one(func(t *program.Tensor) { t.Type = dtype.Int64 }),
			ops: []program.Op{scale("w", "y")}, notes: "[] [x] none (no floating-point type)"},
		"no op":              {ops: []program.Op{scale("w", "v")}, notes: "[] [x] none (read by no op)"},
		"opaque":             {ops: []program.Op{work("opaque 9 us", "x")}, notes: opaque},
		"opaque, of no time": {ops: []program.Op{work("opaque 0 s", "x")}, notes: opaque},
		"opaque, and another": {ops: []program.Op{work("opaque 9 us", "x"), scale("x", "y")},
			ranks: "01", notes: share},
		"opaque of no time, and another": {ops: []program.Op{work("opaque 0 s", "x"), scale("x", "y")},
			ranks: "01", notes: share},
		"opaque of what is made": {ops: []program.Op{scale("x", "q"), work("opaque 9 us", "q")},
			notes: strings.ReplaceAll(opaque, "x]", "q]") + "\n" + nobody},
		"opaque of data": {ops: []program.Op{work("opaque 9 us", "w"), scale("x", "y")},
			ranks: "01"},
		"a result of integers": {ops: []program.Op{integers}, notes: nobody},
		"integers in between": {ops: []program.Op{integers, {Name: "back", Kernel: "cast",
			Type: dtype.Float64, In: []string{"i"}, Out: "f"}}, notes: nobody},
		"integers, and another": {ops: []program.Op{integers, scale("x", "y")}, ranks: "01"},
		"made of no gradient": {tensors: and("d", dtype.Float64), ops: []program.Op{scale("x", "d"),
			scale("d", "y")}, notes: nobody},
		"kept": {tensors: append(and("w2", dtype.Float64), program.Tensor{Name: "k", Keep: true,
			Type: dtype.Float64, Shape: x.Shape}), ops: []program.Op{scale("x", "k"),
			work("opaque 9 us", "k")}, ranks: "01", notes: share},
		"a result that nobody uses": {ops: []program.Op{scale("x", "y"), scale("w", "v")}, ranks: "01"},
		"used by one rank": {ops: []program.Op{scale("x", "h"), on("r1", scale("h", "y"))},
			ranks: "1"},
		"sent to one rank": {ops: []program.Op{{Name: "send", Call: "broadcast", In: []string{"x"},
			Out: "h"}, on("r1", scale("h", "y"))}, ranks: "0"},
		"read behind gradients": {ops: []program.Op{scale("v", "y"), {Name: "step", Kernel: "add",
			In: []string{"x", "v_grad"}, Out: "next"}}, tensors: append(and("w2", dtype.Float64),
			program.Tensor{Name: "v", Type: dtype.Float64, Shape: x.Shape}),
			notes: "[] [x] none (read only by ops that wait for gradients)"},
		"used and read behind": {ops: []program.Op{scale("x", "y"), {Name: "step", Kernel: "add",
			In: []string{"x", "x_grad"}, Out: "next"}}, ranks: "inner"},
		"rows that are not sent": {ops: []program.Op{{Name: "send", Call: "all_to_allv splits 2,2/1,0",
			In: []string{"x"}, Out: "y"}}, ranks: "01", notes: "[] [x] no row but those that send sends " +
			"has one, 1 of 4 on rank 1 (its splits say so)"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &program.Program{Name: "p", Ranks: 2, Gradient: true, Tensors: c.tensors, Ops: c.ops,
				Groups: []program.Group{{Name: "r1", Teams: [][]int{{1}}}}}
			if c.tensors == nil {
				p.Tensors = []program.Tensor{x}
			}
			p.Tensors = append(p.Tensors, program.Tensor{Name: "w", Type: dtype.Float64, Shape: x.Shape,
				NoGradient: true})
			low, err := program.Lower(p, program.Lowering{}, byName)
			require.NoError(t, err)
			_, found := proof.Verify(low.Schedule, proof.Options{})
			require.Empty(t, found)
			var notes []string
			for _, n := range low.Notes {
				if n.Pass == "gradient" {
					notes = append(notes, fmt.Sprintf("%v %v %s (%s)", n.Ops, n.Tensors, n.Did, n.Why))
				}
			}
			require.Equal(t, c.notes, strings.Join(notes, "\n"))
			require.Equal(t, c.ranks, ranksOfGradient(t, p, low))
		})
	}
}

// ranksOfGradient are the ranks that have a gradient of x, as a result.
func ranksOfGradient(t *testing.T, p *program.Program, low *program.Lowered) (ranks string) {
	t.Helper()
	if _, there := low.Where["x_grad"]; !there {
		return ""
	}
	given := map[string][][]float64{}
	for _, x := range low.Schedule.Tensors {
		given[x.Name] = small(rand.New(rand.NewPCG(1, 2)), p.Ranks,
			program.Tensor{Shape: x.Shape})
	}
	gradient, isResult := evaluated(t, p, given)["x_grad"]
	if !isResult {
		return "inner"
	}
	for rank, values := range gradient {
		if !math.IsNaN(values[0]) {
			ranks += fmt.Sprint(rank)
		}
	}
	return ranks
}

// TestGradientReadWhereItIsZero: an op of all ranks reads a gradient of what one rank does not use.
func TestGradientReadWhereItIsZero(t *testing.T) {
	p := &program.Program{Name: "p", Ranks: 3, Gradient: true,
		Tensors: []program.Tensor{f64("x", 2, 2)},
		Groups:  []program.Group{{Name: "two", Teams: [][]int{{2, 0}}}}, Ops: []program.Op{
			{Name: "use", Kernel: "scale by=2", In: []string{"x"}, Out: "y", Group: "two"},
			{Name: "sum", Call: "all_reduce", In: []string{"x_grad"}, Out: "s"}}}
	ones := [][]float64{{1, 1, 1, 1}, {8, 8, 8, 8}, {1, 1, 1, 1}}
	sums := evaluated(t, p, map[string][][]float64{"x": ones, "y_grad": ones})["s"]
	require.Equal(t, [][]float64{{4, 4, 4, 4}, {4, 4, 4, 4}, {4, 4, 4, 4}}, sums) // 2·1 + 0 + 2·1
}
