package openmpi_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"collsim/algos/algostest"
	"collsim/algos/openmpi"
	"collsim/internal/tier"
)

// TestMain lets the heap, which is small, grow more between collections, as in package algos.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// TestConformance holds every algorithm to the suite, as far as the library has it: on fewer ranks
// than ours, whose programs are mostly one for all ranks.
func TestConformance(t *testing.T) {
	for _, a := range openmpi.Table() {
		t.Run(fmt.Sprintf("%v/%s", a.Kinds[0], a.Name), func(t *testing.T) {
			all := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12}
			algostest.Test(t, a, tier.Raced([]int{3}, []int{1, 2, 3, 5, 6, 8}, all)...)
		})
	}
}
