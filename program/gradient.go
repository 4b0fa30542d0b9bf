package program

import (
	"fmt"
	"slices"
	"strings"

	"collsim/schedule"
)

// A program with its backward pass, by reverse-mode differentiation. Ops that a result depends on
// are visited in the opposite order. For each, an op computes a contribution to the gradient of
// each tensor that it read, from the gradient of its result. Contributions are added up. It is the
// full gradient, as in package collective: right when the loss is the sum of what each rank
// computes from its own results. Gradients are known rank by rank, so that ranks may do different
// things. A rank on which nothing depends on a tensor has no gradient of it.
//
//	x, w given, y = x·w          forward
//	y_grad given                 of the loss, by what is a result
//	x_grad = y_grad·wᵀ
//	w_grad = xᵀ·y_grad
//
// Ops that read a gradient are issued as soon as it is complete, as hooks of
// DistributedDataParallel, but behind the backward pass where they overwrite what it may read.

// GradientName returns the name of a tensor's gradient.
func GradientName(tensor string) string { return tensor + gradientSuffix }

const gradientSuffix = "_grad"

// A phase is the pass that an op belongs to.
type phase uint8

const (
	forwardPass phase = iota
	backwardPass
	afterGradients // it reads one, or what such an op writes
)

// String returns "forward", "backward" or "update".
func (p phase) String() string { return [...]string{"forward", "backward", "update"}[p] }

// backward makes the backward pass.
type backward struct {
	*lookup // of the forward pass
	q       Program
	ranks   [][]int          // of each op
	need    map[string]bool  // tensors that have a gradient
	given   map[string]bool  // of these, tensors that no op writes
	sent    map[string]bool  // given tensors that stand for what is sent: see sentAlone
	total   map[string][]int // of a tensor, by rank: contributions to its gradient
	left    map[string][]int // those not made yet
	// now has, by tensor and rank, the name of the tensor's gradient so far; empty if there is
	// none.
	now      map[string][]string
	names    map[string]bool  // of ops
	taken    map[string]bool  // names of tensors
	numbered map[string]int   // the last number of names that fresh has made of one
	wanted   map[string][]int // tensors whose gradients ops read, and the ranks of these ops
	behind   *queue           // ops that wait for gradients
	has      map[string]bool  // complete gradients, and what ops after them write
	ended    bool             // all gradients are complete

	writers map[string][]int // of a tensor, once asked for: ops of the forward pass
}

// withBackward returns the program followed by its backward pass, with notes on tensors without
// gradients.
func (p *Program) withBackward() (*Program, error) {
	ops, after := p.split()
	forward := *p
	forward.Ops, forward.Gradient, forward.Order = ops, false, AsWritten
	if len(ops) == 0 { // all ops wait for gradients: they name no tensors
		ops, after = after, nil
		forward.Ops = ops
	}
	l, err := forward.plain()
	if err != nil {
		return nil, sourced(err, ops)
	}
	b := &backward{lookup: l, q: forward, need: map[string]bool{}, given: map[string]bool{},
		sent: map[string]bool{}, total: map[string][]int{}, left: map[string][]int{},
		now: map[string][]string{}, names: map[string]bool{}, taken: map[string]bool{},
		numbered: map[string]int{},
		wanted:   map[string][]int{}, behind: newQueue(after), has: map[string]bool{}}
	b.q.Tensors, b.q.Groups = slices.Clone(p.Tensors), slices.Clone(p.Groups)
	b.q.Ops = slices.Clone(ops)
	for i := range l.ops {
		b.ranks = append(b.ranks, l.ops[i].ranks)
	}
	if err := b.prepare(); err != nil {
		return nil, sourced(err, ops)
	}
	order := b.backwards(p.Order)
	b.count(order)
	for _, i := range order {
		if err := b.op(i); err != nil {
			return nil, sourced(err, ops)
		}
	}
	b.ended = true
	b.behind.checkAll()
	b.issue(b.ops[order[len(order)-1]].Microbatch)
	if b.behind.left > 0 {
		first := slices.Index(b.behind.issued, false)
		o := &b.behind.ops[first]
		return nil, &Error{o.origin - 1, -1, "in", fmt.Sprintf("%s: %s has no gradient: no result "+
			"depends on it by way of floats", o.Name, strings.TrimSuffix(b.missing(first), gradientSuffix))}
	}
	b.prune(len(p.Tensors))
	b.q.notes = b.without()
	return &b.q, nil
}

