package bounds

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/topology"
	"collsim/unit"
)

// What is known of the least time of collectives, and the test that holds the package to it. n is
// the vector, p the ranks, B a port, γ the time of an addition a byte.
//
//	all_gather, reduce_scatter   n/p · max |S ∩ ranks| / B(S)     TestOptimalAllGather: 18 networks
//	all_reduce                   n over every cut, each way; 2(p−1)/p · n/B without switches that
//	                             add, n/B with: TestOptimalAllReduce, TestWhereSwitchesAdd
//	broadcast, reduce            n / least maximum flow of the root (Edmonds)   TestEdmonds
//	gather, scatter              blocks outside over cuts around the root       TestRootedCuts
//	all_to_all                   |S|·|ranks − S| blocks over cuts, and all bytes times the links of
//	                             their ways over all links                      TestAllToAllVolume
//	latency                      the farthest pair that must communicate        TestDiameters
//	additions                    (p−1)/p · n·γ                                  TestEvenAdditions
//	any kind, any cut            TestBandwidthEqualsWorstOfAllCuts, TestOtherKindsLieBetween
//	the largest of them, not the sum                                            TestLargestCounts
//
// Not held to: ⌈log₂ p⌉ latencies, ⌈log p over k+1⌉ for k ports, m − 1 + ⌈log₂ p⌉ rounds for m
// pieces of a broadcast, and (n/2)·log₂ p bytes of an all_to_all in as few rounds, which are of
// machines that send to one rank at a time, or to k: here a step may send to many. The linear
// programs of all_to_all (maximum concurrent flow) and of SCCL's rounds are not solved: the bounds
// of all_to_all may be below the best.

// ticks returns how long so many bytes take at a rate of gigabytes a second, given as a fraction.
func ticks(bytes int64, num, den int64) unit.Time {
	t := new(big.Rat).Mul(big.NewRat(bytes, 1), big.NewRat(den, num)) // nanoseconds
	t.Mul(t, big.NewRat(int64(unit.Nanosecond), 1))
	up := new(big.Int).Add(t.Num(), new(big.Int).Sub(t.Denom(), big.NewInt(1)))
	return unit.Time(up.Div(up, t.Denom()).Int64())
}

// TestOptimalAllReduce: bytes of the vector a nanosecond, worked out by hand from the ports of all
// ranks (2(p−1)·n over them) or of groups, and in package synth reached by trees on all of them.
func TestOptimalAllReduce(t *testing.T) {
	rates := map[string][2]int64{
		"ring4": {8, 6}, "ring8": {16, 14}, "uniring8": {8, 14}, "full4": {12, 6}, "full8": {56, 14},
		"hypercube3": {24, 14}, "torus3x3": {36, 16}, "torus4x4": {64, 30}, "mesh3x3": {24, 16},
		"mesh4x4": {48, 30}, "star8": {8, 14}, "a100_1": {2400, 14}, "dgx1_v100": {48, 14},
		"twolevel_2x4_10_1": {8, 2}, "twolevel_3x4_10_1": {12, 4}, // all nodes as groups
		"twolevel_2x8_300_25": {16 * 325, 30}, "a100_2": {16 * 325, 30},
		"mi250_1": {8 * 300, 14}, // packages of two dies: 2·7 vectors over all their links
	}
	networks := published()
	require.Len(t, rates, len(networks))
	const count = 10_000_000
	for name, rate := range rates {
		g, err := topology.Links(0, networks[name])
		require.NoError(t, err)
		b := boundsOf(t, specOf(collective.AllReduce, len(g.Ranks), count), g)
		require.Equal(t, ticks(4*count, rate[0], rate[1]), b.Bandwidth, "%s: %s", name, b.Cut)
	}
}

// naiveFlow is the maximum flow between two nodes, in gigabytes a second, one path after the other.
func naiveFlow(g *topology.Graph, from, to int32, backward bool) (total int64) {
	room := map[[2]int32]int64{}
	for _, l := range g.Links() {
		if backward {
			l.From, l.To = l.To, l.From
		}
		room[[2]int32{l.From, l.To}] += int64(l.Bandwidth / gigabyte)
	}
	for {
		before := map[int32]int32{from: from}
		queue := []int32{from}
		for i := 0; i < len(queue); i++ {
			for v := range int32(len(g.Nodes())) {
				if _, seen := before[v]; !seen && room[[2]int32{queue[i], v}] > 0 {
					before[v] = queue[i]
					queue = append(queue, v)
				}
			}
		}
		if _, reached := before[to]; !reached {
			return total
		}
		least := int64(1) << 60
		for v := to; v != from; v = before[v] {
			least = min(least, room[[2]int32{before[v], v}])
		}
		for v := to; v != from; v = before[v] {
			room[[2]int32{before[v], v}] -= least
			room[[2]int32{v, before[v]}] += least
		}
		total += least
	}
}

// TestEdmonds: a broadcast takes the vector over the least maximum flow of its root to a rank, and
// a reduce that of the network turned round.
func TestEdmonds(t *testing.T) {
	const count = 1_000_000
	for name, wires := range published() {
		g, err := topology.Links(0, wires)
		require.NoError(t, err)
		for _, root := range []int{0, 1, len(g.Ranks) - 1} {
			for _, kind := range []collective.Kind{collective.Broadcast, collective.Reduce} {
				least := int64(1) << 60
				for r, v := range g.Ranks {
					if r != root {
						least = min(least, naiveFlow(g, g.Ranks[root], v, kind == collective.Reduce))
					}
				}
				spec := specOf(kind, len(g.Ranks), count)
				spec.Root = root
				require.Equal(t, ticks(4*count, least, 1), boundsOf(t, spec, g).Bandwidth, "%s %v of %d",
					name, kind, root)
			}
		}
	}
}

