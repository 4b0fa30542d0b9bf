package program

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"collsim/collective"
)

// A flow is a contribution of an op to the gradient of a tensor that it read.
type flow struct {
	operand int
	ranks   []int   // ranks that get it
	touched []int   // ranks on which its tensor is written
	teams   [][]int // of a call: teams that carry it
	// Of the flows of a kernel, this one's place, and their number.
	place, flows int64
	// from is, for a broadcast, the place in the team of the only gradient, or one of the
	// following.
	from int
}

// addUp: all gradients are added at the root of a broadcast. ownRoot: the root has the only one.
const (
	addUp   = -2
	ownRoot = -1
)

// flows returns the contributions of an op, given the ranks that have gradients.
func (b *backward) flows(i int, now map[string][]string) (list []flow) {
	r := &b.ops[i]
	has := func(rank int) bool { return now[r.Out] != nil && now[r.Out][rank] != "" }
	if r.call != nil {
		if len(r.In) == 0 || !b.need[r.In[0]] { // a barrier reads nothing
			return nil
		}
		return b.flowsOfCall(i, has)
	}
	var ranks []int
	for _, rank := range b.ranks[i] {
		if has(rank) {
			ranks = append(ranks, rank)
		}
	}
	for operand, name := range r.In {
		if b.need[name] && len(ranks) > 0 {
			list = append(list, flow{operand: operand, ranks: ranks, touched: ranks,
				place: int64(len(list))})
		}
	}
	for k := range list {
		list[k].flows = int64(len(list))
	}
	return list
}

// flowsOfCall returns the contributions of a call, one for teams that do the same together.
func (b *backward) flowsOfCall(i int, has func(rank int) bool) (list []flow) {
	r := &b.ops[i]
	for _, team := range r.teams {
		ranks := b.ranksOf([][]int{team})
		if team != nil {
			ranks = team
		}
		f := flow{teams: [][]int{team}, ranks: b.once(ranks), touched: b.once(ranks)}
		count, last := 0, 0
		for place, rank := range ranks {
			if has(rank) {
				count, last = count+1, place
			}
		}
		root := r.call.Root
		switch rooted := r.call.Kind == collective.Broadcast; {
		case count == 0 || r.atRoot() && !has(ranks[root]):
			continue
		case r.call.Kind == collective.Scatter:
			f.ranks, f.touched = ranks[root:root+1], ranks[root:root+1]
		case !rooted:
		case rooted && count == 1 && last == root:
			f.from, f.ranks, f.touched = ownRoot, ranks[root:root+1], nil
		case rooted && count == 1 && len(ranks) == 2:
			f.from, f.ranks = last, ranks[root:root+1]
		default:
			f.from, f.ranks, f.touched = addUp, ranks[root:root+1], ranks[root:root+1]
		}
		if n := len(list); n > 0 && list[n-1].from == f.from {
			g := &list[n-1]
			g.teams, g.ranks = append(g.teams, team), slices.Concat(g.ranks, f.ranks)
			g.touched = slices.Concat(g.touched, f.touched)
			continue
		}
		list = append(list, f)
	}
	return list
}

// atRoot reports whether only the root of a call gets its result.
func (r *resolved) atRoot() bool {
	return r.call.Kind == collective.Reduce || r.call.Kind == collective.Gather
}

// op adds the backward pass of an op.
func (b *backward) op(i int) error {
	r := &b.ops[i]
	if r.isOpaque() {
		return b.opaque(i)
	}
	flows := b.flows(i, b.now)
	for k := range flows {
		f := &flows[k]
		name := r.Name + ":grad"
		if len(r.In) > 1 {
			name += " " + r.In[f.operand]
		}
		grad := b.settle(i, r.Out, f)
		carry := b.kernel
		if r.call != nil {
			carry = b.call
		}
		if err := carry(i, f, name, grad); err != nil {
			return err
		}
	}
	b.issue(r.Microbatch)
	return nil
}

// add adds an op that was generated for another one, under a unique name.
func (b *backward) add(i int, o Op) {
	of := &b.ops[i]
	name := o.Name
	for n := 2; b.names[o.Name]; n++ {
		o.Name = fmt.Sprintf("%s %d", name, n)
	}
	b.names[o.Name] = true
	if of.call == nil && o.Call == "" {
		o.Stream = of.Stream
	}
	o.Microbatch, o.origin, o.phase = of.Microbatch, of.origin, backwardPass
	b.q.Ops = append(b.q.Ops, o)
}

