package dtype

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	tests := []struct {
		dtype         Type
		name, nccl    string
		width         int
		float, signed bool
	}{
		{Float64, "float64", "double", 8, true, true},
		{Float32, "float32", "float", 4, true, true},
		{Float16, "float16", "half", 2, true, true},
		{BFloat16, "bfloat16", "bfloat16", 2, true, true},
		{Float8E4M3, "float8_e4m3fn", "f8e4m3", 1, true, true},
		{Float8E5M2, "float8_e5m2", "f8e5m2", 1, true, true},
		{Int8, "int8", "int8", 1, false, true},
		{Int16, "int16", "int16", 2, false, true},
		{Int32, "int32", "int32", 4, false, true},
		{Int64, "int64", "int64", 8, false, true},
		{Uint8, "uint8", "uint8", 1, false, false},
		{Uint16, "uint16", "uint16", 2, false, false},
		{Uint32, "uint32", "uint32", 4, false, false},
		{Uint64, "uint64", "uint64", 8, false, false},
		{Bool, "bool", "bool", 1, false, false},
		{Complex64, "complex64", "complex64", 8, true, true},
		{Complex128, "complex128", "complex128", 16, true, true},
	}
	require.Len(t, All(), len(tests))
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.dtype, All()[i])
			require.True(t, tt.dtype.Valid())
			require.Equal(t, tt.name, tt.dtype.String())
			require.Equal(t, tt.nccl, tt.dtype.NCCL())
			require.Equal(t, tt.width, tt.dtype.Width())
			require.Equal(t, tt.float, tt.dtype.IsFloat())
			require.Equal(t, tt.signed, tt.dtype.Signed())
			require.Equal(t, strings.HasPrefix(tt.name, "complex"), tt.dtype.IsComplex())
			for _, name := range []string{tt.name, tt.nccl, strings.ReplaceAll(tt.name, "_", "-")} {
				got, err := Parse(name)
				require.NoError(t, err)
				require.Equal(t, tt.dtype, got, name)
			}
		})
	}
}

func TestParseAliases(t *testing.T) {
	tests := []struct {
		names string
		want  Type
	}{
		{"f64 fp64 double", Float64},
		{"f32 fp32 float", Float32},
		{"f16 fp16 half", Float16},
		{"bf16", BFloat16},
		{"e4m3 e4m3fn float8_e4m3 float8-e4m3 fp8_e4m3", Float8E4M3},
		{"e5m2 float8-e5m2 fp8_e5m2", Float8E5M2},
		{"i8", Int8}, {"i16", Int16}, {"i32", Int32}, {"i64", Int64},
		{"u8", Uint8}, {"u16", Uint16}, {"u32", Uint32}, {"u64", Uint64},
		{"bool8 pred", Bool}, {"c64 cfloat", Complex64}, {"c128 cdouble", Complex128},
	}
	for _, tt := range tests {
		for _, name := range strings.Fields(tt.names) {
			got, err := Parse(name)
			require.NoError(t, err)
			require.Equal(t, tt.want, got, name)
		}
	}
}

func TestEachSpellingNamesOneType(t *testing.T) {
	owner := map[string]Type{}
	for _, dt := range All() {
		for _, name := range append(strings.Fields(table[dt].aliases), dt.String()) {
			require.Zero(t, owner[name], "%s is %s and %s", name, owner[name], dt)
			owner[name] = dt
			require.NotContains(t, name, "-", "Parse would not find it")
		}
	}
}

func TestParseErrors(t *testing.T) {
	const all = "one of: float64, float32, float16, bfloat16, float8_e4m3fn, float8_e5m2, " +
		"int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool, complex64, complex128"
	tests := []struct{ name, want string }{
		{"flaot32", `"flaot32" is not a data type; nearest: float32`},
		{"bfloat", `"bfloat" is not a data type; nearest: float32, complex64, bfloat16`},
		{"int", `"int" is not a data type; nearest: int8, int16, int32`},
		{"Float32", `"Float32" is not a data type; nearest: float32, float64, float16`},
		{"bf61", `"bf61" is not a data type; nearest: bfloat16`},
		{"", `"" is not a data type; ` + all},
		{"quaternion", `"quaternion" is not a data type; ` + all},
	}
	for _, tt := range tests {
		got, err := Parse(tt.name)
		require.Zero(t, got)
		require.EqualError(t, err, tt.want)
		var parse *ParseError
		require.True(t, errors.As(err, &parse))
		require.Equal(t, tt.name, parse.Value)
	}
}

func TestNotATypeAtAll(t *testing.T) {
	for _, bad := range []Type{0, Complex128 + 1, 255} {
		require.False(t, bad.Valid())
		require.Equal(t, fmt.Sprintf("dtype.Type(%d)", bad), bad.String())
		if bad == 0 {
			continue
		}
		require.Panics(t, func() { bad.Width() })
		require.Panics(t, func() { bad.NCCL() })
		require.Panics(t, func() { bad.IsFloat() })
		require.Panics(t, func() { bad.Signed() })
		require.Panics(t, func() { bad.IsComplex() })
	}
	var none Type
	require.Zero(t, none.Width())
	require.Empty(t, none.NCCL())
	require.False(t, none.IsFloat())
	require.False(t, none.Signed())
	require.False(t, none.IsComplex())
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "float32", "f32", "float8-e4m3", "Flaot", "\xff", "---"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Parse(s)
		if err != nil {
			require.Zero(t, got)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		again, err := Parse(got.String())
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}

func ExampleParse() {
	t, _ := Parse("bf16")
	fmt.Println(t, t.Width(), "bytes")
	_, err := Parse("bf61")
	fmt.Println(err)
	// Output:
	// bfloat16 2 bytes
	// "bf61" is not a data type; nearest: bfloat16
}
