//go:build !(linux && (amd64 || arm64) && !nohw)

package cuda

import (
	"errors"
	"runtime"
)

// loads says that this program can load libraries.
const loads = false

// open says that there is nothing to load a library with.
func open(string) (uintptr, error) {
	return 0, errors.New("this program was built without it, for " + runtime.GOOS + "/" +
		runtime.GOARCH)
}

func symbol(uintptr, string) (uintptr, error) { return open("") }

func invoke(uintptr, ...uintptr) uintptr { panic("cuda: a call without a library") }
