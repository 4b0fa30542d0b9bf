//go:build linux && (amd64 || arm64) && !nohw

package nccl

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// loads reports whether this program can load libraries.
const loads = true

// open loads a library. Why it could not, the system tells the thread that has asked.
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

// invoke calls a C function of integers and pointers, which returns one.
func invoke(function uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}

// withID are the arguments of ncclCommInitRank, one of which is 128 bytes by value. On amd64 they
// lie in the stack (System V ABI, §3.2.3), where arguments go when six registers are full; on arm64
// a pointer to them is passed (AAPCS64, §6.8.2, stage B).
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
