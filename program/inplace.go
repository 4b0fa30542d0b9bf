package program

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// The pass in_place does what Inductor does with a functional all_reduce or broadcast: a clone, and
// a call that overwrites it (torch/_inductor/comm_lowering.py). The clone is a kernel of its own,
// which may be issued when the call may. Where the operand is dead afterwards, there is no clone,
// and the result is stored over the operand. All other collectives have a separate result.

// inPlace applies the pass.
func inPlace(x *plan) (*plan, error) {
	y := x.fork()
	y.ops = nil
	renamed := map[string]string{}
	within := map[string][]string{} // tensors of x that are always stored in another
	for name, h := range x.homes {
		if !h.shared {
			within[h.in] = append(within[h.in], name)
		}
	}
	done := 0
	for i := range x.ops {
		r := x.ops[i].renamed(renamed)
		why, functional := x.functional(&r)
		if !functional {
			if why != "" && x.guide.Decided == nil {
				y.note("in_place", r.names(), "left as it is", why)
			}
			y.ops = append(y.ops, r)
			continue
		}
		done++
		did, because := "a clone, and in place on that", r.In[0]+" is needed afterwards"
		if r.in[0].Memory == r.out.Memory && y.dead(x, i, r.In[0], within[r.In[0]]) {
			did, because = "in place", r.In[0]+" is dead afterwards"
			renamed[r.Out] = r.In[0]
			y.homes[r.Out] = home{in: r.In[0]}
			within[r.In[0]] = append(within[r.In[0]], r.Out)
			if y.roles[r.Out] == schedule.Result {
				y.roles[r.In[0]] = schedule.Result
			}
			y.ops = append(y.ops, r.within(r.in[0]))
		} else {
			y.ops = append(y.ops, y.copied(&r, "clone", r.in[0], r.out), r.within(r.out))
		}
		if x.guide.Decided == nil {
			y.note("in_place", r.names(), did, because)
		}
	}
	if done == 0 || x.guide.Decided != nil {
		return y, nil
	}
	return y.total("in_place", x, fmt.Sprintf("%d in place", done)), nil
}

// functional reports whether an op is a call that can be in place and is not. For another call it
// returns why it stays.
func (x *plan) functional(r *resolved) (why string, is bool) {
	switch {
	case r.call == nil || r.inPlace():
		return "", false
	case r.call.Kind != collective.AllReduce && r.call.Kind != collective.Broadcast:
		return fmt.Sprintf("%v gives its result elsewhere", r.call.Kind), false
	case r.members != nil:
		return "it is one of several tensors", false
	case r.Algorithm == "one-shot":
		return "one-shot gives its result elsewhere", false
	case x.useOf(r.Out).writers > 1:
		return r.Out + " is written more than once", false
	}
	_, lies := x.homes[r.Out]
	return "", !lies
}

// dead reports whether a tensor of x may be overwritten after an op. No later op may use it, or a
// tensor stored in it, and ops of the program must have written it once.
func (y *plan) dead(x *plan, op int, name string, within []string) bool {
	late := func(t string) bool { return x.useOf(t).last > op }
	_, lies := x.homes[name]
	return !lies && y.roles[name] == schedule.Inner && x.useOf(name).writers == 1 && !late(name) &&
		!slices.ContainsFunc(within, late)
}

// holders returns the teams of an op. For a broadcast whose operand only some ranks have, it
// returns these ranks: those on which an op writes all of it. All ranks have given tensors.
func (x *plan) holders(of *resolved, name string) [][]int {
	if of.call == nil || of.call.Kind != collective.Broadcast || name != of.in[0].Name ||
		x.roles[name].IsGiven() {
		return of.teams
	}
	has := map[int]bool{}
	for i := range x.ops {
		r := &x.ops[i]
		if !slices.Contains(r.writes(), name) {
			continue
		}
		teams := r.teams
		if r.call != nil && r.atRoot() {
			teams = [][]int{r.roots()}
		}
		for _, rank := range x.ranksOf(teams) {
			has[rank] = true
		}
	}
	t := &of.in[0]
	holders := slices.DeleteFunc(x.ranksOf(of.teams), func(rank int) bool {
		return !has[rank] || t.isRagged() && t.rows[rank] < t.Shape[0]
	})
	if len(holders) == len(x.ranksOf(of.teams)) {
		return of.teams
	}
	return [][]int{holders}
}

// within returns a call that overwrites a tensor.
func (r *resolved) within(t Tensor) resolved {
	o, call, is := *r.Op, *r.call, *r
	o.In, o.Out = []string{t.Name}, t.Name
	call.InPlace = true
	t.Shape = r.in[0].Shape
	is.Op, is.call, is.in, is.out = &o, &call, []Tensor{t}, t
	return is
}

// renamed returns an op with tensors replaced by those that they are stored in.
func (r resolved) renamed(names map[string]string) resolved {
	o := *r.Op
	o.In = slices.Clone(o.In)
	r.in, r.from = slices.Clone(r.in), slices.Clone(r.from)
	for i, name := range o.In {
		if now, is := names[name]; is {
			o.In[i], r.in[i].Name = now, now
		}
	}
	for i, name := range r.from {
		if now, is := names[name]; is {
			r.from[i] = now
		}
	}
	r.Op = &o
	return r
}
