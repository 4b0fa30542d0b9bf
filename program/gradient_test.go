package program_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/program"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
)

// f64 is a tensor of the tests.
func f64(name string, lengths ...int64) program.Tensor {
	return program.Tensor{Name: name, Type: dtype.Float64, Shape: collective.Shape(lengths)}
}

// evaluated is what a program makes of given tensors, by their names: numbers by rank, which are
// NaN where a rank has none.
func evaluated(t *testing.T, p *program.Program,
	given map[string][][]float64) map[string][][]float64 {
	t.Helper()
	low, err := program.Lower(p, program.Lowering{}, byName)
	require.NoError(t, err)
	if p.Gradient {
		_, found := proof.Verify(low.Schedule, proof.Options{})
		require.Empty(t, found)
	}
	in := make(reference.Tensors, len(low.Schedule.Tensors))
	for i := range low.Schedule.Tensors {
		x := &low.Schedule.Tensors[i]
		if x.Role != schedule.Given {
			continue
		}
		for rank := range p.Ranks {
			data := make([]byte, 8*x.Shape.Elements())
			if len(data) > 0 { // none of what zeros are the sum of
				dtype.Put(data, given[x.Name][rank])
			}
			in[i] = append(in[i], data)
		}
	}
	out, err := reference.RunTensors(low.Schedule, in, reference.RunOptions{})
	require.NoError(t, err)
	results := map[string][][]float64{}
	for i := range low.Schedule.Tensors {
		x := &low.Schedule.Tensors[i]
		if x.Role != schedule.Result {
			continue
		}
		for rank := range p.Ranks {
			values := make([]float64, x.Shape.Elements())
			dtype.Get(values, out[i][rank])
			results[x.Name] = append(results[x.Name], values)
		}
	}
	return results
}

// inner is the sum of products where there are both.
func inner(a, b [][]float64) (sum float64) {
	for rank := range a {
		for i, x := range a[rank] {
			if !math.IsNaN(x) && !math.IsNaN(b[rank][i]) {
				sum += x * b[rank][i]
			}
		}
	}
	return sum
}

// small fills a tensor with small whole numbers.
func small(r *rand.Rand, ranks int, x program.Tensor) (list [][]float64) {
	for range ranks {
		values := make([]float64, x.Shape.Elements())
		for i := range values {
			values[i] = float64(r.IntN(5) - 2)
		}
		list = append(list, values)
	}
	return list
}

// derives holds the gradients of a program against its derivative in a direction: the loss is a
// polynomial of at most the 8th degree along it, whose derivative nine of its values give exactly.
func derives(t *testing.T, p *program.Program, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 81))
	x, d := map[string][][]float64{}, map[string][][]float64{}
	for _, tensor := range p.Tensors {
		x[tensor.Name], d[tensor.Name] = small(r, p.Ranks, tensor), small(r, p.Ranks, tensor)
		if tensor.NoGradient {
			for rank := range d[tensor.Name] {
				clear(d[tensor.Name][rank])
			}
		}
	}
	step, forward := *p, *p
	step.Gradient, forward.Gradient, forward.Order = true, false, program.AsWritten
	seeds := map[string][][]float64{}
	loss := func(by float64) (total float64) {
		moved := map[string][][]float64{}
		for name, list := range x {
			for rank := range list {
				values := slices.Clone(list[rank])
				for i := range values {
					values[i] += float64(by * d[name][rank][i])
				}
				moved[name] = append(moved[name], values)
			}
		}
		for name, y := range evaluated(t, &forward, moved) {
			if seeds[name] == nil {
				seeds[name] = small(rand.New(rand.NewPCG(seed, uint64(len(name)))), p.Ranks,
					f64(name, int64(len(y[0]))))
			}
			total += inner(seeds[name], y)
		}
		return total
	}
	want := 0.0
	for k, c := range []float64{4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280} {
		want += c * (loss(float64(k+1)) - loss(-float64(k+1)))
	}
	for name, s := range seeds {
		x[program.GradientName(name)] = s
	}
	got, size := 0.0, 1.0
	for name, grad := range evaluated(t, &step, x) {
		if of, ok := strings.CutSuffix(name, "_grad"); ok && d[of] != nil {
			one := inner(grad, d[of])
			got, size = got+one, size+math.Abs(one)
		}
	}
	require.Greater(t, size, 1.0, "there is nothing to compare")
	require.InDelta(t, want, got, 1e-9*size)
}

