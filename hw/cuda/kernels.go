package cuda

import (
	_ "embed"
	"fmt"
	"strings"
	"unsafe"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/kernel"
)

// What is compiled: how numbers are rounded, and behind it what steps do, or a program's kernel.
//
//go:embed numbers.cu
var numbers string

//go:embed steps.cu
var steps string

//go:embed programs.cu
var programs string

// kernelName is what kernels are compiled for: a type, and whether steps compute in float32; or a
// kernel of a program, without its shapes.
type kernelName struct {
	of      dtype.Type
	wide    bool
	program kernel.Op
}

// kernels are the functions for steps of few and of many sources and destinations; of a program's
// kernel, few is the only one.
type kernels struct{ few, many uintptr }

// How many sources and destinations a kernel takes; steps.cu has the same.
const (
	fewOperands, fewResults   = 8, 8
	manyOperands, manyResults = 256, 64
)

// What a source is, as steps.cu has it.
const (
	first  = 1 << iota // operand of the step
	begins             // an operand
	ends
	scaled
)

// arithmetic is what a step does with its sources: steps.cu's operator, and its scale.
type arithmetic struct {
	elements, factor     uint64
	divisor              int64
	op, from, to, scales int32
}

// fewArguments and manyArguments are the kernels' arguments as C lays them out.
type fewArguments struct {
	arithmetic
	sources      [fewOperands]uint64
	destinations [fewResults]uint64
	flags        [fewOperands]byte
}

type manyArguments struct {
	arithmetic
	sources      [manyOperands]uint64
	destinations [manyResults]uint64
	flags        [manyOperands]byte
}

// launchArguments is what a launch points to.
type launchArguments struct{ parameters [1]unsafe.Pointer }

// arithmeticOf is that of a collective; of none, for what only copies.
func arithmeticOf(spec *collective.Spec, wide bool) (a arithmetic) {
	switch spec.Op {
	case collective.Prod:
		a.op = 1
	case collective.Min:
		a.op = 2
	case collective.Max:
		a.op = 3
	}
	switch {
	case spec.Op != collective.PremulSum && spec.Op != collective.Avg:
	case spec.Op == collective.PremulSum || spec.ScalesBefore():
		a.factor = factorOf(spec, wide)
	default:
		a.divisor = int64(spec.Ranks)
	}
	return a
}

// factorOf is the bits of the factor in the type, or in float32.
func factorOf(spec *collective.Spec, wide bool) uint64 {
	switch spec.Type {
	case dtype.Float64:
		return factor[float64](spec, wide)
	case dtype.Float32:
		return factor[float32](spec, wide)
	case dtype.Float16:
		return factor[dtype.F16](spec, wide)
	case dtype.BFloat16:
		return factor[dtype.BF16](spec, wide)
	case dtype.Float8E4M3:
		return factor[dtype.E4M3](spec, wide)
	case dtype.Float8E5M2:
		return factor[dtype.E5M2](spec, wide)
	case dtype.Int8:
		return factor[int8](spec, wide)
	case dtype.Int16:
		return factor[int16](spec, wide)
	case dtype.Int32:
		return factor[int32](spec, wide)
	case dtype.Int64:
		return factor[int64](spec, wide)
	case dtype.Uint8:
		return factor[uint8](spec, wide)
	case dtype.Uint16:
		return factor[uint16](spec, wide)
	case dtype.Uint32:
		return factor[uint32](spec, wide)
	}
	return factor[uint64](spec, wide)
}

func factor[T dtype.Number](spec *collective.Spec, wide bool) uint64 {
	var f T
	if spec.Op == collective.PremulSum {
		f = dtype.From[T](spec.Factor)
	} else {
		f = dtype.Reciprocal[T](spec.Ranks)
	}
	b := make([]byte, 8)
	if wide {
		dtype.Put(b[:4], []float32{float32(dtype.Value(f))})
	} else {
		dtype.Put(b[:dtype.Of[T]().Width()], []T{f})
	}
	var bits uint64
	for i, x := range b {
		bits |= uint64(x) << (8 * i)
	}
	return bits
}

// widens reports whether a type is computed in float32 where that is asked for.
func widens(t dtype.Type) bool { return t.IsFloat() && t.Width() < 4 }

// compilerError makes an error of a code of NVRTC's.
func (d *device) compilerError(call string, code uintptr) error {
	if int32(code) == 0 {
		return nil
	}
	name := text(invoke(d.compiler.functions["nvrtcGetErrorString"], code))
	return &hw.Error{Call: call, Code: name, Rank: -1, Lane: -1, Step: -1}
}

// compile calls a function of NVRTC's.
func (d *device) compile(call string, args ...uintptr) error {
	d.doing.Store(&call)
	d.beat.Add(1)
	return d.compilerError(call, invoke(d.compiler.functions[call], args...))
}

// kernelsOf compiles and loads kernels when a GPU is first asked for them.
func (d *device) kernelsOf(g *gpu, name kernelName) (k kernels, err error) {
	if k, there := g.functions[name]; there {
		return k, nil
	}
	key := imageName{name, g.capability}
	image, there := d.images[key]
	if !there {
		if image, err = d.image(g, name); err != nil {
			return k, err
		}
		d.images[key] = image
	}
	err = d.on(g, "cuModuleLoadData", address(&d.out.pointer), start(image))
	if err != nil && d.compiler == nil {
		err = refusedPTX(err)
	}
	if err != nil {
		return k, err
	}
	module := d.out.pointer
	for i, f := range name.functions() {
		copy(d.out.text[:], f+"\x00")
		err := d.call("cuModuleGetFunction", address(&d.out.pointer), module, address(&d.out.text[0]))
		if err != nil {
			return k, err
		}
		*[]*uintptr{&k.few, &k.many}[i] = d.out.pointer
	}
	g.functions[name] = k
	return k, nil
}

