package run_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

// uneven is a collective on DGX H100 of which nodes have so many GPUs.
const uneven = `topology.preset = "dgx-h100"
topology.node.ranks = %s
collective.kind = %q
collective.bytes = %q
collective.algorithm = %q
%s
`

// TestUnevenNodesTakeAllNICs: where nodes differ, channels leave each by all its NICs: the node
// that has fewest is busy, and an algorithm of one channel takes one.
func TestUnevenNodesTakeAllNICs(t *testing.T) {
	for _, c := range []struct {
		nodes, kind, algorithm, more string
		busbw                        float64 // at least, in GB/s; a NIC has 47.5
	}{
		{"[8, 8, 4]", "all_reduce", "ring", "", 0.95 * 4 * 47.5},
		{"[8, 8, 4]", "all_gather", "ring", "", 0.95 * 4 * 47.5},
		{"[8, 8, 4]", "all_reduce", "double-binary-tree", "", 0.85 * 4 * 47.5},
		{"[8, 8, 4]", "all_reduce", "fastest", "", 0.95 * 4 * 47.5},
		{"[8, 2]", "all_reduce", "ring", "", 0.9 * 2 * 47.5},
		{"[8, 8]", "all_reduce", "ring", "topology.absent = [\"node1/gpu6\", \"node1/gpu7\"]", 200},
		{"[8, 8]", "all_reduce", "ring", "topology.absent = \"node1/nic3\"", 150},
	} {
		text := fmt.Sprintf(uneven, c.nodes, c.kind, "256 MiB", c.algorithm,
			c.more+"\ncheck.numbers = false")
		bus, _ := reportOf(t, text).Results[0].BusBW()
		require.GreaterOrEqual(t, bus, c.busbw, "%+v", c)
	}
	text := fmt.Sprintf(uneven, "[8, 4]", "all_reduce", "64 KiB", "nccl:ring", "")
	nccl := reportOf(t, text).Results[0]
	require.Contains(t, strings.Join(nccl.Warnings, "\n"), "nccl:ring: NCCL's model has nodes of as "+
		"many ranks each, and takes these, of 4 to 8, for one")
}

// TestUnevenNodesAreRight: on random nodes, some of whose GPUs and NICs are absent, all algorithms
// of every kind are proven, and their numbers exact; also on teams of nodes, and of rails.
func TestUnevenNodesAreRight(t *testing.T) {
	results := 0
	for i := range tier.Of(6, 60) {
		rng := rand.New(rand.NewPCG(uint64(i), 38))
		var sizes, absent []string
		for node := range 2 + rng.IntN(3) {
			size := 1 + rng.IntN(4)
			sizes = append(sizes, fmt.Sprint(size))
			what := rng.IntN(4)
			if size > 1 && what > 1 {
				absent = append(absent, fmt.Sprintf(`"node%d/gpu%d"`, node, rng.IntN(size)))
			}
			if size > 1 && what == 1 {
				absent = append(absent, fmt.Sprintf(`"node%d/nic%d"`, node, rng.IntN(size)))
			}
		}
		more := fmt.Sprintf("topology.network.preset = \"switch\"\ncollective.channels = %d\n"+
			"collective.teams = %q\n", 1+rng.IntN(3),
			[]string{"all", "all", "node", "rail"}[rng.IntN(4)])
		if absent != nil {
			more += "topology.absent = [" + strings.Join(absent, ", ") + "]\n"
		}
		for _, kind := range []string{"all_reduce", "all_gather", "reduce_scatter", "broadcast",
			"all_to_all", "reduce", "gather", "scatter"} {
			text := fmt.Sprintf(uneven, "["+strings.Join(sizes, ", ")+"]", kind, "5000 B", "all", more)
			for _, r := range reportOf(t, text).Results {
				results++
				require.Equal(t, "proved", r.Proof, "%s%v", text, r.Algorithm)
				require.Contains(t, []string{"exact", "bounded"}, r.Numbers, "%s%v", text, r.Algorithm)
				require.Zero(t, r.Wrong, "%s%v", text, r.Algorithm)
			}
		}
	}
	require.Greater(t, results, 100)
}
