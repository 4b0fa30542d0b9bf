//go:build linux && (amd64 || arm64) && !nohw

package nccl

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// loads reports whether this program can load libraries.
const loads = true

// open loads a library. The thread is locked, since dlopen reports its error to the calling thread
// only.
func open(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// symbol returns the address of a symbol.
func symbol(library uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(library, name)
}

// invoke calls a C function of integers and pointers, which returns one.
func invoke(function uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}

// withID returns the arguments of ncclCommInitRank, which takes a struct of 128 bytes by value. On
// amd64 the struct is on the stack, after the six registers are full (System V ABI, §3.2.3). On
// arm64 a pointer to it is passed (AAPCS64, §6.8.2, stage B).
func withID(comm uintptr, ranks int, id *uniqueID, rank int) []uintptr {
	if runtime.GOARCH == "arm64" {
		return []uintptr{comm, uintptr(ranks), address(id), uintptr(rank)}
	}
	args := []uintptr{comm, uintptr(ranks), uintptr(rank), 0, 0, 0}
	for _, word := range id {
		args = append(args, uintptr(word))
	}
	return args
}
