package program

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/kernel"
	"collsim/schedule"
)

// Collectives move contiguous blocks. Blocks along an axis other than the first are not contiguous,
// so a copy lays them out: before a call that scatters them, after one that gathers them, as
// torch's functional collectives do (chunk and cat, torch/distributed/_functional_collectives.py).
// The copy is a kernel on the call's stream.

// layOut applies the pass layout. It is always on, since calls work on contiguous blocks only.
func layOut(x *plan) (*plan, error) {
	y := x.fork()
	y.ops = make([]resolved, 0, len(x.ops))
	for i := range x.ops {
		y.layOut(&x.ops[i])
	}
	return y, nil
}

// layOut adds an op, with the copies that it needs.
func (y *plan) layOut(r *resolved) {
	n := int64(y.teamSize(r.teams[0]))
	before, behind := r.apart(n)
	if before == 1 && behind == 1 {
		y.ops = append(y.ops, *r)
		return
	}
	is, o, call := *r, *r.Op, *r.call
	call.Axis, call.Concat, call.InPlace = 0, 0, false
	if !call.Kind.Gathers() {
		call.Shape = collective.Shape{n, call.Shape.Elements() / n}
	}
	is.Op, is.call = &o, &call
	did := ""
	if before > 1 {
		t := y.laid("laid_"+r.In[0], call.Shape, r.in[0])
		y.ops = append(y.ops, y.turned(r, "layout", r.in[0],
			collective.Shape{before, n, call.Shape[1] / before}, t))
		o.In, is.in = []string{t.Name}, []Tensor{t}
		did = "a copy before it"
	}
	y.ops = append(y.ops, is)
	if behind > 1 {
		size := r.out.Shape.Elements() / n
		t := y.laid("laid_"+r.Out, collective.Shape{n, size}, r.out)
		o.Out, y.ops[len(y.ops)-1].out = t.Name, t
		copied := y.turned(r, "layout of the result", t,
			collective.Shape{n, behind, size / behind}, r.out)
		copied.of = r.answers()
		y.ops = append(y.ops, copied)
		if did != "" {
			did += ", and "
		}
		did += "a copy behind it"
	}
	if y.guide.Decided == nil {
		y.note("layout", r.names(), did, r.axes()+" does not lie in front")
	}
}

// apart returns into how many pieces the blocks divide that a call of n ranks scatters, and those
// that it gathers.
func (r *resolved) apart(n int64) (before, behind int64) {
	before, behind = 1, 1
	if r.call == nil || r.call.Kind.Splits() {
		return before, behind
	}
	c := r.call
	switch {
	case c.Kind.Gathers():
		behind = c.Shape[:c.Axis].Elements()
	case c.Kind.Scatters():
		before = c.Shape[:c.Axis].Elements()
	case c.Kind == collective.AllToAll:
		before = c.Shape[:c.Axis].Elements()
		block := slices.Clone(c.Shape)
		block[c.Axis] /= n
		behind = block[:c.Concat].Elements()
	}
	return before, behind
}

// axes formats the axes along which a call works.
func (r *resolved) axes() string {
	if c := r.call; c.Kind == collective.AllToAll && c.Concat != c.Axis {
		return fmt.Sprintf("axis %d or %d of %v", c.Axis, c.Concat, c.Shape)
	}
	return fmt.Sprintf("axis %d of %v", r.call.Axis, r.call.Shape)
}

// laid adds a tensor for a call to work on, in the place of another.
func (x *plan) laid(name string, shape collective.Shape, of Tensor) Tensor {
	t := Tensor{Name: x.fresh(name), Type: of.Type, Shape: shape, Memory: of.Memory}
	x.add(t, schedule.Inner)
	return t
}

// turned returns a kernel that copies a tensor, viewed in a shape, with its axis 1 in front: on the
// ranks of a call, or on the roots of a rooted one. It comes after what the call comes after.
func (x *plan) turned(of *resolved, what string, from Tensor, view collective.Shape,
	to Tensor) resolved {
	op, err := kernel.NewMove(kernel.Tensor{Name: from.Name, Type: from.Type, Shape: view}, 1)
	if err != nil {
		panic(err) // of three axes of a tensor that is one
	}
	o := Op{Name: of.Name + ": " + what, Group: of.Group, Kernel: "move axis=1",
		In: []string{from.Name}, Out: to.Name, Type: from.Type, Stream: of.stream(),
		After: of.After}
	is := resolved{Op: &o, number: of.number, kernel: op, teams: of.teams, in: []Tensor{from},
		out: to}
	if of.call.Kind.Rooted() {
		is.shares = []share{{op, of.roots()}}
	}
	return is
}

// roots returns the roots of all teams of a rooted call.
func (r *resolved) roots() (list []int) {
	for _, team := range r.teams {
		root := r.call.Root
		if team != nil {
			root = team[root]
		}
		list = append(list, root)
	}
	return list
}

// unlowered notes which calls no pass changes. Torch's Inductor has no lowering of these either
// (torch/_inductor/comm_lowering.py).
func unlowered(x *plan) (*plan, error) {
	y := x.fork()
	for i := range x.ops {
		r := &x.ops[i]
		if r.call == nil || x.guide.Decided != nil {
			continue
		}
		switch r.call.Kind {
		case collective.AllReduce, collective.Broadcast, collective.AllGather,
			collective.ReduceScatter, collective.AllToAll, collective.AllToAllV:
		default:
			y.note("lowering", r.names(), "runs as it is", fmt.Sprintf("there is no lowering of %v",
				r.call.Kind))
		}
	}
	return y, nil
}
