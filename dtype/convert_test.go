package dtype

import (
	"collsim/internal/tier"
	"math"
	"math/big"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPublished holds the formats to published figures: OCP's 8-bit Floating Point Specification,
// revision 1.0, table 1; IEEE 754-2019 for float16; PyTorch's torch.finfo for bfloat16.
func TestPublished(t *testing.T) {
	tests := []struct {
		bits  uint64
		value float64
		got   func(bits uint64) float64
	}{
		{0b0_1111_110, 448, value[E4M3]},
		{0b0_0001_000, 0x1p-6, value[E4M3]},
		{0b0_0000_111, 0.875 * 0x1p-6, value[E4M3]},
		{0b0_0000_001, 0x1p-9, value[E4M3]},
		{0b0_1111_000, 256, value[E4M3]},
		{0b1_0111_000, -1, value[E4M3]},
		{0b0_1111_111, math.NaN(), value[E4M3]},
		{0b1_1111_111, math.NaN(), value[E4M3]},
		{0b0_11110_11, 57344, value[E5M2]},
		{0b0_00001_00, 0x1p-14, value[E5M2]},
		{0b0_00000_11, 0.75 * 0x1p-14, value[E5M2]},
		{0b0_00000_01, 0x1p-16, value[E5M2]},
		{0b0_11111_00, math.Inf(1), value[E5M2]},
		{0b1_11111_00, math.Inf(-1), value[E5M2]},
		{0b0_11111_01, math.NaN(), value[E5M2]},
		{0b0_11111_10, math.NaN(), value[E5M2]},
		{0b1_11111_11, math.NaN(), value[E5M2]},
		{0x7bff, 65504, value[F16]},
		{0x0400, 0x1p-14, value[F16]},
		{0x0001, 0x1p-24, value[F16]},
		{0x3555, 0.333251953125, value[F16]},
		{0x7c00, math.Inf(1), value[F16]},
		{0xfe00, math.NaN(), value[F16]},
		{0x7f7f, 3.3895313892515355e38, value[BF16]},
		{0x0080, 1.1754943508222875e-38, value[BF16]},
		{0x0001, 0x1p-133, value[BF16]},
		{0x3eab, 0.333984375, value[BF16]},
		{0xff80, math.Inf(-1), value[BF16]},
	}
	for _, tt := range tests {
		if got := tt.got(tt.bits); math.IsNaN(tt.value) {
			require.True(t, math.IsNaN(got), "%#x", tt.bits)
		} else {
			require.Equal(t, tt.value, got, "%#x", tt.bits)
		}
	}
}

func value[T Number](bits uint64) float64 { return Value(fromBits[T](bits)) }

func TestLimits(t *testing.T) {
	for _, l := range layouts() {
		largest, _ := l.value(l.max)
		least, _ := l.value(1)
		require.Zero(t, largest.Cmp(exactly(l.t.Largest())), l.t)
		require.Zero(t, least.Cmp(exactly(l.t.Smallest())), l.t)
		require.Equal(t, l.frac+1, l.t.Precision())
	}
	for dt := Int8; dt <= Uint64; dt++ {
		require.Equal(t, 1.0, dt.Smallest())
		require.Equal(t, dt.Precision() == 8*dt.Width(), !dt.Signed())
	}
	require.Equal(t, 1.0, Bool.Smallest())
	require.Equal(t, 1.0, Bool.Largest())
	for complexType, of := range map[Type]Type{Complex64: Float32, Complex128: Float64} {
		require.Equal(t, of, complexType.Component())
		require.Equal(t, 2*of.Width(), complexType.Width())
		require.Equal(t, 2, complexType.Components())
		require.Equal(t, of.Precision(), complexType.Precision())
		require.Equal(t, of.Largest(), complexType.Largest())
		require.Equal(t, of.Smallest(), complexType.Smallest())
	}
	require.Equal(t, Bool, Bool.Component())
	require.Equal(t, 127.0, Int8.Largest())
	require.Equal(t, 65535.0, Uint16.Largest())
	require.Equal(t, 0x1p63, Int64.Largest())
	require.Equal(t, 0x1p64, Uint64.Largest())
	require.Panics(t, func() { (Complex128 + 1).Smallest() })
}

// TestEveryPattern goes through all bits of the small formats: the value is what the oracle reads,
// on every way to it, and rounding that gives the bits again.
func TestEveryPattern(t *testing.T) {
	t.Run("float16", everyPattern[F16])
	t.Run("bfloat16", everyPattern[BF16])
	t.Run("float8_e4m3fn", everyPattern[E4M3])
	t.Run("float8_e5m2", everyPattern[E5M2])
}

func everyPattern[T Number](t *testing.T) {
	l := layoutOf(Of[T]())
	numbers := 0
	for bits := range 2 * l.sign() {
		x := fromBits[T](bits)
		var wide [1]float32
		var wider [1]float64
		Widen(wide[:], []T{x})
		Widen(wider[:], []T{x})
		want, ok := l.value(bits)
		got := Value(x)
		abs := bits &^ l.sign()
		switch {
		case ok:
			numbers++
			require.Zero(t, want.Cmp(exactly(got)), "%#x", bits)
		case l.infinite && abs == l.infinity():
			require.True(t, math.IsInf(got, 0), "%#x", bits)
		default:
			require.True(t, math.IsNaN(got) && math.IsNaN(wider[0]) && wide[0] != wide[0], "%#x", bits)
			require.Equal(t, quiet(l.t), Bits(From[T](got)))
			require.Equal(t, quiet(l.t), Bits(FromUnsaturated[T](got)))
			continue
		}
		equal(t, bits != abs, math.Signbit(got), bits)
		equal(t, math.Float64bits(got), math.Float64bits(wider[0]), bits)
		equal(t, math.Float32bits(float32(got)), math.Float32bits(wide[0]), bits)
		equal(t, got, float64(wide[0]), bits)
		equal(t, x, FromUnsaturated[T](got), bits)
		if ok || Of[T]().Width() == 2 {
			equal(t, x, From[T](got), bits)
		} else {
			require.Equal(t, bits-1, Bits(From[T](got)), "an infinity saturates")
		}
	}
	require.EqualValues(t, 2*(l.max+1), numbers)
}

// equal is require.Equal of what a pattern gives, for loops in which asking it would take longer
// than what is tried.
func equal[T comparable, P any](t *testing.T, want, got T, pattern P) {
	if want != got {
		require.Equal(t, want, got, "%#x", pattern)
	}
}

// TestEveryMidpoint tries, for every two neighbours, the point between them and what is next to it
// on both sides: the tie goes to the even pattern, everything else to the nearer. Above the largest
// number, the "neighbour" is what it would be if the exponent went on.
func TestEveryMidpoint(t *testing.T) {
	t.Run("float16", everyMidpoint[F16])
	t.Run("bfloat16", everyMidpoint[BF16])
	t.Run("float8_e4m3fn", everyMidpoint[E4M3])
	t.Run("float8_e5m2", everyMidpoint[E5M2])
}

// left reports whether the short tier leaves a pattern out: of 16 bits, four in five of those that
// are not near a multiple of 64, where exponents begin, nor near the largest.
func left(pattern, largest uint64) bool {
	near := pattern&63 < 3 || pattern&63 > 60 || pattern+3 > largest
	return !tier.Long && largest > 1<<8 && !near && pattern%5 != 0
}

func everyMidpoint[T Number](t *testing.T) {
	l := layoutOf(Of[T]())
	for low := range l.max + 1 {
		if left(low, l.max) {
			continue
		}
		a, _ := l.value(low)
		b, _ := l.value(low + 1)
		middle, accuracy := a.Add(a, b).Quo(a, big.NewFloat(2)).Float64()
		require.Equal(t, big.Exact, accuracy)
		require.Equal(t, middle, float64(float32(middle)), "float32 holds the midpoints too")
		above, inside := low+1, low+1 // what is given, by From and by FromUnsaturated
		if low == l.max {
			above, inside = l.max, l.max+1
			if Of[T]().Width() == 2 {
				above = l.max + 1
			}
		}
		tie, tieInside := above, inside
		if low&1 == 0 {
			tie, tieInside = low, low
		}
		for _, sign := range []uint64{0, l.sign()} {
			m, m32 := middle, float32(middle)
			if sign != 0 {
				m, m32 = -m, -m32
			}
			up, up32 := m*2, m32*2
			tests := []struct {
				x              float64
				x32            float32
				want, unlimits uint64
			}{
				{math.Nextafter(m, 0), math.Nextafter32(m32, 0), low, low},
				{m, m32, tie, tieInside},
				{math.Nextafter(m, up), math.Nextafter32(m32, up32), above, inside},
			}
			for _, tt := range tests {
				require.Equal(t, sign|tt.want, Bits(From[T](tt.x)), "%v", tt.x)
				require.Equal(t, sign|tt.unlimits, Bits(FromUnsaturated[T](tt.x)), "%v", tt.x)
				require.Equal(t, sign|tt.want, Bits(narrowed[T](tt.x)), "%v", tt.x)
				require.Equal(t, sign|tt.want, Bits(narrowed[T](tt.x32)), "%v", tt.x32)
			}
		}
	}
}

func narrowed[T Number, F float32 | float64](x F) T {
	var got [1]T
	Narrow(got[:], []F{x})
	return got[0]
}

// TestRoundingOfAnything rounds random float64, of all exponents and near those of the format.
func TestRoundingOfAnything(t *testing.T) {
	t.Run("float32", roundingOfAnything[float32])
	t.Run("float16", roundingOfAnything[F16])
	t.Run("bfloat16", roundingOfAnything[BF16])
	t.Run("float8_e4m3fn", roundingOfAnything[E4M3])
	t.Run("float8_e5m2", roundingOfAnything[E5M2])
}

func roundingOfAnything[T Number](t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	l := layoutOf(Of[T]())
	for range 20_000 {
		x := math.Float64frombits(rng.Uint64())
		if rng.Intn(4) > 0 {
			exponent := l.least() - 3 + rng.Intn(1<<l.exponent+l.frac+4)
			x = math.Ldexp(1+rng.Float64(), exponent)
			x = math.Float64frombits(math.Float64bits(x) &^ (1<<rng.Intn(53) - 1))
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		want := l.rounded(exactly(x))
		require.Equal(t, want, Bits(From[T](x)), "%v", x)
		require.Equal(t, want, Bits(narrowed[T](x)), "%v", x)
	}
}

// TestDoubleRounding has numbers just above a tie that goes down, by less than float32 sees: on the
// way over float32 they would be spoilt.
func TestDoubleRounding(t *testing.T) {
	doubleRounding[F16](t)
	doubleRounding[BF16](t)
	doubleRounding[E4M3](t)
	doubleRounding[E5M2](t)
}

func doubleRounding[T Number](t *testing.T) {
	x := 1 + math.Ldexp(1, -Of[T]().Precision()) + 0x1p-40
	one := Bits(From[T](1))
	require.Equal(t, one+1, Bits(From[T](x)))
	require.Equal(t, one+1, Bits(narrowed[T](x)))
	require.Equal(t, one, Bits(narrowed[T](float32(x))))
}

func TestToIntegers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		x   float64
		i8  int8
		u8  uint8
		i64 int64
		u64 uint64
	}{
		{0.5, 0, 0, 0, 0},
		{1.5, 2, 2, 2, 2},
		{2.5, 2, 2, 2, 2},
		{-0.5, 0, 0, 0, 0},
		{-1.5, -2, 0, -2, 0},
		{127.5, 127, 128, 128, 128},
		{-128.5, -128, 0, -128, 0},
		{-129, -128, 0, -129, 0},
		{255.5, 127, 255, 256, 256},
		{0x1p63, 127, 255, math.MaxInt64, 1 << 63},
		{-0x1p63, -128, 0, math.MinInt64, 0},
		{0x1.fffffffffffffp63, 127, 255, math.MaxInt64, 0xfffffffffffff800},
		{0x1p64, 127, 255, math.MaxInt64, math.MaxUint64},
		{inf, 127, 255, math.MaxInt64, math.MaxUint64},
		{-inf, -128, 0, math.MinInt64, 0},
		{nan, 0, 0, 0, 0},
	} {
		require.Equal(t, tt.i8, From[int8](tt.x), "%v", tt.x)
		require.Equal(t, tt.u8, narrowed[uint8](tt.x), "%v", tt.x)
		require.Equal(t, tt.i64, narrowed[int64](tt.x), "%v", tt.x)
		require.Equal(t, tt.u64, FromUnsaturated[uint64](tt.x), "%v", tt.x)
	}
	require.Equal(t, int32(math.MaxInt32), narrowed[int32](float32(0x1p31)))
	require.Equal(t, float32(0x1p24), float32(Value[uint64](1<<24)))
	var wide [2]float32
	Widen(wide[:], []int32{1<<24 + 1, 1<<24 + 3}) // ties between neighbours that are 2 apart
	require.Equal(t, [2]float32{1 << 24, 1<<24 + 4}, wide)
}

