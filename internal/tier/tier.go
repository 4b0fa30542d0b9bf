// Package tier says how much a test tries: a sample in the short tier, which `go test ./...` is,
// and everything in the long one (`-tags long`), which .ci/run runs besides. Under the race
// detector, which makes a program ten times as slow, what has no goroutines tries less. .ci/run
// runs the long tier only of packages whose test binary the tag changes: those that depend on this
// package are among them. The package must not know what is tried.
package tier

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// Main is m.Run with a heap that grows more between collections: tests build and drop thousands of
// small things, and would spend a fifth of their time on collecting them. What is never written to
// takes no memory, but counts as heap: nothing is collected before there are 128 MiB more, and then
// at three times what is alive.
func Main(m *testing.M) int {
	unused := make([]byte, 64<<20)
	debug.SetGCPercent(200)
	code := m.Run()
	runtime.KeepAlive(unused)
	return code
}

// Of chooses the amount for this tier.
func Of[T any](short, full T) T {
	if Long {
		return full
	}
	return short
}

// Raced chooses the amount for this tier, or the least under the race detector.
func Raced[T any](race, short, full T) T {
	if Race && !Long {
		return race
	}
	return Of(short, full)
}
