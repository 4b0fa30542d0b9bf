package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRingsOfMachines: on a switch rings are in order; where GPUs have links each to each, or a
// cube of them, every channel has its own, and all NICs are entered and left as often.
func TestRingsOfMachines(t *testing.T) {
	for name, want := range map[string]struct {
		more           string
		perNode, gpus  int // of a NIC
		channels, each int // of a NIC
	}{
		"dgx-h100":   {"topology.nodes = 2\n", 0, 0, 8, 0},
		"gh200-4":    {"topology.nodes = 2\n", 4, 1, 8, 2},
		"mi300x-8":   {"topology.nodes = 3\n", 8, 1, 8, 1},
		"dgx-1v":     {"topology.nodes = 2\n", 8, 2, 8, 2},
		"hgx-a100-4": {"", 4, 4, 6, 0},
		"p3dn":       {"topology.nodes = 2\ntopology.node.ranks = 2\n", 0, 0, 8, 0},
	} {
		s, err := load("s.toml", []byte(byName(name, want.more)), testOptions())
		require.NoError(t, err, name)
		rings := s.Points[0].Topology.Rings(nil, want.channels)
		if want.perNode == 0 {
			require.Nil(t, rings, name)
			continue
		}
		require.Len(t, rings, want.channels, name)
		begin, end := map[int32]int{}, map[int32]int{}
		for _, ring := range rings {
			require.Len(t, ring, want.perNode, name)
			begin[ring[0]/int32(want.gpus)]++
			end[ring[len(ring)-1]/int32(want.gpus)]++
		}
		for nic := range int32(want.perNode / want.gpus) {
			if want.each > 0 {
				require.Equal(t, []int{want.each, want.each}, []int{begin[nic], end[nic]}, name)
			}
		}
		again := s.Points[0].Topology.Rings(nil, want.channels)
		require.Equal(t, rings, again)
	}
}
