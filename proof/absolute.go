package proof

import "slices"

// What rank 0 adds of its own in many blocks at once would be as many values, seen from the blocks
// (fold.go). So its inputs, and sums of a few in many blocks (isWide), name the ranks by their
// numbers, and are here (value.here): a block then leaves the value as it is, and a translation
// changes it. Such a value has no tree, but it is known how it was made (folding.sums).

// own is the value of rank 0's own input of an iteration.
func (f *folding) own(iteration int) *value {
	v := inputOf(int32(iteration) * f.ranks)
	v.absolute = !f.copies
	return v
}

func isAbsolute(v *value) bool { return v != nil && v.absolute }

// fromRank is a value that is here where it has come from a rank.
func (f *folding) fromRank(v *value, rank int32) *value {
	if v == f.last[0] {
		return f.last[1]
	}
	moved := f.moved(v, rank)
	if s, isSum := f.sums[v]; isSum && s.right == nil {
		f.sums[moved] = sum{left: s.left, by: f.group.Add(s.by, rank)}
	} else if isSum && moved != v {
		f.sums[moved] = sum{left: v, by: rank}
	}
	f.last = [2]*value{v, moved}
	return moved
}

// fromBlock makes a value what one that is here is as it is seen from a block.
func (f *folding) fromBlock(seen, v *value, block int32) *value {
	by := f.group.Sub(0, f.moves(block))
	if r := v.runs[0]; len(v.runs) == 1 && r.to == r.from+1 && r.times == 1 { // nearly always
		seen.input(f.translated(r.from, by)).scaled = v.scaled
		return seen
	}
	*seen = value{tree: f.tree(v, by), ordered: v.ordered, scaled: v.scaled}
	seen.runs = f.movedRuns(seen.small[:0], v.runs, by)
	return seen
}

// isWide reports whether sums of two operands, element by element, are to be here: of inputs that
// are few, and in more blocks than they are. To see these from their blocks, trees and all, is
// then no more work than to have added them there.
func (f *folding) isWide(a, b []seg) bool {
	inputs, elements, size := int64(0), int64(0), int64(0)
	for _, segs := range [2][]seg{a, b} {
		most := int64(0)
		for i, g := range segs {
			if !isAbsolute(g.v) {
				return false
			}
			if elements += g.n; i == 0 || g.v != segs[i-1].v {
				most = max(most, g.v.inputs())
			}
		}
		inputs += most
	}
	for _, s := range f.strips {
		size = max(size, s.Size)
	}
	blocks := elements / 2 / size
	return inputs > 0 && inputs <= blocks && blocks <= 4*int64(f.ranks)/inputs
}

// resolve makes values that are here such as are seen from their blocks, block by block: if there
// is only one, in the memory of some value.
func (f *folding) resolve(segs []seg, one *value) []seg {
	if !slices.ContainsFunc(segs, func(g seg) bool { return isAbsolute(g.v) }) {
		return segs
	}
	if len(segs) == 1 { // nearly always
		if _, block, n := f.block(segs[0].off); segs[0].n <= n {
			segs[0].v = f.fromBlock(one, segs[0].v, block)
			return segs
		}
	}
	all := f.all[:0]
	for _, g := range segs {
		for ; isAbsolute(g.v) && g.n > 0; g.n -= min(g.n, all[len(all)-1].n) {
			_, block, n := f.block(g.off)
			n = min(n, g.n)
			all = append(all, seg{n, f.fromBlock(new(value), g.v, block), g.off})
			g.off += n
		}
		if g.n > 0 {
			all = appendSeg(all, g)
		}
	}
	f.all = all
	return append(segs[:0], all...)
}
