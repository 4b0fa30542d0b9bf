package scenarios

import (
	"slices"

	"collsim/collective"
)

// isAll reports whether a value is the algorithm "all".
func isAll(it item) bool {
	a, ok := it.value.(Algorithm)
	return ok && a.Name == allOf
}

// unfold puts the names of the algorithms in the place of "all" on the axes of one collective,
// whose keys begin with mine. There are those of every kind that it takes: point leaves out what
// another kind has. What the list names besides is not doubled.
func (r *run) unfold(axes []axis, mine string) []axis {
	for i := range axes {
		a := &axes[i]
		if a.key.Path != "collective.algorithm" || r.algorithms == nil {
			continue
		}
		var items []item
		for _, it := range a.items {
			if !isAll(it) {
				items = append(items, it)
				continue
			}
			for _, kind := range r.kinds(axes, mine) {
				for _, name := range r.algorithms[kind] {
					one := it.named(name)
					if same := one.same(); !slices.ContainsFunc(append(items, a.items...), same) {
						items = append(items, one)
					}
				}
			}
		}
		if len(items) > 0 { // else the kind is to blame, which point reports
			a.items = items
		}
	}
	return axes
}

// named returns the item of an algorithm in place of "all", with its channels and slices.
func (it item) named(name string) item {
	a := it.value.(Algorithm)
	a.Name, a.Every = name, true
	n := *it.node
	n.value = a.String()
	return item{a, &n}
}

// same returns whether another item is the same algorithm.
func (it item) same() func(item) bool {
	return func(other item) bool { return canonical(it.value) == canonical(other.value) }
}

// kinds lists what a collective computes at its points.
func (r *run) kinds(axes []axis, mine string) []collective.Kind {
	var items []item
	if l := r.d.leaves[mine+"kind"]; l != nil {
		items = l.items
	}
	for _, a := range axes {
		if slices.Contains(a.places, mine+"kind") {
			items = a.items
		}
	}
	var kinds []collective.Kind
	for _, it := range items {
		name, _ := it.value.(string)
		if k, err := collective.ParseKind(name); err == nil {
			kinds = append(kinds, k)
		}
	}
	return kinds
}