// TestGradientOfKernels: of every kernel that has one, of calls and of ranks that do different
// things.
func TestGradientOfKernels(t *testing.T) {
	two := [][]int{{0, 1}, {2, 3}}
	groups := []program.Group{{Name: "tp", Teams: two}, {Name: "dp", Teams: [][]int{{0, 2}, {1, 3}}},
		{Name: "0to1", Teams: [][]int{{0, 1}}}, {Name: "zero", Teams: [][]int{{0}}},
		{Name: "one", Teams: [][]int{{1}}}}
	op := func(kernel, in, out string) program.Op {
		return program.Op{Kernel: kernel, In: strings.Fields(in), Out: out}
	}
	call := func(call, group, in, out string) program.Op {
		return program.Op{Call: call, Group: group, In: strings.Fields(in), Out: out}
	}
	in := func(group string, o program.Op) program.Op {
		o.Group = group
		return o
	}
	for name, ops := range map[string][]program.Op{
		"matmul":             {op("matmul", "x w", "y")},
		"matmul of blocks":   {op("matmul", "b w", "y")},
		"transpose=a":        {op("matmul transpose=a", "x x2", "y")},
		"transpose=b":        {op("matmul transpose=b", "x x2", "y")},
		"blocks transpose=b": {op("matmul transpose=b", "b x2", "y")},
		"transpose=ab":       {op("matmul transpose=ab", "x v", "y")},
		"blocks transpose=a": {op("matmul transpose=a", "b b2", "y")},
		"a tensor twice":     {op("matmul transpose=a", "x x", "z"), op("add", "z z", "y")},
		"add, cast":          {op("add", "x x2", "z"), op("cast", "z", "y")},
		"sums":               {op("sum axis=1", "b", "y"), op("mean axis=2", "b", "z")},
		"expand, scale":      {op("expand axis=1 times=3", "x", "z"), op("scale by=-0.75", "z", "y")},
		"move":               {op("move axis=2", "b", "y"), op("move axis=1", "b2", "z")},
		"a result as well":   {op("matmul", "x w", "y"), op("add", "x x", "z"), op("add", "z x", "q")},
		"all_reduce avg":     {call("all_reduce avg", "", "x", "y")},
		"gather":             {call("all_gather", "tp", "x", "z"), op("matmul", "z w", "y")},
		"scatter":            {op("matmul", "x w", "z"), call("reduce_scatter", "dp", "z", "y")},
		"scatter avg":        {call("reduce_scatter avg", "tp", "x", "y")},
		"all_to_all":         {call("all_to_all", "", "x", "z"), op("matmul", "z w", "y")},
		"a ring of four":     {call("send_recv", "", "x", "z"), op("matmul", "z w", "y")},
		"a ring of two":      {call("send_recv", "dp", "x", "y")},
		"gather to a root": {call("gather root 1", "tp", "x", "z"),
			in("one", op("matmul", "z w", "y"))},
		"gather to all roots": {call("gather root 1", "tp", "x", "y")},
		"scatter from a root": {op("matmul", "x w", "z"), call("scatter root 1", "tp", "z", "a"),
			op("matmul", "a w", "y")},
		"scatter to those who need it": {call("scatter", "", "x", "z"),
			in("0to1", op("matmul", "z w", "y"))},
		"all_gatherv": {call("all_gatherv splits 4,1", "tp", "x", "z"), op("matmul", "z w", "y")},
		"reduce_scatterv": {op("matmul", "x w", "z"), call("reduce_scatterv splits 1,3", "dp", "z", "a"),
			op("matmul", "a w", "y")},
		"reduce_scatterv avg": {call("reduce_scatterv avg splits 0,4", "tp", "x", "y")},
		"scattered and gathered": {call("reduce_scatterv splits 3,1", "tp", "x", "a"),
			op("matmul", "a w", "z"), call("all_gatherv splits 3,1", "tp", "z", "y")},
		"experts": {call("all_to_allv splits 1,3/2,2", "tp", "x", "a"), op("matmul", "a w", "z"),
			op("add", "z z", "q"), call("all_to_allv splits 1,2/3,2", "tp", "q", "y")},
		"fewer to experts": {call("all_to_allv splits 1,3,0,0/0,0,2,0/1,0,0,1/1,1,1,1", "", "x", "a"),
			op("matmul", "a w", "y")},
		"experts of none": {call("all_to_allv splits 0,4/0,3", "dp", "x", "a"), op("matmul", "a w", "y")},
		"gathered on the root alone": {op("matmul", "x w", "h"), call("gather", "", "h", "g"),
			op("matmul", "g w", "y")},
		"a sum on the root alone": {op("matmul", "x w", "h"), call("reduce root 1", "tp", "h", "g"),
			op("matmul", "g w", "y"), op("matmul", "g w", "z")},
		"on the root, and back": {op("matmul", "x w", "h"), call("gather", "tp", "h", "g"),
			op("add", "g g", "a"), op("matmul", "a w", "z"), call("scatter", "tp", "z", "q"),
			op("matmul", "q w", "y")},
		"sums on the root": {call("gather root 2", "", "x", "g"), op("sum axis=0", "g", "y"),
			op("sum axis=1", "g", "z")},
		"sums of different rows": {call("all_to_allv splits 1,3/2,2", "tp", "x", "a"),
			op("sum axis=0", "a", "y"), op("scale by=3", "a", "z")},
		"more rows than are sent": {op("matmul", "x w", "h"),
			call("all_gatherv splits 4,1", "tp", "h", "z"), op("matmul", "z w", "y")},
		"more rows than are sent, and read": {call("all_gatherv splits 4,1", "tp", "x", "z"),
			op("matmul", "z w", "y"), op("add", "x x2", "a")},
		"fewer to experts, of what is computed": {op("matmul", "x w", "h"),
			call("all_to_allv splits 1,3,0,0/0,0,2,0/1,0,0,1/1,1,1,1", "", "h", "a"),
			op("matmul", "a w", "z"),
			call("all_to_allv splits 1,0,1,1/3,0,0,1/0,2,0,1/0,0,1,1", "", "z", "q"),
			op("add", "q q", "y")},
		"broadcast": {call("broadcast root 1", "", "x", "z"), op("matmul", "z w", "y")},
		"reduce": {call("reduce root 1", "tp", "x", "z"),
			in("one", op("matmul", "z w", "y"))},
		"what the root has": {call("broadcast", "0to1", "x", "z"), in("zero", op("cast", "z", "y"))},
		"from one to another": {in("zero", op("matmul", "x w", "a")),
			call("broadcast", "0to1", "a", "z"), in("one", op("matmul", "z w", "y"))},
		"and it is used too": {in("0to1", op("matmul", "x w", "a")), call("broadcast", "0to1", "a", "z"),
			in("one", op("matmul", "z w", "y")), in("0to1", op("add", "a x", "q"))},
		"one of all": {call("all_reduce", "", "x", "z"), in("one", op("matmul", "z w", "y"))},
		"some of all": {call("broadcast", "tp", "x", "z"), call("broadcast", "", "z", "a"),
			in("0to1", op("matmul", "a w", "y"))},
		"some need more": {in("zero", op("scale by=2", "x", "y")), op("matmul", "x w", "z"),
			in("one", op("scale by=3", "x", "q"))},
		"with the same": {in("zero", op("cast", "x", "a")), in("one", op("matmul", "x w", "a")),
			in("0to1", op("matmul", "a w", "y"))},
	} {
		t.Run(name, func(t *testing.T) {
			p := &program.Program{Name: "p", Ranks: 4, Groups: groups, Ops: ops,
				Tensors: []program.Tensor{f64("x", 4, 6), f64("x2", 4, 6), f64("w", 6, 6), f64("v", 3, 4),
					f64("b", 2, 2, 6), f64("b2", 2, 2, 6)}}
			for i := range p.Ops {
				p.Ops[i].Name = fmt.Sprint("op", i)
			}
			derives(t, p, 7)
			derives(t, p, 8)
		})
	}
}

