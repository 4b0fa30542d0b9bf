package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/unit"
)

// TestTextRoundTrips: what String prints, Parse reads, and it is the same value; so are the
// operations of the package's comment.
func TestTextRoundTrips(t *testing.T) {
	for _, o := range operations(rand.New(rand.NewPCG(17, 5))) {
		got, err := Parse(o.String())
		require.NoError(t, err)
		require.True(t, got == o, "%v", o)
	}
	for _, text := range []string{
		"matmul m=8192 k=4096 n=1024 bfloat16*bfloat16->bfloat16",
		"matmul m=8192 k=1024 n=4096 bfloat16*bfloat16->bfloat16 transpose=b",
		"expand 8x1024 axis=0 times=4 bfloat16->bfloat16",
		"scale 8x1024 by=0.125 bfloat16->bfloat16",
		"matmul m=2x4096 k=4096 n=1024 float16*float16->float32",
		"scaled_matmul m=64 k=32 n=16 float8_e4m3fn*float8_e5m2->bfloat16 row-wise bias=bfloat16",
		"scaled_matmul m=64 k=32 n=16 float8_e4m3fn*float8_e4m3fn->float8_e4m3fn tensor-wise " +
			"result-scale",
		"add 8x1024 bfloat16+float32->bfloat16",
		"cast 8x1024 float32->float8_e4m3fn",
		"sum 4x8x1024 axis=0 bfloat16->bfloat16",
		"mean 4x8x1024 axis=2 float32->float32",
		"cast scalar float32->int8",
		"opaque 150 us",
	} {
		o, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, text, o.String())
	}
	o, err := Parse("scaled-matmul m=1 k=1 n=1 e4m3*e4m3->bf16 bias=bf16 row_wise")
	require.NoError(t, err)
	require.Equal(t, "scaled_matmul m=1 k=1 n=1 float8_e4m3fn*float8_e4m3fn->bfloat16 row-wise "+
		"bias=bfloat16", o.String())
}

// TestParseErrors: testdata/errors.txt has texts and what is said of them; -rewrite says it anew.
func TestParseErrors(t *testing.T) {
	datadriven.RunTest(t, "testdata/errors.txt", func(t *testing.T, d *datadriven.TestData) string {
		_, err := Parse(d.Input)
		require.Error(t, err, d.Input)
		var data *Error
		require.ErrorAs(t, err, &data)
		return err.Error() + "\n"
	})
}

// TestUnusedFields: an operation that says more than its kind has is none, so that equal operations
// are equal values.
func TestUnusedFields(t *testing.T) {
	for _, text := range []string{"matmul m=1 k=2 n=3 float32*float32->float32",
		"cast 4 float32->int8", "sum 4 axis=0 int8->int8", "opaque 1 us"} {
		for i, change := range []func(*Op){
			func(o *Op) { o.Time = unit.Second },
			func(o *Op) { o.Scaling = RowWise },
			func(o *Op) { o.Bias = dtype.Float16 },
			func(o *Op) { o.ResultScale = true },
			func(o *Op) { o.Axis = 1 },
			func(o *Op) { o.N = 7 },
			func(o *Op) { o.B = dtype.Float32 },
			func(o *Op) { o.TransposeA = true },
			func(o *Op) { o.TransposeB = true },
			func(o *Op) { o.Factor = 2 },
			func(o *Op) { o.Attributes[3] = 2 },
			func(o *Op) { o.Gradient = 1 },
			func(o *Op) { o.Reads = "4:int8" },
		} {
			o, err := Parse(text)
			require.NoError(t, err)
			change(&o)
			isMatmul := o.Kind == Matmul && i >= 5 && i < 9
			if isMatmul || o.Kind == Opaque && i == 0 {
				require.NoError(t, o.Validate())
				continue
			}
			require.Error(t, o.Validate(), "%s, %d", text, i)
		}
	}
	require.EqualError(t, Op{}.Validate(), "an operation: kind = kernel.Kind(0): one of "+
		kindList()+" is expected")
	require.EqualError(t, Op{Kind: Cast, In: ShapeOf(1)}.Validate(),
		"cast: the type of a = none: a data type is expected")
}