// inBlocks holds the bandwidth bounds of kinds to a number of blocks a gigabyte a second, as a
// fraction.
func inBlocks(t *testing.T, blocks map[string][2]int64, kinds ...collective.Kind) {
	const count = 1_000_000
	networks := published()
	for name, want := range blocks {
		g, err := topology.Links(0, networks[name])
		require.NoError(t, err)
		for _, kind := range kinds {
			b := boundsOf(t, specOf(kind, len(g.Ranks), count), g)
			require.Equal(t, ticks(4*count, want[1], want[0]), b.Bandwidth, "%s %v: %s", name, kind,
				b.Cut)
		}
	}
}

// TestRootedCuts: blocks of the ranks outside over the links of a cut around rank 0: mostly its own
// ports; the links of its node, or of the other nodes, where these are slow.
func TestRootedCuts(t *testing.T) {
	inBlocks(t, map[string][2]int64{
		"ring4": {3, 2}, "ring8": {7, 2}, "uniring8": {7, 1}, "full4": {3, 3}, "full8": {7, 7},
		"hypercube3": {7, 3}, "torus3x3": {8, 4}, "torus4x4": {15, 4}, "mesh3x3": {8, 2},
		"mesh4x4": {15, 2}, "star8": {7, 1}, "a100_1": {7, 300}, "dgx1_v100": {7, 6},
		"twolevel_2x4_10_1": {4, 4}, "twolevel_3x4_10_1": {8, 4}, "twolevel_2x8_300_25": {15, 325},
		"a100_2": {15, 325}, "mi250_1": {14, 300},
	}, collective.Gather, collective.Scatter)
}

// TestAllToAllVolume: by hand, from the sum of all distances over all links where every link is
// like every other, from halves of the ranks where some links are fewer. That of 16 dies of MI250
// is not known by hand; TestOtherKindsLieBetween has such irregular networks.
func TestAllToAllVolume(t *testing.T) {
	inBlocks(t, map[string][2]int64{
		"ring4": {4 * 4, 8}, "ring8": {8 * 16, 16}, "uniring8": {8 * 28, 8}, "full4": {1, 1},
		"full8": {1, 1}, "hypercube3": {8 * 12, 24}, "torus3x3": {9 * 12, 36},
		"torus4x4": {16 * 32, 64}, "mesh4x4": {8 * 8, 4}, "star8": {7, 1}, "a100_1": {7, 300},
		"mesh3x3": {3 * 6, 3}, "twolevel_2x4_10_1": {4 * 4, 4}, "twolevel_3x4_10_1": {4 * 8, 4},
		"twolevel_2x8_300_25": {8 * 8, 8 * 25}, "a100_2": {8 * 8, 8 * 25}, "dgx1_v100": {4 * 4, 6},
	}, collective.AllToAll)
}

// TestDiameters: the latency is that of the longest of all shortest ways.
func TestDiameters(t *testing.T) {
	links := map[string]unit.Time{"ring4": 2, "ring8": 4, "uniring8": 7, "full4": 1, "full8": 1,
		"hypercube3": 3, "torus3x3": 2, "torus4x4": 4, "mesh3x3": 4, "mesh4x4": 6, "star8": 2,
		"a100_1": 2, "dgx1_v100": 2, "mi250_1": 5, "twolevel_2x4_10_1": 2, "twolevel_3x4_10_1": 2,
		"twolevel_2x8_300_25": 2, "a100_2": 4}
	networks := published()
	for name, want := range links {
		wires := networks[name]
		for i := range wires {
			wires[i].Latency = hop
		}
		g, err := topology.Links(0, wires)
		require.NoError(t, err)
		for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather,
			collective.ReduceScatter, collective.AllToAll, collective.Barrier} {
			b := boundsOf(t, specOf(kind, len(g.Ranks), 1), g)
			require.Equal(t, want*hop, b.Latency, "%s %v", name, kind)
		}
	}
}

// TestEvenAdditions: p − 1 additions of every element, which all ranks share; no time without a
// reduction.
func TestEvenAdditions(t *testing.T) {
	g := preset(t, "switch", 8)
	const count = 8000 // 32000 bytes of a vector
	o := Options{ReduceRate: unit.Rate(unit.GB), Lanes: 2}
	for kind, vector := range map[collective.Kind]int64{collective.AllReduce: 4 * count,
		collective.Reduce: 4 * count, collective.ReduceScatter: 8 * 4 * count,
		collective.AllGather: 0, collective.AllToAll: 0} {
		b, err := For(specOf(kind, 8, count), g, o)
		require.NoError(t, err)
		require.Equal(t, ticks(7*vector, 8*2, 1), b.Reduction, kind)
	}
}

// TestLargestCounts: a bound is the largest part and not the sum, but for the way over a cut.
func TestLargestCounts(t *testing.T) {
	g := preset(t, "switch", 8)
	for _, rate := range []unit.Rate{unit.Rate(unit.MB), gigabyte, 100 * gigabyte} {
		for count := int64(1); count < 1<<24; count *= 16 {
			b, err := For(specOf(collective.AllReduce, 8, count), g,
				Options{ReduceRate: rate, Lanes: 1, Overhead: 3 * unit.Microsecond})
			require.NoError(t, err)
			bandwidth := b.Bandwidth + 2*hop + 3*unit.Microsecond
			require.Equal(t, max(b.Latency, b.Reduction, bandwidth), b.Lower)
		}
	}
}
