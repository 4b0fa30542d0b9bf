//go:build linux && (amd64 || arm64) && !nohw

package cuda

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// loads reports that this program can load libraries.
const loads = true

// open loads a library. The thread is locked, since dlopen reports its error to the calling thread
// only.
func open(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// symbol returns the address of a symbol.
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
