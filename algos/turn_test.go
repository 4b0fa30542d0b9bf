package algos_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// TestTurned: algorithms whose channels have orders of their own are as right as others.
func TestTurned(t *testing.T) {
	turned := 0
	for _, a := range algos.Table() {
		if !a.Turned() {
			continue
		}
		turned++
		t.Run(a.Name, func(t *testing.T) {
			for _, shape := range tier.Of([][2]int{{2, 2}, {2, 4}, {3, 3}},
				[][2]int{{2, 2}, {2, 4}, {3, 3}, {4, 2}, {2, 3}, {5, 4}, {3, 8}}) {
				algostest.TestOn(t, a, shape[0], shape[1])
			}
		})
	}
	require.GreaterOrEqual(t, turned, 8)
}

// TestTurnedLeaves: channel c leaves a node by its rank c+n−1 and enters one by its rank c; with as
// many channels as a node has ranks, all ranks of it do, and the schedule has a group.
func TestTurnedLeaves(t *testing.T) {
	for _, channels := range []int{4, 8, 3} {
		spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
			Ranks: 12, Count: 1 << 12}
		ring, err := algos.Find(spec.Kind, "ring")
		require.NoError(t, err)
		s, err := ring.Build(spec, algos.Options{Channels: channels, PerNode: 4})
		require.NoError(t, err)
		require.Equal(t, channels%4 == 0, s.Group != nil)
		leaves := map[int]int{}
		var step schedule.Step
		for rank := range spec.Ranks {
			p := s.Program(rank)
			for lane := range p.Lanes() {
				i := p.Walk(lane)
				p.Load(&i, &step)
				if next := int(step.Send[0].Peer.Rank); next/4 != rank/4 {
					leaves[rank]++
					require.Equal(t, (rank/4+1)%3, next/4)
					require.Equal(t, (rank+1)%4, next%4)
				}
			}
		}
		require.Len(t, leaves, 3*min(channels, 4))
		for rank, n := range leaves {
			require.Equal(t, max(1, channels/4), n, "rank %d", rank)
		}
	}
}
