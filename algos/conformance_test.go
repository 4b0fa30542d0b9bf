package algos_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"collsim/algos"
	"collsim/algos/algostest"
)

// TestMain lets the heap, which is small, grow more between collections: the suite builds and drops
// thousands of schedules, and a third of its time would be spent on collecting them.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// TestConformance holds every algorithm to the suite.
func TestConformance(t *testing.T) {
	for _, a := range algos.Table() {
		t.Run(fmt.Sprintf("%v/%s", a.Kinds[0], a.Name), func(t *testing.T) {
			algostest.Test(t, a)
		})
	}
}
