package dtype

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

// What NCCL's kernels do is written down here again in its own steps, and must give the same bits.

// TestBytesThroughHalf adds and multiplies all pairs of 8-bit floats as the specialisations of
// FuncSum and FuncProd do: convert to half, __hadd or __hmul, convert back saturating.
func TestBytesThroughHalf(t *testing.T) {
	t.Run("float8_e4m3fn", bytesThroughHalf[E4M3])
	t.Run("float8_e5m2", bytesThroughHalf[E5M2])
}

func bytesThroughHalf[T E4M3 | E5M2](t *testing.T) {
	var a, b []T
	for i := range 1 << 16 {
		a, b = append(a, T(i>>8)), append(b, T(i))
	}
	for name, op := range map[string]struct {
		bytes  func(dst, src []T)
		halves func(dst, src []F16)
	}{
		"sum": {Sum[T], Sum[F16]}, "prod": {Prod[T], Prod[F16]},
		"min": {Min[T], Min[F16]}, "max": {Max[T], Max[F16]},
	} {
		got := append([]T(nil), a...)
		op.bytes(got, b)
		x, y := halves(a), halves(b)
		op.halves(x, y)
		want := make([]T, len(x))
		for i, h := range x {
			want[i] = From[T](Value(h))
		}
		require.Equal(t, want, got, name)
	}
}

func halves[T Number](src []T) []F16 {
	all := make([]F16, len(src))
	for i, x := range src {
		all[i] = From[F16](Value(x))
	}
	return all
}

// divideNCCL is FuncSumPostDiv::divide for an element of some bits, with its multiplication by a
// reciprocal in 32 bits, or 64 for elements of 64.
func divideNCCL(x uint64, width, n uint64, isSigned bool) uint64 {
	mask := uint64(1)<<(8*width-1)<<1 - 1
	negative := isSigned && x>>(8*width-1)&1 == 1
	abs := x
	if negative {
		abs = -x & mask
	}
	var q uint64
	if width == 8 {
		q, _ = bits.Mul64(abs, math.MaxUint64/n)
	} else {
		q = abs * (math.MaxUint32 / n) >> 32
	}
	if abs-q*n >= n {
		q++
	}
	if negative {
		q = -q
	}
	return q & mask
}

// TestDivideAsNCCL has divisors that the type cannot hold, too.
func TestDivideAsNCCL(t *testing.T) {
	divideAsNCCL[int8](t)
	divideAsNCCL[int16](t)
	divideAsNCCL[int32](t)
	divideAsNCCL[int64](t)
	divideAsNCCL[uint8](t)
	divideAsNCCL[uint16](t)
	divideAsNCCL[uint32](t)
	divideAsNCCL[uint64](t)
}

func divideAsNCCL[T Number](t *testing.T) {
	dt := Of[T]()
	width := uint64(dt.Width())
	var all []T
	for i := range uint64(256) {
		all = append(all, fromBits[T](i), fromBits[T](-i), fromBits[T](1<<(8*width-1)+i),
			fromBits[T](1<<(8*width-1)-i), fromBits[T](i*0x9e3779b97f4a7c15))
	}
	for _, n := range []int{1, 2, 3, 7, 8, 127, 128, 129, 200, 255, 256, 257, 4096, 65536, 100_003} {
		got := append([]T(nil), all...)
		Divide(got, n)
		for i, x := range all {
			want := divideNCCL(Bits(x), width, uint64(n), dt.Signed())
			require.Equal(t, want, Bits(got[i]), "%v: %v / %d", dt, x, n)
		}
	}
	truncated := []T{From[T](-7), From[T](7)}
	Divide(truncated, 2)
	if dt.Signed() {
		require.Equal(t, -3.0, Value(truncated[0]))
	}
	require.Equal(t, 3.0, Value(truncated[1]))
}

// TestDivideFloats rounds exact quotients once, by divisors that no small type holds.
func TestDivideFloats(t *testing.T) {
	divideFloat[float64](t)
	divideFloat[float32](t)
	divideFloat[F16](t)
	divideFloat[BF16](t)
	divideFloat[E4M3](t)
	divideFloat[E5M2](t)
}

func divideFloat[T Number](t *testing.T) {
	l := layoutOf(Of[T]())
	for i := range uint64(200) {
		x := fromBits[T](i * 0x9e3779b97f4a7c15 & (1<<(l.exponent+l.frac) - 1))
		for _, n := range []int{1, 2, 3, 5, 17, 24, 1000, 2049, 65537, 1<<24 + 1, maxDivisor - 1} {
			if !isFinite(Value(x)) {
				continue
			}
			got := []T{x}
			Divide(got, n)
			quotient := exactly(Value(x))
			quotient.Quo(quotient, exactly(float64(n)))
			require.Equal(t, l.rounded(quotient), Bits(got[0]), "%v: %v / %d", l.t, x, n)
		}
	}
}

// TestReciprocal holds fl(1/n) as NCCL makes it, over float32, to one rounding: they are the same
// up to n = 2^12, so that "1/n rounded to the type" is no simplification there.
func TestReciprocal(t *testing.T) {
	reciprocal[float64](t)
	reciprocal[float32](t)
	reciprocal[F16](t)
	reciprocal[BF16](t)
	reciprocal[E4M3](t)
	reciprocal[E5M2](t)
	require.Equal(t, F16(0x3555), Reciprocal[F16](3))
	require.Equal(t, BF16(0x3eab), Reciprocal[BF16](3))
	require.Equal(t, E4M3(0x2b), Reciprocal[E4M3](3)) // 0.34375
	require.Equal(t, E5M2(0x35), Reciprocal[E5M2](3)) // 0.3125
	require.Equal(t, E4M3(0), Reciprocal[E4M3](1024), "half the least positive number")
}

func reciprocal[T Number](t *testing.T) {
	l := layoutOf(Of[T]())
	for n := 1; n <= 1<<12; n++ {
		x := exactly(1)
		x.Quo(x, exactly(float64(n)))
		require.Equal(t, l.rounded(x), Bits(Reciprocal[T](n)), "%v: 1/%d", l.t, n)
	}
}