// FuzzFrom rounds to all float formats, against the oracle, and reads back.
func FuzzFrom(f *testing.F) {
	for _, x := range []float64{0, 1, -1, 0.1, 448, 464, 57344, 61440, 65504, 65520, 0x1p-10,
		0x1p-17, 0x1p-25, 0x1p-134, 3.4e38, 5e-324, math.Inf(1), math.NaN()} {
		f.Add(math.Float64bits(x))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		x := math.Float64frombits(bits)
		fuzzFrom[float64](t, x)
		fuzzFrom[float32](t, x)
		fuzzFrom[F16](t, x)
		fuzzFrom[BF16](t, x)
		fuzzFrom[E4M3](t, x)
		fuzzFrom[E5M2](t, x)
	})
}

func fuzzFrom[T Number](t *testing.T, x float64) {
	l := layoutOf(Of[T]())
	got := From[T](x)
	switch {
	case math.IsNaN(x):
		require.Equal(t, quiet(l.t), Bits(got))
		return
	case !math.IsInf(x, 0):
		require.Equal(t, l.rounded(exactly(x)), Bits(got))
	case l.t.Width() == 1:
		require.Equal(t, l.max, Bits(got)&^l.sign())
	default:
		require.Equal(t, x, Value(got))
	}
	require.Equal(t, math.Signbit(x), Bits(got)&l.sign() != 0)
	require.Equal(t, Bits(got), Bits(From[T](Value(got))))
}
