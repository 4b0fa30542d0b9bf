package program

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// The pass reuse stores a tensor in the memory of others that no op uses any more. All uses of the
// one must end before any use of the other begins, by what they wait for anyway: no op waits
// longer. Symmetric memory stays, since others may read it after its rank has gone on; so do given
// tensors and results. Tensors share only with tensors of their type.

// A space is memory that tensors have in turn.
type space struct {
	tenants []extent
	count   int64
	uses    []period // of all tenants
}

// reuse applies the pass.
func reuse(x *plan) (*plan, error) {
	w, err := x.emit()
	if err != nil {
		return nil, err
	}
	orders, early := w.orders(), w.readEarly()
	steps := len(x.units())
	var spaces []space
	y := x.fork()
	for _, e := range inOrderOfUse(w.extents(), steps) {
		if why := e.staysFor(early); why != "" {
			if !e.stays && x.guide.Decided == nil {
				y.note("reuse", []string{e.Name}, "stays", why)
			}
			continue
		}
		at, uses := -1, w.periods(&e, orders)
		for i := range spaces {
			s := &spaces[i]
			if s.tenants[0].typ == e.typ &&
				(at < 0 || better(s.count, spaces[at].count, e.count)) && w.free(s.uses, uses) {
				at = i
			}
		}
		if at < 0 {
			spaces = append(spaces, space{[]extent{e}, e.count, uses})
			continue
		}
		s := &spaces[at]
		last := s.tenants[len(s.tenants)-1]
		y.note("reuse", []string{e.Name}, fmt.Sprintf("%v where %s was", min(e.Bytes,
			unit.Bytes(s.count*int64(e.typ.Width()))), last.Name),
			fmt.Sprintf("%s is dead when %s begins", last.Name, w.nameOf(e.uses[0])))
		s.tenants, s.count = append(s.tenants, e), max(s.count, e.count)
		for i := range uses {
			s.uses[i].add(&uses[i])
		}
	}
	for i := range spaces {
		y.share(&spaces[i], i)
	}
	if x.guide.Decided != nil {
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

// nameOf returns the name of an op.
func (w *scheduler) nameOf(op int) string { return w.result.Ops[op].Names[0] }

// readEarly returns the tensors that an op reads before any has written them.
func (x *plan) readEarly() map[string]bool {
	early, written := map[string]bool{}, map[string]bool{}
	for i := range x.ops {
		r := &x.ops[i]
		for _, name := range r.reads() {
			if !written[name] {
				early[name] = true
			}
		}
		for _, name := range r.writes() {
			written[name] = true
		}
	}
	return early
}

// staysFor returns why a tensor has memory of its own, empty if it need not.
func (e *extent) staysFor(early map[string]bool) string {
	switch {
	case e.stays:
		return "it is given or a result"
	case e.symmetric:
		return "it is symmetric: another rank may still read it"
	case e.persistent:
		return "it is a persistent buffer: nothing else lies there"
	}
	for _, name := range e.parts {
		if early[name] {
			return name + " is read before it is written: it holds something from call to call"
		}
	}
	return ""
}

// better reports whether a space of n elements suits count elements better than one of m: the
// smallest that is large enough, else the largest.
func better(n, m, count int64) bool {
	if (n >= count) != (m >= count) {
		return n >= count
	}
	return n >= count && n < m || n < count && n > m
}

// share stores the tensors of a space in one tensor.
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
