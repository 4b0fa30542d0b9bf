package program

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/kernel"
	"collsim/schedule"
)

// A chain is ops, one behind the other, that can become one pipeline: an all_gather and the matmuls
// of what it gathers, or a matmul and the reduce_scatter of its result. Between call and matmul may
// stand the copy that lays rows out along another axis than the first. A pipeline needs none: it
// reads and writes the rows where they are.
type chain struct {
	call    *resolved
	copied  *resolved // nil if there is none
	matmuls []*resolved
}

// ops returns how many ops a chain has.
func (c *chain) ops() int {
	n := 1 + len(c.matmuls)
	if c.copied != nil {
		n++
	}
	return n
}

// names returns the names of the ops that a chain is of, without the copy between them.
func (c *chain) names() (names []string) {
	for _, r := range c.matmuls {
		names = append(names, r.names()...)
	}
	if c.call.call.Kind == collective.AllGather {
		return slices.Concat(c.call.names(), names)
	}
	return append(names, c.call.names()...)
}

// outer returns how many blocks of rows a rank's part has in the whole.
func (c *chain) outer() int64 {
	switch {
	case c.copied == nil:
		return 1
	case c.call.call.Kind == collective.AllGather:
		return c.copied.kernel.In.Lengths()[1]
	}
	return c.copied.kernel.In.Lengths()[0]
}

// axisOf returns the axis of a shape, not the last, that has so many elements before it; −1 if it
// has none.
func axisOf(shape collective.Shape, outer int64) int {
	for axis := range len(shape) - 1 {
		if shape[:axis].Elements() == outer {
			return axis
		}
	}
	return -1
}

// fusible returns how many ops from at on can become one pipeline; 0 if none can.
func (x *plan) fusible(at int) int {
	if c := x.chainAt(at); c != nil {
		return c.ops()
	}
	return 0
}

// chainAt returns the chain that begins with an op; nil if there is none.
func (x *plan) chainAt(at int) *chain {
	first := &x.ops[at]
	if first.kernel.IsMatmul() {
		return x.scattering(at)
	}
	if first.call == nil || first.call.Kind != collective.AllGather || first.call.Axis != 0 ||
		len(first.in[0].Shape) < 2 || first.inPlace() {
		return nil
	}
	c := &chain{call: first}
	data, next := first.Out, at+1
	written, read := []string{first.Out}, []string{first.In[0]}
	if x.isLayout(next, first, first.Out) {
		c.copied = &x.ops[next]
		data, next = c.copied.Out, next+1
		written = append(written, data)
	}
	if axisOf(first.in[0].Shape, c.outer()) < 0 {
		return nil
	}
	for ; next < len(x.ops); next++ {
		r := &x.ops[next]
		if !r.multiplies(first, data) || r.overwrites(written, read) ||
			len(c.matmuls) > 0 && (r.kernel.Scaling == 0) != (c.matmuls[0].kernel.Scaling == 0) ||
			slices.ContainsFunc(r.In[1:], func(name string) bool { return slices.Contains(written, name) }) {
			break
		}
		c.matmuls = append(c.matmuls, r)
		written, read = append(written, r.Out), append(read, r.In[1:]...)
	}
	if c.matmuls == nil {
		return nil
	}
	return c
}

// multiplies reports whether an op is a matmul on all ranks of rows that a call gathers.
func (r *resolved) multiplies(gather *resolved, data string) bool {
	shard := gather.in[0].Shape
	return r.kernel.IsMatmul() && r.in[0].Name == data && !r.kernel.TransposeA && r.teams[0] == nil &&
		r.kernel.K() == shard[len(shard)-1] && !r.isColumn()
}

// isColumn reports whether an op is a matmul with scales by row of one column. Of one row, its
// scales would be tensor-wise.
func (r *resolved) isColumn() bool { return r.kernel.Scaling == kernel.RowWise && r.kernel.N == 1 }

// isLayout reports whether an op is the copy that lays out what a call gathers, or scatters, along
// another axis than the first, and nothing else reads what it reads.
func (x *plan) isLayout(at int, call *resolved, from string) bool {
	if at >= len(x.ops) {
		return false
	}
	r := &x.ops[at]
	lengths := r.kernel.In.Lengths()
	if r.call != nil || r.kernel.Kind != kernel.Move || r.kernel.Axis != 1 || len(lengths) != 3 ||
		r.In[0] != from || r.Group != call.Group || x.readers(from) > 1 ||
		x.roles[from] != schedule.Inner || r.inPlace() {
		return false
	}
	along := 0
	if call.call.Kind != collective.AllGather {
		along = 1
	}
	return lengths[along] == int64(x.teamSize(call.teams[0]))
}

