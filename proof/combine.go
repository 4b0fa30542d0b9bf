package proof

import (
	"collsim/collective"
	"collsim/schedule"
)

// The value that a step computes from its operands.

// scale marks segments as scaled once more.
func (v *verifier) scale(at *schedule.Visit, segs []seg) {
	if v.formulas != nil {
		factor := v.formulas.scaling(v.s.SpecAt(at.Spot()))
		for i := range segs {
			segs[i].v = v.formulas.times(segs[i].v, factor)
		}
		return
	}
	var last, made *value
	for i := range segs {
		if old := segs[i].v; old != nil && old != spoilt {
			if old != last {
				last, made = old, v.scaled(old)
			}
			segs[i].v = made
		}
	}
}

// scaled returns a copy of a value that is scaled once more.
func (v *verifier) scaled(old *value) *value {
	scaled := *old
	scaled.scaled++
	v.noteCopy(&scaled, old, true, false)
	if v.fold != nil && v.fold.sums != nil {
		if s, isSum := v.fold.sums[old]; isSum {
			v.fold.sums[&scaled] = s
		}
	}
	return &scaled
}

// combine returns the elementwise combination of a and b. It takes over a's memory.
func (v *verifier) combine(at *schedule.Visit, a, b []seg) []seg {
	if v.fold != nil && v.fold.copies {
		a, b = v.fold.apart(a), v.fold.apart(b)
	} else if v.fold != nil && (v.keepsApart || !v.fold.isWide(a, b)) {
		a = v.fold.resolve(a, &v.fold.seenOne[0]) // free again once they are combined
		b = v.fold.resolve(b, &v.fold.seenOne[1])
	}
	if len(a) == 1 && len(b) == 1 && a[0].n == b[0].n && v.formulas == nil { // nearly always
		a[0].v = v.plus(at, a[0], b[0])
		return a
	}
	if sizeOf(a) != sizeOf(b) {
		v.report(schedule.Malformed, at, at.Step.Chunk(), "%s combines operands of different sizes",
			at.Step.Name())
	}
	var left, right, both *value // absolute values
	sum := zip(v.sum[:0], a, b, func(x, y seg) seg {
		if v.formulas != nil {
			return v.formulaPlus(at, x, y)
		}
		if !isAbsolute(both) || x.v != left || y.v != right || x.off != y.off {
			left, right, both = x.v, y.v, v.plus(at, x, y)
		}
		return seg{v: both, off: x.off}
	})
	v.sum = a
	return sum
}

// sizeOf returns the number of elements of segments.
func sizeOf(segs []seg) (n int64) {
	for _, g := range segs {
		n += g.n
	}
	return n
}

// skip drops the first n elements. REQUIRES: the first segment has as many.
func skip(segs []seg, n int64) []seg {
	if segs[0].n == n {
		return segs[1:]
	}
	segs[0].n, segs[0].off = segs[0].n-n, segs[0].off+n
	return segs
}

// plus returns the combination of the values of x and y. It reports a violation and returns spoilt
// where offsets or scalings do not match.
func (v *verifier) plus(at *schedule.Visit, x, y seg) *value {
	if x.v == nil || y.v == nil || x.v == spoilt || y.v == spoilt {
		return spoilt
	}
	made, own := sum{left: x.v, right: y.v}, x
	if v.fold != nil && v.fold.copies {
		x, y, made.by = v.fold.aligned(x, y)
	}
	switch {
	case v.s.Spec.Kind == collective.Custom && (x.off != y.off || x.v.scaled != y.v.scaled):
		return spoilt // no definition says what belongs together
	case x.off != y.off:
		v.report(schedule.Misplaced, at, at.Step.Chunk(),
			"%s adds element %d of the inputs to element %d",
			at.Step.Name(), y.off, x.off)
		return spoilt
	case x.v.scaled != y.v.scaled || x.v.scaled > 0 && v.s.Spec.ScalesAfter():
		v.report(schedule.Misplaced, at, at.Step.Chunk(),
			"%s adds values that are scaled %d and %d times",
			at.Step.Name(), x.v.scaled, y.v.scaled)
		return spoilt
	}
	if v.roleCounts != nil {
		return v.roleCounts.plus(x.v, y.v)
	}
	if x.v.relative != y.v.relative {
		v.treeClasses.gaveUp = true
		return spoilt
	}
	both := plus(x.v, y.v)
	v.spend(int64(len(both.runs)), valueBytes+runBytes*int64(len(both.runs)))
	both.relative, both.absolute = x.v.relative, x.v.absolute
	v.noteSum(both, x.v, y.v)
	if v.fold != nil {
		both.ordered = at.Step.Ranked && x.v.ordered && y.v.ordered &&
			v.fold.keepsOrder(own, y, at.Step.From[1].Peer.Rank)
		if v.fold.copies && v.fold.sums != nil || both.absolute {
			v.fold.sums[both] = made
		}
	}
	return both
}
