package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// sampleLayers lists layers of every kind, with their attributes and operands that may be left out,
// in float64 so that differences tell their slopes.
func sampleLayers() []string {
	return []string{
		"attention 6x8:float64+6x8:float64+6x8:float64->6x8:float64 heads=2",
		"attention 2x3x12:float64+2x5x4:float64+2x5x4:float64->2x3x12:float64 heads=6 kv_heads=2 " +
			"causal",
		"attention 8x20:float64->8x12:float64 heads=6 kv_heads=2 sequences=2 causal",
		"attention 1x4:float64+9x4:float64+9x4:float64->1x4:float64 heads=1 causal",
		"rms_norm 3x5:float64->3x5:float64",
		"rms_norm 2x3x5:float64+5:float64->2x3x5:float64 eps=0.5",
		"layer_norm 3x5:float64->3x5:float64",
		"layer_norm 3x5:float64+5:float64->3x5:float64 eps=0.25",
		"layer_norm 3x5:float64+5:float64+5:float64->3x5:float64",
		"gelu 3x5:float64->3x5:float64", "gelu 3x5:float64->3x5:float64 tanh",
		"silu 3x5:float64->3x5:float64", "relu 3x5:float64->3x5:float64",
		"swiglu 3x5:float64+3x5:float64->3x5:float64",
		"softmax 3x5:float64->3x5:float64",
		"cross_entropy 4x5:float64+4:int64->1:float64",
		"embedding 2x3:int32+7x4:float64->2x3x4:float64",
		"route 4x5:float64->4x5:float64 k=2", "route 2x3:float64->2x3:float64 k=3",
		"shard 4x6:float64->4x2:float64 axis=1 part=2 of=3",
		"shard 4x6:float64->2x6:float64 part=1 of=2",
		"pad 2x3:float64->5x3:float64 rows=5", "pad 2x3:float64->2x3:float64 rows=2",
		"sgd 3x5:float64+3x5:float64->3x5:float64 lr=0.5 weight_decay=0.125",
		"adam_m 7:float64+7:float64->7:float64 beta1=0.75",
		"adam_v 7:float64+7:float64->7:float64",
		"adam 7:float64+7:float64+7:float64->7:float64 lr=0.5 weight_decay=0.125 step=3",
	}
}

// sampled returns a layer and operands of normal numbers; second moments are not negative, and ids
// any whole numbers.
func sampled(t *testing.T, text string, seed uint64) (o Op, in [][]float64) {
	o, err := Parse(text)
	require.NoError(t, err, text)
	rng := rand.New(rand.NewPCG(seed, 23))
	for _, operand := range o.Operands() {
		list := make([]float64, operand.Shape.Elements())
		for i := range list {
			switch list[i] = rng.NormFloat64(); {
			case !operand.Type.IsFloat():
				list[i] = float64(rng.IntN(30) - 10)
			case o.Kind == Adam && operand.Name == "v":
				list[i] = math.Abs(list[i])
			}
		}
		in = append(in, list)
	}
	return o, in
}

// applied computes an operation on numbers.
func applied(t *testing.T, o Op, in [][]float64) []float64 {
	var data [][]byte
	for i, operand := range o.Operands() {
		data = append(data, tensor(operand.Type, in[i]...))
	}
	out, err := Apply(o, data)
	require.NoError(t, err, "%v", o)
	return numbers(o.Out, out)
}

// gradientOf returns the gradient of a layer by an operand.
func gradientOf(t *testing.T, o Op, by int) Op {
	operands := append(o.Operands(), o.Output())
	words := append(strings.Fields(o.attributeText()), fmt.Sprintf("gradient=%d", by))
	g, err := NewLayer(o.Kind, words, operands, 0)
	require.NoError(t, err, "%v", o)
	return g
}

// TestGradientsByDifferences: each gradient is the slope of the sum of all results, each times a
// number, as two values around every element of the operand tell.
func TestGradientsByDifferences(t *testing.T) {
	const h = 1e-5
	tried := map[Kind]int{}
	for _, text := range sampleLayers() {
		o, in := sampled(t, text, 1)
		if o.layer().gradient == nil {
			continue
		}
		g := make([]float64, o.Output().Shape.Elements())
		rng := rand.New(rand.NewPCG(2, 2))
		for i := range g {
			g[i] = rng.NormFloat64()
		}
		for by, operand := range o.Operands() {
			if !operand.Type.IsFloat() {
				continue
			}
			tried[o.Kind]++
			got := applied(t, gradientOf(t, o, by), append(append([][]float64{}, in...), g))
			require.Len(t, got, len(in[by]))
			for i, x := range in[by] {
				in[by][i] = x + h
				above := dot(g, applied(t, o, in))
				in[by][i] = x - h
				below := dot(g, applied(t, o, in))
				in[by][i] = x
				require.InDelta(t, (above-below)/(2*h), got[i], 1e-7, "%v by %s, element %d", o,
					operand.Name, i)
			}
		}
	}
	require.Len(t, tried, 13) // all but the four steps of optimizers
	require.Equal(t, 10, tried[Attention])
}

