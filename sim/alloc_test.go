package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
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

// TestAllocationsOfTrees: a rank of each class of a tree allocates its sub-steps when they are
// written down, and next to nothing when they are carried out.
func TestAllocationsOfTrees(t *testing.T) {
	tree, err := algos.Find(collective.AllReduce, "double-binary-tree")
	require.NoError(t, err)
	for _, sharing := range []Sharing{FIFO, Fluid} {
		allocations := func(segments int64) (allocs, steps float64) {
			spec := simtest.AllReduce(8, segments<<16)
			s, err := tree.Build(spec, algos.Options{Params: []algos.Param{{Name: "segment",
				Value: "65536"}}})
			require.NoError(t, err)
			env := simtest.OnSwitch(t, 8, gbs, 100*ns)
			env.Sharing = sharing
			return testing.AllocsPerRun(5, func() {
				r, err := Run(s, env, Options{Engine: Fold})
				require.NoError(t, err)
				steps = float64(r.Steps)
			}), steps
		}
		few, before := allocations(100)
		many, after := allocations(200)
		t.Logf("%v: %v allocations of %v steps, %v of %v", sharing, few, before, many, after)
		require.Less(t, (many-few)/(after-before), 3.0)
	}
}
