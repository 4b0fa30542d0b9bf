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

// A device holds the state of CUDA in this process: driver, compiler, GPUs. One locked thread at a
// time makes calls; other threads may only read doing and beat.
type device struct {
	driver, compiler *library             // no compiler: nil
	images           map[imageName][]byte // compiled kernels, of the executor
	driverAt         int32                // version as the driver reports it: 1000·major + 10·minor
	nvrtc            [2]int32

	gpus    []*gpu // all GPUs of this machine
	used    int    // the first so many have a context
	current *gpu   // whose context is current on the calling thread
	graphs  []uintptr
	pinned  [][]byte                   // host memory of the run
	left    func() (memory.Free, bool) // free host memory

	out       *outs
	arguments *launchArguments

	doing atomic.Pointer[string] // the current or last call
	beat  atomic.Int64           // number of calls so far
}

// An imageName identifies compiled kernels: their name and the compute capability.
type imageName struct {
	kernels    kernelName
	capability int
}

// Constants of cuda.h, and sizes of launches.
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
	blocksOfProcessors = 4 // bound of the blocks of a kernel, per SM
)

// code calls a function of the driver and returns its result code.
func (d *device) code(name *string, args ...uintptr) int32 {
	d.doing.Store(name)
	d.beat.Add(1)
	return int32(invoke(d.driver.functions[*name], args...))
}

// call calls a function of the driver and returns an error for any result but success.
func (d *device) call(name string, args ...uintptr) error {
	if code := d.code(&name, args...); code != 0 {
		return d.failure(name, code)
	}
	return nil
}

// failure returns the error of a result code, with the driver's name and text for it.
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

// find loads the libraries and queries the GPUs.
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

// does reports whether carried kernels replace a compiler that is missing. They do unless the user
// names a compiler; the name "none" asks for them.
func (d *device) does(err error) bool {
	var missing *hw.Missing
	named := os.Getenv(compilerNeeded().variable)
	return errors.As(err, &missing) && loads && (named == "" || named == "none")
}

// version describes the GPUs, driver and compiler of a measurement on so many GPUs; 0 stands for
// all.
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

// enter makes the calling thread ready for calls on so many GPUs, or as many as there are. It opens
// contexts and enables peer access where they are missing.
func (d *device) enter(want int) error {
	d.current = nil // of another thread
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

// leave destroys all contexts of this process, which ends and frees everything on the GPUs.
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

// free frees the memory and the graphs of the run. REQUIRES: the GPUs are idle.
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
