//go:build !(linux && (amd64 || arm64) && !nohw)

package mpi

import (
	"errors"
	"runtime"
)

// open fails: this build has no dynamic loader.
func open(string) (uintptr, error) {
	return 0, errors.New("this program was built without it, for " + runtime.GOOS + "/" +
		runtime.GOARCH)
}

func symbol(uintptr, string) (uintptr, error) { return open("") }

func invoke(uintptr, ...uintptr) int32 { panic("mpi: a call without a library") }
