package libraries

import (
	"fmt"
	"os"
	"testing"

	"collsim/algos/algostest"
	"collsim/internal/tier"
)

// TestMain is tier.Main.
func TestMain(m *testing.M) { os.Exit(tier.Main(m)) }

// TestConformance holds every choice to the suite: whatever a rule names is proven, and computes.
func TestConformance(t *testing.T) {
	for _, a := range Table() {
		t.Run(fmt.Sprintf("%v/%s", a.Kinds[0], a.Name), func(t *testing.T) {
			algostest.Test(t, a, tier.Raced([]int{3}, []int{1, 2, 3, 4, 7, 8},
				[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 33, 34})...)
		})
	}
}
