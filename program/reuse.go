package program

import (
	"fmt"
	"math/big"
	"slices"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// Reuse lets a tensor lie where others lay that nobody uses any more. That is certain where all
// that use the one end before any that uses the other begins, for what they wait for anyhow:
// nobody waits longer. Symmetric memory stays, since others may read it after its rank has gone
// on; so does what is given or a result. Tensors share with those of their type.

// place of memory that tensors have in turn.
type space struct {
	tenants []extent
	count   int64
}

// reuse is the pass.
func reuse(x *plan) (*plan, error) {
	w, err := x.emit()
	if err != nil {
		return nil, err
	}
	orders := w.orders()
	steps := len(x.units())
	var spaces []space
	y := x.fork()
	for _, e := range inOrderOfUse(w.extents(), steps) {
		if why := w.stays(&e); why != "" {
			if !e.stays && x.passes.Decided == nil {
				y.note("reuse", []string{e.Name}, "stays", why)
			}
			continue
		}
		at := -1
		for i := range spaces {
			s := &spaces[i]
			if s.tenants[0].typ == e.typ && s.free(&e, orders, steps) &&
				(at < 0 || better(s.count, spaces[at].count, e.count)) {
				at = i
			}
		}
		if at < 0 {
			spaces = append(spaces, space{[]extent{e}, e.count})
			continue
		}
		s := &spaces[at]
		last := s.tenants[len(s.tenants)-1]
		y.note("reuse", []string{e.Name}, fmt.Sprintf("%v where %s was", min(e.Bytes,
			unit.Bytes(s.count*int64(e.typ.Width()))), last.Name),
			fmt.Sprintf("%s is dead when %s begins", last.Name, w.nameOf(e.uses[0])))
		s.tenants, s.count = append(s.tenants, e), max(s.count, e.count)
	}
	for i := range spaces {
		y.share(&spaces[i], i)
	}
	if x.passes.Decided != nil {
		y.notes = x.notes
		return y, nil
	}
	after, err := y.emit()
	if err != nil {
		return nil, err
	}
	y.note("reuse", nil, fmt.Sprintf("%v a rank instead of %v", after.account().Bytes,
		w.account().Bytes), "")
	return y, nil
}

// inOrderOfUse sorts extents by the first op that uses them.
func inOrderOfUse(list []extent, steps int) []extent {
	slices.SortStableFunc(list, func(a, b extent) int {
		first, _ := a.within(steps)
		second, _ := b.within(steps)
		return first - second
	})
	return list
}

// nameOf is an op's.
func (w *lowering) nameOf(op int) string { return w.result.Ops[op].Names[0] }

// stays says why a tensor has memory of its own, empty if it need not.
func (w *lowering) stays(e *extent) string {
	switch {
	case e.stays:
		return "it is given or a result"
	case e.symmetric:
		return "it is symmetric: another rank may still read it"
	case e.persistent:
		return "it is a persistent buffer: nothing else lies there"
	}
	for _, name := range e.parts {
		for i := range w.ops {
			r := &w.ops[i]
			if slices.Contains(r.reads(), name) {
				return name + " is read before it is written: it holds something from call to call"
			}
			if slices.Contains(r.writes(), name) {
				break
			}
		}
	}
	return ""
}

// better reports whether a space of n elements is rather taken for so many than one of m: the
// smallest that is large enough, else the largest.
func better(n, m, count int64) bool {
	if (n >= count) != (m >= count) {
		return n >= count
	}
	return n >= count && n < m || n < count && n > m
}

// free reports whether a tensor may lie in a space: all that use it come after all that use those
// that lie there, and before those of the next iteration.
func (s *space) free(e *extent, orders []order, steps int) bool {
	for i := range s.tenants {
		for _, a := range s.tenants[i].uses {
			for _, b := range e.uses {
				first, last := a, b
				if b/steps < a/steps {
					first, last = b, a
				}
				if !certain(orders, first, last) {
					return false
				}
			}
		}
	}
	return true
}

// share has tensors lie in one.
func (x *plan) share(s *space, number int) {
	if len(s.tenants) == 1 {
		return
	}
	t := Tensor{Name: x.fresh(fmt.Sprintf("space_%d", number)), Type: s.tenants[0].typ,
		Shape: collective.Shape{s.count}}
	x.add(t, schedule.Inner)
	for _, e := range s.tenants {
		x.homes[e.Name] = home{in: t.Name, shared: true}
	}
}

// order is of the ops of a rank, and of all ranks that have the same: which there are, and for each
// the set of those that have ended when it begins.
type order struct {
	has    *big.Int
	before []*big.Int
}

// certain reports whether on every rank that has both the first op has ended before the last
// begins.
func certain(orders []order, first, last int) bool {
	for i := range orders {
		o := &orders[i]
		if o.has.Bit(first) == 1 && o.has.Bit(last) == 1 &&
			(first == last || o.before[last].Bit(first) == 0) {
			return false
		}
	}
	return true
}

// orders are those of all ranks.
func (w *lowering) orders() (list []order) {
	known := map[string]bool{}
	for rank := range w.Ranks {
		o := order{has: new(big.Int), before: make([]*big.Int, len(w.result.Ops))}
		f := follower{lowering: w, bits: map[int]int{}, before: map[int]*big.Int{},
			onStream: map[int32]int{}, free: len(w.result.Ops)}
		for i, op := range w.result.Ops {
			parts := slices.DeleteFunc(slices.Clone(op.Parts), func(p int) bool {
				ranks := w.parts[p].Ranks
				return ranks != nil && !slices.Contains(ranks, rank)
			})
			if len(parts) > 0 {
				o.has.SetBit(o.has, i, 1)
				o.before[i] = f.follow(i, parts)
			}
		}
		if key := o.has.Text(62); !known[key] {
			known[key] = true
			list = append(list, o)
		}
	}
	return list
}

// follower works out what of a rank has ended when its parts begin. Bits are ops; an op of several
// parts has one more for each.
type follower struct {
	*lowering
	bits     map[int]int // of parts
	several  []several
	before   map[int]*big.Int // by part
	onStream map[int32]int    // the last part
	free     int              // bit
}

// several are the parts of an op that has more than one, as a set.
type several struct {
	op    int
	parts *big.Int
}

// follow adds an op of some parts, and returns the ops that have ended when the first of them
// begins.
func (f *follower) follow(op int, parts []int) (before *big.Int) {
	set := new(big.Int)
	for _, p := range parts {
		f.bits[p] = op
		if len(parts) > 1 {
			f.bits[p] = f.free
			set.SetBit(set, f.free, 1)
			f.free++
		}
	}
	for _, p := range parts {
		ended := f.ended(p)
		f.before[p] = ended
		if before == nil {
			before = new(big.Int).Set(ended)
		} else {
			before.And(before, ended)
		}
	}
	if len(parts) > 1 {
		f.several = append(f.several, several{op, set})
	}
	return before
}

// ended is the set of what has ended when a part begins, for what it waits for.
func (f *follower) ended(part int) *big.Int {
	p, set := &f.parts[part], new(big.Int)
	after := func(before int) {
		set.SetBit(set, f.bits[before], 1)
		set.Or(set, f.before[before])
	}
	for _, q := range p.After {
		if _, here := f.bits[q]; here {
			after(q)
		}
	}
	if last, ok := f.onStream[p.Stream]; ok {
		after(last)
	}
	f.onStream[p.Stream] = part
	for _, s := range f.several {
		if all := new(big.Int).And(set, s.parts); all.Cmp(s.parts) == 0 {
			set.SetBit(set, s.op, 1)
		}
	}
	return set
}
