package dtype

import (
	"math"
	"math/big"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// exact is what an operation of two finite numbers gives before it is rounded.
func exact(op string, a, b float64) *big.Float {
	x, y := exactly(a), exactly(b)
	if op == "prod" {
		if a == 0 || b == 0 || x.Sign()*y.Sign() == 0 {
			return exactly(math.Copysign(0, a) * math.Copysign(1, b))
		}
		return x.Mul(x, y)
	}
	if sum := new(big.Float).SetPrec(2400).Add(x, y); sum.Sign() != 0 || a == 0 {
		return sum
	}
	return exactly(0) // x − x is +0 in IEEE 754's default direction
}

// isFinite reports whether x is a number.
func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// wantPair is the oracle for sum and prod of any two elements.
func wantPair(l layout, op string, a, b float64) uint64 {
	if isFinite(a) && isFinite(b) {
		return l.rounded(exact(op, a, b))
	}
	x := a + b // float64's rules for what is not finite are IEEE 754's for all formats
	if op == "prod" {
		x = a * b
	}
	switch {
	case math.IsNaN(x):
		return quiet(l.t)
	case l.t.Width() == 1 && x > 0:
		return l.max
	case l.t.Width() == 1:
		return l.sign() | l.max
	case x > 0:
		return l.infinity()
	}
	return l.sign() | l.infinity()
}

func requirePairs[T Number](t *testing.T, a, b []T) {
	t.Helper()
	l := layoutOf(Of[T]())
	for _, op := range []string{"sum", "prod"} {
		got := append([]T(nil), a...)
		if op == "sum" {
			Sum(got, b)
		} else {
			Prod(got, b)
		}
		for i := range got {
			if want := wantPair(l, op, Value(a[i]), Value(b[i])); want != Bits(got[i]) {
				require.Equal(t, want, Bits(got[i]), "%s of %#x and %#x", op, Bits(a[i]), Bits(b[i]))
			}
		}
	}
}

// TestEveryPairOfBytes goes through all 2^16 pairs.
func TestEveryPairOfBytes(t *testing.T) {
	t.Run("float8_e4m3fn", everyPairOfBytes[E4M3])
	t.Run("float8_e5m2", everyPairOfBytes[E5M2])
}

func everyPairOfBytes[T E4M3 | E5M2](t *testing.T) {
	var a, b []T
	for i := range 1 << 16 {
		a, b = append(a, T(i>>8)), append(b, T(i))
	}
	requirePairs(t, a, b)
}

// TestRandomPairs draws operands of all exponents, and others that are near to each other, where
// sums cancel and products underflow.
func TestRandomPairs(t *testing.T) {
	t.Run("float64", randomPairs[float64])
	t.Run("float32", randomPairs[float32])
	t.Run("float16", randomPairs[F16])
	t.Run("bfloat16", randomPairs[BF16])
}

func randomPairs[T Number](t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	l := layoutOf(Of[T]())
	a, b := randomElements[T](rng, 30_000), randomElements[T](rng, 30_000)
	for i := range a {
		switch field := 1 + uint64(rng.Intn(1<<l.exponent-2)); rng.Intn(3) {
		case 0: // near
			near := field + uint64(rng.Intn(2*l.frac+6))
			a[i] = assemble[T](l, rng, field)
			b[i] = assemble[T](l, rng, min(near, 1<<l.exponent-2))
		case 1: // a product near the least number
			other := 1<<l.exponent - 1 - l.frac - int(field) + rng.Intn(4) - 2 - 1<<(l.exponent-1)
			a[i] = assemble[T](l, rng, field)
			b[i] = assemble[T](l, rng, uint64(min(max(other, 0), 1<<l.exponent-2)))
		}
	}
	requirePairs(t, a, b)
}

// assemble is an element of a given exponent field, often with a fraction at an end of its range.
func assemble[T Number](l layout, rng *rand.Rand, field uint64) T {
	fraction := rng.Uint64()
	switch rng.Intn(4) {
	case 0:
		fraction = uint64(rng.Intn(4))
	case 1:
		fraction = -uint64(rng.Intn(4))
	}
	return fromBits[T](rng.Uint64()&l.sign() | field<<l.frac | fraction&(1<<l.frac-1))
}

// TestSumsOfBFloat16 has every two significands at every distance of exponents at which the lesser
// operand can matter. A float64 holds these sums exactly.
func TestSumsOfBFloat16(t *testing.T) {
	const one = 0x3f80
	for distance := range 12 {
		var a, b []BF16
		var want []uint64
		for pair := range 1 << 15 { // two fractions and the sign of the second
			x, y := BF16(one|pair&0x7f), BF16(one-distance<<7+pair>>7&0x7f|pair>>14<<15)
			a, b = append(a, x), append(b, y)
			want = append(want, Bits(From[BF16](Value(x)+Value(y))))
		}
		Sum(a, b)
		require.Equal(t, want, bitsOf(a))
	}
}

// TestProductsOfBFloat16 has every two significands, with a product that is normal, and products at
// all places of the range of subnormals. A float64 holds these products exactly.
func TestProductsOfBFloat16(t *testing.T) {
	for field := range 13 { // 2^−134 to 2^−122 in products with 2^−64
		for _, first := range []int{0x3f80, 63 << 7} {
			var a, b []BF16
			var want []uint64
			for pair := range 1 << 14 {
				x, y := BF16(first|pair&0x7f), BF16((57+field)<<7+pair>>7)
				a, b = append(a, x), append(b, y)
				want = append(want, Bits(From[BF16](Value(x)*Value(y))))
			}
			Prod(a, b)
			require.Equal(t, want, bitsOf(a))
		}
	}
}

// TestMinMax has every pair of what is special, in every float type.
func TestMinMax(t *testing.T) {
	minMax[float64](t)
	minMax[float32](t)
	minMax[F16](t)
	minMax[BF16](t)
	minMax[E4M3](t)
	minMax[E5M2](t)
}

func minMax[T Number](t *testing.T) {
	dt := Of[T]()
	inf := math.Inf(1)
	if dt == Float8E4M3 {
		inf = 448
	}
	zero, minus := From[T](0), From[T](math.Copysign(0, -1))
	low, high := FromUnsaturated[T](-inf), FromUnsaturated[T](inf)
	order := []T{low, From[T](-3), From[T](-dt.Smallest()), minus, zero, From[T](dt.Smallest()),
		From[T](2), From[T](dt.Largest()), high}
	nan := fromBits[T](quiet(dt))
	negative := fromBits[T](1<<(8*dt.Width()) - 1) // a NaN with a sign and a payload
	settle := func(x T) T {
		if dt.Width() == 1 {
			return From[T](Value(x)) // which saturates
		}
		return x
	}
	check := func(a, b, least, most T) {
		lesser, greater := []T{a}, []T{a}
		Min(lesser, []T{b})
		Max(greater, []T{b})
		require.Equal(t, Bits(least), Bits(lesser[0]), "%v: min of %v and %v", dt, a, b)
		require.Equal(t, Bits(most), Bits(greater[0]), "%v: max of %v and %v", dt, a, b)
	}
	for i, a := range order {
		for j, b := range order {
			check(a, b, settle(order[min(i, j)]), settle(order[max(i, j)]))
		}
		for _, n := range []T{nan, negative} {
			check(a, n, settle(a), settle(a))
			check(n, a, settle(a), settle(a))
		}
	}
	check(nan, negative, nan, nan)
	check(negative, negative, nan, nan)
}

// TestNoNumber has every operation give the documented NaN, whatever the operands' payloads.
func TestNoNumber(t *testing.T) {
	noNumber[float64](t)
	noNumber[float32](t)
	noNumber[F16](t)
	noNumber[BF16](t)
	noNumber[E4M3](t)
	noNumber[E5M2](t)
}

func noNumber[T Number](t *testing.T) {
	dt := Of[T]()
	want := quiet(dt)
	one, zero, inf := From[T](1), From[T](0), FromUnsaturated[T](math.Inf(1))
	payload := fromBits[T](1<<(8*dt.Width()) - 1)
	five := func(x T) []T { return []T{x, x, x, x, x} } // as the loops do four at a time
	for _, x := range five(payload) {
		for name, got := range map[string][]T{
			"sum": five(x), "prod": five(x), "scale": five(x), "divide": five(x),
			"sum of infinities": five(inf), "product of zero and infinity": five(inf),
		} {
			switch name {
			case "sum":
				Sum(got, five(one))
			case "prod":
				Prod(got, five(one))
			case "scale":
				Scale(got, one)
			case "divide":
				Divide(got, 3)
			case "sum of infinities":
				Sum(got, five(FromUnsaturated[T](math.Inf(-1))))
			default:
				Scale(got, zero)
			}
			require.Equal(t, bitsOf(five(fromBits[T](want))), bitsOf(got), "%v: %s", dt, name)
		}
		require.Equal(t, want, Bits(narrowed[T](math.NaN())))
		for _, bits := range []uint32{0x7f800001, 0xff800001, 0xffc01234, 0xffffffff} {
			require.Equal(t, want, Bits(narrowed[T](math.Float32frombits(bits))), "%#x", bits)
		}
		require.Equal(t, want, Bits(From[T](math.Float64frombits(0x7ff0000000000001))))
		require.Equal(t, want, Bits(FromUnsaturated[T](math.NaN())))
	}
}

func TestIntegersWrap(t *testing.T) {
	a := []int8{127, -128, 100, 5, -1}
	Sum(a, []int8{1, -1, 100, -7, 1})
	require.Equal(t, []int8{-128, 127, -56, -2, 0}, a)
	b := []uint16{65535, 300, 2}
	Prod(b, []uint16{65535, 300, 3})
	require.Equal(t, []uint16{1, 90000 - 65536, 6}, b)
	c := []int64{math.MinInt64, 3}
	Scale(c, -1)
	require.Equal(t, []int64{math.MinInt64, -3}, c)
	d, e := []uint8{0, 255, 7}, []uint8{0, 255, 7}
	Min(d, []uint8{128, 127, 7})
	Max(e, []uint8{128, 127, 7})
	require.Equal(t, []uint8{0, 127, 7}, d)
	require.Equal(t, []uint8{128, 255, 7}, e)
}

// TestBool has all operands of every operator: sum and max are or, prod and min are and.
func TestBool(t *testing.T) {
	for _, c := range []struct {
		name string
		op   func(dst, src []B8)
		want []B8 // of 0 0, 0 1, 1 0, 1 1
	}{{"and", And[B8], []B8{0, 0, 0, 1}}, {"or", Or[B8], []B8{0, 1, 1, 1}},
		{"xor", Xor[B8], []B8{0, 1, 1, 0}}, {"sum", Sum[B8], []B8{0, 1, 1, 1}},
		{"max", Max[B8], []B8{0, 1, 1, 1}}, {"prod", Prod[B8], []B8{0, 0, 0, 1}},
		{"min", Min[B8], []B8{0, 0, 0, 1}}} {
		got := []B8{0, 0, 1, 1}
		c.op(got, []B8{0, 1, 0, 1})
		require.Equal(t, c.want, got, c.name)
	}
	for x, want := range map[float64]B8{0: 0, math.Copysign(0, -1): 0, 0.25: 1, -3: 1, 1e300: 1,
		math.Inf(1): 1} {
		require.Equal(t, want, From[B8](x), x)
	}
	require.Equal(t, B8(1), From[B8](math.NaN())) // as bool(float("nan")) in Python
	a := []B8{0, 1}
	Divide(a, 3)
	require.Equal(t, []B8{0, 1}, a)
}

func TestBitsOfIntegers(t *testing.T) {
	a, b, c := []int16{-2, 0x0ff0}, []int16{-2, 0x0ff0}, []int16{-2, 0x0ff0}
	And(a, []int16{5, 0x00ff})
	Or(b, []int16{5, 0x00ff})
	Xor(c, []int16{5, 0x00ff})
	require.Equal(t, []int16{4, 0x00f0}, a)
	require.Equal(t, []int16{-1, 0x0fff}, b)
	require.Equal(t, []int16{-5, 0x0f0f}, c)
}

func TestMisuse(t *testing.T) {
	require.Panics(t, func() { Sum([]F16{1}, nil) })
	require.Panics(t, func() { Narrow([]F16{1}, []float32{}) })
	require.Panics(t, func() { Widen([]float64{1}, []int8{}) })
	require.Panics(t, func() { Divide([]int8{1}, 0) })
	require.Panics(t, func() { Divide([]float32{1}, maxDivisor) })
	require.Panics(t, func() { Reciprocal[int8](2) })
	require.Panics(t, func() { Reciprocal[float32](0) })
	require.Panics(t, func() { Put(make([]byte, 3), []F16{1, 2}) })
	require.Panics(t, func() { Get(make([]F16, 2), make([]byte, 3)) })
}