// TestLayerTexts: what String prints, Parse reads, of layers and of their gradients.
func TestLayerTexts(t *testing.T) {
	kinds := map[Kind]bool{}
	for _, text := range sampleLayers() {
		o, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, text, o.String())
		kinds[o.Kind] = true
		for by, operand := range o.Operands() {
			if o.layer().gradient == nil || !operand.Type.IsFloat() {
				continue
			}
			g := gradientOf(t, o, by)
			again, err := Parse(g.String())
			require.NoError(t, err, "%v", g)
			require.True(t, again == g, "%v", g)
			require.Equal(t, operand.Shape, g.Output().Shape)
		}
	}
	for _, k := range Kinds() {
		require.Equal(t, k > Opaque, kinds[k], "%v", k)
	}
	for _, text := range []string{"opaque 64x96:bfloat16->64x32:bfloat16 10.0 us",
		"opaque flops=2e+12 bytes=3e+09", "opaque flops=123",
		"opaque 4x8:bfloat16+3:int16+9:int8->3:int16 bytes=4096 gradient=1"} {
		o, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, text, o.String())
	}
}

// TestLayerRows: a row of a result follows from that row of the operands, and those read whole.
func TestLayerRows(t *testing.T) {
	for _, text := range sampleLayers() {
		o, in := sampled(t, text, 3)
		n, whole := o.Rows()
		if n == 1 {
			continue
		}
		out := applied(t, o, in)
		width := int64(len(out)) / n
		for row := range n {
			changed := make([][]float64, len(in))
			for k := range in {
				changed[k] = append([]float64{}, in[k]...)
				each := int64(len(in[k])) / n
				if isIn(whole, k) {
					continue
				}
				for i := range changed[k] {
					if int64(i)/each != row {
						changed[k][i]++
					}
				}
			}
			again := applied(t, o, changed)
			require.Equal(t, out[row*width:][:width], again[row*width:][:width], "%v row %d", o, row)
		}
	}
}

func isIn(list []int, k int) bool {
	for _, x := range list {
		if x == k {
			return true
		}
	}
	return false
}

// TestLayerCosts by hand.
func TestLayerCosts(t *testing.T) {
	const bf16 = ":bfloat16"
	for text, want := range map[string][3]int64{ // FLOPs, bytes read and written
		// 2 matmuls of 6 queries, 10 keys, 4 heads of 8: 2·2·6·10·4·8
		"attention 6x32" + bf16 + "+10x16" + bf16 + "+10x16" + bf16 + "->6x32" + bf16 +
			" heads=4 kv_heads=2": {7680, 2 * (192 + 160 + 160), 2 * 192},
		// pairs 5+6+…+10 = 45
		"attention 6x32" + bf16 + "+10x16" + bf16 + "+10x16" + bf16 + "->6x32" + bf16 +
			" heads=4 kv_heads=2 causal": {2 * 2 * 45 * 32, 2 * (192 + 160 + 160), 2 * 192},
		// two sequences of 4: 5 matmuls of 2·10 pairs, 2 heads of 4
		"attention 8x24" + bf16 + "+8x8" + bf16 + "->8x24" + bf16 +
			" heads=2 causal sequences=2 gradient=0": {5 * 2 * 20 * 8, 2 * (192 + 64), 2 * 192},
		"rms_norm 4x8" + bf16 + "+8" + bf16 + "->4x8" + bf16:           {4 * 32, 2 * 40, 64},
		"embedding 5:int64+100x8" + bf16 + "->5x8" + bf16:              {0, 5*8 + 2*40, 80},
		"adam_m 8:float32+8" + bf16 + "->8:float32":                    {24, 32 + 16, 32},
		"adam_v 8:float32+8" + bf16 + "->8:float32":                    {24, 32, 32},
		"adam 8:float32+8:float32+8:float32->8:float32":                {96, 32, 32},
		"opaque 4x8" + bf16 + "->4x4" + bf16 + " flops=1000 bytes=500": {1000, 64, 32},
	} {
		o, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, [3]int64{o.FLOPs(), o.Read(), o.Written()}, text)
	}
	o, err := Parse("opaque 4x8:bfloat16->4x4:bfloat16 flops=1000 bytes=500")
	require.NoError(t, err)
	require.EqualValues(t, 500, o.Moved())
	// The gradients by q, k and v are 5 matmuls together, as the one by q, k and v side by side.
	forward, _ := sampled(t, sampleLayers()[0], 1)
	flops := int64(0)
	for by := range 3 {
		flops += gradientOf(t, forward, by).FLOPs()
	}
	require.Equal(t, forward.FLOPs()/2*5, flops)
}

