//go:build linux && (amd64 || arm64) && !nohw

package mpi

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// open loads a library, and its symbols for those that it loads in turn: Open MPI's components
// look for the library's own symbols. Why it could not is known to the thread alone that has tried.
func open(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// symbol is the address of a symbol.
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
