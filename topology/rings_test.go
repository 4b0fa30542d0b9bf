package topology

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestRings: rings of a switch are in order; those of a full mesh use its links evenly.
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
		require.LessOrEqual(t, most, (channels+n-2)/(n-1)+1)
	}
}

// TestRingsOfUnequalLinks: of a cube of NVLinks (DGX-1V) 12 rings use double links twice as much as
// single ones, as NCCL's own 12 channels do, and no ring leaves the cube.
func TestRingsOfUnequalLinks(t *testing.T) {
	single, double := unit.Rate(20*unit.GB), unit.Rate(40*unit.GB)
	var wires []Wire
	for _, ends := range [][2]string{{"gpu0", "gpu1"}, {"gpu0", "gpu2"}, {"gpu1", "gpu3"},
		{"gpu2", "gpu6"}, {"gpu3", "gpu7"}, {"gpu4", "gpu5"}, {"gpu4", "gpu6"}, {"gpu5", "gpu7"}} {
		wires = append(wires, Wire{From: ends[0], To: ends[1], Bandwidth: single, Both: true})
	}
	for _, ends := range [][2]string{{"gpu0", "gpu3"}, {"gpu0", "gpu4"}, {"gpu1", "gpu2"},
		{"gpu1", "gpu5"}, {"gpu2", "gpu3"}, {"gpu4", "gpu7"}, {"gpu5", "gpu6"}, {"gpu6", "gpu7"}} {
		wires = append(wires, Wire{From: ends[0], To: ends[1], Bandwidth: double, Both: true})
	}
	g, err := Links(8, wires)
	require.NoError(t, err)
	load := map[unit.Rate]int{}
	for _, ring := range g.Rings([]int32{0, 1, 2, 3, 4, 5, 6, 7}, 12) {
		for i, r := range ring {
			route := g.Route(int(r), int(ring[(i+1)%8]), nil)
			require.Len(t, route, 1)
			load[g.Link(route[0]).Bandwidth]++
		}
	}
	require.Equal(t, map[unit.Rate]int{single: 32, double: 64}, load)
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