// scattering returns the chain of a matmul and the reduce_scatter of its result; nil if there is
// none.
func (x *plan) scattering(at int) *chain {
	matmul, next := &x.ops[at], at+1
	data := matmul.Out
	c := &chain{matmuls: []*resolved{matmul}}
	if next+1 < len(x.ops) && x.ops[next+1].call != nil && x.isLayout(next, &x.ops[next+1], data) {
		c.copied = &x.ops[next]
		data, next = c.copied.Out, next+1
	}
	if next >= len(x.ops) || matmul.teams[0] != nil || matmul.kernel.TransposeA ||
		matmul.isColumn() {
		return nil
	}
	c.call = &x.ops[next]
	if !x.scatters(matmul, c.call, data) || axisOf(matmul.in[0].Shape, c.outer()) < 0 ||
		c.copied != nil && x.readers(data) > 1 {
		return nil
	}
	return c
}

// scatters reports whether a call scatters the result of a matmul, of that name or laid out, and no
// other op reads that.
func (x *plan) scatters(matmul, scatter *resolved, data string) bool {
	return scatter.call != nil && scatter.call.Kind == collective.ReduceScatter &&
		scatter.call.Axis == 0 && !scatter.overwrites(nil, matmul.In) && scatter.In[0] == data &&
		x.readers(matmul.Out) == 1 && x.roles[matmul.Out] == schedule.Inner &&
		(scatter.call.Op == collective.Sum || scatter.isMeanOfFloats())
}

// overwrites reports whether an op writes what it reads, or what others have written or read. In a
// pipeline these may still be in use.
func (r *resolved) overwrites(written, read []string) bool {
	return slices.Contains(slices.Concat(r.In, written, read), r.Out)
}

// isMeanOfFloats reports whether a call takes a mean that a kernel computes equally. With integers
// a call divides the sum after it has wrapped to the type, a kernel before.
func (r *resolved) isMeanOfFloats() bool {
	return r.call.Op == collective.Avg && r.call.Type.IsFloat()
}

// readers returns how many ops read a tensor.
func (x *plan) readers(name string) (n int) {
	for i := range x.ops {
		if slices.Contains(x.ops[i].reads(), name) {
			n++
		}
	}
	return n
}

// neighbour returns the op next to another, behind it or before it, beyond the copy that lays out
// data of theirs; nil if there is none.
func (x *plan) neighbour(at, step int) *resolved {
	for next := at + step; next >= 0 && next < len(x.ops); next += step {
		r := &x.ops[next]
		if r.call == nil && r.kernel.Kind == kernel.Move && next == at+step &&
			(slices.Contains(r.In, x.ops[at].Out) || len(x.ops[at].In) > 0 && r.Out == x.ops[at].In[0]) {
			continue
		}
		return r
	}
	return nil
}

// matmulOf returns the first matmul behind a call that reads what it gathers, or the last before it
// that writes what it scatters; nil if there is none. Copies may lay the data out between.
func (x *plan) matmulOf(at int) *resolved {
	r := &x.ops[at]
	step, data := 1, r.Out
	if r.call.Kind != collective.AllGather {
		step, data = -1, r.In[0]
	}
	for next := at + step; next >= 0 && next < len(x.ops); next += step {
		o := &x.ops[next]
		from, to := o.reads(), o.writes()
		if step < 0 {
			from, to = to, from
		}
		switch {
		case o.call != nil || !slices.Contains(from, data):
		case o.kernel.IsMatmul():
			return o
		case o.kernel.Kind == kernel.Move:
			data = to[0]
		}
	}
	return nil
}

// apart returns why a call is in no chain with a matmul, m unless there is none, that works on the
// same data; empty if they stand next to each other.
func (x *plan) apart(at int, m *resolved) string {
	switch kind := x.ops[at].call.Kind; {
	case m == nil && kind == collective.AllGather:
		return "no matmul reads what it gathers"
	case m == nil:
		return "no matmul writes what it scatters"
	case kind == collective.AllGather && x.neighbour(at, 1) != m:
		return fmt.Sprintf("%s stands between it and %s", x.neighbour(at, 1).Name, m.Name)
	case kind == collective.ReduceScatter && x.neighbour(at, -1) != m:
		return fmt.Sprintf("%s stands between %s and it", x.neighbour(at, -1).Name, m.Name)
	}
	return ""
}
