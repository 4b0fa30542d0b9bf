package program_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/program"
	"collsim/proof"
	"collsim/reference"
)

// transformer is a layer of a transformer in float64, on 2 ranks with a half of the heads each:
// queries, keys and values of one matmul or of three.
func transformer(packed bool) *program.Program {
	p := &program.Program{Name: "block", Ranks: 2, Tensors: []program.Tensor{f64("x", 6, 8),
		f64("n1", 8), f64("n2", 8), f64("b2", 8), f64("wo", 8, 8), f64("wg", 8, 10), f64("wu", 8, 10),
		f64("wd", 10, 8), f64("wl", 8, 5)}}
	op := func(kernel, in, out string) {
		p.Ops = append(p.Ops, program.Op{Name: out, Kernel: kernel, In: strings.Fields(in), Out: out})
	}
	sum := func(in, out string) {
		p.Ops = append(p.Ops, program.Op{Name: out, Call: "all_reduce", In: []string{in}, Out: out})
	}
	op("rms_norm", "x n1", "h")
	if packed {
		p.Tensors = append(p.Tensors, f64("wqkv", 8, 12))
		op("matmul", "h wqkv", "qkv")
		op("attention heads=4 kv_heads=1 causal sequences=2", "qkv", "a")
	} else {
		p.Tensors = append(p.Tensors, f64("wq", 8, 8), f64("wk", 8, 4), f64("wv", 8, 4))
		op("matmul", "h wq", "q")
		op("matmul", "h wk", "k")
		op("matmul", "h wv", "v")
		op("attention heads=4 kv_heads=2", "q k v", "a")
	}
	op("matmul", "a wo", "ap")
	sum("ap", "as")
	op("add", "x as", "x2")
	op("layer_norm", "x2 n2 b2", "h2")
	op("matmul", "h2 wg", "g")
	op("matmul", "h2 wu", "u")
	op("gelu", "u", "ug")
	op("swiglu", "g ug", "f")
	op("matmul", "f wd", "dp")
	sum("dp", "d")
	op("silu", "d", "ds")
	op("matmul", "ds wl", "l")
	op("softmax", "l", "y")
	return p
}

// TestGradientOfLayers: of a transformer's layer on 2 ranks, by every element of every tensor that
// it is given, against what two values of the loss around it tell.
func TestGradientOfLayers(t *testing.T) {
	const h = 1e-5
	for _, packed := range []bool{true, false} {
		p := transformer(packed)
		r := rand.New(rand.NewPCG(7, 7))
		given := map[string][][]float64{}
		normal := func(x program.Tensor) (list [][]float64) {
			for range p.Ranks {
				values := make([]float64, x.Shape.Elements())
				for i := range values {
					values[i] = r.NormFloat64() / 2
				}
				list = append(list, values)
			}
			return list
		}
		for _, x := range p.Tensors {
			given[x.Name] = normal(x)
		}
		seed := normal(f64("y", 6, 5))
		loss := func() float64 { return inner(seed, evaluated(t, p, given)["y"]) }
		with := *p
		with.Gradient = true
		both := map[string][][]float64{"y_grad": seed}
		for name, list := range given {
			both[name] = list
		}
		gradients := evaluated(t, &with, both)
		for _, x := range p.Tensors {
			got := gradients[program.GradientName(x.Name)]
			require.NotNil(t, got, x.Name)
			rank, i := r.IntN(p.Ranks), r.IntN(int(x.Shape.Elements()))
			was := given[x.Name][rank][i]
			given[x.Name][rank][i] = was + h
			above := loss()
			given[x.Name][rank][i] = was - h
			below := loss()
			given[x.Name][rank][i] = was
			require.InDelta(t, (above-below)/(2*h), got[rank][i], 1e-7, "%s of rank %d, element %d", x.Name,
				rank, i)
		}
	}
}

// TestLayersThroughPasses: the numbers of a layer are right, and passes keep what is proven.
func TestLayersThroughPasses(t *testing.T) {
	for _, passes := range []program.Lowering{{}, {SymmetricMemory: true, OneShot: 1 << 20},
		{Reuse: true, Reorder: true}, {Bucket: 1 << 20, CommBuffer: 64}} {
		p := transformer(true)
		p.Gradient, p.Iterations = true, 2
		low, err := program.Lower(p, passes, byName)
		require.NoError(t, err)
		_, found := proof.Verify(low.Schedule, proof.Options{})
		require.Empty(t, found)
		report, err := reference.Check(low.Schedule, reference.CheckOptions{})
		require.NoError(t, err)
		require.Contains(t, []reference.Verdict{reference.NumbersExact, reference.NumbersBounded},
			report.Numbers, "%+v", report.First)
	}
}