// prune removes tensors that it has declared and that no op uses.
func (b *backward) prune(declared int) {
	used := map[string]bool{}
	for i := range b.q.Ops {
		o := &b.q.Ops[i]
		used[o.Out] = true
		for _, name := range o.In {
			used[name] = true
		}
	}
	own := slices.DeleteFunc(slices.Clone(b.q.Tensors[declared:]), func(t Tensor) bool {
		return !used[t.Name]
	})
	b.q.Tensors = append(b.q.Tensors[:declared], own...)
}

// split returns the ops of the forward pass, and the ops that read gradients or results of such
// ops.
func (p *Program) split() (forward, after []Op) {
	tensors, declared, late := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, t := range p.Tensors {
		tensors[t.Name], declared[t.Name] = true, true
	}
	for i := range p.Ops {
		tensors[p.Ops[i].Out] = true
	}
	for i, o := range p.Ops {
		if o.origin == 0 {
			o.origin = i + 1
		}
		waits := slices.ContainsFunc(o.In, func(name string) bool {
			of, ok := strings.CutSuffix(name, gradientSuffix)
			return late[name] || ok && tensors[of] && !declared[name]
		})
		if waits {
			late[o.Out], o.phase = o.Out != "", afterGradients
			after = append(after, o)
			continue
		}
		forward = append(forward, o)
	}
	return forward, after
}

// sourced converts an error of a generated op to one of the op that it was generated for.
func sourced(err error, ops []Op) error {
	if e, ok := err.(*Error); ok && e.Op >= 0 && ops[e.Op].origin > 0 {
		of := *e
		of.Op = ops[e.Op].origin - 1
		return &of
	}
	return err
}

// prepare finds which tensors have gradients, and gives results theirs.
func (b *backward) prepare() error {
	written := map[string][]int{}
	for i := range b.ops {
		r := &b.ops[i]
		b.names[r.Name] = true
		for _, rank := range b.ranks[i] {
			if r.Out != "" && (slices.Contains(written[r.Out], rank) || r.inPlace()) {
				return &Error{i, -1, "out", fmt.Sprintf("%s: %s is overwritten; what was there is needed "+
					"for gradients: it needs another name", r.Name, r.Out)}
			}
		}
		if r.Out != "" {
			written[r.Out] = append(written[r.Out], b.ranks[i]...)
		}
	}
	for i := range b.q.Ops {
		b.taken[b.q.Ops[i].Out] = true
	}
	for i := range b.behind.ops {
		o := &b.behind.ops[i]
		b.names[o.Name] = true
		b.taken[o.Out] = b.taken[o.Out] || !slices.Contains(o.In, o.Out) // a gradient in place
		teams, err := b.teamsOf(o.Group)
		if err != nil {
			return &Error{o.origin - 1, -1, "group", fmt.Sprintf("%s: %v", o.Name, err)}
		}
		for _, name := range o.In {
			of := strings.TrimSuffix(name, gradientSuffix)
			b.wanted[of] = append(b.wanted[of], b.ranksOf(teams)...)
		}
	}
	detached := map[string]bool{}
	for _, t := range b.q.Tensors {
		b.taken[t.Name], detached[t.Name] = true, t.NoGradient
		if _, byOp := written[t.Name]; !byOp && t.Type.IsFloat() && !t.NoGradient {
			b.need[t.Name], b.given[t.Name] = true, true
		}
	}
	for i := range b.ops {
		r := &b.ops[i]
		needs := slices.ContainsFunc(r.In, func(name string) bool { return b.need[name] })
		if needs && r.Out != "" && r.out.Type.IsFloat() && !detached[r.Out] {
			b.need[r.Out] = true
		}
		if rank, _ := b.unsent(r); rank >= 0 && b.sentAlone(r.In[0]) {
			b.sent[r.In[0]] = true
			b.tensors[b.byName[r.In[0]]].rows = b.rowsSent(r)
		}
	}
	return b.seeds(written)
}

