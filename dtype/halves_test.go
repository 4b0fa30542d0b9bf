package dtype

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

// The sums of 16-bit floats: by vectors, where there are some; one by one, which is what other
// processors do; and a third way, in float64 and by format.encode, that the first two are held to.

// half is a 16-bit float with its sums; vectors is nil where there are none.
type half[T F16 | BF16] struct {
	*format
	each, vectors func(dst, src []T)
}

func halfOf[T F16 | BF16](f *format, k func(vectors bool) kernel[T]) half[T] {
	h := half[T]{format: f, each: k(false).sum}
	if hasVectors() {
		h.vectors = k(true).sum
	}
	return h
}

// ofHalves runs a test for both formats.
func ofHalves(t *testing.T, inF16 func(*testing.T, half[F16]),
	inBF16 func(*testing.T, half[BF16])) {
	if !hasVectors() {
		t.Log("this processor, or this build, has no vectors: sums one by one alone are tested")
	}
	t.Run("float16", func(t *testing.T) { inF16(t, halfOf(f16, kernelOfF16)) })
	t.Run("bfloat16", func(t *testing.T) { inBF16(t, halfOf(bf16, kernelOfBF16)) })
}

// sums are what dst + src is: a double rounding by way of float64 is innocuous, as it has more than
// twice the digits (see "Why one rounding").
func (h half[T]) sums(dst, src []T) []T {
	all := make([]T, len(dst))
	for i, x := range dst {
		all[i] = T(h.round(h.decode(uint16(x)) + h.decode(uint16(src[i]))))
	}
	return all
}

// check holds every way to add, in both orders of operands, to the sums that are wanted.
func (h half[T]) check(t *testing.T, a, b, want []T) {
	t.Helper()
	for _, add := range []func(dst, src []T){h.each, h.vectors} {
		if add == nil {
			continue
		}
		for _, got := range [][]T{applied(add, a, b), applied(add, b, a)} {
			if i := firstDifference(got, want); i >= 0 {
				require.Failf(t, "another sum", "element %d of %d, %#x + %#x: %#x, not %#x", i, len(a),
					uint16(a[i]), uint16(b[i]), uint16(got[i]), uint16(want[i]))
			}
		}
	}
}

// firstDifference returns where a and b, of one length, differ, or −1.
func firstDifference[T F16 | BF16](a, b []T) int {
	for i, x := range a {
		if x != b[i] {
			return i
		}
	}
	return -1
}

// everyHalf returns all elements of a format, NaN of all kinds among them.
func everyHalf[T F16 | BF16]() []T {
	all := make([]T, 1<<16)
	for i := range all {
		all[i] = T(i)
	}
	return all
}

// TestSumsOfEveryHalf adds every element to zeros, the largest numbers, infinities, NaN, and every
// third power of two, in the short tier every seventh, with its neighbours: to a number whose unit
// is twice the power, that is a tie and what lies next to one. One power is half the unit of the
// largest number.
func TestSumsOfEveryHalf(t *testing.T) {
	ofHalves(t, sumsOfEvery[F16], sumsOfEvery[BF16])
}

func sumsOfEvery[T F16 | BF16](t *testing.T, h half[T]) {
	others := []uint16{0, 0x8000, 1, 0x8001, 2, h.max, h.max - 1, h.max | 0x8000, h.inf,
		h.inf | 0x8000, h.inf + 1, 0x7fff, 0xffff, h.inf | 0x8001}
	double := h.inf & -h.inf // from a power of two to the next; and the least normal number
	around := func(power uint16) {
		sign := power / double % 2 << 15
		others = append(others, power|sign, (power-1)|sign, (power+1)|sign^0x8000)
	}
	around(h.inf - double - uint16(h.precision)*double)
	for power := double; power < h.inf; power += tier.Of[uint16](7, 3) * double {
		around(power)
	}
	every := everyHalf[T]()
	for _, y := range others {
		other := slices.Repeat([]T{T(y)}, len(every))
		h.check(t, every, other, h.sums(every, other))
	}
}

// TestSumsOfRandomHalves: neighbours are of no concern to each other.
func TestSumsOfRandomHalves(t *testing.T) {
	ofHalves(t, sumsOfRandom[F16], sumsOfRandom[BF16])
}

func sumsOfRandom[T F16 | BF16](t *testing.T, h half[T]) {
	rng := rand.New(rand.NewSource(14))
	for range tier.Of(4, 10) {
		a, b := randomElements[T](rng, 100_003), randomElements[T](rng, 100_003)
		h.check(t, a, b, h.sums(a, b))
	}
}

// TestSumsOfHalvesOfEveryLength: at every place relative to the 32 bytes of a vector, of elements
// that are others and of the same ones; what is before and behind stays.
func TestSumsOfHalvesOfEveryLength(t *testing.T) {
	ofHalves(t, sumsOfEveryLength[F16], sumsOfEveryLength[BF16])
}

func sumsOfEveryLength[T F16 | BF16](t *testing.T, h half[T]) {
	const longest, places = 100, 16
	rng := rand.New(rand.NewSource(15))
	a := randomElements[T](rng, places+longest+places)
	b := randomElements[T](rng, places+longest+places)
	for _, add := range []func(dst, src []T){h.each, h.vectors} {
		if add == nil {
			continue
		}
		for n := range longest + 1 {
			for i := range places {
				for j := range places {
					whole := slices.Clone(a)
					add(whole[i:i+n], b[j:]) // src may be longer
					sums := h.sums(a[i:i+n], b[j:])
					want := slices.Concat(a[:i], sums, a[i+n:])
					require.Equal(t, -1, firstDifference(whole, want), "%d, %d and %d", n, i, j)
				}
				whole := slices.Clone(a)
				add(whole[i:i+n], whole[i:i+n])
				want := slices.Concat(a[:i], h.sums(a[i:i+n], a[i:]), a[i+n:])
				require.Equal(t, -1, firstDifference(whole, want), "in place: %d and %d", n, i)
			}
		}
	}
}
