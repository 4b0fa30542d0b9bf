package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"collsim/hw"
	"collsim/internal/memory"
)

// device is CUDA: the driver, the compiler, and the GPUs that this process uses. Calls are made by
// one locked thread at a time; others look at doing and beat alone.
type device struct {
	driver, compiler *library             // the compiler is nil: there is none
	images           map[imageName][]byte // compiled kernels, of the executor
	driverAt         int32                // version, 1000·major + 10·minor
	nvrtc            [2]int32

	gpus    []*gpu // all that there are
	used    int    // of them, the first, which have a context
	current *gpu   // whose context the calling thread has
	graphs  []uintptr
	pinned  [][]byte                   // memory of the host
	left    func() (memory.Free, bool) // of the host

	out       *outs
	arguments *launchArguments

	doing atomic.Pointer[string] // the call that is being made, or was the last
	beat  atomic.Int64           // calls so far
}

// imageName is which kernels, for which compute capability.
type imageName struct {
	kernels    kernelName
	capability int
}

// What cuda.h defines.
const (
	notReady           = 600 // CUDA_ERROR_NOT_READY
	alreadyReached     = 704 // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
	streamNonBlocking  = 1   // CU_STREAM_NON_BLOCKING
	captureRelaxed     = 2   // CU_STREAM_CAPTURE_MODE_RELAXED
	recordExternal     = 1   // CU_EVENT_RECORD_EXTERNAL
	waitAtLeast        = 0   // CU_STREAM_WAIT_VALUE_GEQ
	hostPortable       = 1   // CU_MEMHOSTALLOC_PORTABLE
	hostMapped         = 2   // CU_MEMHOSTALLOC_DEVICEMAP
	multiprocessors    = 16  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
	capabilityMajor    = 75  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
	capabilityMinor    = 76  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
	threadsOfBlock     = 256
	blocksOfProcessors = 4 // at most, of a kernel, for each SM
)

// code calls a function of the driver and returns what that returns.
func (d *device) code(name *string, args ...uintptr) int32 {
	d.doing.Store(name)
	d.beat.Add(1)
	return int32(invoke(d.driver.functions[*name], args...))
}

// call makes an error of everything but success.
func (d *device) call(name string, args ...uintptr) error {
	if code := d.code(&name, args...); code != 0 {
		return d.failure(name, code)
	}
	return nil
}

// failure is the error of a code that a function has returned.
func (d *device) failure(name string, code int32) error {
	e := &hw.Error{Call: name, Code: fmt.Sprint(code), Rank: -1, Lane: -1, Step: -1}
	o := d.out
	if invoke(d.driver.functions["cuGetErrorName"], uintptr(code), address(&o.pointer)) == 0 {
		e.Code = text(o.pointer)
	}
	if invoke(d.driver.functions["cuGetErrorString"], uintptr(code), address(&o.pointer)) == 0 {
		e.Text = text(o.pointer)
	}
	return e
}

// find loads the libraries and looks at the GPUs.
func (d *device) find() (err error) {
	if d.driver, err = driverNeeded().load(); err != nil {
		return err
	}
	if d.compiler, err = compilerNeeded().load(); err != nil && !d.does(err) {
		return err
	}
	o := d.out
	err = d.call("cuInit", 0)
	if err == nil {
		err = d.call("cuDeviceGetCount", address(&o.number))
	}
	if err == nil && o.number == 0 {
		return &hw.Missing{What: "a GPU", Why: "CUDA's driver knows of none",
			Get: "run it on a machine with one (CUDA_VISIBLE_DEVICES hides them)"}
	}
	count := int(o.number)
	if err == nil {
		err = d.call("cuDriverGetVersion", address(&d.driverAt))
	}
	d.gpus = nil
	for i := 0; err == nil && i < count; i++ {
		err = d.look(i)
	}
	if err != nil {
		return &hw.Missing{What: "a GPU", Why: err.Error(),
			Get: "run it on a machine with one, and with a driver that fits the kernel's module"}
	}
	if d.compiler == nil {
		return nil
	}
	return d.compilerError("nvrtcVersion", invoke(d.compiler.functions["nvrtcVersion"],
		address(&d.nvrtc[0]), address(&d.nvrtc[1])))
}

// does reports whether this program's own kernels do where the compiler is missing: if that was not
// asked for by a name. The name "none" asks for them.
func (d *device) does(err error) bool {
	var missing *hw.Missing
	named := os.Getenv(compilerNeeded().variable)
	return errors.As(err, &missing) && loads && (named == "" || named == "none")
}

// version is what a measurement on so many GPUs was made with; 0 stands for all.
func (d *device) version(gpus int) string {
	if gpus == 0 {
		gpus = len(d.gpus)
	}
	var names []string
	for _, g := range d.gpus[:gpus] {
		if len(names) == 0 || names[len(names)-1] != g.name {
			names = append(names, g.name)
		}
	}
	list := strings.Join(names, ", ")
	if gpus > 1 {
		list = fmt.Sprintf("%d GPUs: %s", gpus, list)
	}
	compiler := fmt.Sprintf("NVRTC %d.%d", d.nvrtc[0], d.nvrtc[1])
	if d.compiler == nil {
		compiler = fmt.Sprintf("PTX of NVRTC %d.%d", carried().nvrtc[0], carried().nvrtc[1])
	}
	return fmt.Sprintf("%s, driver %d.%d, %s", list, d.driverAt/1000, d.driverAt%1000/10, compiler)
}

// enter makes the device ready for calls of this thread, on so many GPUs, or as many as there are.
func (d *device) enter(want int) error {
	d.current = nil // of this thread
	if d.used == 0 {
		if err := d.find(); err != nil {
			return err
		}
	}
	for ; d.used < min(want, len(d.gpus)); d.used++ {
		g := d.gpus[d.used]
		if err := d.open(g); err != nil {
			return err
		}
		for _, other := range d.gpus[:d.used] {
			if err := d.connect(g, other); err != nil {
				return err
			}
			if err := d.connect(other, g); err != nil {
				return err
			}
		}
	}
	for _, g := range d.gpus[:d.used] {
		g.begin()
	}
	return nil
}

// leave ends all that the GPUs do for this process, and frees what it has.
func (d *device) leave() (err error) {
	for _, g := range d.gpus {
		if g.context == 0 {
			continue
		}
		if code := d.call("cuCtxDestroy_v2", g.context); err == nil {
			err = code
		}
	}
	d.used, d.gpus, d.current, d.graphs, d.pinned = 0, nil, nil, nil, nil
	return err
}

// free gives the memory and the graphs of the run back. Nothing is being done.
func (d *device) free() error {
	for _, graph := range d.graphs {
		if err := d.call("cuGraphExecDestroy", graph); err != nil {
			return err
		}
	}
	d.graphs = d.graphs[:0]
	for _, b := range d.pinned {
		if err := d.on(d.gpus[0], "cuMemFreeHost", start(b)); err != nil {
			return err
		}
	}
	d.pinned = d.pinned[:0]
	for _, g := range d.gpus[:d.used] {
		for _, at := range g.memory {
			if err := d.on(g, "cuMemFree_v2", at); err != nil {
				return err
			}
		}
		g.memory = g.memory[:0]
	}
	return nil
}
