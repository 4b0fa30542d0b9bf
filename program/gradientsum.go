package program

import (
	"fmt"
	"slices"

	"collsim/collective"
)

// settle returns the name of the gradient of an op's result, on the ranks of a flow. Where ranks
// have gradients of several names, they are copied to one. Ranks of a call without a gradient get
// zeros.
func (b *backward) settle(i int, tensor string, f *flow) string {
	ranks := f.needs(&b.ops[i], b)
	classes, names := b.classes(ranks, func(rank int) string { return b.now[tensor][rank] })
	if len(names) == 1 {
		return names[0]
	}
	whole := GradientName(tensor)
	if b.has[whole] { // of a result, what the loss gives it has that name
		whole = b.fresh(*b.like(tensor), whole)
	}
	for k, class := range classes {
		if names[k] == "" {
			b.zero(i, tensor, whole, class)
		}
	}
	b.rename(i, tensor, whole, ranks)
	return whole
}

// needs returns the ranks whose gradient a flow uses. For a broadcast or a reduction that may be
// one rank of a team.
func (f *flow) needs(r *resolved, b *backward) (ranks []int) {
	if r.call == nil {
		return f.ranks
	}
	for _, team := range f.teams {
		all := team
		if team == nil {
			all = b.ranksOf([][]int{nil})
		}
		switch {
		case r.atRoot(), f.from == ownRoot:
			ranks = append(ranks, all[r.call.Root])
		case r.call.Kind == collective.Broadcast && f.from != addUp:
			ranks = append(ranks, all[f.from])
		default:
			ranks = append(ranks, all...)
		}
	}
	return b.once(ranks)
}

// zero makes a gradient of zeros, under a name, on ranks that have none: a sum of no elements.
func (b *backward) zero(i int, tensor, name string, ranks []int) {
	t := b.like(tensor)
	of, sum := Tensor{Name: "no_" + GradientName(tensor), Type: t.Type, NoGradient: true,
		rows: t.rows, Shape: collective.Shape{0, t.Shape.Elements()}}, "sum axis=0"
	if t.isRagged() { // as many rows as there are on each rank
		of.Shape = collective.Shape{t.Shape[0], 0, t.Shape.Elements() / max(t.Shape[0], 1)}
		sum = "sum axis=1"
	}
	for n := 1; b.taken[of.Name]; n++ {
		of.Name = fmt.Sprintf("no_%s_%d", GradientName(tensor), n)
	}
	b.taken[of.Name] = true
	b.q.Tensors = append(b.q.Tensors, of)
	b.add(i, Op{Name: name + " is 0", Kernel: sum, In: []string{of.Name},
		Out: name, like: t, Group: b.group(&b.ops[i], [][]int{ranks})})
	for _, rank := range ranks {
		b.now[tensor][rank] = name
	}
}

// rename copies the gradient of a tensor to one name on ranks that have it under another.
func (b *backward) rename(i int, tensor, whole string, ranks []int) {
	classes, names := b.classes(ranks, func(rank int) string { return b.now[tensor][rank] })
	for k, class := range classes {
		if names[k] == "" || names[k] == whole {
			continue
		}
		b.add(i, Op{Name: whole, Kernel: "cast", In: []string{names[k]}, Out: whole,
			like: b.like(tensor), Group: b.group(&b.ops[i], [][]int{class})})
		for _, rank := range class {
			b.now[tensor][rank] = whole
		}
	}
}

// classes groups ranks by a name, and returns the groups and their names.
func (b *backward) classes(ranks []int, of func(rank int) string) (list [][]int, names []string) {
	sorted := slices.Sorted(slices.Values(ranks))
	for _, rank := range sorted {
		k := slices.Index(names, of(rank))
		if k < 0 {
			k = len(names)
			names, list = append(names, of(rank)), append(list, nil)
		}
		list[k] = append(list[k], rank)
	}
	return list, names
}

// into returns the tensor that a contribution is written to. It is the gradient itself, where it is
// the only contribution on every rank that is written. Where others see the gradient, no rank
// without a part in it is written, such as the sender: it would keep what it has sent.
func (b *backward) into(tensor string, f *flow) string {
	t, _ := b.tensor(tensor)
	seen := b.given[tensor] || b.wanted[tensor] != nil
	for _, rank := range f.touched {
		isPart := slices.Contains(f.ranks, rank)
		n := b.total[tensor][rank]
		if isPart && n != 1 || !isPart && (n > 0 || seen) {
			return b.fresh(t, GradientName(tensor))
		}
	}
	return GradientName(tensor)
}

// contribute adds a contribution to the gradient so far.
func (b *backward) contribute(i int, f *flow, name string) {
	of := &b.ops[i]
	tensor := of.In[f.operand]
	t, _ := b.tensor(tensor)
	if b.now[tensor] == nil {
		b.now[tensor] = make([]string, b.Ranks)
	}
	now, left := b.now[tensor], b.left[tensor]
	classes, _ := b.classes(f.ranks, func(rank int) string {
		return fmt.Sprint(left[rank] == 1, now[rank])
	})
	for _, class := range classes {
		last, was := left[class[0]] == 1, now[class[0]]
		sum := name
		if was != "" {
			sum = GradientName(tensor)
			isGiven := b.has[sum] // of a result, what the loss gives it has that name
			if !last || isGiven || sum == was || sum == name {
				sum = b.fresh(t, GradientName(tensor))
			}
			b.add(i, Op{Name: of.Name + ":grad add " + tensor, Kernel: "add", In: []string{was, name},
				Out: sum, like: b.like(tensor), Group: b.group(of, [][]int{class})})
		}
		for _, rank := range class {
			now[rank], left[rank] = sum, left[rank]-1
		}
	}
	if slices.ContainsFunc(left, func(n int) bool { return n > 0 }) {
		return
	}
	if b.has[GradientName(tensor)] { // of a result, what the loss gives it has that name
		return
	}
	wanted := b.wanted[tensor]
	if none := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(wanted))),
		func(rank int) bool { return now[rank] != "" }); len(none) > 0 {
		b.zero(i, tensor, GradientName(tensor), none)
	}
	if b.given[tensor] || wanted != nil {
		b.rename(i, tensor, GradientName(tensor), b.ranksOf([][]int{nil}))
	}
	b.complete(GradientName(tensor))
}
