package program

import (
	"cmp"
	"slices"

	"collsim/dtype"
	"collsim/schedule"
	"collsim/unit"
)

// Usage is the memory of a rank: of the one that takes most.
type Usage struct {
	// Bytes is the size of all tensors that the lowered program has on the rank, including
	// Workspace: those that no op names. A rank has the tensors that its ops use, and those that no
	// op uses.
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

// account returns the memory of a lowered program: that of the ranks that take most.
func (w *scheduler) account() Usage {
	if w.usage == nil {
		w.usage = new(w.mostUsed())
	}
	return *w.usage
}

// mostUsed computes account.
func (w *scheduler) mostUsed() (most Usage) {
	extents, steps := w.extents(), len(w.units())
	for i, takesPart := range w.result.takingPart(w.parts, w.Ranks) {
		m := w.accountOf(extents, steps, takesPart)
		if i == 0 || m.Bytes > most.Bytes || m.Bytes == most.Bytes && m.Peak > most.Peak {
			most = m
		}
	}
	return most
}

// takingPart returns, for each set of ranks that take part in the same ops, by op whether they do.
func (l *Lowered) takingPart(parts []schedule.Part, ranks int) (list [][]bool) {
	sets := map[string]int{} // of ranks that take part in an op, by the ranks
	var of []int             // by op: its set
	var in [][]bool          // by set and rank
	for i := range l.Ops {
		set := make([]bool, ranks)
		for _, n := range l.Ops[i].Parts {
			if parts[n].Ranks == nil {
				set = slices.Repeat([]bool{true}, ranks)
				break
			}
			for _, rank := range parts[n].Ranks {
				set[rank] = true
			}
		}
		key := bitsOf(set)
		if _, known := sets[key]; !known {
			sets[key], in = len(in), append(in, set)
		}
		of = append(of, sets[key])
	}
	seen := map[string]bool{}
	for rank := range ranks {
		member := make([]bool, len(in))
		for set := range in {
			member[set] = in[set][rank]
		}
		if key := bitsOf(member); !seen[key] {
			seen[key] = true
			takesPart := make([]bool, len(of))
			for i, set := range of {
				takesPart[i] = member[set]
			}
			list = append(list, takesPart)
		}
	}
	return list
}

// bitsOf returns a key that identifies a list.
func bitsOf(list []bool) string {
	key := make([]byte, (len(list)+7)/8)
	for i, is := range list {
		if is {
			key[i/8] |= 1 << (i % 8)
		}
	}
	return string(key)
}

// accountOf computes the memory of a rank that takes part in some ops. The first ops are the steps
// of an iteration.
func (w *scheduler) accountOf(all []extent, steps int, takesPart []bool) Usage {
	m := Usage{}
	var extents []extent
	for _, e := range all {
		unused := len(e.uses) == 0
		e.uses = slices.DeleteFunc(slices.Clone(e.uses), func(op int) bool { return !takesPart[op] })
		if unused || len(e.uses) > 0 {
			extents = append(extents, e)
		}
	}
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
	from := make([]unit.Bytes, steps+1) // bytes whose use begins at an op
	for i := range extents {
		e := &extents[i]
		if first, last := e.lives(steps); first <= last {
			from[first] += e.Bytes
			from[last+1] -= e.Bytes
		}
	}
	most, total := -1, unit.Bytes(0)
	for at := range steps {
		if total += from[at]; takesPart[at] && (most < 0 || total > m.Peak) {
			most, m.Peak = at, total
		}
	}
	if most >= 0 {
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
