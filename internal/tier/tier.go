// Package tier selects how much a test tries: a sample in the short tier (`go test ./...`),
// everything in the long tier (`-tags long`), which .ci/run runs. Tests without goroutines try less
// under the race detector, which slows programs tenfold. The package must not know what is tried.
package tier

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// Main runs m with fewer garbage collections. Tests create and drop thousands of small objects, and
// would spend a fifth of their time collecting them. An unused block counts as heap without taking
// memory. So nothing is collected before another 128 MiB, and then at three times the live heap.
func Main(m *testing.M) int {
	unused := make([]byte, 64<<20)
	debug.SetGCPercent(200)
	code := m.Run()
	runtime.KeepAlive(unused)
	return code
}

// Of returns the amount for this tier.
func Of[T any](short, full T) T {
	if Long {
		return full
	}
	return short
}

// Raced returns the amount for this tier, or the least one under the race detector.
func Raced[T any](race, short, full T) T {
	if Race && !Long {
		return race
	}
	return Of(short, full)
}
