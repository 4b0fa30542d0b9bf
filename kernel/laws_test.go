package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// indices lists a span's elements.
func (s Span) indices() (list []int64) {
	for i := range s.Times {
		for j := range s.Length {
			list = append(list, s.At+i*s.Stride+j)
		}
	}
	return list
}

// elements picks elements of a tensor.
func elements(t dtype.Type, data []byte, s Span) (picked []byte) {
	for _, i := range s.indices() {
		picked = append(picked, data[i*int64(t.Width()):][:t.Width()]...)
	}
	return picked
}

// alone is the operation that one block is.
func (b Block) alone(o Op) Op {
	switch o.Kind {
	case Matmul, ScaledMatmul:
		o.In, o.N = ShapeOf(b.Out.Times, o.K()), b.Out.Length
	case Sum, Mean:
		if in := b.In[0]; in.Times > 1 || o.inner() > b.Out.Elements() {
			o.In, o.Axis = ShapeOf(in.Times, in.Length), 0
		} else {
			o.In, o.Axis = ShapeOf(b.Out.Length/o.inner(), o.length(), o.inner()), 1
		}
	case Expand:
		in, out := b.In[0].Elements(), b.Out.Elements()
		if inner := o.inner(); in <= inner {
			o.In, o.Axis, o.N = ShapeOf(in), 0, out/in
		} else {
			o.In, o.Axis = ShapeOf(in/inner, inner), 1
		}
	case Move:
		o.In, o.Axis = ShapeOf(b.Out.Length), 0
	default:
		o.In = ShapeOf(b.Out.Length)
	}
	return o
}

// TestBlocks: the blocks of a grid write every element of the result once, their costs add up to
// the operation's, and what each writes follows from the operands' elements that it names, bit for
// bit: it computes the same alone.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 6))
	for _, o := range operations(rng) {
		tile := Tile{1 + rng.Int64N(20), 1 + rng.Int64N(20)}
		in := random(rng, o, false)
		out, err := Apply(o, in)
		require.NoError(t, err)
		var written []int64
		var flops, bytes int64
		for i := range o.Blocks(tile) {
			b := o.Block(tile, i)
			written = append(written, b.Out.indices()...)
			flops, bytes = flops+b.FLOPs, bytes+b.Written
			var parts [][]byte
			read := int64(0)
			for j, operand := range o.Operands() {
				parts = append(parts, elements(operand.Type, in[j], b.In[j]))
				read += int64(len(parts[j]))
			}
			require.Equal(t, read, b.Read)
			got, err := Apply(b.alone(o), parts)
			require.NoError(t, err, "%v, block %d: %v", o, i, b.alone(o))
			require.Equal(t, elements(o.Out, out, b.Out), got, "%v, block %d of %v", o, i, tile)
		}
		slices.Sort(written)
		require.Len(t, written, int(o.Output().Shape.Elements()), "%v of %v", o, tile)
		for i, at := range written { // without a look by reflection
			if at != int64(i) {
				require.Equal(t, int64(i), at, "%v of %v", o, tile)
			}
		}
		require.Equal(t, o.FLOPs(), flops, "%v", o)
		require.Equal(t, o.Written(), bytes)
	}
	require.Zero(t, Op{Kind: Opaque, Time: 1}.Blocks(Tile{1, 1}))
}

// TestCosts by hand.
func TestCosts(t *testing.T) {
	for text, want := range map[string][3]int64{
		// 2 · 6 · 4 · 5; 2·(24 + 20) and 4·30 bytes
		"matmul m=2x3 k=4 n=5 bfloat16*float16->float32": {240, 2 * (24 + 20), 4 * 30},
		// 24 + 20, 4·(6 + 5) of scales, 2·5 of the bias
		"scaled_matmul m=2x3 k=4 n=5 e4m3*e4m3->bf16 row-wise bias=bf16": {240, 24 + 20 + 44 + 10, 60},
		// 24 + 20, three scales
		"scaled_matmul m=2x3 k=4 n=5 e4m3*e4m3->e4m3 tensor-wise result-scale": {240, 24 + 20 + 12, 30},
		"add 2x3 float32+bfloat16->int8":                                       {},
		"add 2x3 float32+bfloat16->bfloat16":                                   {6, 24 + 12, 12},
		"cast 2x3 float32->int8":                                               {0, 24, 6},
		"sum 2x3x5 axis=1 float32->float32":                                    {2 * 10, 120, 40},
		"mean 2x3x5 axis=1 float32->float32":                                   {3 * 10, 120, 40},
		"sum 2x0 axis=1 float32->float32":                                      {0, 0, 8},
		"opaque 1 us":                                                          {},
	} {
		o, err := Parse(text)
		if want == ([3]int64{}) && o.Kind != Opaque {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, [3]int64{o.FLOPs(), o.Read(), o.Written()}, text)
	}
}

