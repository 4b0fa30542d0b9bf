//go:build !(linux && (amd64 || arm64) && !nohw)

package cuda

import (
	"errors"
	"runtime"
)

// loads reports that this program cannot load libraries.
const loads = false

// open fails: this build has no dynamic loader.
func open(string) (uintptr, error) {
	return 0, errors.New("this program was built without it, for " + runtime.GOOS + "/" +
		runtime.GOARCH)
}

func symbol(uintptr, string) (uintptr, error) { return open("") }

func invoke(uintptr, ...uintptr) uintptr { panic("cuda: a call without a library") }
