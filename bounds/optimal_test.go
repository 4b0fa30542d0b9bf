package bounds

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/topology"
	"collsim/unit"
)

// gigabyte is the rate in which the networks below count.
const gigabyte = unit.Rate(unit.GB)

// wire is a pair of links of so many gigabytes a second.
func wire(from, to string, capacity int) topology.Wire {
	return topology.Wire{From: from, To: to, Bandwidth: unit.Rate(capacity) * gigabyte, Both: true}
}

func gpu(r int) string { return fmt.Sprintf("gpu%d", r) }

// grid is a mesh of rows × columns, or with around a torus.
func grid(rows, columns int, around bool) (wires []topology.Wire) {
	for r := range rows {
		for c := range columns {
			if c+1 < columns || around {
				wires = append(wires, wire(gpu(r*columns+c), gpu(r*columns+(c+1)%columns), 1))
			}
			if r+1 < rows || around {
				wires = append(wires, wire(gpu(r*columns+c), gpu((r+1)%rows*columns+c), 1))
			}
		}
	}
	return wires
}

// circle is a ring of unit links, to one neighbour only or to both.
func circle(ranks int, both bool) (wires []topology.Wire) {
	for r := range ranks {
		w := wire(gpu(r), gpu((r+1)%ranks), 1)
		w.Both = both
		wires = append(wires, w)
	}
	return wires
}

// cluster is nodes of GPUs on a switch of their own, each of which also has a wire to one of some
// switches between the nodes, in turn.
func cluster(nodes, gpus, inside, between, planes int) (wires []topology.Wire) {
	for r := range nodes * gpus {
		wires = append(wires,
			wire(gpu(r), fmt.Sprintf("node%d", r/gpus), inside),
			wire(gpu(r), fmt.Sprintf("plane%d", r%gpus%planes), between))
	}
	return wires
}

// matrix is a wire for every pair of ranks with a number above 0 in the upper triangle.
func matrix(capacity int, rows ...[]int) (wires []topology.Wire) {
	for r, row := range rows {
		for c, n := range row {
			if c > r && n > 0 {
				wires = append(wires, wire(gpu(r), gpu(c), n*capacity))
			}
		}
	}
	return wires
}

// dgx1 is the hybrid cube mesh of NVIDIA's DGX-1 with V100: NVLinks of each pair.
func dgx1() []topology.Wire {
	return matrix(1,
		[]int{0, 1, 1, 2, 2},
		[]int{0, 0, 2, 1, 0, 2},
		[]int{0, 0, 0, 2, 0, 0, 1},
		[]int{0, 0, 0, 0, 0, 0, 0, 1},
		[]int{0, 0, 0, 0, 0, 1, 1, 2},
		[]int{0, 0, 0, 0, 0, 0, 2, 1},
		[]int{0, 0, 0, 0, 0, 0, 0, 2})
}

// mi250 is 8 MI250 of two dies each, xGMI links of 50 GB/s: 4 between the dies of a package, and
// those of ForestColl's figure 1 (topologies.py in its repository) between packages.
func mi250() []topology.Wire {
	wires := []topology.Wire{}
	for die := 0; die < 16; die += 2 {
		wires = append(wires, wire(gpu(die), gpu(die+1), 200))
	}
	for _, pair := range [][2]int{{0, 4}, {3, 7}, {8, 12}, {11, 15}} {
		wires = append(wires, wire(gpu(pair[0]), gpu(pair[1]), 100))
	}
	for _, pair := range [][2]int{{0, 8}, {1, 5}, {1, 9}, {1, 10}, {2, 6}, {2, 9}, {2, 10}, {3, 11},
		{4, 6}, {5, 6}, {5, 7}, {9, 13}, {10, 14}, {12, 14}, {13, 14}, {13, 15}} {
		wires = append(wires, wire(gpu(pair[0]), gpu(pair[1]), 50))
	}
	return wires
}

