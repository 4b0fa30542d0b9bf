package nccl

import (
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/rank"
)

// A part is a rank's share of a collective: its GPU, its communicator, and its calls.
type part struct {
	*gpu
	lib  *library
	spec *collective.Spec
	comm uintptr
	op   uintptr // ncclRedOp_t
	made bool    // op must be destroyed
	host         // host memory of copies

	in, out  uintptr // on the device
	pristine uintptr // copy of the input, for in-place iterations
	scratch  uintptr // of the barrier
	calls    []call
	ended    bool // in this repetition
}

// host is memory of this process that C functions access. It is on the heap, since Go may move a
// goroutine's stack.
type host struct {
	given, spoiled, zero, have, factor []byte
}

// A call is a function with its arguments.
type call struct {
	name string
	args []uintptr
}

// newPart allocates the memory of a rank.
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

// prepare creates the rank's calls. REQUIRES: it has its communicator.
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

// exchange creates the sends and receives of an all-to-all of blocks of any size.
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

// operator looks up NCCL's operator, or creates premulsum, which multiplies by a factor first.
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

// factorOf returns premulsum's factor as an element: its product with 1.
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
		one[0] = 1 // little-endian, as all processors that CUDA supports
	}
	hw.ArithmeticOf(spec).Scale(one)
	return one
}

// putOne writes the number 1.
func putOne[T dtype.Number](b []byte) { dtype.Put(b, []T{dtype.From[T](1)}) }

// reset writes the input, and sets all other bytes to 0xff, a NaN in every format that has one.
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

// again enqueues a copy of the input, if the previous iteration has overwritten it.
func (x *part) again() error {
	if x.pristine == 0 {
		return nil
	}
	if err := x.use(); err != nil {
		return err
	}
	return x.copy(x.in, x.pristine, int64(len(x.given)))
}

// enqueue calls the rank's functions, which return before the stream has completed their work.
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

// barrier returns the call before a repetition: an all_reduce of one number.
func (x *part) barrier() []call {
	const float32Number, sum = 7, 0
	return []call{{"ncclAllReduce", []uintptr{x.scratch, x.scratch, 1, float32Number, sum, x.comm,
		x.stream}}}
}

// output returns the output, little-endian.
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

// end destroys the rank's operator and communicator.
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
