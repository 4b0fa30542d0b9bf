package sim

import (
	"testing"

	"collsim/trace"
)

// Arrows counts the arrows that a viewer shows, for tests outside the package, which may import
// what imports it.
func Arrows(t testing.TB, tr *trace.Trace) int {
	t.Helper()
	return arrows(t, tr)
}
