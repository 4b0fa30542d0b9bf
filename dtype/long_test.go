//go:build long

package dtype

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// stride is 1 to try every pattern, which takes some minutes on two cores (COLLSIM_EVERY=1);
// else one of seven is tried.
func stride() int {
	if os.Getenv("COLLSIM_EVERY") != "" {
		return 1
	}
	return 7
}

// TestEveryPairOfHalves goes through all pairs of positive numbers with both signs of the lesser
// one, which by the laws of negation and of the operands' order is all pairs. The sum in float64,
// rounded to odd, forgets nothing that the rounding to 16 bits wants to know (Boldo and
// Melquiond, "Emulation of FMA and correctly rounded sums", IEEE TC 57(4), 2008); the product is
// exact there.
func TestEveryPairOfHalves(t *testing.T) {
	t.Run("float16", func(t *testing.T) { everyPair[F16](t, 0x7c00) })
	t.Run("bfloat16", func(t *testing.T) { everyPair[BF16](t, 0x7f80) })
}

func everyPair[T F16 | BF16](t *testing.T, inf int) {
	sums, products, other := make([]T, 2*inf), make([]T, 2*inf), make([]T, 2*inf)
	values := make([]float64, inf)
	for i := range inf {
		values[i] = Value(T(i))
	}
	round := of[T]().from
	for a := 0; a < inf; a += stride() {
		n := a + 1
		for b := range n {
			sums[b], sums[n+b] = T(a), T(a)
			other[b], other[n+b] = T(b), T(b)|0x8000
		}
		copy(products, sums[:n])
		Sum(sums[:2*n], other[:2*n])
		Prod(products[:n], other[:n])
		x := values[a]
		for b, y := range values[:n] {
			plus, minus, times := round(oddSum(x, y)), round(oddSum(x, -y)), round(x*y)
			if sums[b] != plus || sums[n+b] != minus || products[b] != times {
				require.Failf(t, "rounded twice", "%#x and %#x: %#x %#x %#x, want %#x %#x %#x", a, b,
					sums[b], sums[n+b], products[b], plus, minus, times)
			}
		}
	}
}

// TestSumsOfEveryPairOfHalves holds sums by vectors to those one by one, for all pairs in one
// order or the other: at the nth turn, every element is added to the one that is n patterns on.
func TestSumsOfEveryPairOfHalves(t *testing.T) {
	ofHalves(t, sumsOfEveryPair[F16], sumsOfEveryPair[BF16])
}

func sumsOfEveryPair[T F16 | BF16](t *testing.T, h half[T]) {
	if h.vectors == nil {
		t.Skip("no vectors")
	}
	every := everyHalf[T]()
	twice := slices.Concat(every, every)
	got, want := make([]T, len(every)), make([]T, len(every))
	for n := 0; n <= len(every)/2; n += stride() {
		other := twice[n:][:len(every)]
		copy(got, every)
		copy(want, every)
		h.vectors(got, other)
		h.each(want, other)
		if i := firstDifference(got, want); i >= 0 {
			require.Failf(t, "another sum", "%#x + %#x: %#x, not %#x", i, uint16(other[i]),
				uint16(got[i]), uint16(want[i]))
		}
	}
}

// oddSum is x + y rounded to odd.
func oddSum(x, y float64) float64 {
	sum := x + y
	part := sum - x
	lost := (x - (sum - part)) + (y - part)
	bits := math.Float64bits(sum)
	if lost == 0 || bits&1 == 1 {
		return sum
	}
	if (lost > 0) == (sum > 0) {
		return math.Float64frombits(bits + 1)
	}
	return math.Float64frombits(bits - 1)
}

// TestEveryFloat32 rounds all of them to the 8-bit formats.
func TestEveryFloat32(t *testing.T) {
	const n = 1 << 16
	from, four, five := make([]float32, n), make([]E4M3, n), make([]E5M2, n)
	for top := uint32(0); top < 1<<16; top += uint32(stride()) {
		for i := range from {
			from[i] = math.Float32frombits(top<<16 | uint32(i))
		}
		Narrow(four, from)
		Narrow(five, from)
		for i, x := range from {
			if four[i] != E4M3(e4m3.round(float64(x))) || five[i] != E5M2(e5m2.round(float64(x))) {
				require.Failf(t, "rounded wrongly", "%v (%#x)", x, math.Float32bits(x))
			}
		}
	}
}