// group returns the name of a group of teams: the op's, if they are the same.
func (b *backward) group(of *resolved, teams [][]int) string {
	same := func(a, b [][]int) bool { return slices.EqualFunc(a, b, slices.Equal[[]int]) }
	all := b.ranksOf([][]int{nil})
	full := func(t [][]int) [][]int {
		if len(t) == 1 && t[0] == nil {
			return [][]int{all}
		}
		return t
	}
	teams = full(teams)
	sorted := func(t [][]int) [][]int { return [][]int{b.ranksOf(t)} }
	if same(full(of.teams), teams) || of.call == nil && same(sorted(of.teams), teams) {
		return of.Group
	}
	for _, g := range b.q.Groups {
		if same(full(g.Teams), teams) {
			return g.Name
		}
	}
	if same(teams, [][]int{all}) {
		return ""
	}
	base := cmp.Or(of.Group, "all") + ":grad"
	name := base
	for n := 2; slices.ContainsFunc(b.q.Groups, func(g Group) bool { return g.Name == name }); n++ {
		name = fmt.Sprintf("%s %d", base, n)
	}
	b.q.Groups = append(b.q.Groups, Group{Name: name, Teams: teams})
	return name
}

// like returns the tensor that a gradient belongs to.
func (b *backward) like(tensor string) *Tensor { return &b.tensors[b.byName[tensor]] }

// fresh declares a tensor like another, under a unique name: the given one, or that with the lowest
// number which makes it one. Names are never given back, so that it goes on where it was last.
func (b *backward) fresh(like Tensor, name string) string {
	base, n := name, b.numbered[name]
	if n > 0 {
		name = base + "_" + strconv.Itoa(n)
	}
	for ; b.taken[name]; name = base + "_" + strconv.Itoa(n) {
		n++
	}
	b.taken[name], b.numbered[base] = true, n
	if like.Type != 0 {
		b.q.Tensors = append(b.q.Tensors, Tensor{Name: name, Type: like.Type, Shape: like.Shape})
	}
	return name
}

// call adds the call that carries a gradient back.
func (b *backward) call(i int, f *flow, name, grad string) error {
	r := &b.ops[i]
	if f.from == ownRoot {
		b.contribute(i, f, grad)
		return nil
	}
	back, err := b.transposed(r)
	if err != nil {
		return &Error{i, -1, "call", r.Name + ": " + err.Error()}
	}
	teams := f.teams
	carries := collective.Communication{Kind: back.Spec.Kind, Op: back.Spec.Op, Axis: r.call.Axis,
		Concat: r.call.Concat, Root: r.call.Root}
	scale := back.Scale
	switch r.call.Kind {
	case collective.AllReduce: // its own gradient, mean and all
		carries.Op, carries.Avg, carries.Factor = r.call.Op, r.call.Avg, r.call.Factor
		scale = 1
	case collective.AllToAll:
		carries.Axis, carries.Concat = r.call.Concat, r.call.Axis
	case collective.AllGatherV, collective.ReduceScatterV, collective.AllToAllV:
		transposed, err := r.call.Gradient(b.teamSize(r.teams[0]))
		if err != nil {
			return &Error{i, -1, "call", r.Name + ": " + err.Error()}
		}
		carries.Splits = transposed.Splits
	case collective.SendRecv: // the other way round the ring
		carries.Kind = collective.SendRecv
		teams = b.reversed(teams)
	case collective.Broadcast:
		if f.from != addUp {
			carries.Kind, carries.Op, carries.Root = collective.Broadcast, 0, f.from
		}
	}
	o := Op{Name: name, Call: carries.String(), In: []string{grad}, Group: b.group(r, teams),
		Stream: r.Stream, Algorithm: r.Algorithm, Async: r.Async}
	then := Op{In: []string{""}, Group: b.group(r, [][]int{b.ranksOf(f.teams)})}
	switch {
	case scale != 1:
		then.Name, then.Kernel = name+" scale", scaleBy(scale, 0).kernel
	case b.pads(r):
		then.Name, then.Kernel = name+" pad", fmt.Sprintf("pad rows=%d", r.in[0].Shape[0])
	}
	if then.Kernel != "" {
		o.Out = b.fresh(Tensor{}, GradientName(r.In[0]))
		b.add(i, o)
		then.In[0], o = o.Out, then
	}
	o.Out, o.like = b.into(r.In[0], f), b.like(r.In[0])
	b.add(i, o)
	b.contribute(i, f, o.Out)
	return nil
}

// transposed returns the collective that carries the gradient of a call back.
func (b *backward) transposed(r *resolved) (back collective.Backward, err error) {
	spec, err := r.call.Spec(b.teamSize(r.teams[0]))
	if err == nil {
		back, err = collective.Gradient(spec)
	}
	if err == nil && back.Mask {
		err = fmt.Errorf("the gradient of %v %v has a mask, which is no op of a program", r.call.Kind,
			r.call.Op)
	}
	return back, err
}

// pads reports whether what a call brings back lacks rows: ranks have more of the tensor than they
// have sent, and it has other uses than this call.
func (b *backward) pads(r *resolved) bool {
	rank, _ := b.unsent(r)
	return rank >= 0 && !b.sent[r.In[0]]
}

// reversed returns teams in the opposite order; of two ranks it is the same.
func (b *backward) reversed(teams [][]int) (list [][]int) {
	for _, team := range teams {
		if team == nil {
			team = b.ranksOf([][]int{nil})
		}
		if team = slices.Clone(team); len(team) > 2 {
			slices.Reverse(team)
		}
		list = append(list, team)
	}
	return list
}
