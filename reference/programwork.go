package reference

import (
	"collsim/collective"
	"collsim/schedule"
)

// ProgramWork is what Check has to do for a program, or a composed schedule, of the first sizes
// that are not too much: counted, and nothing computed.
type ProgramWork struct {
	By    int64  // sizes are one of so many parts of the program's own
	Why   string // nothing is computed; all that follows is 0 then
	Steps int64
	Bytes int64 // of all memories, of values and errors by definition, and of given tensors

	FLOPs     int64 // of kernels, by the schedule, by definition, and to bound errors,
	WideFLOPs int64 // of which these are in float64 or integers
	Elements  int64 // that kernels read and write,
	Packed    int64 // of which these are of matmuls,
	Bounded   int64 // and those that only errors are bounded with
	Given     int64 // elements of given tensors of floats,
	Whole     int64 // and of integers
	Moved     int64 // bytes that steps move, and collectives by definition
	Summed    int64 // elements that steps add to others
	Added     int64 // addends by definition, of floats that no matmul has to do with,
	Sparse    int64 // and of others, of which many are 0, or are errors
	Doubted   int64 // addends of sums whose errors are bounded
}

// WorkOfProgram says what a check of a program has to do. Errors are those of Check.
func WorkOfProgram(s *schedule.Schedule, o CheckOptions) (ProgramWork, error) {
	p, err := o.affordProgram(s)
	if err != nil || p.why != "" {
		return ProgramWork{By: p.by, Why: p.why}, err
	}
	d := p.d
	c := counting{cost: p.c, d: d, isUnsure: make([]bool, len(d.types)),
		isSparse: make([]bool, len(d.types))}
	c.work = ProgramWork{By: p.by, Steps: p.c.steps, Moved: p.c.moved, Summed: p.c.summed}
	if o.Data == Exact {
		c.exact = newExactTensors(d)
	}
	c.given()
	for i := range d.lines {
		c.line(&d.lines[i])
	}
	w := c.work
	w.FLOPs, w.WideFLOPs, w.Elements, w.Packed = c.flops, c.wide, c.elements, c.packed
	w.Bytes = capped(w.Bytes, c.bytes)
	for i, t := range d.types {
		each := int64(t.Width())
		if c.isUnsure[i] {
			each += bytesPerDoubt
		}
		w.Bytes = capped(w.Bytes, times(d.lengths[i], each*int64(d.s.Spec.Ranks)))
	}
	return w, nil
}

// counting counts the lines of a definition, in their order.
type counting struct {
	cost
	work     ProgramWork
	d        *script
	exact    *exactTensors // nil of random numbers
	isUnsure []bool        // rounding may have changed the value
	isSparse []bool        // a matmul has to do with it
}

// given counts the tensors that are made.
func (c *counting) given() {
	s := c.d.s
	for i := range s.Tensors {
		t := &s.Tensors[i]
		if t.Role != schedule.Given {
			continue
		}
		n := times(t.Shape.Elements(), int64(s.Spec.Ranks))
		c.work.Bytes = capped(c.work.Bytes, times(n, int64(t.Type.Width())))
		if !t.Type.IsFloat() {
			c.work.Whole = capped(c.work.Whole, n)
			continue
		}
		c.work.Given = capped(c.work.Given, n)
		c.isSparse[i] = c.exact != nil && c.exact.uses[i] != use{}
	}
}

// line counts a line.
func (c *counting) line(l *line) {
	isUnsure, isSparse := false, l.kernel != nil && l.kernel.IsMatmul()
	for _, from := range l.from {
		isUnsure, isSparse = isUnsure || c.isUnsure[from.value], isSparse || c.isSparse[from.value]
	}
	if l.kernel != nil {
		c.defined(l, isUnsure)
	} else {
		isUnsure = c.collective(l, isUnsure, isSparse)
	}
	to := l.to.value
	c.isUnsure[to], c.isSparse[to] = c.isUnsure[to] || isUnsure, c.isSparse[to] || isSparse
}

// defined counts a kernel's line, and what bounds its errors where its operands have some: two more
// of them, in float64 (kernelDoubts).
func (c *counting) defined(l *line, isUnsure bool) {
	k := l.kernel
	for range l.ranks {
		c.kernel(k)
	}
	if !isUnsure || !k.A.IsFloat() {
		return
	}
	n := int64(2 * len(l.ranks))
	flops := times(k.FLOPs(), n)
	c.flops, c.wide = capped(c.flops, flops), capped(c.wide, flops)
	c.work.Bounded = capped(c.work.Bounded, times(elementsOf(k), n))
}

// collective counts a collective's line, and reports whether rounding may change what it makes.
func (c *counting) collective(l *line, isUnsure, isSparse bool) bool {
	spec, w, outputs, defined := l.spec, &c.work, int64(0), int64(0)
	for rank := range l.ranks {
		n := spec.Out(rank)
		if outputs = capped(outputs, n); rank == 0 || !spec.Kind.Shared() {
			defined = capped(defined, n)
		}
	}
	w.Moved = capped(w.Moved, times(outputs, int64(spec.Type.Width())))
	if !spec.Kind.Reduces() {
		return isUnsure
	}
	addends := times(defined, int64(spec.Ranks))
	switch {
	case !rounds(spec):
		w.Moved = capped(w.Moved, times(addends, int64(spec.Type.Width())))
	case isSparse || spec.Op == collective.Prod:
		w.Sparse = capped(w.Sparse, addends)
	default:
		w.Added = capped(w.Added, addends)
	}
	if isUnsure {
		w.Sparse = capped(w.Sparse, times(addends, 2)) // moveDoubts
	}
	if rounds(spec) && (c.exact == nil || !c.exact.proven) {
		w.Doubted = capped(w.Doubted, addends)
		return true
	}
	return isUnsure
}
