package program

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/kernel"
	"collsim/schedule"
)

// A lookup is a program whose names are resolved.
type lookup struct {
	*Program
	tensors []Tensor // declared, and then those that ops write
	ops     []resolved
	byName  map[string]int // of tensors
	// by tensor: the last op that writes it, and the last that reads it
	written, read map[string]int
	updated       map[string]bool                     // given tensors that ops overwrite
	ranks         map[string][]int                    // of groups
	calls         map[string]collective.Communication // by text
	kernels       map[string]kernel.Op                // by text, types and shapes
}

// resolved is an op with its tensors.
type resolved struct {
	*Op
	number int
	call   *collective.Communication
	kernel kernel.Op
	// shares, unless nil, are the kernels of groups of ranks whose operands have different lengths.
	shares []share
	teams  [][]int
	ranks  []int // of all teams, in order
	in     []Tensor
	out    Tensor // without a name if there is none
	reader string // of an opaque kernel: the op that its result's shape follows from; mostly none
	// Of a call that several have become: their names, and the tensors that they read and wrote.
	members, from, to []string
	launch            int32 // of a call, the number of the launch that it shares; 0: its own
	// of lists ops of the program that end with this op: ops that wait for them wait for this as
	// well.
	of []string
}

// A share is a kernel on some ranks.
type share struct {
	kernel kernel.Op
	ranks  []int
}

// tensor returns the tensor of a name.
func (l *lookup) tensor(name string) (Tensor, bool) {
	i, known := l.byName[name]
	if !known {
		return Tensor{}, false
	}
	return l.tensors[i], true
}

// declare adds a tensor.
func (l *lookup) declare(t Tensor) {
	l.byName[t.Name] = len(l.tensors)
	l.tensors = append(l.tensors, t)
}

// Validate returns what is wrong with a program, as an *Error.
func (p *Program) Validate() error {
	_, err := p.resolve()
	return err
}

// resolve resolves the names of ops, including the backward pass if there is one, in their order.
func (p *Program) resolve() (*lookup, error) {
	l, _, err := p.resolveBoth()
	return l, err
}

// resolveBoth resolves the names of ops, including the backward pass if there is one: in the order
// that the program asks for, and as written, which mostly is the same.
func (p *Program) resolveBoth() (ordered, asWritten *lookup, err error) {
	listed, err := p.waited()
	if err == nil {
		listed, err = listed.listed()
	}
	if err != nil {
		return nil, nil, err
	}
	q := listed
	if p.Gradient {
		if q, err = listed.withBackward(); err != nil {
			return nil, nil, err
		}
	}
	if p.Order == AsWritten {
		ordered, err = q.lookUp()
		return ordered, ordered, err
	}
	turns, err := listed.ordered(q)
	if err == nil {
		ordered, err = turns.lookUp()
	}
	if err == nil {
		asWritten, err = q.lookUp()
	}
	return ordered, asWritten, err
}

// lookUp resolves the names of ops, and numbers each as the op of the program that it was made for.
func (q *Program) lookUp() (*lookup, error) {
	l, err := q.plain()
	if err != nil {
		return nil, sourced(err, q.Ops)
	}
	for i := range l.ops {
		if from := l.ops[i].origin; from > 0 {
			l.ops[i].number = from - 1
		}
	}
	return l, nil
}

// plain resolves the names of ops with one result, and finds the types and shapes of their results.
func (p *Program) plain() (*lookup, error) {
	names := len(p.Tensors) + len(p.Ops)
	l := &lookup{Program: p, byName: make(map[string]int, names),
		written: make(map[string]int, len(p.Ops)), read: make(map[string]int, names),
		updated: map[string]bool{}, ranks: map[string][]int{},
		calls: map[string]collective.Communication{}, kernels: map[string]kernel.Op{}}
	if p.Ranks < 1 || len(p.Ops) == 0 {
		return nil, &Error{-1, -1, "op", "ranks and ops are expected"}
	}
	for i, t := range p.Tensors {
		if _, twice := l.tensor(t.Name); twice {
			return nil, &Error{-1, i, "name", fmt.Sprintf("a second tensor %q", t.Name)}
		}
		if !schedule.IsName(t.Name) {
			return nil, &Error{-1, i, "name", unnamed(t.Name)}
		}
		if err := t.Shape.Validate(); err != nil || len(t.Shape) == 0 || !t.Type.Valid() {
			return nil, &Error{-1, i, "shape", fmt.Sprintf("tensor %s: a type and a shape are expected",
				t.Name)}
		}
		l.declare(t)
	}
	ops := make(map[string]bool, len(p.Ops))
	l.ops = make([]resolved, 0, len(p.Ops))
	for i := range p.Ops {
		o := &p.Ops[i]
		if ops[o.Name] || o.Name == "" {
			return nil, &Error{i, -1, "name", fmt.Sprintf("op %q: a name of its own is expected", o.Name)}
		}
		for _, before := range o.After {
			if !ops[before] {
				return nil, &Error{i, -1, "after", fmt.Sprintf("%s: %q is no op before it", o.Name, before)}
			}
		}
		ops[o.Name] = true
		r, err := l.op(i)
		if err != nil {
			return nil, err
		}
		for _, t := range r.in {
			l.read[t.Name] = i
		}
		if err := l.overwrites(&r); err != nil {
			return nil, err
		}
		l.ops = append(l.ops, r)
	}
	return l, nil
}

