package cuda

import (
	"context"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"collsim/hw"
)

// A library is a loaded library with the functions that this package calls.
type library struct {
	functions map[string]uintptr
	handle    uintptr
}

// A needed describes a library that may be missing: its name for users, its environment variable,
// its file names, and how to install it.
type needed struct {
	what, variable, get string
	names, functions    []string
}

// driverNeeded describes CUDA's driver.
func driverNeeded() needed {
	return needed{what: "CUDA's driver", variable: "COLLSIM_LIBCUDA",
		get:   "install NVIDIA's driver",
		names: []string{"libcuda.so.1"},
		functions: []string{"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet",
			"cuDeviceGetName", "cuDeviceGetAttribute", "cuGetErrorName", "cuGetErrorString",
			"cuCtxCreate_v2", "cuCtxSetCurrent", "cuCtxDestroy_v2", "cuCtxGetStreamPriorityRange",
			"cuDeviceCanAccessPeer", "cuCtxEnablePeerAccess", "cuMemGetInfo_v2", "cuMemAlloc_v2",
			"cuMemFree_v2", "cuMemHostAlloc", "cuMemFreeHost", "cuStreamCreateWithPriority",
			"cuStreamWaitEvent", "cuStreamWaitValue32_v2", "cuEventCreate",
			"cuEventRecord", "cuEventRecordWithFlags", "cuEventQuery", "cuEventElapsedTime",
			"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2",
			"cuMemcpyPeerAsync", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel",
			"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
			"cuGraphLaunch", "cuGraphExecDestroy", "cuGraphDestroy"}}
}

// compilerNeeded describes NVRTC.
func compilerNeeded() needed {
	return needed{what: "NVRTC, CUDA's compiler", variable: "COLLSIM_LIBNVRTC",
		get: "install it (CUDA's toolkit, or pip install nvidia-cuda-nvrtc)",
		names: []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
			"/usr/local/cuda/lib64/libnvrtc.so"},
		functions: []string{"nvrtcGetErrorString", "nvrtcVersion", "nvrtcGetNumSupportedArchs",
			"nvrtcGetSupportedArchs", "nvrtcCreateProgram", "nvrtcCompileProgram",
			"nvrtcGetProgramLogSize", "nvrtcGetProgramLog", "nvrtcGetCUBINSize", "nvrtcGetCUBIN",
			"nvrtcGetPTXSize", "nvrtcGetPTX", "nvrtcDestroyProgram"}}
}

// load loads the library, or reports where it was looked for.
func (n needed) load() (*library, error) {
	names := n.names
	if named := os.Getenv(n.variable); named != "" {
		names = []string{named}
	}
	var tried []string
	if !loads {
		names = names[:1]
	}
	for _, name := range names {
		handle, err := open(name)
		if err != nil {
			tried = append(tried, err.Error())
			continue
		}
		l := &library{handle: handle, functions: map[string]uintptr{}}
		for _, f := range n.functions {
			at, err := symbol(handle, f)
			if err != nil {
				return nil, n.missing(fmt.Sprintf("%s has no %s: %v", name, f, err))
			}
			l.functions[f] = at
		}
		return l, nil
	}
	if !loads {
		return nil, n.missing(strings.Join(tried, "; "))
	}
	where := "not set"
	if path := os.Getenv("LD_LIBRARY_PATH"); path != "" {
		where = path
	}
	return nil, n.missing(fmt.Sprintf("%s (looked for where the system's loader does: "+
		"LD_LIBRARY_PATH, %s, and ldconfig -p)", strings.Join(tried, "; "), where))
}

// missing returns the *hw.Missing of the library.
func (n needed) missing(why string) error {
	if !loads {
		return &hw.Missing{What: n.what, Why: why, Get: "build it for Linux, without the tag nohw"}
	}
	return &hw.Missing{What: n.what, Why: why, Get: n.get + ", or name it by " + n.variable}
}

// Available describes what Run would use, as in "NVIDIA H200, driver 13.0, NVRTC 13.0". It returns
// a *hw.Missing if something is missing.
func Available(context.Context) (string, error) {
	d := &device{out: &outs{}}
	if err := d.find(); err != nil {
		return "", err
	}
	return d.version(0), nil
}

// outs is memory for the results of C functions. It is on the heap, since Go may move a goroutine's
// stack.
type outs struct {
	number, one  int32 // one is 1
	milliseconds float32
	pointer      uintptr
	size, total  uint64
	list         [64]int32
	text         [256]byte
	// For the compiler: the source, its options and their addresses, and the program's handle.
	source  []byte
	options [][]byte
	at      []uintptr
	program uintptr
}

// address returns the address of a variable. REQUIRES: the variable is on the heap.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// start returns the address of bytes; 0 for an empty slice.
func start(b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	return address(&b[0])
}

// text copies a C string.
func text(at uintptr) string {
	if at == 0 {
		return ""
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at))
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
