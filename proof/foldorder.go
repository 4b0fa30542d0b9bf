package proof

import (
	"slices"

	"collsim/schedule"
)

// keepsOrder reports whether two operands that rank 0 combines in rank order have their inputs in
// rank order, and all translations of them too. x is rank 0's own operand; y came from rank from.
// Both are named relative to the block of x.
//
// Ranks compare by the outermost digit in which they differ. So the sender's outermost digit must
// separate all inputs of x from all of y. If it does, it does so after every translation, whichever
// operand is the lower one then. If not, some translation splits the inputs of one operand, or
// exchanges inputs without exchanging the ranks.
func (f *folding) keepsOrder(x, y seg, from int32) bool {
	weight := f.group.Outermost(from)
	if x.v.absolute {
		return within(x.v.runs, 0, weight, f.ranks) &&
			within(y.v.runs, from/weight*weight, weight, f.ranks)
	}
	for n := min(x.n, y.n); n > 0; {
		_, block, left := f.block(x.off)
		if !f.within(x.v, block, 0, weight) || !f.within(y.v, block, from/weight*weight, weight) {
			return false
		}
		x.off, n = x.off+left, n-left
	}
	return true
}

// within reports whether all inputs of a value in a block, in absolute terms, are of ranks first …
// first+n−1.
func (f *folding) within(v *value, block, first, n int32) bool {
	return within(f.movedRuns(nil, v.runs, f.moves(block)), first, n, f.ranks)
}

// within reports whether runs are of ranks first … first+n−1.
func within(runs []run, first, n, ranks int32) bool {
	for _, r := range runs {
		from, to := r.from%ranks, (r.to-1)%ranks
		if from > to || from < first || to >= first+n {
			return false
		}
	}
	return true
}

// sameTreeFolded reports whether all ranks have evaluated the same tree for each element of a
// proven all_reduce. With blocks, the trees of all blocks must be equal relative to their blocks:
// rank g has in block b what rank 0 has in the block that is g before it. With copies, each tree
// must equal all its translations.
func (v *verifier) sameTreeFolded() bool {
	f := v.fold
	m, base := v.memory.of(schedule.Output, 0)
	if f.copies {
		reported := map[*value]bool{}
		for i := range m.cells {
			if x := m.cells[i].v; x != nil && !reported[x] {
				if reported[x] = true; !f.invariant(x) {
					return false
				}
			}
		}
		return true
	}
	var first, trees []seg
	for _, s := range f.strips {
		whole := schedule.Span{Off: base + s.Off, Len: s.Size * int64(f.ranks)}
		segs := f.resolve(m.read(nil, whole), new(value))
		if !slices.ContainsFunc(segs, func(g seg) bool { return g.v.tree != segs[0].v.tree }) {
			continue
		}
		first = first[:0]
		for b := range f.ranks {
			trees = trees[:0]
			for left := s.Size; left > 0; {
				n := min(left, segs[0].n)
				trees = appendTree(trees, n, segs[0].v)
				segs, left = skip(segs, n), left-n
			}
			if b == 0 {
				first = append(first, trees...)
			} else if !slices.Equal(first, trees) {
				return false
			}
		}
	}
	return true
}

// invariant reports whether a value has the same tree as all its translations.
func (f *folding) invariant(v *value) bool {
	exchanges, tree, weight := f.exchanges(v), uint64(0), int32(1)
	for i := len(f.group) - 1; i >= 0; i-- {
		if f.group[i] > 1 && !slices.Contains(exchanges, weight) {
			if tree == 0 {
				tree = f.tree(v, 0)
			}
			if f.tree(v, weight) != tree {
				return false
			}
		}
		weight *= f.group[i]
	}
	return true
}

// exchanges lists translations that only exchange operands of sums in a value's tree. If a value is
// the sum of another and its translation, that translation is one, provided that it is its own
// inverse. So are all that exchange operands inside the other value. Trees by recursive doubling
// have as many leaves as there are ranks, but consist of such sums only.
func (f *folding) exchanges(v *value) (list []int32) {
	for s, isSum := f.sums[v]; isSum && f.alike(s.left, s.right); s, isSum = f.sums[s.left] {
		if f.group.Add(s.by, s.by) == 0 {
			list = append(list, s.by)
		}
	}
	return list
}

// alike reports whether two values are the same sum, or the same input.
func (f *folding) alike(a, b *value) bool {
	x, isSum := f.sums[a]
	y, both := f.sums[b]
	return isSum && both && x == y || !isSum && !both && slices.Equal(a.runs, b.runs)
}

// tree returns the hash of a value's tree, translated.
func (f *folding) tree(v *value, by int32) uint64 {
	s, isSum := f.sums[v]
	if !isSum {
		return inputTree(f.translated(v.runs[0].from, by))
	}
	if s.right == nil {
		return f.tree(s.left, f.group.Add(s.by, by))
	}
	return scramble(f.tree(s.left, by) + f.tree(s.right, f.group.Add(s.by, by)))
}
