package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/sim/simtest"
)

// TestAllocations: what a run allocates does not depend on how many messages it simulates.
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
		few, many := allocations(70), allocations(140) // 15680 and 31360 messages
		t.Logf("%v: %v allocations, %v with twice the messages", sharing, few, many)
		require.InDelta(t, few, many, 30) // lists double
	}
}