// functions are the names of the kernels in the source.
func (n kernelName) functions() []string {
	if n.program.Kind != 0 {
		return []string{"compute"}
	}
	return []string{"step_of_few", "step_of_many"}
}

// source is what is compiled.
func (n kernelName) source() string {
	if n.program.Kind != 0 {
		return numbers + programs
	}
	return numbers + steps
}

// options are those that kernels are compiled with. Nothing is fused, and nothing flushed to zero.
func (n kernelName) options(target string) []string {
	return append([]string{"--gpu-architecture=" + target, "--fmad=false", "--ftz=false",
		"--prec-div=true", "--diag-suppress=177"}, // functions that nobody calls
		n.defines()...)
}

// defines are the options that tell kernels of one source apart.
func (n kernelName) defines() []string {
	if n.program.Kind != 0 {
		return programDefines(&n.program)
	}
	list := []string{"-DTYPE_" + n.of.String()}
	if n.wide {
		list = append(list, "-DACCUMULATE_float32")
	}
	return list
}

// image compiles kernels for the device: to its machine code, or to PTX for the driver to compile,
// where the compiler is older than the device. Without a compiler, it is PTX that is carried.
func (d *device) image(g *gpu, name kernelName) ([]byte, error) {
	if d.compiler == nil {
		return d.carriedImage(g, name)
	}
	o := d.out
	if err := d.compile("nvrtcGetNumSupportedArchs", address(&o.number)); err != nil {
		return nil, err
	}
	known := o.list[:min(int(o.number), len(o.list))]
	if err := d.compile("nvrtcGetSupportedArchs", address(&o.list[0])); err != nil {
		return nil, err
	}
	best := 0
	for _, n := range known {
		if int(n) <= g.capability {
			best = max(best, int(n))
		}
	}
	if best == g.capability {
		return d.compiled(name.source(), name.options(fmt.Sprintf("sm_%d", best)), "CUBIN")
	}
	if best == 0 {
		return nil, &hw.Missing{What: "kernels for " + g.name,
			Why: fmt.Sprintf("NVRTC %d.%d does not know its compute capability %d.%d", d.nvrtc[0],
				d.nvrtc[1], g.capability/10, g.capability%10),
			Get: "install another NVRTC, and name it by " + compilerNeeded().variable}
	}
	return d.compiled(name.source(), name.options(fmt.Sprintf("compute_%d", best)), "PTX")
}

// compiled is what the compiler makes of CUDA C: "CUBIN" or "PTX".
func (d *device) compiled(code string, options []string, kind string) (made []byte, err error) {
	o := d.out
	o.source, o.options, o.at = []byte(code+"\x00"), nil, nil
	for i, text := range options {
		o.options = append(o.options, []byte(text+"\x00"))
		o.at = append(o.at, start(o.options[i]))
	}
	if err := d.compile("nvrtcCreateProgram", address(&o.program), start(o.source), 0, 0, 0,
		0); err != nil {
		return nil, err
	}
	defer func() {
		if freed := d.compile("nvrtcDestroyProgram", address(&o.program)); err == nil {
			err = freed
		}
	}()
	err = d.compile("nvrtcCompileProgram", o.program, uintptr(len(o.at)), address(&o.at[0]))
	if err != nil {
		log, logErr := d.read(o.program, "nvrtcGetProgramLog")
		if e, ok := err.(*hw.Error); ok && logErr == nil {
			e.Text = strings.TrimSpace(strings.TrimRight(string(log), "\x00"))
		}
		return nil, err
	}
	return d.read(o.program, "nvrtcGet"+kind)
}

// read is what a function of NVRTC's writes, whose size one beside it tells.
func (d *device) read(program uintptr, call string) ([]byte, error) {
	if err := d.compile(call+"Size", program, address(&d.out.size)); err != nil {
		return nil, err
	}
	b := make([]byte, d.out.size+1)
	err := d.compile(call, program, start(b))
	return b[:d.out.size], err
}

// launch is the operation of a step on elements that are contiguous on all sides.
func (d *device) launch(g *gpu, w *work, sources, destinations []uint64) (o op, err error) {
	k, err := d.kernelsOf(g, w.kernel)
	if err != nil {
		return o, err
	}
	a := w.arithmetic
	a.from, a.to = int32(len(sources)), int32(len(destinations))
	if len(sources) <= fewOperands && len(destinations) <= fewResults {
		few := &fewArguments{arithmetic: a}
		copy(few.sources[:], sources)
		copy(few.flags[:], w.flags)
		copy(few.destinations[:], destinations)
		o.function, o.arguments = k.few, unsafe.Pointer(few)
	} else {
		many := &manyArguments{arithmetic: a}
		copy(many.sources[:], sources)
		copy(many.flags[:], w.flags)
		copy(many.destinations[:], destinations)
		o.function, o.arguments = k.many, unsafe.Pointer(many)
	}
	o.kind, o.blocks, o.threads = launches, g.blocks(a.elements, w.blocks), threadsOfBlock
	return o, nil
}

// blocks is how many blocks a kernel has of so many elements, a thread each: no more than there is
// room for at once, nor than a launch of the schedule gives it, if that says anything.
func (g *gpu) blocks(elements uint64, given int32) uint32 {
	most := uint64(blocksOfProcessors * max(g.processors, 1))
	if given > 0 {
		most = uint64(given)
	}
	return uint32(max(1, min((elements+threadsOfBlock-1)/threadsOfBlock, most)))
}
