package schedule

import (
	"fmt"
	"math/bits"
	"slices"
)

// A Group acts on the ranks by translation. A rank is written in mixed radix with these digits, the
// last varying fastest. Ranks add digit by digit, each modulo its radix: [n] is the cyclic group of
// n ranks, [2 2 2] the exclusive or of eight. Nil is the trivial group: each rank has a program of
// its own.
type Group []int32

// Rotations returns the cyclic group, for schedules in which every rank does the same relative to
// itself.
func Rotations(ranks int) Group { return Group{int32(ranks)} }

// Flips returns the exclusive-or group of a power of two, nil for other numbers of ranks. Every
// rank does the same with bits of all rank numbers flipped.
func Flips(ranks int) Group {
	if ranks < 2 || ranks&(ranks-1) != 0 {
		return nil
	}
	return slices.Repeat(Group{2}, bits.Len(uint(ranks))-1)
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
func (g Group) Add(a, b int32) int32 {
	if len(g) == 1 {
		if a += b; a >= g[0] {
			a -= g[0]
		}
		return a
	}
	if g.isBits() {
		return a ^ b
	}
	sum, weight := int32(0), int32(1)
	for i := len(g) - 1; i >= 0; i-- {
		d := g[i]
		sum += (a%d + b%d) % d * weight
		a, b, weight = a/d, b/d, weight*d
	}
	return sum
}

// Sub returns the translation that takes b to a.
func (g Group) Sub(a, b int32) int32 {
	if len(g) == 1 {
		if a -= b; a < 0 {
			a += g[0]
		}
		return a
	}
	if g.isBits() {
		return a ^ b
	}
	rest, weight := int32(0), int32(1)
	for i := len(g) - 1; i >= 0; i-- {
		d := g[i]
		rest += (a%d + d - b%d) % d * weight
		a, b, weight = a/d, b/d, weight*d
	}
	return rest
}

// Mirror returns a with its digits in the opposite order.
//
// REQUIRES: the group's digits are a palindrome.
func (g Group) Mirror(a int32) (m int32) {
	if g.isBits() {
		return int32(bits.Reverse32(uint32(a)) >> (32 - len(g)))
	}
	for i := len(g) - 1; i >= 0; i-- {
		m, a = m*g[i]+a%g[i], a/g[i]
	}
	return m
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

// whole reports whether a translation keeps the order of a region's blocks, in a buffer with a
// block for each rank. The group must have several digits. The region must be one aligned run of
// 2^k blocks, and the last k digits bits. Such a region is translated by the digits before them.
func (g Group) whole(r *Region) bool {
	if len(g) < 2 || r.List != nil || r.Times != 1 || r.Run < 2 || r.Run&(r.Run-1) != 0 ||
		r.First&(r.Run-1) != 0 {
		return false
	}
	for i, n := len(g), r.Run; n > 1; n /= 2 {
		if i--; i < 0 || g[i] != 2 {
			return false
		}
	}
	return true
}

// Width says how a step's blocks are translated: in runs of Blocks, which keep their order, of a
// buffer that is mirrored or not. The zero value means one by one.
type Width struct {
	Blocks   int32
	Mirrored bool
}

// WidthOf returns how the regions of a step of rank 0 are translated. It reports false if the
// regions differ in that. It also does if a message comes from a rank whose translation changes
// bits inside a run. Then the operands of other ranks do not line up as rank 0's do.
func (s *Schedule) WidthOf(step *Step) (w Width, ok bool) {
	first, same := true, true
	step.regions(func(r *Region) {
		var own Width
		if s.byRank[r.Buffer] && s.Group.whole(r) {
			own = Width{r.Run, s.mirrored[r.Buffer]}
		}
		same = same && (first || own == w)
		w, first = own, false
	})
	for i := range step.From {
		if f := &step.From[i]; f.Kind == Message && w.Blocks > 0 {
			far := f.Peer.Rank
			if w.Mirrored {
				far = s.Group.Mirror(far)
			}
			same = same && far&(w.Blocks-1) == 0
		}
	}
	return w, same
}

// keeps reports whether a region keeps its shape under translation, in a buffer with a block for
// each rank. Its blocks must differ in the first digit only, where translation adds modulo the
// radix.
func (g Group) keeps(r *Region) bool {
	return r.Run == 1 && r.Period%int32(g.Order()/int(g[0])) == 0
}

// validate returns an error if the group does not act on that many ranks.
func (g Group) validate(ranks int) error {
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

// mirrors returns an error if a cut is numbered by mirrored ranks and the group's digits are no
// palindrome.
func (g Group) mirrors(c Cut) error {
	l := c.level(Block)
	if l == nil || !l.Mirrored {
		return nil
	}
	for i := range g {
		if g[i] != g[len(g)-1-i] {
			return fmt.Errorf("group %v is another one read backwards: its ranks are not mirrored",
				[]int32(g))
		}
	}
	return nil
}
