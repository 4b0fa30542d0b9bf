package proof

import "slices"

// When rank 0 adds its own input in many blocks at once, values relative to the blocks (fold.go)
// would be as many as blocks. So its own inputs, and sums of few inputs in many blocks (isWide),
// name ranks by their numbers: they are absolute (value.absolute). A block then leaves such a value
// as it is, and a translation changes it. An absolute value has no tree, but folding.sums records
// how it was made.

// own returns the value of rank 0's own input of an iteration.
func (f *folding) own(iteration int) *value {
	v := inputOf(int32(iteration) * f.ranks)
	v.absolute = !f.copies
	return v
}

// isAbsolute reports whether a value names ranks by their numbers.
func isAbsolute(v *value) bool { return v != nil && v.absolute }

// fromRank translates an absolute value that came from a rank.
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

// fromBlock stores in seen the absolute value v relative to a block, tree included, and returns
// seen.
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

// isWide reports whether the elementwise sum of two operands is to be absolute. It is if both are,
// and if they have fewer inputs than blocks. Resolving the sum block by block, trees included, then
// costs no more than adding it block by block.
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

// resolve makes absolute values relative to their blocks, block by block. If all elements are in
// one block, it uses the memory of one.
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
