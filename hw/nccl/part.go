package nccl

import (
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/rank"
)

// part is a rank's part of a collective: its GPU, its communicator, and what it calls.
type part struct {
	*gpu
	lib  *library
	spec *collective.Spec
	comm uintptr
	op   uintptr // ncclRedOp_t
	made bool    // op is to be destroyed
	host         // what is copied to the device and from it

	in, out  uintptr // in the device's memory
	pristine uintptr // the input again, where a collective overwrites it and is measured on
	scratch  uintptr // of the barrier
	calls    []call
	ended    bool // of this repetition
}

// host is memory of this process that C functions read and write: on the heap, whose objects stay
// where they are.
type host struct {
	given, spoiled, zero, have, factor []byte
}

// call is a function with its arguments.
type call struct {
	name string
	args []uintptr
}

// newPart gives a rank its memory.
func newPart(p *backend, spec *collective.Spec, number int, job *rank.Part, given []byte) (*part,
	error) {
	g, err := p.cuda.gpu(number, number%p.gpus)
	if err != nil {
		return nil, err
	}
	math := hw.ArithmeticOf(spec)
	width := int64(math.Width)
	in, out := spec.In(number)*width, spec.Out(number)*width
	x := &part{gpu: g, lib: p.nccl, spec: spec, host: host{given: hw.Memory(in),
		spoiled: hw.Memory(out), have: hw.Memory(out), zero: make([]byte, 8)}}
	math.Load(x.given, given)
	rank.Spoil(x.spoiled)
	if x.scratch, err = g.memory(8); err != nil {
		return nil, err
	}
	if spec.InPlace {
		atIn, atOut := spec.Place(number)
		base, err := g.memory(max(atIn*width+in, atOut*width+out))
		if err != nil {
			return nil, err
		}
		x.in, x.out = base+uintptr(atIn*width), base+uintptr(atOut*width)
		if job.Env.Iterations > 1 {
			x.pristine, err = g.memory(in)
		}
		return x, err
	}
	if x.in, err = g.memory(in); err != nil {
		return nil, err
	}
	x.out, err = g.memory(out)
	return x, err
}

// prepare makes what the rank calls, when its communicator is there.
func (x *part) prepare() error {
	s := x.spec
	typ, each, err := datatype(s)
	if err != nil {
		return err
	}
	name, err := functionOf(s)
	if err != nil {
		return err
	}
	if !x.lib.has(name) {
		version, _ := x.lib.version()
		return &hw.Error{Call: name, Code: "missing", Rank: x.rank, Lane: -1, Step: -1,
			Text: version + " has no such function: it came with NCCL 2.28"}
	}
	if err := x.operator(typ); err != nil {
		return err
	}
	in, out := x.in, x.out
	n, root := uintptr(s.Count*each), uintptr(s.Root)
	ends := []uintptr{x.comm, x.stream}
	var args []uintptr
	switch s.Kind {
	case collective.AllReduce, collective.ReduceScatter:
		args = []uintptr{in, out, n, typ, x.op}
	case collective.Reduce:
		args = []uintptr{in, out, n, typ, x.op, root}
	case collective.AllGather, collective.AllToAll:
		args = []uintptr{in, out, n, typ}
	case collective.Broadcast:
		args = []uintptr{in, out, n, typ, root}
	case collective.Gather, collective.Scatter:
		args = []uintptr{in, out, n, typ, root}
	case collective.AllToAllV:
		x.exchange(typ, each)
		return nil
	case collective.SendRecv:
		next, previous := (x.rank+1)%s.Ranks, (x.rank+s.Ranks-1)%s.Ranks
		x.calls = []call{{"ncclSend", append([]uintptr{in, n, typ, uintptr(next)}, ends...)},
			{"ncclRecv", append([]uintptr{out, n, typ, uintptr(previous)}, ends...)}}
		return nil
	}
	x.calls = []call{{name, append(args, ends...)}}
	return nil
}

