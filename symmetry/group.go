package symmetry

import (
	"fmt"
	"math/bits"
)

// A Group acts on the ranks by translation. A rank is written in mixed radix with these digits, the
// last varying fastest. Ranks add digit by digit, each modulo its radix: [n] is the cyclic group of
// n ranks, [2 2 2] the exclusive or of eight. Nil is the trivial group.
type Group []int32

// Validate returns an error if the group does not act on that many ranks; nil acts on any number.
func (g Group) Validate(ranks int) error {
	if g == nil {
		return nil
	}
	order := 1
	for _, d := range g {
		if d < 1 || int(d) > ranks {
			return fmt.Errorf("digit %d of the group is out of range", d)
		}
		if order *= int(d); order > ranks {
			break
		}
	}
	if len(g) == 0 || order != ranks {
		return fmt.Errorf("group %v acts on %d ranks, not on %d", []int32(g), order, ranks)
	}
	return nil
}

// Order returns the number of ranks that the group acts on.
func (g Group) Order() int {
	n := 1
	for _, d := range g {
		n *= int(d)
	}
	return n
}

// Add returns a translated by b.
func (g Group) Add(a, b int32) int32 { return g.sum(a, b, 1) }

// Sub returns the translation that takes b to a.
func (g Group) Sub(a, b int32) int32 { return g.sum(a, b, -1) }

// sum returns a translated by b, or back by b where sign is −1.
func (g Group) sum(a, b, sign int32) (sum int32) {
	if len(g) == 1 {
		return wrap(a+sign*b, g[0])
	}
	if g.isBits() {
		return a ^ b
	}
	weight := int32(1)
	for i := len(g) - 1; i >= 0; i-- {
		d := g[i]
		sum += wrap(a%d+sign*(b%d), d) * weight
		a, b, weight = a/d, b/d, weight*d
	}
	return sum
}

// wrap returns a sum or difference of two digits, modulo their radix.
func wrap(digit, radix int32) int32 {
	if digit < 0 {
		return digit + radix
	}
	if digit >= radix {
		return digit - radix
	}
	return digit
}

// Mirror returns a with its digits in the opposite order.
//
// REQUIRES: IsPalindrome.
func (g Group) Mirror(a int32) (m int32) {
	if g.isBits() {
		return int32(bits.Reverse32(uint32(a)) >> (32 - len(g)))
	}
	for i := len(g) - 1; i >= 0; i-- {
		m, a = m*g[i]+a%g[i], a/g[i]
	}
	return m
}

// IsPalindrome reports whether the digits read the same backwards.
func (g Group) IsPalindrome() bool {
	for i := range g {
		if g[i] != g[len(g)-1-i] {
			return false
		}
	}
	return true
}

// isBits reports whether all digits are bits.
func (g Group) isBits() bool {
	for _, d := range g {
		if d != 2 {
			return false
		}
	}
	return true
}

// Together returns the number of consecutive ranks, from one on, that a translation moves by the
// same distance.
func (g Group) Together(rank, by int32) int32 {
	weight := int32(1)
	for i := len(g) - 1; i >= 0; i-- {
		d := g[i]
		if far := by % d; far > 0 {
			digit, end := rank/weight%d, d
			if digit < d-far {
				end = d - far
			}
			return (rank/weight+end-digit)*weight - rank
		}
		by, weight = by/d, weight*d
	}
	return weight - rank
}

// Outermost returns the weight of the outermost digit that a translation changes.
func (g Group) Outermost(by int32) int32 {
	weight := int32(1)
	for i := len(g) - 1; i >= 0 && by/weight >= g[i]; i-- {
		weight *= g[i]
	}
	return weight
}

// Translation moves ranks in one digit of their numbers: it adds Step, modulo Size, to a digit with
// Size values and weight Weight.
type Translation struct{ Size, Weight, Step int32 }

// Of returns the image of a rank.
func (t Translation) Of(rank int32) int32 {
	digit := rank / t.Weight % t.Size
	return rank + ((digit+t.Step)%t.Size-digit)*t.Weight
}
