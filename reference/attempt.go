package reference

import (
	"cmp"
	"slices"

	"collsim/schedule"
)

// mostSums bounds the operands that are combined over all recipes. Of each recipe at least
// leastSample elements are tried, from the first that differs on. If all elements are too many for
// every recipe, mostKept recipes go on to all of them.
const (
	mostSums    = 1 << 26
	leastSample = 8
	mostKept    = 8
	maxSample   = 64 // bounds the wrong elements examined
)

// An attempt has the data on which recipes are tried: all outputs, in the collective's layout.
type attempt struct {
	*Case
	theirs, ours [][]byte // by position
	wrong        [][]bool // by position and element; nil where none is wrong
	alike        []alike
	exact        [][]byte
}

// alike is a range of a position's output that the schedule adds in one order, and the number of
// ranks where ours and theirs are the same.
type alike struct {
	position int
	flat, n  int64
	ranks    int64
	order    *schedule.Term
	leaves   []int
}

// A score counts the elements that a recipe explains, and the equal ones that it would change.
type score struct {
	*recipe
	explains, changes int64
}

// allFlat returns all tensors in the collective's layout.
func (t *Case) allFlat(tensors [][]byte) [][]byte {
	flat := make([][]byte, len(tensors))
	for position := range tensors {
		flat[position] = t.flattened(position, tensors[position])
	}
	return flat
}

// tryAll looks for recipes that give theirs, beginning with an element.
func (x *attempt) tryAll(d *Difference, position int, flat int64, leaves []int) {
	sums, orders := x.sums(), x.orders(leaves)
	all := len(sums) + len(orders)
	if !x.gather(d, position, flat, mostSums/mostKept) {
		return
	}
	if x.merges() { // the order in which a switch adds is unknown
		own := func(r recipe) bool { return !r.inRankOrder && !r.exact }
		sums, orders = slices.DeleteFunc(sums, own), slices.DeleteFunc(orders, own)
	}
	if len(sums) > 0 {
		d.Tried = append(d.Tried, "one rounding of the whole sum")
		if x.Schedule.Spec.ScalesAfter() || x.Schedule.Spec.ScalesBefore() {
			d.Tried = append(d.Tried, "1/n before and after the additions")
		}
		x.exact, _ = x.typed.define(&x.Schedule.Spec, x.Inputs) // not all kinds have one
	}
	found := x.best(sums, all)
	if x.keepBest(d, found); d.All() {
		return
	}
	d.Tried = append(d.Tried, "rotations", "the reverse and its rotations",
		"rank order from the left")
	x.keepBest(d, append(found, x.best(orders, all)...))
}

// merges reports whether a switch combines operands of an element.
func (x *attempt) merges() bool {
	return slices.ContainsFunc(x.alike, func(a alike) bool { return merged(a.order) })
}

// gather lists the elements, from one on and round, as far as a number of operands allows, and
// counts those that differ. It reports whether each has a known order.
func (x *attempt) gather(d *Difference, position int, flat int64, operands int64) bool {
	spec := &x.Schedule.Spec
	var list []alike
	ranks := make([]int64, spec.Ranks)
	for step := range spec.Ranks {
		p := (position + step) % spec.Ranks
		if x.shared() && p != position && string(x.theirs[p]) == string(x.theirs[position]) &&
			string(x.ours[p]) == string(x.ours[position]) {
			ranks[position]++
			continue
		}
		ranks[p]++
		list = append(list, alike{position: p, n: spec.Out(p)})
	}
	first := list[0]
	list[0] = alike{position: position, flat: flat, n: first.n - flat}
	list = append(list, alike{position: position, n: flat})
	for _, part := range list {
		for end := part.flat + part.n; part.flat < end; part.flat += part.n {
			if operands <= 0 {
				d.Part = true
				return true
			}
			order, n, err := x.term(part.position, part.flat)
			if err != nil {
				return false
			}
			part.order, part.leaves, part.ranks = order, order.Ranks(), ranks[part.position]
			part.n = min(n, end-part.flat, max(leastSample, operands/int64(len(part.leaves))))
			operands -= part.n * int64(len(part.leaves))
			x.alike = append(x.alike, part)
			differ, equal := x.count(&part)
			d.Differ, d.Equal = d.Differ+differ, d.Equal+equal
		}
	}
	return true
}

