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
			for _, nodes := range tier.Of([][]int{{2, 2}, {4, 4}, {3, 3, 3}, {3, 1}, {2, 4, 1}},
				[][]int{{2, 2}, {4, 4}, {3, 3, 3}, {2, 2, 2, 2}, {3, 3}, {4, 4, 4, 4, 4}, {8, 8, 8},
					{3, 1}, {1, 4}, {2, 4, 1}, {4, 4, 2}, {1, 1, 2, 3}, {5, 3, 8, 1}, {8, 8, 4}}) {
				algostest.TestOn(t, a, nodes...)
			}
		})
	}
	require.GreaterOrEqual(t, turned, 8)
}

// TestTurnedLeavesUnevenNodes: where nodes differ, channels leave each of them by all its ranks, as
// evenly as they can, and enter it so.
func TestTurnedLeavesUnevenNodes(t *testing.T) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 9, Count: 1 << 12}
	ring, err := algos.Find(spec.Kind, "ring")
	require.NoError(t, err)
	for _, channels := range []int{2, 4, 6, 8, 12} {
		s, err := ring.Build(spec, algos.Options{Channels: channels, Nodes: []int{4, 2, 3}})
		require.NoError(t, err)
		home := []int{0, 0, 0, 0, 1, 1, 2, 2, 2}
		var leaves, enters [9]int
		var step schedule.Step
		for rank := range spec.Ranks {
			p := s.Program(rank)
			require.Equal(t, channels, p.Lanes())
			for lane := range p.Lanes() {
				i := p.Walk(lane)
				p.Load(&i, &step)
				if next := step.Send[0].Peer.Rank; home[next] != home[rank] {
					require.Equal(t, (home[rank]+1)%3, home[next])
					leaves[rank]++
					enters[next]++
				}
			}
		}
		for rank, size := range []int{4, 4, 4, 4, 2, 2, 3, 3, 3} {
			for _, n := range []int{leaves[rank], enters[rank]} {
				require.GreaterOrEqual(t, n, channels/size, "%d channels by rank %d", channels, rank)
				require.LessOrEqual(t, n, (channels+size-1)/size, "%d channels by rank %d", channels, rank)
			}
		}
	}
	_, err = schedule.Build(schedule.Plan{Spec: spec, Nodes: []int{4, 4}, Channels: 2})
	require.EqualError(t, err, "nodes of [4 4] ranks, of 9: all ranks, and no group, are "+
		"expected")
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
