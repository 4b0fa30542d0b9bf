package program

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// Calls that do the same to several tensors become one call of a tensor in which all of these are
// stored. Kernels of the program write their results there directly. Given tensors, or tensors
// already stored elsewhere, are copied there first, and in place copied back. The result must have
// the same elements in the same order, as all_reduce and broadcast do. In other collectives the
// parts of a rank would not be contiguous.

// bucket joins calls until they have so many bytes, as DistributedDataParallel does. A bucket is
// closed when it has reached the size, and issued in the place of its last member.
func bucket(x *plan) (*plan, error) {
	return merge(x, "bucket", x.passes.Bucket, false)
}

// coalesce joins adjacent calls, or has them launched together.
func coalesce(x *plan) (*plan, error) {
	y := x.fork()
	if err := together(y); err != nil {
		return nil, err
	}
	if y.launches > 0 && x.guide.Decided == nil {
		y = y.total("coalesce", x, fmt.Sprintf("launches of several calls: %d", y.launches))
	}
	return merge(y, "coalesce", 0, true)
}

// open is a group of calls that are to become one; further calls may join.
type open struct {
	key   string
	ops   []int // numbers in the plan
	bytes unit.Bytes
}

// merge applies the pass: up to a size, or to neighbours only.
func merge(x *plan, pass string, size unit.Bytes, neighbours bool) (*plan, error) {
	y := x.fork()
	groups := x.mergeable(y, pass, size, neighbours)
	into := map[int][]int{} // by its last member
	member := map[int]bool{}
	for _, g := range groups {
		into[g[len(g)-1]] = g
		for _, i := range g {
			member[i] = true
		}
	}
	y.ops = nil
	for i := range x.ops {
		r := &x.ops[i]
		if g := into[i]; g != nil {
			y.join(x, pass, g)
		} else if !member[i] {
			y.ops = append(y.ops, *r)
		}
		if key, _ := x.mergeKey(r); key != "" && neighbours && r.list != "" && !member[i] &&
			x.guide.Decided == nil {
			y.note(pass, r.names(), "on its own", "no call next to it does the same")
		}
	}
	if len(groups) == 0 || x.guide.Decided != nil {
		return y, nil
	}
	return y.total(pass, x, fmt.Sprintf("calls: %d instead of %d", y.calls(), x.calls())), nil
}

// mergeable finds which calls become one, each by its members in order. It notes in y why others do
// not.
func (x *plan) mergeable(y *plan, pass string, size unit.Bytes, neighbours bool) (groups [][]int) {
	var opened []open
	closing := func(i int) {
		if g := opened[i]; len(g.ops) > 1 && x.guide.Decided == nil {
			groups = append(groups, g.ops)
		}
		opened = slices.Delete(opened, i, i+1)
	}
	for i := range x.ops {
		r := &x.ops[i]
		key, why := x.mergeKey(r)
		for at := len(opened) - 1; at >= 0; at-- {
			if neighbours && opened[at].key != key || x.between(opened[at].ops, r) {
				closing(at)
			}
		}
		if key == "" {
			isTogether := neighbours && r.call != nil && apartKind(r.call.Kind)
			if why != "" && x.guide.Decided == nil && !isTogether {
				y.note(pass, r.names(), "left as it is", why)
			}
			continue
		}
		at := slices.IndexFunc(opened, func(o open) bool { return o.key == key })
		if at < 0 {
			at = len(opened)
			opened = append(opened, open{key: key})
		}
		o := &opened[at]
		o.ops = append(o.ops, i)
		o.bytes += unit.Bytes(r.in[0].Shape.Elements() * int64(r.in[0].Type.Width()))
		if size > 0 && o.bytes >= size {
			closing(at)
		}
	}
	for len(opened) > 0 {
		closing(0)
	}
	if d := x.guide.Decided; d != nil {
		groups = x.decidedGroups(d, pass)
	}
	slices.SortFunc(groups, func(a, b []int) int { return a[len(a)-1] - b[len(b)-1] })
	return groups
}