// opaqueBlock has an opaque kernel between two matmuls.
func opaqueBlock(kernel string) *program.Program {
	return &program.Program{Name: "opaque", Ranks: 2, Gradient: true, Tensors: []program.Tensor{
		f64("x", 6, 8), f64("w", 8, 12), f64("wo", 4, 8), f64("m", 5)},
		Ops: []program.Op{
			{Name: "qkv", Kernel: "matmul", In: []string{"x", "w"}, Out: "q"},
			{Name: "attend", Kernel: kernel, In: []string{"q", "m"}, Out: "a",
				Shape: collective.Shape{6, 4}},
			{Name: "out", Kernel: "matmul", In: []string{"a", "wo"}, Out: "ap"},
			{Name: "sum", Call: "all_reduce", In: []string{"ap"}, Out: "y"}}}
}

// TestOpaqueResults: what an opaque kernel writes is proven to be where it should be, its numbers
// are called what they are, and its gradients go on to all that it reads. Their costs are parts of
// what it states, or of twice its own, and add up.
func TestOpaqueResults(t *testing.T) {
	for _, c := range []struct{ kernel, backward, cost, note string }{
		{"opaque 10 us", "", "20 us", "backward it takes twice what it takes forward"},
		{"opaque 10 us", "opaque 25001 ps", "25001 ps", ""},
		{"opaque flops=1001 bytes=4KiB", "", "flops=2002 bytes=8192",
			"backward it takes twice what it takes forward"},
		{"opaque 10 us", "opaque flops=7", "flops=7", ""},
		{"opaque 10 us", "opaque 0 s", "0 s", ""},
	} {
		p := opaqueBlock(c.kernel)
		p.Ops[1].Backward = c.backward
		low, err := program.Lower(p, program.Lowering{}, byName)
		require.NoError(t, err)
		_, found := proof.Verify(low.Schedule, proof.Options{})
		require.Empty(t, found)
		report, err := reference.Check(low.Schedule, reference.CheckOptions{})
		require.NoError(t, err)
		require.Equal(t, reference.NumbersStandIn, report.Numbers)
		require.Equal(t, "exact, with stand-ins for the results of attend, their gradients",
			report.Why)
		var sum kernel.Op
		parts := 0
		for _, o := range low.Ops {
			if !strings.HasPrefix(o.Names[0], "attend:grad") {
				continue
			}
			op, err := kernel.Parse(o.Became)
			require.NoError(t, err)
			sum.Time += op.Time
			for i := range sum.Attributes {
				sum.Attributes[i] += op.Attributes[i]
			}
			parts++
		}
		require.Equal(t, 2, parts)
		want, err := kernel.Parse("opaque " + c.cost)
		require.NoError(t, err)
		require.Equal(t, want.Time, sum.Time)
		require.Equal(t, want.Attributes, sum.Attributes)
		has := slices.ContainsFunc(low.Notes, func(n program.Note) bool {
			return slices.Equal(n.Ops, []string{"attend"}) && n.Did == c.note
		})
		require.Equal(t, c.note != "", has, "%v", low.Notes)
		for _, name := range []string{"x_grad", "w_grad", "m_grad", "wo_grad"} {
			require.Contains(t, low.Where, name)
		}
	}
}

// TestOpaqueOfUnevenRows: an expert's kernel writes as many rows as the rank has, at that part of
// the cost.
func TestOpaqueOfUnevenRows(t *testing.T) {
	p := &program.Program{Name: "experts", Ranks: 2, Tensors: []program.Tensor{f64("x", 4, 3)},
		Ops: []program.Op{
			{Name: "there", Call: "all_to_allv splits 3,1/3,1", In: []string{"x"}, Out: "e"},
			{Name: "expert", Kernel: "opaque flops=600", In: []string{"e"}, Out: "f",
				Shape: collective.Shape{6, 3}},
			{Name: "back", Call: "all_to_allv splits 3,3/1,1", In: []string{"f"}, Out: "y"}}}
	low, err := program.Lower(p, program.Lowering{}, byName)
	require.NoError(t, err)
	_, found := proof.Verify(low.Schedule, proof.Options{})
	require.Empty(t, found)
	text := low.Schedule.String()
	require.Contains(t, text, "(opaque 6x3:float64->6x3:float64 flops=600)")
	require.Contains(t, text, "(opaque 2x3:float64->2x3:float64 flops=200)")
	report, err := reference.Check(low.Schedule, reference.CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, reference.NumbersStandIn, report.Numbers)

	p.Ops[1].Shape = collective.Shape{7, 3}
	require.ErrorContains(t, p.Validate(), "e has other lengths on its ranks; what is made of it has "+
		"as many rows, 6 at most, not the shape 7x3")
}

// TestLayerGradientRefuses: steps of optimizers have none.
func TestLayerGradientRefuses(t *testing.T) {
	p := &program.Program{Name: "step", Ranks: 1, Gradient: true, Tensors: []program.Tensor{
		f64("p", 4), f64("g", 4)}, Ops: []program.Op{{Name: "s", Kernel: "sgd lr=0.5",
		In: []string{"p", "g"}, Out: "q"}}}
	require.ErrorContains(t, p.Validate(), "s: sgd has no gradient by p")
	p.Tensors[0].Type = dtype.Int32
	require.ErrorContains(t, p.Validate(), "s: sgd: the type of p = int32: a float is expected")
}
