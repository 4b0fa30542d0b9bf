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

// Sources of kernels: the rounding of numbers, followed by the kernels of steps or of a program.
//
//go:embed numbers.cu
var numbers string

//go:embed steps.cu
var steps string

//go:embed programs.cu
var programs string

// A kernelName identifies compiled kernels: those of steps by type and accumulation in float32, and
// those of programs by operation without shapes.
type kernelName struct {
	of      dtype.Type
	wide    bool
	program kernel.Op
}

// kernels holds the functions for steps with few and with many sources and destinations. A
// program's kernel is few.
type kernels struct{ few, many uintptr }

// Capacities of the kernels in sources and destinations; equal to those in steps.cu.
const (
	fewOperands, fewResults   = 8, 8
	manyOperands, manyResults = 256, 64
)

// Flags of a source, equal to those in steps.cu.
const (
	first  = 1 << iota // part of the step's first operand
	begins             // first source of an operand
	ends
	scaled
)

// arithmetic describes a step's operator and scaling, in the layout of steps.cu.
type arithmetic struct {
	elements, factor     uint64
	divisor              int64
	op, from, to, scales int32
}

// fewArguments and manyArguments have the C layout of the kernels' arguments.
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

// launchArguments holds the pointer that a launch passes to the driver.
type launchArguments struct{ parameters [1]unsafe.Pointer }

// arithmeticOf returns the arithmetic of a collective; copies have no collective.
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

// factorOf returns the bits of a collective's scaling factor, in its type or in float32.
func factorOf(spec *collective.Spec, wide bool) uint64 {
	switch spec.Type.Component() {
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

// factor returns the bits of the factor in type T, or in float32.
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

// widens reports whether steps of a type can accumulate in float32.
func widens(t dtype.Type) bool { return t.IsFloat() && t.Width() < 4 }

// compilerError returns the error of an NVRTC result code, nil for success.
func (d *device) compilerError(call string, code uintptr) error {
	if int32(code) == 0 {
		return nil
	}
	name := text(invoke(d.compiler.functions["nvrtcGetErrorString"], code))
	return &hw.Error{Call: call, Code: name, Rank: -1, Lane: -1, Step: -1}
}

// compile calls a function of NVRTC.
func (d *device) compile(call string, args ...uintptr) error {
	d.doing.Store(&call)
	d.beat.Add(1)
	return d.compilerError(call, invoke(d.compiler.functions[call], args...))
}

// kernelsOf returns the kernels of a name for a GPU. It compiles and loads them at first use.
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

// functions lists the names of the kernels in the source.
func (n kernelName) functions() []string {
	if n.program.Kind != 0 {
		return []string{"compute"}
	}
	return []string{"step_of_few", "step_of_many"}
}

// source returns the CUDA C to compile.
func (n kernelName) source() string {
	if n.program.Kind != 0 {
		return numbers + programs
	}
	return numbers + steps
}

// options lists the compiler's options. Fused operations and flush-to-zero are off, so that results
// have the bits of the reference.
func (n kernelName) options(target string) []string {
	return append([]string{"--gpu-architecture=" + target, "--fmad=false", "--ftz=false",
		"--prec-div=true", "--diag-suppress=177"}, // unused functions
		n.defines()...)
}

// defines lists the macros that select kernels in the source.
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

// image returns kernels compiled for a GPU. They are machine code, or PTX for the driver to compile
// if NVRTC is older than the GPU. Without NVRTC it is carried PTX.
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

// compiled compiles CUDA C with NVRTC to a kind of output: "CUBIN" or "PTX".
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

// read returns the output of an NVRTC function; the function with the suffix Size returns its
// length.
func (d *device) read(program uintptr, call string) ([]byte, error) {
	if err := d.compile(call+"Size", program, address(&d.out.size)); err != nil {
		return nil, err
	}
	b := make([]byte, d.out.size+1)
	err := d.compile(call, program, start(b))
	return b[:d.out.size], err
}

// launch returns the kernel launch of a step on elements that are contiguous on all sides.
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

// blocks returns the number of blocks for so many elements, one thread each. It is at most the
// blocks of the schedule's launch; if that is 0, at most what fits on the GPU at once.
func (g *gpu) blocks(elements uint64, given int32) uint32 {
	most := uint64(blocksOfProcessors * max(g.processors, 1))
	if given > 0 {
		most = uint64(given)
	}
	return uint32(max(1, min((elements+threadsOfBlock-1)/threadsOfBlock, most)))
}