// exchange makes the sends and receives of blocks of any size.
func (x *part) exchange(typ uintptr, each int64) {
	s := x.spec
	width := uintptr(s.Type.Width())
	in, out := x.in, x.out
	for peer := range s.Ranks {
		sends, receives := uintptr(s.Splits[x.rank][peer]), uintptr(s.Splits[peer][x.rank])
		x.calls = append(x.calls,
			call{"ncclSend", []uintptr{in, sends * uintptr(each), typ, uintptr(peer), x.comm, x.stream}},
			call{"ncclRecv", []uintptr{out, receives * uintptr(each), typ, uintptr(peer), x.comm,
				x.stream}})
		in, out = in+sends*width, out+receives*width
	}
}

// operator finds NCCL's operator, or makes it: one that multiplies by a factor first.
func (x *part) operator(typ uintptr) error {
	for _, o := range operatorNumbers() {
		if o.op == x.spec.Op {
			x.op = o.number
		}
	}
	if x.spec.Op != collective.PremulSum {
		return nil
	}
	x.factor = factorOf(x.spec)
	err := x.lib.call(x.rank, x.comm, "ncclRedOpCreatePreMulSum", address(&x.lib.out.number),
		address(&x.factor[0]), typ, hostImmediate, x.comm)
	x.op, x.made = uintptr(x.lib.out.number), err == nil
	return err
}

// factorOf is premulsum's factor as an element: what it makes of 1.
func factorOf(spec *collective.Spec) []byte {
	one := hw.Memory(8)[:spec.Type.Width()]
	switch spec.Type {
	case dtype.Float64:
		putOne[float64](one)
	case dtype.Float32:
		putOne[float32](one)
	case dtype.Float16:
		putOne[dtype.F16](one)
	case dtype.BFloat16:
		putOne[dtype.BF16](one)
	case dtype.Float8E4M3:
		putOne[dtype.E4M3](one)
	case dtype.Float8E5M2:
		putOne[dtype.E5M2](one)
	default:
		one[0] = 1 // little-endian, as all processors are that CUDA has a driver for
	}
	hw.ArithmeticOf(spec).Scale(one)
	return one
}

func putOne[T dtype.Number](b []byte) { dtype.Put(b, []T{dtype.From[T](1)}) }

// reset writes the input, and elsewhere all ones, a NaN in every format that has one.
func (x *part) reset() error {
	if err := x.use(); err != nil {
		return err
	}
	for _, w := range []struct {
		to   uintptr
		from []byte
	}{{x.out, x.spoiled}, {x.in, x.given}, {x.scratch, x.zero}} {
		if err := x.write(w.to, w.from); err != nil {
			return err
		}
	}
	if x.pristine != 0 {
		if err := x.write(x.pristine, x.given); err != nil {
			return err
		}
	}
	x.ended = false
	return x.sync()
}

// again has the stream write the input once more, where the iteration before has overwritten it.
func (x *part) again() error {
	if x.pristine == 0 {
		return nil
	}
	if err := x.use(); err != nil {
		return err
	}
	return x.copy(x.in, x.pristine, int64(len(x.given)))
}

// enqueue calls the rank's functions. They return before the stream has done what they ask for.
func (x *part) enqueue(calls []call) error {
	if err := x.use(); err != nil {
		return err
	}
	for _, c := range calls {
		if err := x.lib.call(x.rank, x.comm, c.name, c.args...); err != nil {
			return err
		}
	}
	return nil
}

// barrier is what the rank calls before a repetition: an all_reduce of one number.
func (x *part) barrier() []call {
	const float32Number, sum = 7, 0
	return []call{{"ncclAllReduce", []uintptr{x.scratch, x.scratch, 1, float32Number, sum, x.comm,
		x.stream}}}
}

// output is what the rank has, little-endian.
func (x *part) output() ([]byte, error) {
	if err := x.use(); err != nil {
		return nil, err
	}
	if err := x.read(x.have, x.out); err != nil {
		return nil, err
	}
	out := hw.Memory(int64(len(x.have)))
	hw.ArithmeticOf(x.spec).Store(out, x.have)
	return out, nil
}

// end frees what the rank has of the library and of the GPU.
func (x *part) end() error {
	err := x.use()
	if err == nil && x.made {
		err = x.lib.call(x.rank, x.comm, "ncclRedOpDestroy", x.op, x.comm)
	}
	if err == nil {
		err = x.lib.call(x.rank, x.comm, "ncclCommDestroy", x.comm)
	}
	return err
}
