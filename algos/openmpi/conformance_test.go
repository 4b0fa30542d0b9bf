package openmpi_test

import (
	"fmt"
	"os"
	"testing"

	"collsim/algos/algostest"
	"collsim/algos/openmpi"
	"collsim/internal/tier"
)

// TestMain is tier.Main.
func TestMain(m *testing.M) { os.Exit(tier.Main(m)) }

// TestConformance holds every algorithm to the suite, as far as the library has it: on fewer ranks
// than ours, whose programs are mostly one for all ranks.
func TestConformance(t *testing.T) {
	for _, a := range openmpi.Table() {
		t.Run(fmt.Sprintf("%v/%s", a.Kinds[0], a.Name), func(t *testing.T) {
			all := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12}
			algostest.Test(t, a, tier.Raced([]int{3}, []int{1, 2, 3, 4, 7}, all)...)
		})
	}
}
