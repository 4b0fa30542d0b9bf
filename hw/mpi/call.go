package mpi

import (
	"fmt"
	"slices"

	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
)

// A call is a rank's share of a collective that the library executes.
type call struct {
	backend    *backend
	spec       collective.Spec
	math       hw.Arithmetic
	given      []byte // the input, little-endian
	memory     []byte // of both input and output, if in place
	in, out    []byte
	name       string
	args       []uintptr
	counts     []int32 // of MPI_Reduce_scatter
	iterations int
}

// newCall prepares the call of a request.
func newCall(p *backend, r *request, job *rank.Part) (part, error) {
	f, err := openmpi.FunctionOf(r.Choice.Function)
	if err != nil {
		return nil, err
	}
	c := &call{backend: p, spec: r.Spec, math: hw.ArithmeticOf(&r.Spec), given: job.Inputs[0],
		name: f.Call, iterations: job.Env.Iterations}
	c.place()
	c.args, err = c.arguments(p.lib)
	return c, err
}

// place allocates input and output.
func (c *call) place() {
	s, number, width := &c.spec, c.backend.number, int64(c.math.Width)
	in, out := s.In(number)*width, s.Out(number)*width
	if !s.InPlace {
		c.in, c.out = hw.Memory(in), hw.Memory(out)
		return
	}
	atIn, atOut := s.Place(number)
	atIn, atOut = atIn*width, atOut*width
	c.memory = hw.Memory(max(atIn+in, atOut+out))
	c.in, c.out = c.memory[atIn:atIn+in], c.memory[atOut:atOut+out]
}

// arguments returns the arguments of the library's function. They are computed once, since the
// memory they point to does not move.
func (c *call) arguments(l *library) ([]uintptr, error) {
	s, comm := &c.spec, c.backend.comm
	typ, each, err := l.datatype(s)
	if err != nil && s.Kind != collective.Barrier {
		return nil, err
	}
	op := uintptr(0)
	if s.Kind.Reduces() {
		if op, err = l.operator(s.Op, s.Type); err != nil {
			return nil, err
		}
	}
	n, root := uintptr(s.Count*each), uintptr(s.Root)
	in, out, sends := memory(c.in), memory(c.out), n
	amRoot := c.backend.number == s.Root
	if s.InPlace && (!s.Kind.Rooted() || s.Kind == collective.Broadcast || amRoot) {
		in = inPlace
	}
	switch s.Kind {
	case collective.Barrier:
		return []uintptr{comm}, nil
	case collective.AllReduce:
		return []uintptr{in, out, n, typ, op, comm}, nil
	case collective.Broadcast:
		return []uintptr{out, n, typ, root, comm}, nil
	case collective.Reduce:
		return []uintptr{in, out, n, typ, op, root, comm}, nil
	case collective.AllGather, collective.AllToAll:
		return []uintptr{in, sends, typ, out, n, typ, comm}, nil
	case collective.Gather:
		return []uintptr{in, sends, typ, out, n, typ, root, comm}, nil
	case collective.Scatter:
		if s.InPlace && amRoot {
			in, out = memory(c.in), inPlace
		}
		return []uintptr{in, sends, typ, out, n, typ, root, comm}, nil
	case collective.ReduceScatter:
		if c.name == "MPI_Reduce_scatter_block" {
			return []uintptr{in, out, n, typ, op, comm}, nil
		}
		c.counts = slices.Repeat([]int32{int32(s.Count)}, s.Ranks)
		return []uintptr{in, out, address(&c.counts[0]), typ, op, comm}, nil
	}
	return nil, fmt.Errorf("no function of MPI does %v", s.Kind)
}

// reset writes the input, and sets all other bytes to 0xff, a NaN in every format that has one.
func (c *call) reset() {
	for _, b := range [][]byte{c.memory, c.in, c.out} {
		rank.Spoil(b)
	}
	c.load()
}

// load writes the input.
func (c *call) load() {
	c.math.Load(c.in, c.given)
	if c.spec.Kind == collective.Broadcast && c.backend.number == c.spec.Root {
		c.math.Load(c.out, c.given) // MPI_Bcast has one buffer
	}
}

// execute calls the function for all iterations.
func (c *call) execute() error {
	c.backend.enter(c.name)
	defer c.backend.enter("")
	for i := range c.iterations {
		if i > 0 && c.spec.InPlace {
			c.load()
		}
		if err := c.backend.lib.call(c.name, c.args...); err != nil {
			return err
		}
		c.backend.moved.Add(1)
	}
	return nil
}

// output returns the output, little-endian.
func (c *call) output() []byte {
	out := hw.Memory(int64(len(c.out)))
	c.math.Store(out, c.out)
	return out
}

// recording returns nothing: the library has no timeline.
func (c *call) recording() hw.Recording { return hw.Recording{} }

// waits returns nothing: a call has no lanes.
func (c *call) waits() []schedule.Waiting { return nil }