// laws checks a property of random matmuls (m1 + m2) x k x n of any types.
func laws(t *testing.T, name string, holds func(rng *rand.Rand, o Op, m1 int64) bool) {
	parameters := gopter.DefaultTestParametersWithSeed(17)
	parameters.MinSuccessfulTests = 60
	properties := gopter.NewProperties(parameters)
	properties.Property(name, prop.ForAll(func(m1, m2, k, n int64, seed uint64) bool {
		rng := rand.New(rand.NewPCG(seed, 7))
		all := operations(rng)
		o := all[rng.IntN(len(all))]
		for !o.IsMatmul() || o.Scaling == RowWise || o.TransposeA { // whose shards are columns
			o = all[rng.IntN(len(all))]
		}
		o.In, o.N = ShapeOf(m1+m2, k), n
		return holds(rng, o, m1)
	}, gen.Int64Range(0, 50), gen.Int64Range(0, 50), gen.Int64Range(0, 40), gen.Int64Range(0, 40),
		gen.UInt64()))
	properties.TestingRun(t)
}

// TestRowsAreIndependent: the matmul of shards of A, one after the other, is that of A, bit for
// bit; this is why a gather of rows and a matmul may be done in any order.
func TestRowsAreIndependent(t *testing.T) {
	laws(t, "concatenated shards give concatenated results", func(rng *rand.Rand, o Op,
		m1 int64) bool {
		in := random(rng, o, rng.IntN(2) == 0)
		whole, err := Apply(o, in)
		require.NoError(t, err)
		top, bottom := o, o
		top.In, bottom.In = ShapeOf(m1, o.K()), ShapeOf(o.M()-m1, o.K())
		cut := top.Operands()[0].Bytes()
		rest := in[1:]
		x, err := Apply(top, append([][]byte{in[0][:cut]}, rest...))
		require.NoError(t, err)
		y, err := Apply(bottom, append([][]byte{in[0][cut:]}, rest...))
		require.NoError(t, err)
		return slices.Equal(whole, append(x, y...)) && o.FLOPs() == top.FLOPs()+bottom.FLOPs()
	})
}

// TestFLOPsOfSplits: of rows, of columns and of the inner length.
func TestFLOPsOfSplits(t *testing.T) {
	laws(t, "FLOPs add up", func(rng *rand.Rand, o Op, _ int64) bool {
		n, k := rng.Int64N(o.N+1), rng.Int64N(o.K()+1)
		left, right, near, far := o, o, o, o
		left.N, right.N = n, o.N-n
		near.In, far.In = ShapeOf(o.M(), k), ShapeOf(o.M(), o.K()-k)
		return left.FLOPs()+right.FLOPs() == o.FLOPs() && near.FLOPs()+far.FLOPs() == o.FLOPs()
	})
}

// TestScalesAreExact: scales that are powers of two are as good as scaled operands.
func TestScalesAreExact(t *testing.T) {
	laws(t, "powers of two", func(rng *rand.Rand, o Op, _ int64) bool {
		o = Op{Kind: ScaledMatmul, In: o.In, N: o.N, A: dtype.Float8E5M2, B: dtype.Float8E4M3,
			Out: dtype.Float32, Scaling: TensorWise}
		in := random(rng, o, false)
		in[2], in[3] = tensor(dtype.Float32, 4), tensor(dtype.Float32, .5)
		got, err := Apply(o, in)
		require.NoError(t, err)
		plain := o
		plain.Kind, plain.Scaling = Matmul, 0
		want, err := Apply(plain, in[:2])
		require.NoError(t, err)
		double := numbers(dtype.Float32, want)
		for i := range double {
			double[i] *= 2
		}
		return slices.Equal(double, numbers(dtype.Float32, got))
	})
}
