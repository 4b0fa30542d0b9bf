package schedule

import (
	"fmt"
	"math/bits"
	"slices"

	"collsim/symmetry"
)

// A Group translates the ranks and what they do: rank g does what rank 0 does, translated by g. Nil
// is the trivial group: each rank has a program of its own.
type Group = symmetry.Group

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

// whole reports whether a translation keeps the order of a region's blocks, in a buffer with a
// block for each rank. The group must have several digits. The region must be one aligned run of
// 2^k blocks, and the last k digits bits. Such a region is translated by the digits before them.
func whole(g Group, r *Region) bool {
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
		if s.byRank[r.Buffer] && whole(s.Group, r) {
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
func keeps(g Group, r *Region) bool {
	return r.Run == 1 && r.Period%int32(g.Order()/int(g[0])) == 0
}

// mirrors returns an error if a cut is numbered by mirrored ranks and the group's digits are no
// palindrome.
func mirrors(g Group, c Cut) error {
	if l := c.level(Block); l != nil && l.Mirrored && !g.IsPalindrome() {
		return fmt.Errorf("group %v is another one read backwards: its ranks are not mirrored",
			[]int32(g))
	}
	return nil
}