// decidedGroups returns the groups that were decided at other sizes. The first of their names is
// the pass.
func (x *plan) decidedGroups(d *Decisions, pass string) (groups [][]int) {
	for _, names := range d.Merged {
		if names[0] != pass {
			continue
		}
		var g []int
		for i := range x.ops {
			if slices.Contains(names[1:], x.ops[i].Name) {
				g = append(g, i)
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// mergeKey returns a key that is equal for calls that may become one. It is empty for other ops,
// with the reason.
func (x *plan) mergeKey(r *resolved) (key, why string) {
	if r.call == nil {
		return "", ""
	}
	switch {
	case r.call.Kind != collective.AllReduce && r.call.Kind != collective.Broadcast:
		return "", fmt.Sprintf("of %v the parts of a rank would lie apart", r.call.Kind)
	case r.inPlace() && r.list == "":
		return "", "it is in place, where its tensor lies"
	case !r.inPlace() && x.useOf(r.Out).writers > 1:
		return "", r.Out + " is written more than once"
	case r.members != nil:
		return "", ""
	}
	if h, lies := x.homes[r.Out]; lies && !r.inPlace() {
		return "", fmt.Sprintf("%s lies in %s, where it is written", r.Out, h.in)
	}
	c := *r.call
	c.Shape = nil
	return fmt.Sprint(&c, r.Group, r.stream(), r.Algorithm, r.Async, r.in[0].Memory, r.out.Memory,
		r.inPlace()), ""
}

// between reports whether an op must come after calls, so that they cannot be moved behind it. It
// must if it reads or writes what they write, or writes what they read.
func (x *plan) between(ops []int, r *resolved) bool {
	for _, i := range ops {
		call := &x.ops[i]
		for _, name := range r.After {
			if slices.Contains(call.answers(), name) {
				return true
			}
		}
		for _, t := range r.writes() {
			if slices.Contains(call.reads(), t) || slices.Contains(call.writes(), t) {
				return true
			}
		}
		for _, t := range r.reads() {
			if slices.Contains(call.writes(), t) {
				return true
			}
		}
	}
	return false
}

// join adds the call that calls of x become.
func (y *plan) join(x *plan, pass string, ops []int) {
	first := &x.ops[ops[0]]
	o := *first.Op
	o.Name = fmt.Sprintf("%s_%d", pass, len(y.decided.Merged))
	in, out := y.fresh(o.Name+"_in"), y.fresh(o.Name+"_out")
	o.In, o.Out = []string{in}, out
	r := resolved{Op: &o, number: first.number, teams: first.teams}
	from := Tensor{Name: in, Type: first.in[0].Type, Memory: first.in[0].Memory}
	to := Tensor{Name: out, Type: first.out.Type, Memory: first.out.Memory}
	if first.inPlace() {
		out, to.Name, o.Out = in, in, in
	}
	off, role, copies := int64(0), schedule.Inner, 0
	o.After = nil
	var backs []resolved
	for _, i := range ops {
		m := &x.ops[i]
		o.After = append(o.After, m.After...)
		r.members, r.of = append(r.members, m.Name), append(r.of, m.of...)
		read, write := m.In[0], m.Out
		if y.rests(read) && !(m.inPlace() && y.moves(x, read)) {
			copies++
			packed := y.pack(m, o.Name)
			if read = packed.Name; m.inPlace() {
				back := y.copied(m, "copy back", packed, m.out)
				back.of = m.answers()
				backs, write = append(backs, back), read
			}
		}
		r.from, r.to = append(r.from, read), append(r.to, write)
		y.homes[read], y.homes[write] = home{in: in, off: off}, home{in: out, off: off}
		if y.roles[write] == schedule.Result {
			role = schedule.Result
		}
		off += m.in[0].Shape.Elements()
	}
	from.Shape, to.Shape = collective.Shape{off}, collective.Shape{off}
	call := *first.call
	call.Shape = from.Shape
	r.call, r.in, r.out = &call, []Tensor{from}, to
	if in != out {
		y.add(from, schedule.Inner)
	}
	y.add(to, role)
	y.ops = append(append(y.ops, r), backs...)
	names := append([]string{pass}, r.members...)
	y.decided.Merged = append(slices.Clone(y.decided.Merged), names)
	if x.guide.Decided == nil {
		y.joined(pass, &r, copies, backs != nil)
	}
}

// joined notes which calls have become one, how many operands are copied, and whether they are
// copied back.
func (y *plan) joined(pass string, r *resolved, copies int, back bool) {
	size := unit.Bytes(r.in[0].Shape.Elements() * int64(r.in[0].Type.Width()))
	did := fmt.Sprintf("%d calls in one of %v", len(r.members), size)
	if copies > 0 {
		did += fmt.Sprintf(", %d copied there first", copies)
	}
	if back {
		did += ", and back"
	}
	why := "they do the same, next to each other"
	if pass == "bucket" {
		why = fmt.Sprintf("they do the same, until %v are reached", y.passes.Bucket)
	}
	y.note(pass, r.members, did, why)
}

// rests reports whether a tensor cannot be moved: it is given or a result, or already stored in
// another.
func (x *plan) rests(name string) bool {
	_, lies := x.homes[name]
	return lies || x.roles[name] != schedule.Inner
}

// moves reports whether a result of x may be computed in another tensor's memory: ops write it
// before any reads it.
func (y *plan) moves(x *plan, name string) bool {
	if _, lies := y.homes[name]; lies || y.roles[name] != schedule.Result {
		return false
	}
	for i := range x.ops {
		r := &x.ops[i]
		if slices.Contains(r.reads(), name) {
			return false
		}
		if slices.Contains(r.writes(), name) {
			return true
		}
	}
	return false
}

// pack adds a copy of a call's operand, and returns it.
func (x *plan) pack(m *resolved, bucket string) Tensor {
	t := m.in[0]
	t.Name = x.fresh("packed_" + m.In[0])
	x.add(t, schedule.Inner)
	x.ops = append(x.ops, x.copied(m, "copy to "+bucket, m.in[0], t))
	return t
}

// copied returns a kernel that copies a call's tensor, and that comes after what the call comes
// after.
func (x *plan) copied(of *resolved, what string, from, to Tensor) resolved {
	op, err := kernel.NewCast(kernel.Tensor{Name: from.Name, Type: from.Type, Shape: from.Shape},
		from.Type)
	if err != nil {
		panic(err) // of a type into itself
	}
	o := Op{Name: of.Name + ": " + what, Group: of.Group, Kernel: "cast", In: []string{from.Name},
		Out: to.Name, Type: from.Type, After: of.After}
	return resolved{Op: &o, number: of.number, kernel: op, teams: x.holders(of, from.Name),
		in: []Tensor{from}, out: to}
}

// calls returns the number of calls.
func (x *plan) calls() (n int) {
	for i := range x.ops {
		if x.ops[i].call != nil {
			n++
		}
	}
	return n
}

// fresh returns a name that no tensor has.
func (x *plan) fresh(name string) string {
	for _, taken := x.roles[name]; taken; _, taken = x.roles[name] {
		name += "_"
	}
	return name
}