// isWrong reports whether an element of a position is wrong.
func (x *attempt) isWrong(position int, flat int64) bool {
	return x.wrong[position] != nil && x.wrong[position][flat]
}

// pick returns an element.
func (x *attempt) pick(list [][]byte, position int, flat int64) []byte {
	width := int64(x.Schedule.Spec.Type.Width())
	return list[position][flat*width : (flat+1)*width]
}

// count counts elements that are not wrong, over all ranks that have them: those that differ, and
// those that are equal.
func (x *attempt) count(a *alike) (differ, equal int64) {
	for i := range a.n {
		switch at := a.flat + i; {
		case x.isWrong(a.position, at):
		case x.same(x.pick(x.theirs, a.position, at), x.pick(x.ours, a.position, at)):
			equal += a.ranks
		default:
			differ += a.ranks
		}
	}
	return differ, equal
}

// best scores recipes, out of all that will be tried, and returns the candidates for the best, each
// scored on all elements.
func (x *attempt) best(recipes []recipe, all int) (found []score) {
	if len(recipes) == 0 {
		return nil
	}
	operands, elements := int64(0), int64(0)
	for _, a := range x.alike {
		operands, elements = operands+a.n*int64(len(a.leaves)), elements+a.n
	}
	sample := elements
	if work := int64(all) * operands; work > mostSums {
		sample = min(elements, max(leastSample, elements*(mostSums/int64(all))/operands))
	}
	for i := range recipes {
		found = append(found, x.hold(&recipes[i], sample))
	}
	if sample >= elements {
		return found
	}
	slices.SortStableFunc(found, byScore)
	found = found[:min(len(found), mostKept)]
	for i := range found {
		found[i] = x.hold(found[i].recipe, elements)
	}
	return found
}

// byScore orders scores: the most explained first, then the fewest changed.
func byScore(a, b score) int {
	return cmp.Or(cmp.Compare(b.explains, a.explains), cmp.Compare(a.changes, b.changes))
}

// hold scores a recipe on the first so many elements.
func (x *attempt) hold(r *recipe, elements int64) score {
	s := score{recipe: r}
	for i := range x.alike {
		a := x.alike[i]
		if a.n = min(a.n, elements); a.n <= 0 {
			break
		}
		elements -= a.n
		value := x.value(r, &a)
		if value == nil {
			continue
		}
		for k := range a.n {
			at := a.flat + k
			if x.isWrong(a.position, at) {
				continue
			}
			theirs := x.pick(x.theirs, a.position, at)
			gives := x.same(x.pick([][]byte{value}, 0, k), theirs)
			switch equal := x.same(theirs, x.pick(x.ours, a.position, at)); {
			case gives && !equal:
				s.explains += a.ranks
			case equal && !gives:
				s.changes += a.ranks
			}
		}
	}
	return s
}

// value returns what a recipe gives for elements; nil where it does not apply.
func (x *attempt) value(r *recipe, a *alike) []byte {
	width := int64(x.Schedule.Spec.Type.Width())
	if r.exact {
		if x.exact == nil {
			return nil
		}
		return x.exact[a.position][a.flat*width:][:a.n*width]
	}
	order, list := r.of(&x.Schedule.Spec, a.order, a.leaves)
	next := -1
	return x.typed.value(order, func(int) []byte {
		next++
		return x.Inputs[list[next]][a.order.Element*width:][:a.n*width]
	})
}

// keepBest stores the recipes that give all of theirs, or else those that explain most of the
// differing elements.
func (x *attempt) keepBest(d *Difference, found []score) {
	d.Gives, d.Explains, d.Changes = nil, 0, 0
	slices.SortStableFunc(found, func(a, b score) int {
		whole := func(s score) int {
			if s.explains == d.Differ && s.changes == 0 {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(whole(a), whole(b)), byScore(a, b))
	})
	for _, s := range found {
		if s.explains == 0 || len(d.Gives) > 0 && byScore(s, found[0]) != 0 {
			break
		}
		d.Gives = append(d.Gives, s.what)
		d.Explains, d.Changes = s.explains, s.changes
	}
}
