package topology

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// wiresOf lists the links of a network, and those to NICs that share GPUs evenly in a full node.
func wiresOf(g *Graph, gpus, nics int) (wires []Wire) {
	for _, l := range g.Links() {
		wires = append(wires, Wire{From: g.Node(l.From).Name, To: g.Node(l.To).Name,
			Bandwidth: l.Bandwidth, Latency: l.Latency, Length: 1 + int(l.extra)})
	}
	for i := range max(gpus, nics) {
		gpu, nic := i*gpus/max(gpus, nics), i*nics/max(gpus, nics)
		if gpu < len(g.Ranks) {
			wires = append(wires, Wire{From: rankName(gpu), To: fmt.Sprint("nic", nic), Both: true,
				Bandwidth: unit.Unlimited})
		}
	}
	return wires
}

// randomUneven is a cluster whose nodes are not alike, and the wires of each node.
func randomUneven(rng *rand.Rand) (p Params, nodes [][]Wire, nics int, err error) {
	count, gpus := 1+rng.Intn(4), 1+rng.Intn(5)
	for range count {
		p.Sizes = append(p.Sizes, 1+rng.Intn(gpus))
	}
	p.Sizes[rng.Intn(count)] = gpus
	nics = 1 + rng.Intn(4)
	p.Network = &Params{Preset: []string{"rails", "switch", "ring", "leaf-spine", "full-mesh",
		"switch"}[rng.Intn(6)], Bandwidth: rate, Latency: hop, NICs: nics}
	if rng.Intn(2) == 0 {
		p.Node = &Params{Preset: "links", Wires: randomWires(rng, gpus, 1+rng.Intn(3), nics)}
	} else {
		p.Node = &Params{Preset: []string{"switch", "full-mesh", "ring", "tree"}[rng.Intn(4)],
			Bandwidth: rate}
		if p.Node.Preset == "tree" {
			p.Node.K = 2
		}
	}
	for _, size := range p.Sizes {
		if p.Node.Wires != nil {
			nodes = append(nodes, slices.DeleteFunc(slices.Clone(p.Node.Wires), func(w Wire) bool {
				from, _ := numberedName(w.From, "gpu")
				to, _ := numberedName(w.To, "gpu")
				return max(from, to) >= size
			}))
			continue
		}
		inside := *p.Node
		inside.Ranks = size
		g, err := Build(inside)
		if err != nil {
			return p, nil, 0, err
		}
		nodes = append(nodes, wiresOf(g, gpus, nics))
	}
	for node, size := range p.Sizes {
		for v := range size + nics {
			if rng.Intn(5) == 0 {
				name := placeName(node, v, false)
				if v >= size {
					name = placeName(node, v-size, true)
				}
				p.Absent = append(p.Absent, name)
			}
		}
	}
	p.Routing = Routing(rng.Intn(2))
	return p, nodes, nics, nil
}

