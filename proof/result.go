package proof

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// finished checks the output of a rank after an iteration and gives the rank its next input.
func (v *verifier) finished(rank, iteration int) error {
	v.checkOutput(rank, iteration)
	v.ended[rank]++
	if iteration+1 < v.iterations {
		v.fillInput(rank, iteration+1)
	}
	return nil
}

// checkOutput compares a rank's output with the definition of the collective.
func (v *verifier) checkOutput(rank, iteration int) {
	if len(v.found) >= maxViolations { // enough to report
		return
	}
	if v.formulas != nil {
		v.checkResults(rank, iteration)
		return
	}
	m, base := v.memory.of(schedule.Output, rank)
	if m.table != nil {
		m.cut(m.size) // so that each wrong part is reported
	}
	scaled := int32(0)
	if v.s.Spec.ScalesBefore() || v.s.Spec.ScalesAfter() {
		scaled = 1
	}
	reduces := v.s.Spec.Kind.Reduces()
	for _, piece := range v.s.Spec.Want(rank) {
		if piece.Len == 0 {
			continue
		}
		shift := int32(iteration * v.s.Spec.Ranks)
		from, to := shift, shift+int32(v.s.Spec.Ranks)
		if piece.From >= 0 {
			from = shift + int32(piece.From)
			to = from + 1
		}
		first, last := m.cover(schedule.Span{Off: base + piece.Off, Len: piece.Len})
		v.accesses += int64(last - first)
		for i := first; i < last; i++ {
			c, off, n := m.cells[i], m.starts[i]-base, m.end(i)-m.starts[i]
			if c.v != nil && reduces {
				v.ordered = v.ordered && c.v.ordered
			}
			for n > 0 {
				part, k := c, n
				if v.fold != nil {
					part, k = v.fold.seen(c, n)
				}
				if v.treeClasses != nil {
					part = v.treeClasses.seen(c, int32(rank))
				}
				kind, text := v.wrong(&part, piece.InOff+off-piece.Off, from, to, scaled)
				if kind != 0 && len(v.found) < maxViolations {
					chunk := v.s.BlockAt(schedule.Output, rank, off)
					v.found = append(v.found, &schedule.Violation{Kind: kind, Rank: v.names.of(rank),
						Lane: -1, Step: -1,
						Chunk: chunk, Text: fmt.Sprintf("output element %d %s", off, text)})
				}
				n, off, c.off = n-k, off+k, c.off+k
			}
		}
	}
}

// wrong explains what is wrong with an output cell. It should begin with element off of the inputs
// of ranks from … to−1.
func (v *verifier) wrong(c *cell, off int64, from, to, scaled int32) (schedule.ViolationKind,
	string) {
	switch {
	case c.v == spoilt:
		return 0, "" // reported already
	case c.v == nil:
		return schedule.Missing, "is never written"
	case c.off != off:
		return schedule.Misplaced,
			fmt.Sprintf("holds element %d of the inputs instead of %d", c.off, off)
	case len(c.v.runs) != 1 || c.v.runs[0] != run{from, to, 1}:
		return c.v.describe(from, to, int32(v.s.Spec.Ranks), v.names)
	case c.v.scaled != scaled:
		return schedule.Misplaced, fmt.Sprintf("is scaled %d times instead of %d", c.v.scaled, scaled)
	}
	return 0, ""
}

// sameTree reports whether all ranks have evaluated the same tree for each element.
func (v *verifier) sameTree() bool {
	if v.formulas != nil {
		return false // trees of formulas are not kept
	}
	if v.s.Spec.Kind != collective.AllReduce || v.s.Spec.Count == 0 {
		return true
	}
	if v.fold != nil {
		return v.sameTreeFolded()
	}
	var first, trees []seg
	for rank := range v.s.Spec.Ranks {
		if v.treeClasses != nil && !v.treeClasses.isFirst(int32(rank)) {
			continue
		}
		m, base := v.memory.of(schedule.Output, rank)
		trees = m.trees(trees[:0], schedule.Span{Off: base, Len: v.s.Spec.Count})
		if rank == 0 {
			first = slices.Clone(trees)
		} else if !slices.Equal(first, trees) {
			return false
		}
	}
	return true
}

// trees appends the lengths and trees of a span, joined across cells.
func (m *store) trees(trees []seg, s schedule.Span) []seg {
	from, to := m.cover(s)
	for i := from; i < to; i++ {
		trees = appendTree(trees, m.end(i)-m.starts[i], m.cells[i].v)
	}
	return trees
}

// appendTree appends n elements with the tree of a value.
func appendTree(trees []seg, n int64, v *value) []seg {
	tree := int64(v.tree)
	if k := len(trees) - 1; k >= 0 && trees[k].off == tree {
		trees[k].n += n
		return trees
	}
	return append(trees, seg{n: n, off: tree})
}