// TestFunctions: exp, ln, tanh, erf and σ are those of math to some units in the last place.
func TestFunctions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	near := func(want, got float64, what string, x float64) {
		if want == got || math.IsNaN(want) && math.IsNaN(got) {
			return
		}
		require.InDelta(t, 1, got/want, 2e-15, "%s(%v)", what, x)
	}
	for _, special := range []float64{0, 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), -800,
		800, 6, -6, 1e-300} {
		near(math.Exp(special), exp(special), "exp", special)
		near(math.Log(special), ln(special), "ln", special)
		near(math.Erf(special), erf(special), "erf", special)
	}
	near(-744.4400719213812, ln(5e-324), "ln", 5e-324) // math.Log's is off
	for range 20000 {
		x := rng.NormFloat64() * 20
		near(math.Exp(x), exp(x), "exp", x)
		near(math.Log(math.Abs(x)), ln(math.Abs(x)), "ln", math.Abs(x))
		near(math.Erf(x/8), erf(x/8), "erf", x/8)
		near(1/(1+math.Exp(-x)), sigmoid(x), "sigmoid", x)
		require.InDelta(t, math.Tanh(x/8), tanh(x/8), 4e-16)
	}
}

// TestStandIn: any element of any operand, and its place, matter to what an opaque operation
// writes; the sign of a zero does not. Values are whole, at most 4, and of all types.
func TestStandIn(t *testing.T) {
	o, err := Parse("opaque 3x4:bfloat16+5:int16->4x16:float32 1 us")
	require.NoError(t, err)
	in := [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0}, {1, 2, 3, 4, -5}}
	first := applied(t, o, in)
	seen := map[float64]bool{}
	for _, x := range first {
		seen[x] = true
	}
	require.Len(t, seen, 8, "1 to 4 with both signs: %v", first)
	for k := range in {
		for i := range in[k] {
			was := in[k][i]
			in[k][i] = was + 1
			require.NotEqual(t, first, applied(t, o, in), "element %d of %d", i, k)
			in[k][i] = was
		}
	}
	in[0][11] = math.Copysign(0, -1)
	require.Equal(t, first, applied(t, o, in))
	in[0][0], in[0][1] = in[0][1], in[0][0]
	require.NotEqual(t, first, applied(t, o, in), "two elements the other way round")
	two, err := Parse("opaque 3:float32+3:float32->16:float32 1 us")
	require.NoError(t, err)
	a, b := []float64{1, 2, 3}, []float64{4, 5, 6}
	require.NotEqual(t, applied(t, two, [][]float64{a, b}), applied(t, two, [][]float64{b, a}),
		"two operands the other way round")
	for _, typ := range dtype.All() {
		o, err := NewOpaque([]string{"1", "us"}, []Tensor{shaped(dtype.Int8, 3)},
			Tensor{Shape: collective.Shape{64}, Type: typ})
		require.NoError(t, err)
		out, err := Apply(o, [][]byte{{1, 2, 3}})
		require.NoError(t, err)
		if typ == dtype.Bool {
			n := bytes.Count(out, []byte{1})
			require.Equal(t, 64, n+bytes.Count(out, []byte{0}))
			require.InDelta(t, 32, n, 16)
			continue
		}
		for i := range 64 * typ.Components() {
			x, u := at(typ.Component(), out, int64(i))
			if !typ.IsFloat() {
				x = float64(int64(u))
			}
			most := 4.0
			if !typ.IsFloat() && !typ.Signed() {
				most = 8
			}
			require.True(t, x == math.Trunc(x) && x != 0 && math.Abs(x) <= most, "%v %v", typ, x)
		}
	}
}
