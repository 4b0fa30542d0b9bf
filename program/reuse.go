package program

import (
	"fmt"
	"math"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/unit"
)

// The pass reuse stores a tensor in the memory of others that no op uses any more. All uses of the
// one must end before any use of the other begins, by what they wait for anyway: no op waits
// longer. Symmetric memory stays, since others may read it after its rank has gone on; so do given
// tensors and results. Tensors share only with tensors of their type.

// A tenant is a tensor that may share memory with others, and when it is used.
type tenant struct {
	extent
	uses []period
}

// A space is memory that tensors have in turn.
type space struct {
	tenants []int // in order of use
	typ     dtype.Type
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
	y := x.fork()
	var list []tenant
	for _, e := range inOrderOfUse(w.extents(), len(x.units())) {
		if why := e.staysFor(early); why == "" {
			list = append(list, tenant{e, w.periods(&e, orders)})
		} else if !e.stays && x.guide.Decided == nil {
			y.note("reuse", []string{e.Name}, "stays", why)
		}
	}
	spaces := w.allot(list, similar)
	if others := w.allot(list, anySize); sizeOf(others) <= sizeOf(spaces) {
		spaces = others
	}
	for i := range spaces {
		y.share(&spaces[i], list, i)
	}
	if x.guide.Decided != nil {
		y.notes = x.notes
		return y, nil
	}
	w.noteSpaces(y, spaces, list)
	after, err := y.emit()
	if err != nil {
		return nil, err
	}
	y.note("reuse", nil, fmt.Sprintf("%v a rank instead of %v", after.account().Bytes,
		w.account().Bytes), "")
	return y, nil
}

// How many times as large as a tensor a space may be, or as small. A small tensor in a large space
// keeps large ones out, which then need memory of their own; but it costs nothing where none comes.
const (
	similar = 2
	anySize = math.MaxInt64
)

// allot gives each tenant a space that is free when its use begins: of those that are at most so
// many times as large or small, the one that suits it best.
func (w *scheduler) allot(list []tenant, times int64) (spaces []space) {
	of := map[dtype.Type]*bySize{}
	for i := range list {
		t := &list[i]
		if of[t.typ] == nil {
			of[t.typ] = &bySize{with: map[int64][]int{}}
		}
		sizes := of[t.typ]
		at := sizes.find(t.count, times, func(j int) bool { return w.free(spaces[j].uses, t.uses) })
		if at < 0 {
			at = len(spaces)
			spaces = append(spaces, space{typ: t.typ, count: t.count, uses: make([]period, len(t.uses))})
			sizes.add(t.count, at)
		}
		s := &spaces[at]
		s.tenants = append(s.tenants, i)
		for k := range t.uses {
			s.uses[k].add(&t.uses[k])
		}
		if t.count > s.count {
			sizes.remove(s.count, at)
			sizes.add(t.count, at)
			s.count = t.count
		}
	}
	return spaces
}

// bySize has the spaces of a type by their size.
type bySize struct {
	sizes []int64         // rising
	with  map[int64][]int // of each, the spaces in order
}

// add adds a space.
func (b *bySize) add(size int64, number int) {
	if i, known := slices.BinarySearch(b.sizes, size); !known {
		b.sizes = slices.Insert(b.sizes, i, size)
	}
	i, _ := slices.BinarySearch(b.with[size], number)
	b.with[size] = slices.Insert(b.with[size], i, number)
}

// remove removes a space.
func (b *bySize) remove(size int64, number int) {
	i, _ := slices.BinarySearch(b.with[size], number)
	b.with[size] = slices.Delete(b.with[size], i, i+1)
}

// find returns the first space that may be taken, of the smallest size that is large enough, else
// of the largest; -1 if there is none that is at most so many times as large or small.
func (b *bySize) find(size, times int64, may func(number int) bool) int {
	enough, _ := slices.BinarySearch(b.sizes, size)
	for _, s := range b.sizes[enough:] {
		if s/times > size {
			break
		}
		if i := slices.IndexFunc(b.with[s], may); i >= 0 {
			return b.with[s][i]
		}
	}
	for _, s := range slices.Backward(b.sizes[:enough]) {
		if size/times > s {
			break
		}
		if i := slices.IndexFunc(b.with[s], may); i >= 0 {
			return b.with[s][i]
		}
	}
	return -1
}

// sizeOf returns the size of spaces.
func sizeOf(spaces []space) (sum unit.Bytes) {
	for i := range spaces {
		sum += unit.Bytes(spaces[i].count * int64(spaces[i].typ.Width()))
	}
	return sum
}

// noteSpaces notes which tensors have the memory of others, in order of use.
func (w *scheduler) noteSpaces(y *plan, spaces []space, list []tenant) {
	before := make([]int, len(list))      // the tenant before in its space, and
	free := make([]unit.Bytes, len(list)) // how large this was then; 0 for the first one
	for i := range spaces {
		size := unit.Bytes(0)
		for k, now := range spaces[i].tenants {
			if k > 0 {
				before[now], free[now] = spaces[i].tenants[k-1], size
			}
			size = max(size, list[now].Bytes)
		}
	}
	for i := range list {
		if e, was := &list[i], &list[before[i]]; free[i] > 0 {
			y.note("reuse", []string{e.Name}, fmt.Sprintf("%v where %s was", min(e.Bytes, free[i]),
				was.Name), fmt.Sprintf("%s is dead when %s begins", was.Name, w.nameOf(e.extent.uses[0])))
		}
	}
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

// share stores the tensors of a space in one tensor.
func (x *plan) share(s *space, list []tenant, number int) {
	if len(s.tenants) == 1 {
		return
	}
	t := Tensor{Name: x.fresh(fmt.Sprintf("space_%d", number)), Type: s.typ,
		Shape: collective.Shape{s.count}}
	x.add(t, schedule.Inner)
	for _, i := range s.tenants {
		x.homes[list[i].Name] = home{in: t.Name, shared: true}
	}
}
