package nccl

import (
	"fmt"
	"os"
	"path/filepath"

	"collsim/hw"
)

// A driver holds the functions of CUDA's driver (cuda.h), which take integers, pointers and opaque
// handles.
type driver struct {
	*loaded
	out *outs
}

// outs is memory for the results of C functions. It is on the heap, since Go may move a goroutine's
// stack.
type outs struct {
	number  int32
	pointer uintptr
	id      uniqueID
	text    [256]byte
	sim     simInfo
}

// Constants of cuda.h.
const (
	noDevice    = 100 // CUDA_ERROR_NO_DEVICE
	notReady    = 600 // CUDA_ERROR_NOT_READY
	nonBlocking = 1   // CU_STREAM_NON_BLOCKING: does not synchronize with the legacy stream
)

// theDriver describes CUDA's driver.
func theDriver() *wanted {
	return &wanted{what: "CUDA driver", variable: driverVariable,
		files: []string{"libcuda.so.1", "libcuda.so"},
		functions: []string{"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet",
			"cuDeviceGetName", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2",
			"cuCtxSetCurrent", "cuCtxSynchronize", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2",
			"cuMemcpyDtoH_v2", "cuMemcpyDtoDAsync_v2", "cuStreamCreate", "cuStreamQuery",
			"cuStreamDestroy_v2", "cuGetErrorName", "cuGetErrorString"},
		get: "it comes with NVIDIA's driver, which a machine with a GPU has (in a container: " +
			"docker run --gpus all)"}
}

// loadDriver loads and initializes the driver, and returns the number of GPUs.
func loadDriver(configured string) (d *driver, devices int, err error) {
	l, err := theDriver().load(configured)
	if err != nil {
		return nil, 0, err
	}
	d = &driver{loaded: l, out: &outs{}}
	if code := d.code("cuInit", 0); code != 0 {
		e := d.failure("cuInit", code, -1)
		if code != noDevice {
			return nil, 0, e
		}
		why := fmt.Sprintf("cuInit: %s: %s", e.Code, e.Text)
		if nodes, _ := filepath.Glob("/dev/nvidia[0-9]*"); len(nodes) == 0 {
			why += "; there is no /dev/nvidia0"
		}
		if seen, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
			why += fmt.Sprintf("; CUDA_VISIBLE_DEVICES is %q", seen)
		}
		return nil, 0, &hw.Missing{What: "GPU", Why: why,
			Get: "run it on a machine with an NVIDIA GPU, and give a container or a job its GPUs"}
	}
	err = d.call(-1, "cuDeviceGetCount", address(&d.out.number))
	return d, int(d.out.number), err
}

// failure returns the error of a result code, for a rank; −1 is none.
func (d *driver) failure(call string, code int32, rank int) *hw.Error {
	e := &hw.Error{Call: call, Code: fmt.Sprint(code), Rank: rank, Lane: -1, Step: -1}
	if d.code("cuGetErrorName", uintptr(code), address(&d.out.pointer)) == 0 {
		e.Code = textAt(d.out.pointer)
	}
	if d.code("cuGetErrorString", uintptr(code), address(&d.out.pointer)) == 0 {
		e.Text = textAt(d.out.pointer)
	}
	return e
}

// call calls a function for a rank, and returns an error for any result but success.
func (d *driver) call(rank int, name string, args ...uintptr) error {
	if code := d.code(name, args...); code != 0 {
		return d.failure(name, code, rank)
	}
	return nil
}

// version returns the driver's CUDA version, such as "13.0".
func (d *driver) version() (string, error) {
	err := d.call(-1, "cuDriverGetVersion", address(&d.out.number))
	return fmt.Sprintf("%d.%d", d.out.number/1000, d.out.number%1000/10), err
}

// name returns the name of a GPU.
func (d *driver) name(device int) (string, error) {
	if err := d.call(-1, "cuDeviceGet", address(&d.out.number), uintptr(device)); err != nil {
		return "", err
	}
	o := d.out
	err := d.call(-1, "cuDeviceGetName", address(&o.text[0]), uintptr(len(o.text)-1),
		uintptr(o.number))
	return textAt(address(&o.text[0])), err
}

// A gpu holds a rank's resources on its device.
type gpu struct {
	d       *driver
	rank    int
	device  int32 // handle
	context uintptr
	stream  uintptr
	blocks  []uintptr // memory
}

// gpu prepares a device for a rank, and makes it current.
func (d *driver) gpu(rank, ordinal int) (*gpu, error) {
	g, o := &gpu{d: d, rank: rank}, d.out
	if err := d.call(rank, "cuDeviceGet", address(&o.number), uintptr(ordinal)); err != nil {
		return nil, err
	}
	g.device = o.number
	err := d.call(rank, "cuDevicePrimaryCtxRetain", address(&o.pointer), uintptr(g.device))
	if err != nil {
		return nil, err
	}
	g.context = o.pointer
	if err := g.use(); err != nil {
		return nil, err
	}
	err = d.call(rank, "cuStreamCreate", address(&o.pointer), nonBlocking)
	g.stream = o.pointer
	return g, err
}

// use makes the device current on the calling thread.
func (g *gpu) use() error { return g.d.call(g.rank, "cuCtxSetCurrent", g.context) }

// memory allocates bytes of the device, at least one.
func (g *gpu) memory(bytes int64) (uintptr, error) {
	err := g.d.call(g.rank, "cuMemAlloc_v2", address(&g.d.out.pointer), uintptr(max(bytes, 1)))
	if e, ok := err.(*hw.Error); ok {
		e.Text += fmt.Sprintf(" (%d bytes)", bytes)
		return 0, e
	}
	g.blocks = append(g.blocks, g.d.out.pointer)
	return g.d.out.pointer, nil
}

// write copies bytes to the device. The copy is complete after sync.
func (g *gpu) write(to uintptr, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	return g.d.call(g.rank, "cuMemcpyHtoD_v2", to, address(&from[0]), uintptr(len(from)))
}

// read copies bytes from the device.
func (g *gpu) read(to []byte, from uintptr) error {
	if len(to) == 0 {
		return nil
	}
	return g.d.call(g.rank, "cuMemcpyDtoH_v2", address(&to[0]), from, uintptr(len(to)))
}

// copy enqueues a copy within the device.
func (g *gpu) copy(to, from uintptr, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return g.d.call(g.rank, "cuMemcpyDtoDAsync_v2", to, from, uintptr(bytes), g.stream)
}

// sync waits for copies from the host.
func (g *gpu) sync() error { return g.d.call(g.rank, "cuCtxSynchronize") }

// done reports whether the stream has completed all work.
func (g *gpu) done() (bool, error) {
	switch code := g.d.code("cuStreamQuery", g.stream); code {
	case 0:
		return true, nil
	case notReady:
		return false, nil
	default:
		return false, g.d.failure("cuStreamQuery", code, g.rank)
	}
}

// free frees all resources of the rank.
func (g *gpu) free() error {
	err := g.use()
	for _, block := range g.blocks {
		if err == nil {
			err = g.d.call(g.rank, "cuMemFree_v2", block)
		}
	}
	if err == nil {
		err = g.d.call(g.rank, "cuStreamDestroy_v2", g.stream)
	}
	if err == nil {
		err = g.d.call(g.rank, "cuDevicePrimaryCtxRelease_v2", uintptr(g.device))
	}
	return err
}
