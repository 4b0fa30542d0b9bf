package dtype

import (
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// The loops that are made fast, held against what they were: one element after the other, by
// format.encode.

// TestNarrowIsEncode: around every number of a format and every tie between two, from float32 and
// from float64, all signs, subnormals, what overflows, infinities and NaN.
func TestNarrowIsEncode(t *testing.T) {
	narrowIsEncode[F16](t, f16)
	narrowIsEncode[BF16](t, bf16)
	narrowIsEncode[E4M3](t, e4m3)
	narrowIsEncode[E5M2](t, e5m2)
}

func narrowIsEncode[T F16 | BF16 | E4M3 | E5M2](t *testing.T, f *format) {
	wide := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1),
		math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.MaxFloat32,
		math.Float64frombits(0x7ff0000000000001), math.Float64frombits(0xfff0000000000001)}
	last := f.decode(f.max)
	for pattern := range f.max + 1 {
		if left(uint64(pattern), uint64(f.max)) {
			continue
		}
		x := f.decode(pattern)
		y := f.decode(min(pattern+1, f.max))
		if pattern == f.max {
			y = last + (last - f.decode(f.max-1)) // what would come next
		}
		for _, z := range []float64{x, (x + y) / 2, y} {
			for _, z := range []float64{z, math.Nextafter(z, 0), math.Nextafter(z, math.Inf(1)),
				float64(math.Nextafter32(float32(z), 0)),
				float64(math.Nextafter32(float32(z), math.MaxFloat32))} {
				wide = append(wide, z, -z)
			}
		}
	}
	single, got, from := make([]float32, len(wide)), make([]T, len(wide)), make([]T, len(wide))
	for i, x := range wide {
		single[i] = float32(x)
	}
	Narrow(got, wide)
	Narrow(from, single)
	for i, x := range wide {
		equal(t, T(f.round(x)), got[i], x)
		equal(t, T(f.round(float64(single[i]))), from[i], single[i])
	}
}

// TestNarrowOfEveryTop: of every sign, exponent and beginning of a fraction, with nothing, a tie
// and next to a tie behind it.
func TestNarrowOfEveryTop(t *testing.T) {
	var from []float32
	for top := range uint32(1 << 16) {
		for _, low := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
			from = append(from, math.Float32frombits(top<<16|low))
		}
	}
	roundsAs(t, from, f16, toF16)
	roundsAs(t, from, bf16, toBF16)
	four, five := make([]E4M3, len(from)), make([]E5M2, len(from))
	Narrow(four, from)
	Narrow(five, from)
	for i, x := range from {
		if four[i] != E4M3(e4m3.round(float64(x))) || five[i] != E5M2(e5m2.round(float64(x))) {
			require.Failf(t, "rounded wrongly", "%v (%#x)", x, math.Float32bits(x))
		}
	}
}

func roundsAs[T F16 | BF16](t *testing.T, from []float32, f *format, to func(float32) T) {
	for _, x := range from {
		if to(x) != T(f.round(float64(x))) {
			require.Failf(t, "rounded wrongly", "%v (%#x)", x, math.Float32bits(x))
		}
	}
}

// TestSumIsEachSum: elements that are added many at once, of all lengths, with NaN, infinities and
// numbers that overflow among them, are those that are added one by one.
func TestSumIsEachSum(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	for range 20000 {
		n := rng.Intn(40)
		sumIsEach(t, rng, n, func(x *float32) { *x = math.Float32frombits(wildBits(rng)) },
			func(d, s []float32) { addEachFloat(d, s, math.Float32frombits(nan32)) })
		sumIsEach(t, rng, n, func(x *float64) {
			*x = math.Float64frombits(uint64(wildBits(rng))<<32 | uint64(rng.Uint32()))
		}, func(d, s []float64) { addEachFloat(d, s, math.Float64frombits(nan64)) })
	}
}

// wildBits are those of a float32, often a special or a near one.
func wildBits(rng *rand.Rand) uint32 {
	switch rng.Intn(12) {
	case 0:
		return 0x7f800000 | rng.Uint32()&sign32
	case 1:
		return 0x7f810000 | rng.Uint32()
	case 2:
		return 0x7f000000 | rng.Uint32()&0x80ffffff
	case 3:
		return rng.Uint32()
	}
	return math.Float32bits(float32(rng.NormFloat64()))
}

func sumIsEach[T Number](t *testing.T, rng *rand.Rand, n int, wild func(*T), each func(d, s []T)) {
	a, b := make([]T, n), make([]T, n)
	for i := range a {
		wild(&a[i])
		if b[i] = a[i]; rng.Intn(4) > 0 {
			wild(&b[i])
		}
	}
	want := append([]T{}, a...)
	each(want, b)
	got := applied(Sum[T], a, b)
	if !same(want, got) {
		require.Failf(t, "another sum", "%v %v and %v: %v, not %v", Of[T](), a, b, got, want)
	}
}
