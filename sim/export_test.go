package sim

import (
	"testing"

	"collsim/sim/fold"
	"collsim/trace"
)

// Arrows counts the arrows that a viewer shows, for tests outside the package, which may import
// what imports it.
func Arrows(t testing.TB, tr *trace.Trace) int {
	t.Helper()
	return arrows(t, tr)
}

// Brief returns how many sub-steps of a schedule Best lets Fold simulate where ranks can be swept.
var Brief = fold.Brief
