package cuda

import (
	"context"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"collsim/hw"
)

// library is a loaded library and those of its functions that are called.
type library struct {
	functions map[string]uintptr
	handle    uintptr
}

// needed is a library that may be missing: how it is called, what names it goes by, and how to get
// it.
type needed struct {
	what, variable, get string
	names, functions    []string
}

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

// load finds the library, or says where it was looked for.
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

// missing is what is said of it.
func (n needed) missing(why string) error {
	if !loads {
		return &hw.Missing{What: n.what, Why: why, Get: "build it for Linux, without the tag nohw"}
	}
	return &hw.Missing{What: n.what, Why: why, Get: n.get + ", or name it by " + n.variable}
}

// Available says what Run would use, as in "NVIDIA H200, driver 13.0, NVRTC 13.0", or a
// *hw.Missing.
func Available(context.Context) (string, error) {
	d := &device{out: &outs{}}
	if err := d.find(); err != nil {
		return "", err
	}
	return d.version(0), nil
}

// outs is where C functions write what they return. It is on the heap, whose objects stay where
// they are; variables of a goroutine do not.
type outs struct {
	number, one  int32 // one is 1
	milliseconds float32
	pointer      uintptr
	size, total  uint64
	list         [64]int32
	text         [256]byte
	// What is compiled: the source, its options and where they are, and the compiler's handle.
	source  []byte
	options [][]byte
	at      []uintptr
	program uintptr
}

// address is where something lies that is not on a goroutine's stack.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// start is where bytes lie; 0 of none.
func start(b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	return address(&b[0])
}

// text is a C string of the library's.
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