// TestGradientOfAnyProgram: of random ones.
func TestGradientOfAnyProgram(t *testing.T) {
	for seed := range uint64(tier.Of(12, 200)) {
		p := anyProgram(seed)
		p.Iterations = 1
		for i := range p.Tensors {
			p.Tensors[i].Type, p.Tensors[i].Keep = dtype.Float64, false
		}
		fresh := map[string]string{}
		for i := range p.Ops { // nothing in place
			o := &p.Ops[i]
			for k, name := range o.In {
				if now := fresh[name]; now != "" {
					o.In[k] = now
				}
			}
			if slices.ContainsFunc(p.Ops[:i], func(b program.Op) bool { return b.Out == o.Out }) {
				fresh[o.Out] = o.Out + "_" + o.Name
				o.Out = fresh[o.Out]
			}
		}
		derives(t, p, seed)
	}
}

// trained is a layer whose weights are summed and used as soon as their gradients are there.
func trained() *program.Program {
	return &program.Program{Name: "trained", Ranks: 2, Gradient: true,
		Tensors: []program.Tensor{
			{Name: "x", Type: dtype.Float32, Shape: collective.Shape{4, 8}, NoGradient: true},
			{Name: "w1", Type: dtype.Float32, Shape: collective.Shape{8, 8}},
			{Name: "w2", Type: dtype.Float32, Shape: collective.Shape{8, 8}}},
		Ops: []program.Op{
			{Name: "first", Kernel: "matmul", In: []string{"x", "w1"}, Out: "h"},
			{Name: "work", Kernel: "opaque 5 us", In: []string{"h"}, Backward: "opaque 9 us"},
			{Name: "second", Kernel: "matmul", In: []string{"h", "w2"}, Out: "y"},
			{Name: "sum1", Call: "all_reduce", In: []string{"w1_grad"}, Out: "w1_grad", Async: true},
			{Name: "sum2", Call: "all_reduce", In: []string{"w2_grad"}, Out: "s2", Async: true},
			{Name: "step2", Kernel: "add", In: []string{"w2", "s2"}, Out: "w2_next"},
		}}
}

