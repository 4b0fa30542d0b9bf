package reference

import (
	"math"
	"math/bits"

	"collsim/collective"
	"collsim/dtype"
)

// exactness is a form of floats with which nothing is ever rounded. It is used where random
// integers below 2^precision/n do not suffice: for operators that scale, and for formats of fewer
// numbers than ranks.
//
// Each number is unit·(±2^j) with 0 ≤ j ≤ spread, for as many ranks as add up to no more than the
// format holds. The other ranks have 0 at that element; which ones they are differs between
// elements. A factor f of b significant bits gives products ±f·2^j, and sums of them are f times an
// integer: exact while that has at most p−b bits.
//
// For avg the unit is n, or its odd part times a power of two that is not too large. n·2^j times
// 1/n rounded is 2^j exactly: 1/n = m·2^e with 1 ≤ m < 2 is rounded with a relative error of at
// most 2^−p/m. Times n·2^j that is less than half the distance to the neighbours of the power of
// two. And n·(sum of ±2^j) is exact while n's odd part times that sum has at most p bits. Where n
// has no such unit (its odd part has more than p bits, or 1/n is not normal), only one rank has a
// nonzero number at each element, for which the product by 1/n, rounded, is the quotient. Above
// 1024 ranks float8_e4m3's 1/n is 0, and so are all means, exact and rounded.
type exactness struct {
	powers bool    // inputs are of this form
	unit   float64 // for avg, else 1
	spread uint    // of j
	active int     // ranks with a nonzero number at an element
}

// exactFor returns the form of a collective's exact inputs; powers is false if plain integers
// suffice.
func exactFor[T dtype.Number](spec *collective.Spec) exactness {
	t := dtype.Of[T]()
	e := exactness{unit: 1, active: spec.Ranks, powers: true}
	room := uint(t.Precision())
	need := uint(bits.Len(uint(spec.Ranks - 1))) // n ≤ 2^need
	switch spec.Op {
	case collective.Sum:
		if e.powers = need > room; !e.powers {
			return e
		}
	case collective.Avg:
		e.unit, room = averageable[T](spec)
	case collective.PremulSum:
		room = premultiplied[T](spec)
	default:
		return exactness{}
	}
	if need > room {
		e.active = 1 << room
		return e
	}
	e.spread = min(7, room-need)
	return e
}

// premultiplied returns the bits that a sum may have so that its product with the factor is a
// number of the type.
func premultiplied[T dtype.Number](spec *collective.Spec) uint {
	t, f := dtype.Of[T](), math.Abs(dtype.Value(factor[T](spec)))
	room := uint(t.Precision()) - significant(f)
	for room > 0 && math.Ldexp(f, int(room)) > t.Largest() {
		room--
	}
	return room
}

// averageable returns a unit, and a number of bits, such that multiples of the unit with so many
// bits have a mean that is never rounded.
func averageable[T dtype.Number](spec *collective.Spec) (unit float64, room uint) {
	t, n := dtype.Of[T](), uint(spec.Ranks)
	twos := bits.TrailingZeros(n)
	odd, p := n>>twos, uint(t.Precision())
	if width := uint(bits.Len(odd)); width <= p {
		room = p - width
		up := min(twos, topExponent(t)-int(p))
		unit = math.Ldexp(float64(odd), up)
		if !spec.ScalesBefore() || scalesExactly[T](unit, room, int(n)) {
			return unit, room
		}
	}
	if !spec.ScalesBefore() { // an exact sum is rounded once
		return 1, p
	}
	return singly[T](int(n)), 0
}

// topExponent returns the exponent of a float type's largest number.
func topExponent(t dtype.Type) int {
	_, e := math.Frexp(t.Largest())
	return e - 1
}

// scalesExactly reports whether unit·2^j times 1/n, rounded, is unit·2^j/n.
func scalesExactly[T dtype.Number](unit float64, room uint, n int) bool {
	for j := range int(room) + 1 {
		x := math.Ldexp(unit, j)
		if product, _ := means[T](x, n); product != x/float64(n) {
			return false
		}
	}
	return true
}

// singly returns a number whose mean with n−1 zeros is the same scaled before and divided after.
func singly[T dtype.Number](n int) float64 {
	t := dtype.Of[T]()
	p := min(t.Precision(), 9) // so many are tried of each exponent
	for e := topExponent(t) - 1; e >= exponent(t.Smallest()); e-- {
		for m := 1<<(p-1) + 1; m < 1<<p; m++ {
			x := math.Ldexp(float64(m), e-p+1)
			product, quotient := means[T](x, n)
			if product == quotient && product != 0 && dtype.Value(dtype.From[T](x)) == x {
				return x
			}
		}
	}
	return t.Smallest() // 1/n is 0
}

