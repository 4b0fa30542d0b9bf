package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/sim/simtest"
)

// TestAllocations: what a run allocates does not depend on how many messages it plays.
func TestAllocations(t *testing.T) {
	for _, sharing := range []Sharing{FIFO, Fluid} {
		allocations := func(slices int) float64 {
			p := simtest.RingPlan(8, 1<<20)
			p.Slices, p.Channels = slices, 2
			s := simtest.Build(t, p)
			env := simtest.OnSwitch(t, 8, gbs, 100*ns)
			env.Sharing, env.Slots = sharing, slices+1
			return testing.AllocsPerRun(5, func() {
				_, err := Run(s, env, Options{Engine: Event})
				require.NoError(t, err)
			})
		}
		few, many := allocations(7), allocations(70) // 1568 and 15680 messages
		t.Logf("%v: %v allocations, %v with 10 times the messages", sharing, few, many)
		// Lists grow by doubling; the race detector has more of them on the heap.
		require.InDelta(t, few, many, tier.Raced(45.0, 30, 30))
	}
}
