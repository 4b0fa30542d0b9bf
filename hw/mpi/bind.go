//go:build linux && (amd64 || arm64) && !nohw

package mpi

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// open loads a library. Its symbols are global, since Open MPI's components look for symbols of the
// library itself. The thread is locked, since dlopen reports its error to the calling thread only.
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

// invoke calls a C function of integers and pointers, which returns an int.
func invoke(function uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(function, args...)
	return int32(r)
}