// means returns x times 1/n, and x divided by n, rounded to T.
func means[T dtype.Number](x float64, n int) (product, quotient float64) {
	scaled := []T{dtype.From[T](x)}
	dtype.Scale(scaled, dtype.Reciprocal[T](n))
	return dtype.Value(scaled[0]), dtype.Value(dtype.From[T](x / float64(n)))
}

// significant returns the number of bits from the first to the last that is set in a float's
// mantissa.
func significant(x float64) uint {
	m, _ := math.Frexp(math.Abs(x))
	n := uint64(math.Ldexp(m, 53))
	if n == 0 {
		return 0
	}
	return uint(bits.Len64(n) - bits.TrailingZeros64(n))
}

// maxTurns bounds the ranks with a factor other than ±1 in an exact product, so that the exponents
// of partial products stay in float32's range.
const maxTurns = 64

// turnsOf returns the number of ranks with a factor other than ±1, such that no partial product
// overflows or loses bits by being small. Factors are from ½ to 2, or in random products from ⅔ to
// 3/2, a little more where they are rounded to few bits.
func turnsOf(t dtype.Type, data Data) int {
	up := topExponent(t) - 1
	down := -(exponent(t.Smallest()) + t.Precision() - 1) // of the least normal number
	if data == Exact {
		return 1 + min(maxTurns-1, up, down)
	}
	if t.Width() >= 4 || t == dtype.BFloat16 {
		return math.MaxInt
	}
	return min(up, down)
}

// turn returns a rank's index in the order, from a random rank on, in which ranks get special
// numbers at an element.
func (g *numbers) turn(rank int, at int64) int {
	return g.after(g.stream(-1), rank, at)
}

// after returns turn, given the stream that all ranks share.
func (g *numbers) after(shared uint64, rank int, at int64) int {
	first, _ := bits.Mul64(word(shared, at), uint64(g.ranks))
	turn := rank + int(first)
	if turn >= g.ranks {
		turn -= g.ranks
	}
	return turn
}

// fillProduct makes inputs for products.
func fillProduct[F float32 | float64](g *numbers, dst []F, rank int, off int64) {
	own, shared := g.stream(rank), g.stream(-1)
	for i := range dst {
		at := off + int64(i)
		h := word(own, at)
		x := g.factor(h, g.after(shared, rank, at))
		if h&1 != 0 {
			x = -x
		}
		dst[i] = F(x)
	}
}

// levels lists the numbers that exactness allows: unit·2^j and its negative, for every j.
func levels[T dtype.Number](e exactness) []T {
	var list []T
	for j := range e.spread + 1 {
		x := float64(e.unit * float64(uint64(1)<<j))
		list = append(list, dtype.From[T](x), dtype.From[T](-x))
	}
	return list
}

// fillLevels makes inputs out of the numbers that levels lists (see exactness).
func fillLevels[T dtype.Number](g *numbers, dst []T, levels []T, rank int, off int64) {
	own, shared, kinds := g.stream(rank), g.stream(-1), uint32(len(levels)/2)
	var zero T
	for i := range dst {
		at := off + int64(i)
		if g.exact.active < g.ranks && g.after(shared, rank, at) >= g.exact.active {
			dst[i] = zero
			continue
		}
		h, j := word(own, at), uint32(0)
		if kinds > 1 {
			j = uint32(h>>32) % kinds
		}
		dst[i] = levels[2*j+uint32(h&1)]
	}
}

// integers lists the signed integers of 32−shift bits, in the order of their bit patterns.
func integers[T dtype.Number](shift uint) []T {
	list := make([]T, 1<<(32-shift))
	for i := range list {
		list[i] = dtype.From[T](float64(int32(i<<shift) >> shift))
	}
	return list
}

// fillIntegers makes fillFloat32's integers for a type of few numbers, which are listed.
func fillIntegers[T dtype.Number](dst []T, list []T, stream uint64, off int64, shift uint) {
	shift &= 31
	if len(dst) > 0 && off&1 == 1 {
		dst[0] = list[half(stream, off)>>shift]
		dst, off = dst[1:], off+1
	}
	state := stream + uint64(off>>1)*wyStep
	for len(dst) >= 2 {
		h, d := mix(state), (*[2]T)(dst)
		d[0], d[1] = list[uint32(h)>>shift], list[h>>32>>shift]
		dst, state = dst[2:], state+wyStep
	}
	if len(dst) > 0 {
		dst[0] = list[uint32(mix(state))>>shift]
	}
}

// factor returns a random factor by turn: a full mantissa for the first, ½, 1 or 2 for later ones,
// and 1 for the last. The product then has one mantissa, in any order (nccl-tests' idea).
func (g *numbers) factor(h uint64, turn int) float64 {
	switch {
	case turn == 0:
		p := g.precision
		return 1 + float64(h>>(65-p))/float64(uint64(1)<<(p-1))
	case turn < g.turns:
		return [...]float64{0.5, 1, 2}[(h>>32)%3]
	}
	return 1
}
