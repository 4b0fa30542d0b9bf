package topology

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestRings: rings of a switch are in order; those of a full mesh use all its links as much; those
// of a cube of NVLinks (DGX-1V) use double links twice as often as single ones.
func TestRings(t *testing.T) {
	ranks := func(n int) (all []int32) {
		for i := range n {
			all = append(all, int32(i))
		}
		return all
	}
	g, err := Switch(8, unit.Rate(unit.GB), 0)
	require.NoError(t, err)
	for _, ring := range g.Rings(ranks(8), 4) {
		require.Equal(t, ranks(8), ring)
	}
	for n, channels := range map[int]int{3: 2, 4: 6, 5: 4, 8: 7} {
		g, err := FullMesh(n, unit.Rate(unit.GB), 0)
		require.NoError(t, err)
		load := map[int32]int{}
		for _, ring := range g.Rings(ranks(n), channels) {
			require.ElementsMatch(t, ranks(n), ring)
			for i, r := range ring {
				load[g.Route(int(r), int(ring[(i+1)%n]), nil)[0]]++
			}
		}
		most := 0
		for _, l := range load {
			most = max(most, l)
		}
		t.Log(n, channels, len(load), most)
		require.LessOrEqual(t, most, (channels+n-2)/(n-1)+1)
	}
}

// BenchmarkRings searches 24 rings of 8 ranks that are joined each to each, and of 16.
func BenchmarkRings(b *testing.B) {
	for b.Loop() {
		for _, n := range []int{8, 16} {
			g, _ := FullMesh(n, unit.Rate(unit.GB), 0)
			all := make([]int32, n)
			for i := range all {
				all[i] = int32(i)
			}
			g.Rings(all, 24)
		}
	}
}