// seeds gives every result a gradient of the loss, on the ranks that have the result.
func (b *backward) seeds(written map[string][]int) error {
	for _, t := range b.tensors {
		if !b.need[t.Name] {
			continue
		}
		name := GradientName(t.Name)
		isResult := b.role(t) == schedule.Result
		if declared, ok := b.tensor(name); ok && !isResult {
			return b.clash(t.Name, "its gradient needs that name")
		} else if ok && (declared.Type != t.Type || declared.Shape.Elements() != t.Shape.Elements() ||
			len(b.writtenBy(name)) > 0) {
			return b.clash(t.Name, fmt.Sprintf("as its gradient, %v %v that no op writes is expected",
				t.Type, t.Shape))
		} else if !ok && b.taken[name] {
			return b.clash(t.Name, "its gradient needs that name")
		} else if ok {
			b.q.Tensors[slices.IndexFunc(b.q.Tensors, named(name))].rows = t.rows
		} else {
			g := t
			g.Name, g.NoGradient = name, true
			g.Keep = b.given[t.Name] && b.wanted[t.Name] == nil
			b.q.Tensors = append(b.q.Tensors, g)
			b.taken[name] = true
		}
		if isResult {
			b.complete(name)
			b.now[t.Name] = make([]string, b.Ranks)
			for _, rank := range written[t.Name] {
				b.now[t.Name][rank] = name
			}
		}
	}
	return nil
}

// named returns a test for the tensor of a name.
func named(name string) func(t Tensor) bool { return func(t Tensor) bool { return t.Name == name } }

// clash returns the error for a tensor or op that has the name of a gradient.
func (b *backward) clash(tensor, why string) error {
	name := GradientName(tensor)
	if i := slices.IndexFunc(b.q.Tensors, named(name)); i >= 0 {
		return &Error{-1, i, "name", fmt.Sprintf("tensor %s: there is a tensor %s; %s", name, tensor,
			why)}
	}
	by := b.writtenBy(name)
	if len(by) == 0 {
		o := b.behind.ops[slices.IndexFunc(b.behind.ops, func(o Op) bool { return o.Out == name })]
		return &Error{o.origin - 1, -1, "out", fmt.Sprintf("%s writes %s; there is a tensor %s, and %s",
			o.Name, name, tensor, why)}
	}
	return &Error{by[0], -1, "out", fmt.Sprintf("%s writes %s; there is a tensor %s, and %s",
		b.ops[by[0]].Name, name, tensor, why)}
}

// writtenBy lists the ops of the forward pass that write a tensor.
func (b *backward) writtenBy(name string) []int {
	if b.writers == nil {
		b.writers = map[string][]int{}
		for i := range b.ops {
			out := b.ops[i].Out
			b.writers[out] = append(b.writers[out], i)
		}
	}
	return b.writers[name]
}

// count counts the contributions to the gradient of each tensor on each rank.
func (b *backward) count(order []int) {
	some := map[string][]string{}
	for name, list := range b.now {
		some[name] = slices.Clone(list)
	}
	for _, i := range order {
		for _, f := range b.flows(i, some) {
			name := b.ops[i].In[f.operand]
			if some[name] == nil {
				some[name] = make([]string, b.Ranks)
			}
			if b.total[name] == nil {
				b.total[name], b.left[name] = make([]int, b.Ranks), make([]int, b.Ranks)
			}
			for _, rank := range f.ranks {
				if b.now[name] != nil && b.now[name][rank] != "" && b.total[name][rank] == 0 {
					b.total[name][rank]++ // what the loss gives a result that ops read, too
				}
				b.total[name][rank]++
				b.left[name][rank]++
				some[name][rank] = GradientName(name)
			}
		}
	}
}