// overwrites notes that an op writes its result. What is given may be overwritten by an op that
// reads it: ops before it read what is given, those behind it, and the next iteration, the result.
func (l *lookup) overwrites(r *resolved) error {
	if r.Out == "" {
		return nil
	}
	if reader, read := l.read[r.Out]; read && !l.isWritten(r.Out) {
		if !slices.Contains(r.In, r.Out) {
			return &Error{r.number, -1, "out", fmt.Sprintf("%s is given, and read by %s before %s writes "+
				"it: a result needs another name, or %s reads it as well", r.Out, l.Ops[reader].Name,
				r.Name, r.Name)}
		}
		l.updated[r.Out] = true
	}
	l.written[r.Out] = r.number
	return nil
}

// inPlace reports whether the op writes what it reads.
func (r *resolved) inPlace() bool { return len(r.In) > 0 && r.Out == r.In[0] }

// op resolves an op.
func (l *lookup) op(i int) (resolved, error) {
	o := &l.Ops[i]
	r := resolved{Op: o, number: i}
	fail := func(key, format string, args ...any) (resolved, error) {
		return r, &Error{i, -1, key, o.Name + ": " + fmt.Sprintf(format, args...)}
	}
	if (o.Call == "") == (o.Kernel == "") {
		return fail("call", "a call, a kernel or a wait is expected, and no two of them")
	}
	r.in = make([]Tensor, 0, len(o.In))
	for _, name := range o.In {
		t, ok := l.tensor(name)
		if !ok {
			return fail("in", "%q is no tensor: neither declared nor written by an op before", name)
		}
		r.in = append(r.in, t)
	}
	var err error
	if r.teams, err = l.teamsOf(o.Group); err != nil {
		return fail("group", "%v", err)
	}
	if r.ranks = l.ranks[o.Group]; r.ranks == nil {
		r.ranks = l.ranksOf(r.teams)
		l.ranks[o.Group] = r.ranks
	}
	if o.Call != "" {
		err = l.resolveCall(&r)
	} else {
		err = l.resolveKernel(&r)
	}
	if err != nil {
		key := "kernel"
		if o.Call != "" {
			key = "call"
		}
		return fail(key, "%v", err)
	}
	return r, l.writes(&r)
}

// communication returns the call that a text names, for the caller to change. Most calls of a large
// program have the same as an earlier one: that is looked up.
func (l *lookup) communication(text string) (*collective.Communication, error) {
	c, known := l.calls[text]
	if !known {
		parsed, err := collective.ParseCommunication(text)
		if err != nil {
			return nil, err
		}
		c = *parsed
		l.calls[text] = c
	}
	return &c, nil
}

// unnamed returns the error for a name that a tensor cannot have.
func unnamed(name string) string {
	return fmt.Sprintf("tensor %q: a name of letters, digits and _ is expected, and not in, out or "+
		"scratch", name)
}

// writes declares the result of an op, or checks it against its declaration.
func (l *lookup) writes(r *resolved) error {
	fail := func(format string, args ...any) error {
		return &Error{r.number, -1, "out", r.Name + ": " + fmt.Sprintf(format, args...)}
	}
	if r.Out == "" {
		if r.out.Type != 0 {
			return fail("it writes a tensor, which needs a name")
		}
		return nil
	}
	if r.out.Type == 0 {
		return fail("a barrier writes nothing, not %s", r.Out)
	}
	if !schedule.IsName(r.Out) {
		return fail("%s", unnamed(r.Out))
	}
	r.out.Name = r.Out
	if r.like != nil {
		if r.out.rows = r.like.rows; r.like.isRagged() {
			r.out.Shape = r.like.Shape // where some ranks write, it may be shorter
		}
	}
	if t, declared := l.tensor(r.Out); declared {
		if t.Type != r.out.Type || t.Shape.Elements() != r.out.Shape.Elements() {
			return fail("%s is %v %v; what is written is %v %v", t.Name, t.Type, t.Shape, r.out.Type,
				r.out.Shape)
		}
		at := l.byName[t.Name]
		if rows := r.out.rows; rows != nil && !r.inPlace() {
			if l.isWritten(t.Name) && !slices.Equal(t.rows, rows) || !slices.Equal(t.Shape, r.out.Shape) {
				return fail("%s would have other lengths on its ranks: a tensor of its own is expected",
					t.Name)
			}
			t.rows, l.tensors[at].rows = rows, rows
		} else if t.rows != nil && !r.inPlace() {
			return fail("%s has other lengths on its ranks: a tensor of its own is expected", t.Name)
		}
		r.out = t
		return nil
	}
	l.declare(r.out)
	return nil
}

// isWritten reports whether an op so far writes a tensor.
func (l *lookup) isWritten(name string) bool {
	_, written := l.written[name]
	return written
}

// stream returns the name of the op's stream.
func (r *resolved) stream() string { return r.Op.streamName() }

// role returns the role of a tensor in the whole.
func (l *lookup) role(t Tensor) schedule.Role {
	last, written := l.written[t.Name]
	switch read, ok := l.read[t.Name]; {
	case !written:
		return schedule.Given
	case l.updated[t.Name]:
		return schedule.Updated
	case t.Keep || !ok || read <= last:
		return schedule.Result
	}
	return schedule.Inner
}
