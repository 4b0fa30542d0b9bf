package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// operations are operations of every kind and all types that go together, of awkward sizes.
func operations(rng *rand.Rand) (list []Op) {
	size := func() int64 { return rng.Int64N(38) }
	for _, a := range dtype.All() {
		for _, b := range dtype.All() {
			if a.IsComplex() != b.IsComplex() {
				continue
			}
			list = append(list, Op{Kind: Cast, In: ShapeOf(size(), 3), A: a, Out: b})
			if a.IsFloat() != b.IsFloat() || a == dtype.Bool || b == dtype.Bool {
				continue
			}
			out := b
			if rng.IntN(2) == 0 {
				out = a
			}
			list = append(list,
				Op{Kind: Add, In: ShapeOf(2, size()), A: a, B: b, Out: out},
				Op{Kind: Sum, In: ShapeOf(size(), size(), size()), Axis: rng.IntN(3), A: a, Out: b},
				Op{Kind: Mean, In: ShapeOf(3, size()+1, 4), Axis: 1, A: a, Out: b})
			if a.IsComplex() {
				continue
			}
			list = append(list,
				Op{Kind: Matmul, In: ShapeOf(size(), size()), N: size(), A: a, B: b, Out: out},
				Op{Kind: Matmul, In: ShapeOf(size(), size()), N: size(), A: a, B: b, Out: out,
					TransposeA: true, TransposeB: rng.IntN(2) == 0},
				Op{Kind: Matmul, In: ShapeOf(2, size(), size()), N: size(), A: a, B: b, Out: out,
					TransposeB: true})
		}
		if a.IsFloat() {
			out := dtype.Float32
			if a.IsComplex() {
				out = dtype.Complex64
			}
			list = append(list, Op{Kind: Scale, In: ShapeOf(size(), 3), A: a, Out: out,
				Factor: rng.NormFloat64()})
		}
		list = append(list, Op{Kind: Expand, In: ShapeOf(size(), size()), Axis: rng.IntN(3),
			N: rng.Int64N(9), A: a, Out: a},
			Op{Kind: Move, In: ShapeOf(size(), size(), size()), Axis: rng.IntN(3), A: a, Out: a})
	}
	narrow := []dtype.Type{dtype.Float8E4M3, dtype.Float8E5M2}
	wide := []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32}
	for _, a := range narrow {
		for _, b := range narrow {
			for _, out := range append(slices.Clone(narrow), wide...) {
				for _, bias := range append([]dtype.Type{0}, wide...) {
					for _, scaling := range []Scaling{TensorWise, RowWise} {
						for _, result := range []bool{false, true} {
							o := Op{Kind: ScaledMatmul, In: ShapeOf(2, size(), size()), N: size(), A: a,
								B: b, Out: out, Scaling: scaling, Bias: bias, ResultScale: result}
							if o.Validate() == nil {
								list = append(list, o)
							}
						}
					}
				}
			}
		}
	}
	return list
}

// TestApplyEqualsNaive: bit for bit, of all types, with usual numbers and with any bits at all.
func TestApplyEqualsNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	scaled, tried := 0, map[Kind]bool{Opaque: true} // which computes nothing
	for _, o := range operations(rng) {
		require.NoError(t, o.Validate(), "%v", o)
		tried[o.Kind] = true
		if o.Kind == ScaledMatmul {
			scaled++
		}
		if o.Kind == Cast && o.A.IsFloat() != o.Out.IsFloat() && o.Out != dtype.Bool {
			continue // the naive one has no rounding from one to the other: TestCast
		}
		for _, anyBits := range []bool{false, true} {
			in := random(rng, o, anyBits)
			got, err := Apply(o, in)
			require.NoError(t, err)
			require.Equal(t, newNaive(o, in).apply(), got, "%v", o)
		}
	}
	// 3 pairs of types; tensor-wise 3 wide without bias, 2 with one, and 2 narrow with 3 biases and
	// 2 result scales, row-wise the first two.
	require.Equal(t, 3*(5+2*3*2+5), scaled)
	for _, k := range Kinds() {
		require.True(t, tried[k] || k > Opaque, "%v is not tried", k) // layers: layer_test.go
	}
}

