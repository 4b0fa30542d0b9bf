package programs

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// TestPatterns: every pattern of the small floats reads as package dtype reads it, and is written
// as it was read, but for −0 and NaN.
func TestPatterns(t *testing.T) {
	for _, typ := range numberTypes() {
		if !typ.float || typ.width > 2 {
			continue
		}
		for bits := range uint64(1) << (8 * typ.width) {
			want := 0.0
			switch typ.name {
			case "float16":
				want = dtype.Value(dtype.F16(bits))
			case "bfloat16":
				want = dtype.Value(dtype.BF16(bits))
			case "float8_e4m3fn":
				want = dtype.Value(dtype.E4M3(bits))
			case "float8_e5m2":
				want = dtype.Value(dtype.E5M2(bits))
			}
			x := typ.fromBits(bits)
			require.True(t, x == want || math.IsNaN(x) && math.IsNaN(want), "%s %x", typ.name, bits)
			if x != 0 && !math.IsNaN(x) {
				require.Equal(t, bits, typ.toBits(x), typ.name)
				require.True(t, typ.width == 1 && math.IsInf(x, 0) || typ.round(x) == x)
			}
		}
	}
}

// TestRound: numbers of all sizes round as package dtype rounds them.
func TestRound(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		x := math.Ldexp(luck.Float64()-0.5, luck.IntN(320)-160)
		if luck.IntN(2) == 0 {
			x = math.Ldexp(float64(luck.IntN(64)-32), luck.IntN(40)-30) // ties
		}
		for _, c := range []struct {
			name string
			want float64
		}{{"float32", float64(float32(x))}, {"float16", dtype.Value(dtype.From[dtype.F16](x))},
			{"bfloat16", dtype.Value(dtype.From[dtype.BF16](x))},
			{"float8_e4m3fn", dtype.Value(dtype.From[dtype.E4M3](x))},
			{"float8_e5m2", dtype.Value(dtype.From[dtype.E5M2](x))}} {
			typ, _ := typeOf(c.name)
			require.Equal(t, c.want, typ.round(x), "%s of %v", c.name, x)
		}
	}
}

// TestDigest writes the bytes of a digest down: names ascending, a zero, ranks ascending, nothing
// where nothing is defined, +0 for −0, and one NaN.
func TestDigest(t *testing.T) {
	half, _ := typeOf("float16")
	whole, _ := typeOf("int32")
	r := &Results{Names: []string{"a", "b"}, values: map[string][]*tensor{
		"b": {{half, []int64{2}, []number{{f: math.Copysign(0, -1)}, {f: math.Copysign(math.NaN(), -1)}}},
			{half, []int64{2}, []number{{f: -1.5}, {f: math.Inf(-1)}}}},
		"a": {nil, {whole, []int64{1}, []number{{n: -2}}}, {whole, []int64{0, 4}, nil}},
	}}
	want := sha256.Sum256([]byte("a\x00" + "\xfe\xff\xff\xff" +
		"b\x00" + "\x00\x00\x00\x7e" + "\x00\xbe\x00\xfc"))
	require.Equal(t, hex.EncodeToString(want[:]), r.Digest())
	nan, _ := typeOf("float8_e4m3fn")
	require.Equal(t, uint64(0x7f), nan.toBits(math.NaN()))
	double, _ := typeOf("float64")
	require.Equal(t, uint64(0x7ff8000000000000), double.toBits(math.NaN()))
}

// TestSums: sums are exact if no order of additions could have rounded them.
func TestSums(t *testing.T) {
	for _, c := range []struct {
		typ   string
		terms []float64
		exact bool
	}{
		{"bfloat16", []float64{128, 128}, true},
		{"bfloat16", []float64{255, 2}, false},
		{"bfloat16", []float64{256, 2, -1, -1}, false}, // 257 is rounded, 258 is not
		{"bfloat16", []float64{512, 4}, true},
		{"float32", []float64{1 << 23, 1 << 23}, true},
		{"float32", []float64{1 << 24, 1}, false},
		{"float8_e4m3fn", []float64{448, 448, -448}, false},
		{"float32", nil, true},
	} {
		typ, _ := typeOf(c.typ)
		a := &account{}
		a.sum(c.terms, typ)
		require.Equal(t, c.exact, !a.inexact, "%v", c)
	}
	single, _ := typeOf("float32")
	for _, c := range []struct {
		factors []float64
		exact   bool
	}{{[]float64{3, 5, 0.5}, true}, {[]float64{1<<23 + 1, 3}, false}, {[]float64{1e30, 1e30}, false}} {
		a := &account{}
		a.product(c.factors, single)
		require.Equal(t, c.exact, !a.inexact, "%v", c)
	}
}
