//go:build linux && (amd64 || arm64) && !nohw

package cuda

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// loads says that this program can load libraries.
const loads = true

// open loads a library. Why it could not is known to the thread alone that has tried.
func open(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// symbol is the address of a symbol.
func symbol(library uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(library, name)
}

// invoke calls a C function of integers and pointers, which returns an int or a pointer.
func invoke(function uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}