// TestApplyOfManyTasks: results do not depend on the number of goroutines.
func TestApplyOfManyTasks(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 2))
	for _, o := range []Op{
		{Kind: Matmul, In: ShapeOf(3, 67, 35), N: 83, A: dtype.BFloat16, B: dtype.Float16,
			Out: dtype.Float32},
		{Kind: Matmul, In: ShapeOf(201, 35), N: 83, A: dtype.Float64, B: dtype.Float16,
			Out: dtype.Float64},
		{Kind: Matmul, In: ShapeOf(201, 35), N: 83, A: dtype.Int8, B: dtype.Uint8, Out: dtype.Int32},
		{Kind: Add, In: ShapeOf(3*part + 5), A: dtype.Float16, B: dtype.Float16, Out: dtype.Float16},
		{Kind: Cast, In: ShapeOf(3*part + 5), A: dtype.Float32, Out: dtype.Float8E5M2},
		{Kind: Sum, In: ShapeOf(2, 3, 2*part+7), Axis: 1, A: dtype.BFloat16, Out: dtype.BFloat16},
		{Kind: Sum, In: ShapeOf(5, 2*part+7), Axis: 1, A: dtype.BFloat16, Out: dtype.Float32},
		{Kind: Mean, In: ShapeOf(2, 700, 13), Axis: 1, A: dtype.Float32, Out: dtype.BFloat16},
	} {
		in := random(rng, o, false)
		want := newNaive(o, in).apply()
		for _, threads := range []int{1, 2, 7} {
			before := runtime.GOMAXPROCS(threads)
			got, err := Apply(o, in)
			runtime.GOMAXPROCS(before)
			require.NoError(t, err)
			require.True(t, slices.Equal(want, got), "%v with %d threads", o, threads)
		}
	}
}

// numbers are elements as float64.
func numbers(t dtype.Type, data []byte) (list []float64) {
	for i := range int64(len(data) / t.Width()) {
		x, u := at(t, data, i)
		if !t.IsFloat() {
			x = float64(int64(u))
		}
		list = append(list, x)
	}
	return list
}