// published are the networks of optimal_algbw.json.
func published() map[string][]topology.Wire {
	complete := func(n int) (wires []topology.Wire) {
		for r := range n {
			for c := range r {
				wires = append(wires, wire(gpu(r), gpu(c), 1))
			}
		}
		return wires
	}
	star := func(n, capacity int) (wires []topology.Wire) {
		for r := range n {
			wires = append(wires, wire(gpu(r), "switch", capacity))
		}
		return wires
	}
	cube := matrix(1, []int{0, 1, 1, 0, 1}, []int{0, 0, 0, 1, 0, 1}, []int{0, 0, 0, 1, 0, 0, 1},
		[]int{0, 0, 0, 0, 0, 0, 0, 1}, []int{0, 0, 0, 0, 0, 1, 1}, []int{0, 0, 0, 0, 0, 0, 0, 1},
		[]int{0, 0, 0, 0, 0, 0, 0, 1})
	return map[string][]topology.Wire{
		"ring4": circle(4, true), "ring8": circle(8, true), "uniring8": circle(8, false),
		"torus4x4": grid(4, 4, true), "torus3x3": grid(3, 3, true),
		"mesh3x3": grid(3, 3, false), "mesh4x4": grid(4, 4, false),
		"hypercube3": cube, "full4": complete(4), "full8": complete(8), "star8": star(8, 1),
		"twolevel_2x4_10_1":   cluster(2, 4, 10, 1, 1),
		"twolevel_2x8_300_25": cluster(2, 8, 300, 25, 1),
		"twolevel_3x4_10_1":   cluster(3, 4, 10, 1, 1),
		"dgx1_v100":           dgx1(),
		"a100_1":              star(8, 300),
		"a100_2":              cluster(2, 8, 300, 25, 2),
		"mi250_1":             mi250(),
	}
}

// TestOptimalAllGather holds the bound of all_gather, and that of reduce_scatter, to ForestColl's
// optimal bandwidths, which its program (liangyuRain/ForestColl 3c13aee, Apache-2.0, run on these
// networks) found by another way: a binary search over whether trees can be packed.
func TestOptimalAllGather(t *testing.T) {
	text, err := os.ReadFile("testdata/optimal_algbw.json")
	require.NoError(t, err)
	var optimal map[string]struct {
		Algbw float64 `json:"opt_algbw"`
	}
	require.NoError(t, json.Unmarshal(text, &optimal))
	networks := published()
	require.Len(t, networks, len(optimal))
	for name, want := range optimal {
		t.Run(name, func(t *testing.T) {
			g, err := topology.Links(0, networks[name])
			require.NoError(t, err)
			const count = 10_000_000
			ranks := len(g.Ranks)
			for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter} {
				b := boundsOf(t, specOf(kind, ranks, count), g)
				// algbw in GB/s is bytes a nanosecond; the bound is the optimal time, rounded up.
				ideal := float64(ranks*count*4) * 1000 / want.Algbw
				require.InDelta(t, ideal+0.5, float64(b.Bandwidth), 0.5+ideal*1e-12, kind)
				require.False(t, b.Partial)
			}
		})
	}
}

// TestLimitingCut shows which cut is found where the ports of a rank are not the limit.
func TestLimitingCut(t *testing.T) {
	tests := []struct {
		network string
		kind    collective.Kind
		want    string
	}{
		{"mi250_1", collective.AllGather, "5 links into gpu0-gpu1"},
		{"mi250_1", collective.ReduceScatter, "5 links out of gpu0-gpu1"},
		{"twolevel_3x4_10_1", collective.AllGather, "4 links into gpu0-gpu3"},
		{"twolevel_2x4_10_1", collective.AllToAll, "4 links out of gpu0-gpu3"},
		{"twolevel_3x4_10_1", collective.AllReduce,
			"all links out of 3 groups of ranks (the first is gpu0-gpu3)"},
		{"mesh4x4", collective.AllToAll, "4 links out of gpu0-gpu7"},
	}
	networks := published()
	for _, tt := range tests {
		g, err := topology.Links(0, slices.Clone(networks[tt.network]))
		require.NoError(t, err)
		require.Equal(t, tt.want, boundsOf(t, specOf(tt.kind, len(g.Ranks), 1000), g).Cut,
			"%s on %s", tt.kind, tt.network)
	}
}
