package synth

import (
	"encoding/json"
	"math/rand"
	"os"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/topology"
	"collsim/unit"
)

// TestMain is tier.Main.
func TestMain(m *testing.M) { os.Exit(tier.Main(m)) }

// TestPublished: of every network of ForestColl's optima, the trees reach 97 % of the optimum, with
// at most 16 of each rank, and never exceed it.
func TestPublished(t *testing.T) {
	text, err := os.ReadFile("../../bounds/testdata/optimal_algbw.json")
	require.NoError(t, err)
	var optimal map[string]struct {
		Algbw float64 `json:"opt_algbw"`
	}
	require.NoError(t, json.Unmarshal(text, &optimal))
	networks := published()
	require.Len(t, networks, len(optimal))
	for name, want := range optimal {
		for _, reversed := range []bool{false, true} {
			n := newNetwork(graph(t, networks[name]))
			if reversed {
				n = n.reversed()
			}
			list, err := n.forests(func(k int64) demand { return everywhere(n.ranks, k) }, 1, mostTrees)
			require.NoError(t, err, name)
			f := list[len(list)-1]
			algbw := float64(f.Each) * float64(f.Units) * float64(n.ranks) / 1e9
			require.GreaterOrEqual(t, algbw, 0.97*want.Algbw, name)
			require.LessOrEqual(t, algbw, want.Algbw*(1+1e-9), name)
			for _, f := range list {
				checkForest(t, n, f)
			}
		}
	}
}

// checkForest checks that trees are spanning trees along hops of the network, that each root has
// all of its parts, and that no link carries more than its rate, summed up link by link.
func checkForest(t require.TestingT, n *network, f *Forest) {
	for l, rate := range loads(t, n, f) {
		require.LessOrEqual(t, rate, n.links[l].rate)
	}
}

// loads checks the trees of a forest, and returns what they send over each link.
func loads(t require.TestingT, n *network, f *Forest) []unit.Rate {
	units := make([]int64, n.ranks)
	load := make([]unit.Rate, len(n.links))
	for _, tree := range f.Trees {
		units[tree.Root] += tree.Units
		for rank, parent := range tree.Parent {
			if rank == tree.Root {
				require.EqualValues(t, -1, parent)
				continue
			}
			at, hops := rank, 0
			for ; at != tree.Root && hops <= n.ranks; hops++ {
				at = int(tree.Parent[at])
			}
			require.Equal(t, int(tree.Depth[rank]), hops, "rank %d is not below its root", rank)
			h := slices.IndexFunc(n.hops, func(h hop) bool {
				return h.from == int(parent) && h.to == rank
			})
			require.GreaterOrEqual(t, h, 0)
			for _, l := range n.hops[h].links {
				load[l] += unit.Rate(tree.Units) * f.Each
			}
		}
	}
	require.Equal(t, f.Of, units)
	total, roots := int64(0), 0
	for _, k := range units {
		total += k
		roots += int(min(1, k))
	}
	require.Equal(t, []int64{total, slices.Max(units)}, []int64{f.Total, f.Units})
	require.Equal(t, roots, f.Roots)
	return load
}

// bestByCuts returns what the best trees of each of some roots carry together, by the worst of all
// cuts: for every set of nodes that not all ranks are in, the rates of the links out of it over the
// roots in it (ForestColl, theorem 1; Edmonds for one root).
func bestByCuts(n *network, roots []int) float64 {
	best := 1e300
	for set := range 1 << n.nodes {
		in, all := 0, true
		for rank := range n.ranks {
			all = all && set>>rank&1 == 1
		}
		for _, root := range roots {
			in += set >> root & 1
		}
		if all || in == 0 {
			continue
		}
		out := unit.Rate(0)
		for _, l := range n.links {
			if set>>l.from&1 == 1 && set>>l.to&1 == 0 {
				out += l.rate
			}
		}
		best = min(best, float64(out)/float64(in))
	}
	return best
}

// TestBestRate holds the rate of random networks to the worst of all cuts, which are tried one by
// one: it is not above, and within three hundredths if there are direct links only. With switches
// the routes that messages take may not allow it; most do.
func TestBestRate(t *testing.T) {
	all, near := 0, 0
	property := func(seed int64) bool {
		r := rand.New(rand.NewSource(seed))
		n := newNetwork(randomGraph(t, r))
		roots, demands := []int{r.Intn(n.ranks)}, func(k int64) demand { return everywhere(n.ranks, k) }
		if r.Intn(2) == 0 {
			demands = func(k int64) demand { return from(n.ranks, roots[0], k) }
		} else {
			roots = nil
			for rank := range n.ranks {
				roots = append(roots, rank)
			}
		}
		list, err := n.forests(demands, 1, mostTrees)
		require.NoError(t, err)
		f := list[len(list)-1]
		checkForest(t, n, f)
		share := float64(f.Each) * float64(f.Units) / bestByCuts(n, roots)
		require.LessOrEqual(t, share, 1+1e-9)
		if all++; share > 0.9 {
			near++
		}
		isDirect := !slices.ContainsFunc(n.hops, func(h hop) bool { return len(h.links) > 1 })
		return share > 0.94 || !isDirect
	}
	parameters := gopter.DefaultTestParametersWithSeed(5)
	if tier.Long {
		parameters.MinSuccessfulTests = 2000
	}
	properties := gopter.NewProperties(parameters)
	properties.Property("near the worst cut", prop.ForAll(property, gen.Int64()))
	properties.TestingRun(t)
	t.Logf("%d of %d within a tenth", near, all)
	require.Greater(t, near, all*9/10)
}

// TestSharedLink: where the ranks below a switch cannot hand on to each other, every hop of a tree
// crosses the link into the switch: a tree has half of its rate.
func TestSharedLink(t *testing.T) {
	one := func(from, to string) topology.Wire {
		return topology.Wire{From: from, To: to, Bandwidth: unit.Rate(unit.GB)}
	}
	n := newNetwork(graph(t, []topology.Wire{one(gpu(0), "switch"), one("switch", gpu(1)),
		one("switch", gpu(2)), one(gpu(1), gpu(0)), one(gpu(2), gpu(0))}))
	list, err := n.forests(func(k int64) demand { return from(n.ranks, 0, k) }, 1, mostTrees)
	require.NoError(t, err)
	checkForest(t, n, list[0])
	require.InDelta(t, 0.5*float64(unit.GB), float64(list[0].Each)*float64(list[0].Units),
		0.02*float64(unit.GB))
}