// placesLeft are the names of the GPUs that are there, in order.
func placesLeft(p *Params) (names []string) {
	for node, size := range p.Sizes {
		for gpu := range size {
			if name := placeName(node, gpu, false); !slices.Contains(p.Absent, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// isPossible reports whether all GPUs that are there reach each other, inside their node or over
// one crossing of the network.
func isPossible(names []string, shortest map[[2]string]int) bool {
	for _, from := range names {
		for _, to := range names {
			fromNode, _, _ := strings.Cut(from, "/")
			toNode, _, _ := strings.Cut(to, "/")
			most := 0
			if fromNode != toNode {
				most = 2
			}
			if d, ok := shortest[[2]string{from, to}]; from != to && (!ok || d/aCrossing > most) {
				return false
			}
		}
	}
	return len(names) > 0
}

// TestUnevenFollowsTheNaiveSearch: ranks, and the routes between them, of random clusters whose
// nodes have different numbers of GPUs, and gaps; and what is refused is impossible.
func TestUnevenFollowsTheNaiveSearch(t *testing.T) {
	params := gopter.DefaultTestParametersWithSeed(12)
	params.MinSuccessfulTests = 600
	built := 0
	p := gopter.NewProperties(params)
	p.Property("random nodes", prop.ForAll(func(seed int64) (bool, error) {
		given, nodes, nics, err := randomUneven(rand.New(rand.NewSource(seed)))
		if err != nil {
			return false, err
		}
		between, err := given.Network.between(len(nodes), slices.Max(given.Sizes), nics)
		if err != nil {
			return false, err
		}
		absent := map[string]bool{}
		for _, name := range given.Absent {
			absent[name] = true
		}
		c := compose(nodes, nics, between, absent)
		names := placesLeft(&given)
		g, err := Build(given)
		if err == nil {
			err = g.Connected()
		}
		if isPossible(names, c.lengths()) != (err == nil) {
			return false, fmt.Errorf("%+v %+v: %w", given, given.Node, err)
		}
		if err != nil {
			return true, nil
		}
		built++
		for r, name := range names {
			if got := g.Node(g.Ranks[r]).Name; got != name {
				return false, fmt.Errorf("%+v: rank %d is %s, not %s", given, r, got, name)
			}
		}
		if err = followsNaive(g.Clone(), c); err == nil {
			err = equalsRule(g)
		}
		if err != nil {
			err = fmt.Errorf("%+v: %w", given, err)
		}
		return err == nil, err
	}, gen.Int64()))
	p.TestingRun(t)
	require.Greater(t, built, 200)
}

// TestUneven: what the nodes of a cluster are said to be, and what is wrong with it.
func TestUneven(t *testing.T) {
	const all = "node0/gpu0 node0/gpu1 node0/gpu2 node0/gpu3 " +
		"node1/gpu0 node1/gpu1 node1/gpu2 node1/gpu3"
	tests := []struct {
		name string
		with Params
		want string // names of the ranks, or an error
	}{
		{"alike by a list", Params{Sizes: []int{4, 4}}, all},
		{"by a list", Params{Sizes: []int{3, 1, 2}},
			"node0/gpu0 node0/gpu1 node0/gpu2 node1/gpu0 node2/gpu0 node2/gpu1"},
		{"round-robin", Params{Sizes: []int{3, 1, 2}, Order: "round-robin"},
			"node0/gpu0 node1/gpu0 node2/gpu0 node0/gpu1 node2/gpu1 node0/gpu2"},
		{"places", Params{Sizes: []int{2, 1}, Places: []int{2, 0, 1}},
			"node1/gpu0 node0/gpu0 node0/gpu1"},
		{"absent", Params{Nodes: 2, Absent: []string{"node0/gpu1", "node1/gpu*", "node1/nic0"}},
			"node0/gpu0 node0/gpu2 node0/gpu3"},
		{"all NICs but of one node's", Params{Nodes: 2, Absent: []string{"*/nic*", "node0/*"}},
			"node1/gpu0 node1/gpu1 node1/gpu2 node1/gpu3"},
		{"a list and a gap", Params{Sizes: []int{2, 3}, Absent: []string{"*/gpu0"}},
			"node0/gpu1 node1/gpu1 node1/gpu2"},
		{"as many as they say", Params{Ranks: 5, Sizes: []int{4, 1}},
			"node0/gpu0 node0/gpu1 node0/gpu2 node0/gpu3 node1/gpu0"},

		{"none left", Params{Nodes: 2, Absent: []string{"*/gpu*"}},
			`absent = ["*/gpu*"]: no rank is left`},
		{"no NIC left", Params{Nodes: 2, Absent: []string{"node1/nic*"}},
			`absent = ["node1/nic*"]: node1 has 4 ranks, and none has a NIC`},
		{"no such place", Params{Nodes: 2, Absent: []string{"node1/gpu4"}}, "absent = " +
			`"node1/gpu4": matches no GPU and no NIC; nearest: node1/gpu0, node1/gpu1, node1/gpu2`},
		{"no such node", Params{Nodes: 2, Absent: []string{"node2/gpu3"}}, "absent = " +
			`"node2/gpu3": matches no GPU and no NIC; nearest: node0/gpu3, node1/gpu3, node0/gpu0`},
		{"not in the list", Params{Sizes: []int{2, 3}, Absent: []string{"node0/gpu2"}},
			`absent = "node0/gpu2": matches no GPU and no NIC; nearest: node0/gpu0, ` +
				`node0/gpu1, node1/gpu2`},
		{"an empty node", Params{Sizes: []int{2, 0}},
			"node.ranks = [2 0]: 1 rank or more in each node are expected"},
		{"other nodes", Params{Nodes: 3, Sizes: []int{2, 4}}, "node.ranks = [2 4]: " +
			"nodes = 3: the ranks of as many nodes are expected, not of 2"},
		{"other ranks", Params{Ranks: 5, Sizes: []int{2, 4}},
			"ranks = 5: nodes of [2 4] ranks have 6"},
		{"two numbers", Params{Sizes: []int{2, 4}, Node: &Params{Preset: "switch", Ranks: 4,
			Bandwidth: rate}}, "node.ranks = [2 4]: a number or a list is expected, not both"},
		{"a ring in pieces", Params{Nodes: 2, Absent: []string{"node1/gpu0", "node1/gpu2"},
			Node: &Params{Preset: "ring", Ranks: 4, Bandwidth: rate}}, "absent = " +
			`["node1/gpu0" "node1/gpu2"]: what is left of node1 does not reach each other`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.with.Node == nil {
				tt.with.Node = &Params{Preset: "switch", Bandwidth: rate}
				if tt.with.Sizes == nil {
					tt.with.Node.Ranks = 4
				}
			}
			tt.with.Network = &Params{Preset: "rails", Bandwidth: rate}
			g, err := Build(tt.with)
			if err != nil {
				require.EqualError(t, err, tt.want)
				return
			}
			require.NoError(t, g.Connected())
			var names []string
			for r := range g.Ranks {
				name := g.Node(g.Ranks[r]).Name
				node, place := g.Home(r)
				require.Equal(t, placeName(node, place, false), name)
				names = append(names, name)
			}
			require.Equal(t, tt.want, strings.Join(names, " "))
		})
	}
}

// TestRailsApart: two nodes that have no rail in common are refused, also where a third has both.
func TestRailsApart(t *testing.T) {
	g, err := Build(Params{Nodes: 3, Node: &Params{Preset: "switch", Ranks: 2, Bandwidth: rate},
		Network: &Params{Preset: "rails", Bandwidth: rate}, Absent: []string{"node0/nic0", "node1/nic1"}})
	require.NoError(t, err)
	require.EqualError(t, g.Connected(), "no route from node0/gpu0 to node1/gpu0: "+
		"their NICs hang on no network together")
}

// TestGapsInANodeAlone: a node alone has no NICs, and its other GPUs keep their names.
func TestGapsInANodeAlone(t *testing.T) {
	for _, shape := range []string{"switch", "full-mesh", "ring"} {
		g, err := Build(Params{Nodes: 1, Absent: []string{"node0/gpu1"},
			Node: &Params{Preset: shape, Ranks: 4, Bandwidth: rate}})
		require.NoError(t, err)
		require.NoError(t, equalsRule(g))
		require.Equal(t, "node0/gpu2", g.Node(g.Ranks[1]).Name)
		for _, l := range g.Links() {
			require.NotContains(t, l.Name, "gpu1")
		}
	}
}

// TestTeamsOfUnevenNodes: a rail is a place in the nodes that have it.
func TestTeamsOfUnevenNodes(t *testing.T) {
	g, err := Build(Params{Sizes: []int{1, 3, 2}, Absent: []string{"node0/gpu0", "node1/gpu1"},
		Node:    &Params{Preset: "switch", Bandwidth: rate},
		Network: &Params{Preset: "switch", Bandwidth: rate}})
	require.NoError(t, err)
	for by, want := range map[string][][]int32{"all": {{0, 1, 2, 3}}, "node": {{0, 1}, {2, 3}},
		"rail": {{0, 2}, {3}, {1}}} {
		teams, err := g.Teams(by)
		require.NoError(t, err)
		require.Equal(t, want, teams, by)
	}
}

// TestNICToBesideAbsentNICs: NICs keep their numbers where others are absent.
func TestNICToBesideAbsentNICs(t *testing.T) {
	g, err := Build(Params{Nodes: 2, Node: &Params{Preset: "switch", Ranks: 2, Bandwidth: rate},
		Network: &Params{Preset: "rails", Bandwidth: rate}, Absent: []string{"node0/nic0"}})
	require.NoError(t, err)
	require.Equal(t, 1, g.NICTo(0, 2))
	require.Equal(t, 1, g.NICTo(2, 0))
	require.Equal(t, 1, g.NICTo(3, 1))
	require.Equal(t, -1, g.NICTo(0, 1))
}