// TestKnownCases are those that anyone can do by hand, or with NumPy.
func TestKnownCases(t *testing.T) {
	f32, bf16, i8, i32 := dtype.Float32, dtype.BFloat16, dtype.Int8, dtype.Int32
	e4m3, e5m2 := dtype.Float8E4M3, dtype.Float8E5M2
	inf := math.Inf(1)
	for _, tt := range []struct {
		op   string
		in   [][]byte
		want []float64
	}{
		// [1 2 3; 4 5 6] · [7 8; 9 10; 11 12]
		{"matmul m=2 k=3 n=2 float32*float32->float32", [][]byte{tensor(f32, 1, 2, 3, 4, 5, 6),
			tensor(f32, 7, 8, 9, 10, 11, 12)}, []float64{58, 64, 139, 154}},
		{"matmul m=1x2 k=3 n=2 int8*int8->int32", [][]byte{tensor(i8, 1, 2, 3, 4, 5, 6),
			tensor(i8, 7, 8, 9, 10, 11, 12)}, []float64{58, 64, 139, 154}},
		// 100 · 100 + 100 · 100 = 20000 = 78 · 256 + 32
		{"matmul m=1 k=2 n=1 int8*int8->int8", [][]byte{tensor(i8, 100, 100), tensor(i8, 100, 100)},
			[]float64{32}},
		{"matmul m=1 k=0 n=3 bfloat16*bfloat16->bfloat16", [][]byte{{}, {}}, []float64{0, 0, 0}},
		// 2²⁴ + 1 = 2²⁴ in float32, twice; with k descending it would be 2²⁴ + 2
		{"matmul m=1 k=3 n=1 float32*float32->float32", [][]byte{tensor(f32, 1<<24, 1, 1),
			tensor(f32, 1, 1, 1)}, []float64{1 << 24}},
		// 256 of 2⁻⁹ add up to ½; were each sum rounded to bfloat16, they would all be lost
		{"matmul m=1 k=257 n=1 bfloat16*bfloat16->bfloat16", [][]byte{
			tensor(bf16, append([]float64{1}, slices.Repeat([]float64{1. / 512}, 256)...)...),
			tensor(bf16, slices.Repeat([]float64{1}, 257)...)}, []float64{1.5}},
		// no fused multiply-add: (1 + 2⁻¹²)² loses 2⁻²⁴ before −1 is added, k = 0 first
		{"matmul m=1 k=2 n=1 float32*float32->float32", [][]byte{tensor(f32, -1, 1+0x1p-12),
			tensor(f32, 1, 1+0x1p-12)}, []float64{0x1p-11}},
		{"matmul m=1 k=2 n=2 float8_e4m3fn*float8_e4m3fn->float8_e4m3fn", [][]byte{
			tensor(e4m3, 448, 448), tensor(e4m3, 1, -1, 1, -1)}, []float64{448, -448}},
		{"matmul m=1 k=1 n=3 float32*float32->float16", [][]byte{tensor(f32, 65504),
			tensor(f32, 1, 2, -inf)}, []float64{65504, inf, -inf}},
		// (2 · 3) · ½ · ¼ + 1, · 8
		{"scaled_matmul m=1 k=1 n=1 float8_e4m3fn*float8_e5m2->float8_e4m3fn tensor-wise " +
			"bias=bfloat16 result-scale", [][]byte{tensor(e4m3, 2), tensor(e5m2, 3), tensor(f32, .5),
			tensor(f32, .25), tensor(bf16, 1), tensor(f32, 8)}, []float64{14}},
		// rows 1, 2, columns 1, 1: · (10, 100) · (1, 3) + (5, 7)
		{"scaled_matmul m=2 k=1 n=2 float8_e4m3fn*float8_e4m3fn->bfloat16 row-wise bias=bfloat16",
			[][]byte{tensor(e4m3, 1, 2), tensor(e4m3, 1, 1), tensor(f32, 10, 100), tensor(f32, 1, 3),
				tensor(bf16, 5, 7)}, []float64{15, 37, 205, 608}}, // 607, rounded to a multiple of 4
		{"add 3 bfloat16+float32->float32", [][]byte{tensor(bf16, 1, 2, inf), tensor(f32, .5, -2, 1)},
			[]float64{1.5, 0, inf}},
		{"sum 2x3x2 axis=1 float32->float32", [][]byte{tensor(f32, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
			11)}, []float64{6, 9, 24, 27}},
		{"sum 2x3 axis=0 int8->int8", [][]byte{tensor(i8, 100, 1, -100, 100, 2, -100)},
			[]float64{-56, 3, 56}},
		{"sum 2x0 axis=1 float32->float32", [][]byte{{}}, []float64{0, 0}},
		{"mean 2x3 axis=1 int32->int32", [][]byte{tensor(i32, 1, 2, 5, -1, -2, -5)},
			[]float64{2, -2}},
		{"mean 3 axis=0 float32->float32", [][]byte{tensor(f32, 1, 2, 4)},
			[]float64{float64(float32(7) / 3)}},
		{"cast 4 float32->float8_e5m2", [][]byte{tensor(f32, 1, 1e9, -inf, 0x1p-17)},
			[]float64{1, 57344, -57344, 0}},
		{"cast 5 float32->int8", [][]byte{tensor(f32, 2.5, -3.5, 300, -inf, math.NaN())},
			[]float64{2, -4, 127, -128, 0}},
	} {
		o, err := Parse(tt.op)
		require.NoError(t, err)
		out, err := Apply(o, tt.in)
		require.NoError(t, err)
		require.Equal(t, tt.want, numbers(o.Out, out), tt.op)
	}
	out, err := Apply(Op{Kind: Opaque, Time: 5}, nil)
	require.NoError(t, err)
	require.Empty(t, out)
}