// TestGradientOrder: gradients of the last op first; what reads one follows at once; x needs none.
func TestGradientOrder(t *testing.T) {
	low, err := program.Lower(trained(), program.Lowering{}, byName)
	require.NoError(t, err)
	var names []string
	for _, o := range low.Ops {
		names = append(names, strings.Join(o.Names, "+"))
	}
	require.Equal(t, []string{"first", "work", "second", "second:grad h", "second:grad w2", "sum2",
		"step2", "work:grad", "first:grad w1", "sum1"}, names)
	_, found := proof.Verify(low.Schedule, proof.Options{})
	require.Empty(t, found)
}

// TestGradientRefuses: by name, and at the op or tensor of the program as it is written.
func TestGradientRefuses(t *testing.T) {
	for _, c := range []struct {
		damage func(p *program.Program)
		op     int
		want   string
	}{
		{func(p *program.Program) { p.Ops[1].Backward = "" }, 1,
			`work: how long the backward pass of an opaque kernel takes is not known: backward = "opaque ` +
				`0 s", or another time, says so`},
		{func(p *program.Program) { p.Ops[1].Backward = "cast" }, 1,
			`work: backward = "cast": opaque and a time are expected`},
		{func(p *program.Program) { p.Ops[4].In = []string{"x_grad"} }, 4,
			"sum2: x has no gradient: no result depends on it by way of floats"},
		{func(p *program.Program) { p.Ops[4].In = []string{"z_grad"} }, 4,
			`sum2: "z_grad" is no tensor: neither declared nor written by an op before`},
		{func(p *program.Program) {
			p.Ops[2] = program.Op{Name: "max", Call: "all_reduce max", In: []string{"h"}, Out: "y"}
		}, 2, "max: the gradient of all_reduce max has a mask, which is no op of a program"},
		{func(p *program.Program) {
			p.Ops[2] = program.Op{Name: "prod", Call: "all_reduce prod", In: []string{"h"}, Out: "y"}
		}, 2, "prod: all_reduce prod has no gradient; sum, avg, premulsum, min and max have one"},
		{func(p *program.Program) {
			p.Ops[2] = program.Op{Name: "place", Call: "all_reduce", In: []string{"h"}, Out: "h"}
		}, 2, "place: h is overwritten; what was there is needed for gradients: it needs another name"},
		{func(p *program.Program) {
			p.Ops[0].Out, p.Ops[2].In[0], p.Ops[1].In = "w2_grad", "w2_grad", nil
		}, 0, "first writes w2_grad; there is a tensor w2, and its gradient needs that name"},
		{func(p *program.Program) { p.Tensors = append(p.Tensors, f64("y_grad", 3)) }, -1,
			"tensor y_grad: there is a tensor y; as its gradient, float32 4x8 that no op writes is " +
				"expected"},
		{func(p *program.Program) { p.Ops = p.Ops[3:4] }, 0,
			`sum1: "w1_grad" is no tensor: neither declared nor written by an op before`},
	} {
		p := trained()
		c.damage(p)
		err := p.Validate()
		require.ErrorContains(t, err, c.want)
		var wrong *program.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, c.op, wrong.Op, c.want)
	}
}