func TestNew(t *testing.T) {
	bf16, e4m3, f32 := dtype.BFloat16, dtype.Float8E4M3, dtype.Float32
	o, err := NewMatmul(shaped(bf16, 2, 3, 4), shaped(bf16, 4, 5), false, false, bf16)
	require.NoError(t, err)
	require.Equal(t, "matmul m=2x3 k=4 n=5 bfloat16*bfloat16->bfloat16", o.String())
	require.Equal(t, collective.Shape{2, 3, 5}, o.Output().Shape)

	bias, result := shaped(bf16, 5), shaped(f32, 1)
	for _, tt := range []struct {
		with Scales
		out  dtype.Type
		want string
	}{
		{Scales{A: shaped(f32), B: shaped(f32, 1)}, f32, "float32 tensor-wise"},
		{Scales{A: shaped(f32, 2, 3, 1), B: shaped(f32, 1, 5), Bias: &bias}, bf16,
			"bfloat16 row-wise bias=bfloat16"},
		{Scales{A: shaped(f32, 1), B: shaped(f32), Result: &result}, e4m3,
			"float8_e4m3fn tensor-wise result-scale"},
	} {
		o, err = NewScaledMatmul(shaped(e4m3, 2, 3, 4), shaped(e4m3, 4, 5), tt.with, tt.out)
		require.NoError(t, err)
		require.Equal(t, "scaled_matmul m=2x3 k=4 n=5 float8_e4m3fn*float8_e4m3fn->"+tt.want,
			o.String())
	}
	o, err = NewAdd(shaped(bf16, 2, 3), shaped(f32, 2, 3), f32)
	require.NoError(t, err)
	require.Equal(t, "add 2x3 bfloat16+float32->float32", o.String())
	o, err = NewCast(shaped(bf16, 2, 3), f32)
	require.NoError(t, err)
	require.Equal(t, "cast 2x3 bfloat16->float32", o.String())
	o, err = NewSum(shaped(bf16, 2, 3, 4), 1, f32)
	require.NoError(t, err)
	require.Equal(t, collective.Shape{2, 4}, o.Output().Shape)
	o, err = NewMean(shaped(bf16, 2, 3, 4), 2, f32)
	require.NoError(t, err)
	require.Equal(t, collective.Shape{2, 3}, o.Output().Shape)
}

// TestNewErrors: the refusals of PyTorch's fused matmuls among them.
func TestNewErrors(t *testing.T) {
	f32, e4m3 := dtype.Float32, dtype.Float8E4M3
	x, w := shaped(f32, 2, 3), shaped(f32, 4, 5)
	x.Name, w.Name = "x", "w"
	refused := func(want string) func(Op, error) {
		return func(_ Op, err error) {
			t.Helper()
			require.EqualError(t, err, ""+want)
		}
	}
	refused("matmul: the shape of w = 4x5: 3 rows, as x of shape 2x3 has columns, are expected")(
		NewMatmul(x, w, false, false, f32))
	refused("matmul: the shape of a = 3: 2 to 8 axes are expected")(
		NewMatmul(shaped(f32, 3), w, false, false, f32))
	refused("matmul: the shape of b = 3x4x5: a matrix of 2 axes is expected")(
		NewMatmul(x, shaped(f32, 3, 4, 5), false, false, f32))
	refused("add: the shape of w = 4x5: 2x3, as x has, is expected")(NewAdd(x, w, f32))
	refused("sum: axis = -1: an axis of 2x3, from 0 to 1, is expected")(NewSum(x, -1, f32))
	refused("cast: the shape of a = 1x1x1x1x1x1x1x1x1: at most 8 axes are expected")(
		NewCast(shaped(f32, 1, 1, 1, 1, 1, 1, 1, 1, 1), f32))

	a, b, one := shaped(e4m3, 2, 3), shaped(e4m3, 3, 4), shaped(f32, 1)
	refused("scaled_matmul: the shape of scale_a = 2x3: 2x1 is expected")(
		NewScaledMatmul(a, b, Scales{A: shaped(f32, 2, 3), B: shaped(f32, 1, 4)}, f32))
	refused("scaled_matmul: the shape of scale_b = 1: 1x4 is expected")(
		NewScaledMatmul(a, b, Scales{A: shaped(f32, 2, 1), B: one}, f32))
	refused("scaled_matmul: the type of scale_b = bfloat16: float32 is expected")(
		NewScaledMatmul(a, b, Scales{A: one, B: shaped(dtype.BFloat16, 1)}, f32))
	bias := shaped(dtype.BFloat16, 3)
	refused("scaled_matmul: the shape of bias = 3: 4 is expected")(
		NewScaledMatmul(a, b, Scales{A: one, B: one, Bias: &bias}, dtype.BFloat16))
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"matmul m=2x3 k=4 n=5 f32*f32->f32", "opaque 3 us",
		"scaled_matmul m=2 k=4 n=5 e4m3*e5m2->bf16 row-wise bias=bf16", "sum 4x5 axis=1 i8->i32"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(o.String())
		require.NoError(t, err)
		require.True(t, o == again)
		require.GreaterOrEqual(t, o.FLOPs(), int64(0))
		require.GreaterOrEqual(t, o.Read()+o.Written(), int64(0))
	})
}

func ExampleParse() {
	o, err := Parse("matmul m=8192 k=4096 n=1024 bfloat16*bfloat16->bfloat16")
	if err != nil {
		fmt.Println(err)
		return
	}
	tile := Tile{Rows: 128, Columns: 256}
	fmt.Println(o.Output().Shape, o.FLOPs(), o.Blocks(tile))
	b := o.Block(tile, 5) // the second row of tiles, its second tile
	fmt.Println(b.Out, b.In)
	// Output:
	// 8192x1024 68719476736 256
	// {131328 256 128 1024} [{524288 524288 1 0} {256 256 4096 1024}]
}
