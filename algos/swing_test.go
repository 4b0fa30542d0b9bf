package algos_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/proof"
	"collsim/schedule"
)

// TestSwingSendsOnce: on an even number of ranks, where ways round the ring meet, no block is sent
// to a rank twice.
func TestSwingSendsOnce(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter} {
		a, err := algos.Find(kind, "swing")
		require.NoError(t, err)
		for ranks := 2; ranks <= 34; ranks += 2 {
			spec := specOf(kind, ranks, 1)
			s, err := a.Build(spec, algos.Options{})
			require.NoError(t, err)
			proven, violations := proof.Verify(s, proof.Options{})
			require.Empty(t, violations)
			blocks := ranks * (ranks - 1)
			require.Equal(t, int64(blocks*spec.Type.Width()), int64(proven.BytesSent), "%d ranks", ranks)
		}
	}
}

// TestSwingOnOddTori: a network whose sizes are not all even is one ring.
func TestSwingOnOddTori(t *testing.T) {
	a, err := algos.Find(collective.AllReduce, "swing")
	require.NoError(t, err)
	for shape, lanes := range map[string]int{"4x3": 1, "11x2": 1, "12": 2, "6x2": 4, "1x6x2": 4,
		"": 1} {
		ranks := 12
		if shape == "11x2" {
			ranks = 22
		}
		s, err := a.Build(specOf(collective.AllReduce, ranks, 96), algos.Options{Shape: shape})
		require.NoError(t, err, shape)
		require.Equal(t, lanes, s.Program(0).Lanes(), shape)
	}
}

// TestSwingOnTori: on a torus the partners of a round are one, one, three, five, … links away along
// one dimension, every part of the vector goes another way, and a part goes each way.
func TestSwingOnTori(t *testing.T) {
	a, err := algos.Find(collective.AllReduce, "swing")
	require.NoError(t, err)
	s, err := a.Build(specOf(collective.AllReduce, 64, 4*64), algos.Options{Shape: "8x8"})
	require.NoError(t, err)
	p, step := s.Program(0), schedule.Step{}
	require.Equal(t, 4, p.Lanes())
	for lane, want := range [][]int{{1, 8, 7, 56, 3, 24}, {8, 1, 56, 7, 24, 3},
		{7, 56, 1, 8, 5, 40}, {56, 7, 8, 1, 40, 5}} {
		var to []int
		for at := p.Walk(lane); !at.Done(); at.Next(1) {
			p.Load(&at, &step)
			for _, sent := range step.Send {
				to = append(to, int(sent.Peer.Rank))
			}
		}
		slices.Reverse(to[6:]) // and back
		require.Equal(t, want, to[:6], "lane %d", lane)
		require.Equal(t, want, to[6:], "lane %d", lane)
	}
}
