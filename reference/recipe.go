package reference

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// A recipe is a way to compute an element that may give theirs.
type recipe struct {
	what string
	// The operands: the inputs in rank order, from the left; or the schedule's own brackets with
	// its operands, reversed or not, rotated by turn.
	inRankOrder, reversed bool
	turn                  int
	accumulate            Accumulate
	once                  dtype.Type // computed in it, rounded once; 0: by accumulate
	mean                  meanRule
	exact                 bool // the definition; all else is ignored
}

// sums lists recipes that keep the order: other numbers of roundings, and other ways to divide for
// avg.
func (t *Case) sums() (list []recipe) {
	spec := &t.Schedule.Spec
	if !spec.Type.IsFloat() {
		return nil
	}
	for _, inRankOrder := range []bool{true, false} {
		base := recipe{what: "this order", accumulate: t.Accumulate}
		if inRankOrder {
			base = recipe{what: "all inputs in rank order", inRankOrder: true}
		}
		for _, r := range byRounding(base, spec.Type) {
			list = append(list, byMean(r, spec)...)
		}
	}
	list = slices.DeleteFunc(list, func(r recipe) bool { // the schedule's own recipe, and other orders
		return r.once == 0 && r.mean == meanOfSpec && (r.inRankOrder || r.accumulate == t.Accumulate)
	})
	return append(list, recipe{what: "the exact result, rounded once", exact: true})
}

// byRounding lists variants of a recipe by their number of roundings, the fewest first.
func byRounding(r recipe, t dtype.Type) (list []recipe) {
	wider, t := dtype.Float32, t.Component()
	if t == dtype.Float32 {
		wider = dtype.Float64
	}
	if wider.Width() > t.Width() {
		c := r
		c.once, c.what = wider, fmt.Sprintf("%s, in %v, rounded once", r.what, wider)
		list = append(list, c)
	}
	if other := InFloat32 - r.accumulate; !r.inRankOrder && InFloat32.widens(t) {
		c := r
		c.accumulate, c.what = other, fmt.Sprintf("%s with accumulate = %q", r.what, other)
		list = append(list, c)
	}
	return append(list, r)
}

// byMean lists variants of a recipe by how avg divides.
func byMean(r recipe, spec *collective.Spec) []recipe {
	list := []recipe{r}
	if spec.Op != collective.Avg {
		return list
	}
	for _, m := range []struct {
		rule meanRule
		what string
	}{{timesFirst, `, inputs times 1/n (avg = "nccl")`},
		{divideLast, `, the sum divided by n (avg = "post")`},
		{divideFirst, ", inputs divided by n"}, {timesLast, ", the sum times 1/n"}} {
		before := spec.ScalesBefore()
		if m.rule == timesFirst && before || m.rule == divideLast && !before {
			continue
		}
		c := r
		c.mean, c.what = m.rule, r.what+m.what
		list = append(list, c)
	}
	return list
}

// maxTried bounds the ranks whose orders are all tried: each is a sum over the ranks.
const maxTried = 4096

// orders lists other orders, for an element with these operands.
func (t *Case) orders(leaves []int) []recipe {
	n := len(leaves)
	list := []recipe{{what: "rank order from the left", inRankOrder: true, accumulate: t.Accumulate}}
	for by := 1; by < n && n <= maxTried; by++ {
		list = append(list, recipe{what: fmt.Sprintf("rotation by %d: %s first", by,
			t.rankName(leaves[by])), turn: by, accumulate: t.Accumulate})
	}
	for by := 0; by < n && (by == 0 || n <= maxTried); by++ {
		r := recipe{what: "the reverse", reversed: true, turn: by, accumulate: t.Accumulate}
		if by > 0 {
			r.what = fmt.Sprintf("the reverse, rotated by %d: %s first", by, t.rankName(leaves[n-1-by]))
		}
		list = append(list, r)
	}
	return list
}

// of returns the recipe's term for elements with an order, and the operands at its leaves.
func (r *recipe) of(spec *collective.Spec, order *schedule.Term, leaves []int) (*term, []int) {
	at := &term{Term: order, spec: spec, accumulate: r.accumulate, once: r.once, mean: r.mean}
	list := slices.Clone(leaves)
	if r.inRankOrder {
		slices.Sort(list)
		at.Term = chain(at, list)
	}
	if r.reversed {
		slices.Reverse(list)
	}
	if r.turn < len(list) {
		list = slices.Concat(list[r.turn:], list[:r.turn])
	}
	if r.mean != meanOfSpec {
		at.Term = scaledBy(at.Term, r.mean)
	}
	return at, list
}
