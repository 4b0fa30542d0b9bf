package reference

import (
	"math"
	"math/bits"

	"collsim/collective"
)

// exactness is how inputs are made for operators that scale, such that nothing is ever rounded.
//
// Each is unit·(±2^j) with 0 ≤ j ≤ spread. A factor f of b significant bits gives products
// ±f·2^j, and sums of them are f times an integer: exact while that has at most p−b bits. For
// avg the unit is n: n·2^j times 1/n rounded is 2^j exactly, because 1/n = m·2^e with 1 ≤ m < 2
// is rounded with a relative error of at most 2^−p/m, which times n·2^j is less than what
// rounding to the power of two forgives; and n·(sum of ±2^j) is exact while n's odd part times
// that sum has at most p bits. If not even n ranks fit, only some are not 0 at each element.
// (A factor at the very ends of the format's range over- or underflows all the same.)
type exactness struct {
	powers bool    // inputs are of this form
	unit   float64 // n for avg, else 1
	spread uint    // of j
	active int     // ranks of which an element is not 0
}

// exactFor is the form for a collective; its powers are false if plain integers do.
func exactFor[T Number](spec *collective.Spec) exactness {
	e := exactness{unit: 1, active: spec.Ranks}
	room := precision[T]()
	switch spec.Op {
	case collective.Avg:
		n := uint(spec.Ranks)
		e.unit = float64(n)
		room -= min(room, uint(bits.Len(n>>bits.TrailingZeros(n))))
	case collective.PremulSum:
		room -= significant(float64(T(spec.Factor)))
	default:
		return e
	}
	e.powers = true
	need := uint(bits.Len(uint(spec.Ranks - 1))) // n ≤ 2^need
	if need > room {
		e.active = 1 << room
		return e
	}
	e.spread = min(7, room-need)
	return e
}

// significant is the number of bits from the first to the last that is set in a float's mantissa.
func significant(x float64) uint {
	m, _ := math.Frexp(math.Abs(x))
	n := uint64(math.Ldexp(m, 53))
	if n == 0 {
		return 0
	}
	return uint(bits.Len64(n) - bits.TrailingZeros64(n))
}

// maxTurns bounds how many ranks' factors are not ±1 in an exact product: the exponents of a
// partial product then never leave float32's.
const maxTurns = 64

// fillExact makes inputs for products, and for operators that scale. The ranks that have a part
// at an element are consecutive ones from a random rank on.
func (g *generator[T]) fillExact(dst []T, rank int, off int64) {
	own, shared := g.stream(rank), g.stream(-1)
	for i := range dst {
		at := off + int64(i)
		h := word(own, at)
		turn := 0
		if g.op == collective.Prod || g.exact.active < g.ranks {
			first, _ := bits.Mul64(word(shared, at), uint64(g.ranks))
			turn = (rank + int(first)) % g.ranks
		}
		x := 0.0
		if g.op == collective.Prod {
			x = g.factor(h, turn)
		} else if turn < g.exact.active {
			j := uint(h>>32) % (g.exact.spread + 1)
			x = g.exact.unit * float64(uint64(1)<<j)
		}
		if h&1 != 0 && x != 0 {
			x = -x
		}
		dst[i] = T(x)
	}
}

// factor is ½, 1 or 2, for the first rank in turn a full mantissa, and 1 for the last in turn:
// the product has one mantissa, whatever the order (nccl-tests' idea).
func (g *generator[T]) factor(h uint64, turn int) float64 {
	switch {
	case turn == 0:
		p := precision[T]()
		return 1 + float64(h>>(65-p))/float64(uint64(1)<<(p-1))
	case turn < maxTurns:
		return [...]float64{0.5, 1, 2}[(h>>32)%3]
	}
	return 1
}