// TestGradientOfSplits: of random ones, there and back through a matmul.
func TestGradientOfSplits(t *testing.T) {
	for seed := range uint64(tier.Of(6, 150)) {
		r := rand.New(rand.NewPCG(seed, 18))
		ranks, rows := 2+r.IntN(3), make([]int64, 4)
		there := &collective.Communication{Kind: collective.AllToAllV}
		own := &collective.Communication{Kind: collective.ReduceScatterV}
		most, whole := int64(1), int64(0)
		there.Splits = make([][]int64, ranks)
		for i := range there.Splits {
			for k := range ranks {
				n := int64(r.IntN(3))
				if i+k == 0 {
					n += 2
				}
				there.Splits[i] = append(there.Splits[i], n)
				rows[i] += n
			}
			most = max(most, rows[i])
		}
		back := &collective.Communication{Kind: collective.AllToAllV}
		for to := range ranks {
			var row []int64
			for from := range ranks {
				row = append(row, there.Splits[from][to])
			}
			back.Splits = append(back.Splits, row)
		}
		own.Splits = [][]int64{nil}
		for range ranks {
			own.Splits[0] = append(own.Splits[0], int64(r.IntN(4)))
			whole += own.Splits[0][len(own.Splits[0])-1]
		}
		own.Splits[0][0], whole = own.Splits[0][0]+2, whole+2
		again := *own
		again.Kind = collective.AllGatherV
		p := &program.Program{Name: "p", Ranks: ranks, Tensors: []program.Tensor{f64("x", most, 3),
			f64("w", 3, 2), f64("v", whole, 3)}, Ops: []program.Op{
			{Name: "there", Call: there.String(), In: []string{"x"}, Out: "a"},
			{Name: "expert", Kernel: "matmul", In: []string{"a", "w"}, Out: "b"},
			{Name: "back", Call: back.String(), In: []string{"b"}, Out: "y"},
			{Name: "scatter", Call: own.String(), In: []string{"v"}, Out: "c"},
			{Name: "part", Kernel: "matmul", In: []string{"c", "w"}, Out: "d"},
			{Name: "gather", Call: again.String(), In: []string{"d"}, Out: "z"},
		}}
		derives(t, p, seed)
	}
}
