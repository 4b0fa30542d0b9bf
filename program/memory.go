package program

import (
	"cmp"
	"slices"

	"collsim/dtype"
	"collsim/schedule"
	"collsim/unit"
)

// Usage is the memory of a rank; it is the same on all ranks.
type Usage struct {
	// Bytes is the size of all tensors that the lowered program has, including Workspace: those
	// that no op names.
	Bytes, Workspace unit.Bytes
	// Peak is the largest memory in use at once, if ops run in the order in which they are issued.
	// Given tensors and results are always in use, others from the first op that uses them to the
	// last. At is the first op with that peak, Alive what is in use then, largest first.
	Peak  unit.Bytes
	At    []string
	Alive []Held
}

// Held is a tensor and its size.
type Held struct {
	Name  string
	Bytes unit.Bytes
}

// An extent is a tensor with storage of its own, with all tensors stored in it, and the ops that
// use it.
type extent struct {
	Held
	typ       dtype.Type
	count     int64
	stays     bool // it is given or a result
	workspace bool
	symmetric bool
	// persistent ones have an allocation of their own in every iteration
	persistent bool
	parts      []string // the tensors of the program in it, including itself
	uses       []int    // indices in Lowered.Ops
}

// extents lists the storage that is used.
func (w *scheduler) extents() (list []extent) {
	at, shared := map[string]int{}, w.sharedHomes()
	add := func(e extent) {
		at[e.Name] = len(list)
		e.Bytes = unit.Bytes(e.count * int64(e.typ.Width()))
		list = append(list, e)
	}
	for _, t := range w.plan.tensors {
		h, lies := w.homes[t.Name]
		if lies && !h.shared || shared[t.Name] {
			continue
		}
		add(extent{Held: Held{Name: t.Name}, typ: t.Type, count: t.Shape.Elements(),
			stays: w.roles[t.Name] != schedule.Inner, symmetric: t.Memory == Symmetric,
			persistent: w.isPersistent(t)})
	}
	for _, name := range w.ownNames {
		t := w.owned[name]
		add(extent{Held: Held{Name: name}, typ: t.Type, count: t.Shape.Elements(), workspace: true,
			symmetric: t.Symmetric})
		e := &list[len(list)-1]
		e.uses = w.uses[name]
	}
	for _, t := range w.plan.tensors {
		name := t.Name
		if h, lies := w.homes[name]; lies && !h.shared {
			name = h.in
		}
		if i, known := at[name]; known {
			e := &list[i]
			e.parts, e.uses = append(e.parts, t.Name), append(e.uses, w.uses[t.Name]...)
		}
	}
	return slices.DeleteFunc(list, func(e extent) bool {
		return e.Bytes == 0 || !e.stays && len(e.uses) == 0
	})
}

// sharedHomes returns the tensors in which others are stored at different times.
func (x *plan) sharedHomes() map[string]bool {
	in := map[string]bool{}
	for _, t := range x.tensors {
		if h := x.homes[t.Name]; h.shared {
			in[h.in] = true
		}
	}
	return in
}

// account computes the memory of a lowered program.
func (w *scheduler) account() Usage {
	m := Usage{}
	extents := w.extents()
	shared := map[string]unit.Bytes{}
	for _, e := range extents {
		if e.workspace {
			m.Workspace += e.Bytes
		}
		if h, lies := w.homes[e.Name]; lies {
			m.Bytes += max(0, e.Bytes-shared[h.in])
			shared[h.in] = max(shared[h.in], e.Bytes)
			continue
		}
		m.Bytes += e.Bytes
	}
	steps := len(w.units())             // of one iteration; others are as the first
	from := make([]unit.Bytes, steps+1) // bytes whose use begins at an op
	for i := range extents {
		e := &extents[i]
		if first, last := e.lives(steps); first <= last {
			from[first] += e.Bytes
			from[last+1] -= e.Bytes
		}
	}
	most, total := 0, unit.Bytes(0)
	for at := range steps {
		if total += from[at]; at == 0 || total > m.Peak {
			most, m.Peak = at, total
		}
	}
	if steps > 0 {
		m.At = w.result.Ops[most].Names
	}
	for i := range extents {
		e := &extents[i]
		if first, last := e.lives(steps); first <= most && most <= last {
			m.Alive = append(m.Alive, e.Held)
		}
	}
	slices.SortStableFunc(m.Alive, func(a, b Held) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return m
}

// lives returns the first and the last op of the first iteration during which it is in use.
func (e *extent) lives(steps int) (first, last int) {
	if e.stays {
		return 0, steps - 1
	}
	return e.within(steps)
}

// within returns the first and the last op of the first iteration that uses it.
func (e *extent) within(steps int) (first, last int) {
	first, last = steps, -1
	for _, op := range e.uses {
		if op < steps {
			first, last = min(first, op), max(last, op)
		}
	}
	return first, last
}
