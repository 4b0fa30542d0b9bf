package schedule

import (
	"fmt"
	"math/bits"
	"slices"
)

// Group acts on the ranks by translation. A rank is written in mixed radix with these digits, the
// last varying fastest, and ranks add digit by digit, each modulo its radix: [n] is the cyclic
// group of n ranks, [2 2 2] the exclusive or of eight. Nil is the trivial group: a program a rank.
type Group []int32

// Rotations is the group of schedules in which every rank does the same as seen from itself.
func Rotations(ranks int) Group { return Group{int32(ranks)} }

// Flips is the group of schedules in which every rank of a power of two does the same, with bits of
// all numbers flipped: the exclusive or. Other ranks have none.
func Flips(ranks int) Group {
	if ranks < 2 || ranks&(ranks-1) != 0 {
		return nil
	}
	return slices.Repeat(Group{2}, bits.Len(uint(ranks))-1)
}

// Order is the number of ranks that the group acts on.
func (g Group) Order() int {
	n := 1
	for _, d := range g {
		n *= int(d)
	}
	return n
}

// Add is a translated by b.
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

// Sub is the element that takes b to a.
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

// Mirror is a with its digits in the opposite order.
//
// REQUIRES: the group is the same read backwards.
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

// whole reports whether a region, of as many blocks as ranks, stays in order under a group of
// several digits, of which the last are bits: one run, of as many blocks as some last bits count,
// which begins where these are 0. It is translated by the digits before them.
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

// Width is how a step's blocks are translated: so many at a time, which stay in order, of a buffer
// whose blocks are mirrored or not. The zero value is one by one.
type Width struct {
	Blocks   int32
	Mirrored bool
}

// WidthOf is how the regions of a step of rank 0 are translated; false if that is not the same of
// all of them, or if what is received from a rank is translated by some of the bits that a run
// leaves alone: then the operands of other ranks do not stand as those of rank 0 do.
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

// keeps reports whether a region, of as many blocks as ranks, has its shape from every rank: its
// blocks differ in the first digit alone, which is added to modulo its radix as they are.
func (g Group) keeps(r *Region) bool {
	return r.Run == 1 && r.Period%int32(g.Order()/int(g[0])) == 0
}

func (g Group) validate(ranks int) error {
	if g == nil {
		return nil
	}
	order := 1
	for _, d := range g {
		if d < 1 || int(d) > ranks {
			return fmt.Errorf("schedule: digit %d of the group is out of range", d)
		}
		if order *= int(d); order > ranks {
			break
		}
	}
	if len(g) == 0 || order != ranks {
		return fmt.Errorf("schedule: group %v acts on %d ranks, not on %d", []int32(g), order, ranks)
	}
	return nil
}

// mirrors says what is wrong with a cut whose blocks are numbered by mirrored ranks.
func (g Group) mirrors(c Cut) error {
	l := c.level(Block)
	if l == nil || !l.Mirrored {
		return nil
	}
	for i := range g {
		if g[i] != g[len(g)-1-i] {
			return fmt.Errorf("schedule: group %v is another one read backwards: its ranks are not mirrored",
				[]int32(g))
		}
	}
	return nil
}