// TestNaN: whatever its bits were, and wherever it came from, a NaN is the one of its type.
func TestNaN(t *testing.T) {
	inf := math.Inf(1)
	for _, out := range []dtype.Type{dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16,
		dtype.Float8E4M3, dtype.Float8E5M2} {
		want := tensor(out, math.NaN())
		o := Op{Kind: Matmul, In: ShapeOf(1, 2), N: 1, A: dtype.Float32, B: dtype.Float32, Out: out}
		for _, in := range [][][]byte{
			{tensor(dtype.Float32, inf, inf), tensor(dtype.Float32, 1, -1)},
			{tensor(dtype.Float32, inf, 1), tensor(dtype.Float32, 0, 1)},
			{{1, 0, 0x80, 0xff, 0, 0, 0, 0}, tensor(dtype.Float32, 1, 1)}, // a signalling NaN
		} {
			got, err := Apply(o, in)
			require.NoError(t, err)
			require.Equal(t, want, got, "%v", out)
		}
	}
}

// TestSignOfZero: a sum begins with its first element, a matmul with +0.
func TestSignOfZero(t *testing.T) {
	zero := math.Copysign(0, -1)
	for text, negative := range map[string]bool{
		"sum 2 axis=0 float32->float32":                true,
		"matmul m=1 k=2 n=1 float32*float32->float32":  false,
		"sum 0 axis=0 float32->float32":                false,
		"add 1 float32+float32->float32":               true,
		"mean 2 axis=0 float32->bfloat16":              true,
		"matmul m=1 k=2 n=1 bfloat16*float32->float16": false,
	} {
		o, err := Parse(text)
		require.NoError(t, err)
		var in [][]byte
		for i, operand := range o.Operands() {
			x := []float64{zero, 1}[min(i, 1)]
			if o.Kind == Add {
				x = zero
			}
			in = append(in, tensor(operand.Type, slices.Repeat([]float64{x},
				int(operand.Shape.Elements()))...))
		}
		out, err := Apply(o, in)
		require.NoError(t, err)
		require.Equal(t, []float64{0}, numbers(o.Out, out))
		require.Equal(t, negative, math.Signbit(numbers(o.Out, out)[0]), text)
	}
}

// TestCast: from floats to integers and back, rounded once. 2⁶² + 2⁵⁴ + 1 is more than half way
// from 2⁶² to the next bfloat16, 2⁶² + 2⁵⁵; by way of float64 it would be half way, and go down.
func TestCast(t *testing.T) {
	const x = 1<<62 + 1<<54 + 1
	for _, tt := range []struct {
		from dtype.Type
		bits uint64
		to   dtype.Type
		want float64
	}{
		{dtype.Int64, x, dtype.BFloat16, 1<<62 + 1<<55},
		{dtype.Uint64, x, dtype.BFloat16, 1<<62 + 1<<55},
		{dtype.Int64, ^uint64(x) + 1, dtype.BFloat16, -1<<62 - 1<<55},
		{dtype.Int64, x - 1, dtype.BFloat16, 1 << 62},
		{dtype.Int64, x, dtype.Float64, 1<<62 + 1<<54},
		{dtype.Uint64, 1<<64 - 1, dtype.Float64, 1 << 64},
		{dtype.Int64, 1<<64 - 1, dtype.Float64, -1},
		{dtype.Int64, 1<<24 + 1, dtype.Float32, 1 << 24},
		{dtype.Int64, 1<<54 + 1<<30 + 1, dtype.Float32, 1<<54 + 1<<31},
		{dtype.Int8, 0x80, dtype.Float16, -128},
		{dtype.Uint8, 0x80, dtype.Float16, 128},
		{dtype.Uint16, 0xffff, dtype.Float16, math.Inf(1)},
		{dtype.Int16, 1000, dtype.Float8E4M3, 448},
	} {
		o := Op{Kind: Cast, In: ShapeOf(1), A: tt.from, Out: tt.to}
		in := make([]byte, tt.from.Width())
		putWhole(tt.from, in, tt.bits)
		out, err := Apply(o, [][]byte{in})
		require.NoError(t, err)
		require.Equal(t, []float64{tt.want}, numbers(tt.to, out), "%+v", tt)
	}
}

// TestAddIsDtypesSum: of one type, what is added is what a collective adds, for all pairs of 8 bits
// and for random ones of others.
func TestAddIsDtypesSum(t *testing.T) {
	sums[dtype.E4M3](t)
	sums[dtype.E5M2](t)
	sums[dtype.F16](t)
	sums[dtype.BF16](t)
	sums[float32](t)
	sums[int16](t)
}

func sums[T dtype.Number](t *testing.T) {
	kind := dtype.Of[T]()
	width := kind.Width()
	rng := rand.New(rand.NewPCG(17, 3))
	const n = 1 << 16
	a, b := make([]byte, n*width), make([]byte, n*width)
	for i := range n {
		x, y := rng.Uint64(), rng.Uint64()
		if width == 1 {
			x, y = uint64(i>>8), uint64(i)
		}
		putWhole(kind, a[i*width:], x)
		putWhole(kind, b[i*width:], y)
	}
	got, err := Apply(Op{Kind: Add, In: ShapeOf(n), A: kind, B: kind, Out: kind}, [][]byte{a, b})
	require.NoError(t, err)
	x, y, want := make([]T, n), make([]T, n), make([]byte, n*width)
	dtype.Get(x, a)
	dtype.Get(y, b)
	dtype.Sum(x, y)
	dtype.Put(want, x)
	require.True(t, slices.Equal(want, got), kind)
}

func TestApplyErrors(t *testing.T) {
	o, err := Parse("matmul m=2 k=3 n=4 float16*float16->float16")
	require.NoError(t, err)
	_, err = Apply(o, [][]byte{make([]byte, 12)})
	require.EqualError(t, err, "matmul: the number of operands = 1: 2 are expected")
	_, err = Apply(o, [][]byte{make([]byte, 12), make([]byte, 23)})
	require.EqualError(t, err,
		"matmul: the size of b = 23 bytes: 24 bytes, 3x4 float16, are expected")
	o.N = -1
	_, err = Apply(o, nil)
	require.EqualError(t, err, "matmul: n = -1: a number from 0 is expected")
}

// BenchmarkMatmul has GFLOP/s.
func BenchmarkMatmul(b *testing.B) {
	for _, types := range []string{"float32*float32->float32", "bfloat16*bfloat16->bfloat16",
		"float8_e4m3fn*float8_e4m3fn->bfloat16", "float64*float64->float64", "int8*int8->int32"} {
		for _, size := range []int{64, 1024} {
			o, err := Parse(fmt.Sprintf("matmul m=%d k=%[1]d n=%[1]d %s", size, types))
			require.NoError(b, err)
			in := random(rand.New(rand.NewPCG(1, 1)), o, false)
			b.Run(fmt.Sprintf("%s/%d", types, size), func(b *testing.B) {
				for b.Loop() {
					_, err := Apply(o, in)
					require.NoError(b, err)
				}
				flops := float64(o.FLOPs()) * float64(b.N)
				b.ReportMetric(flops/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// BenchmarkElementwise has GB/s of what is read and written.
func BenchmarkElementwise(b *testing.B) {
	for _, text := range []string{"add 1048576 bfloat16+bfloat16->bfloat16",
		"cast 1048576 float32->bfloat16", "sum 8x131072 axis=0 bfloat16->bfloat16",
		"mean 1024x1024 axis=1 float32->float32"} {
		o, err := Parse(text)
		require.NoError(b, err)
		in := random(rand.New(rand.NewPCG(1, 1)), o, false)
		b.Run(text, func(b *testing.B) {
			b.SetBytes(o.Read() + o.Written())
			for b.Loop() {
				_, err := Apply(o, in)
				require.NoError(b, err)
			}
		})
	}
}
