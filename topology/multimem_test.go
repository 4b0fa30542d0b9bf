package topology

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// names are those of links.
func names(g *Graph, ways ...[]int32) []string {
	var list []string
	for _, way := range ways {
		for _, l := range way {
			list = append(list, g.Links()[l].Name)
		}
	}
	return list
}

// TestMultimem: the rank's own links come first, then those of the team in its order.
func TestMultimem(t *testing.T) {
	g, err := Build(Params{Preset: "switch", Ranks: 4, Bandwidth: rate, Multimem: true})
	require.NoError(t, err)
	up, down, err := g.Multimem(1, []int32{3, 1, 0}, true)
	require.NoError(t, err)
	require.Equal(t, []string{"gpu1->switch", "gpu3->switch", "gpu1->switch", "gpu0->switch"},
		names(g, up...))
	require.Equal(t, []string{"switch->gpu1", "switch->gpu3", "switch->gpu1", "switch->gpu0"},
		names(g, down...))
}

// TestMultimemInACluster: what hangs on one switch can, and a clone knows it; the NICs are no
// switches that do. Across nodes, the error names who is elsewhere.
func TestMultimemInACluster(t *testing.T) {
	node := Params{Preset: "switch", Ranks: 2, Bandwidth: rate, Multimem: true}
	network := Params{Preset: "rails", Bandwidth: rate, Multimem: true}
	g, err := Build(Params{Nodes: 2, Node: &node, Network: &network, Order: "round-robin"})
	require.NoError(t, err)
	g = g.Clone()
	able := []string{}
	for _, n := range g.Nodes() {
		require.Equal(t, n.Multicast, n.Reduce)
		if n.Multicast {
			able = append(able, n.Name)
		}
	}
	require.Equal(t, []string{"node0/switch", "node1/switch", "rail0", "rail1"}, able)
	up, down, err := g.Multimem(3, []int32{1}, false) // ranks 1 and 3 are on node 1
	require.NoError(t, err)
	require.Equal(t, []string{"node1/gpu1->node1/switch", "node1/gpu0->node1/switch"},
		names(g, up...))
	require.Equal(t, []string{"node1/switch->node1/gpu1", "node1/switch->node1/gpu0"},
		names(g, down...))
	_, _, err = g.Multimem(0, []int32{0, 2, 1}, false)
	require.EqualError(t, err,
		"node1/gpu0 does not hang on node0/switch, as node0/gpu0 does")
}

// TestMultimemTakesTheSwitchThatCan: a rank on two switches uses the one that does it, wherever its
// routes go. What is missing is told of the one that comes closest.
func TestMultimemTakesTheSwitchThatCan(t *testing.T) {
	var wires []Wire
	for _, gpu := range []string{"gpu0", "gpu1"} {
		for _, hub := range []string{"plain", "clever"} {
			wires = append(wires, Wire{From: gpu, To: hub, Bandwidth: rate, Both: true})
		}
	}
	wires = append(wires, Wire{From: "gpu2", To: "plain", Bandwidth: rate, Both: true})
	wires = append(wires, Wire{From: "gpu1", To: "gpu2", Bandwidth: unit.Unlimited})
	g, err := Links(0, wires)
	require.NoError(t, err)
	_, _, err = g.Multimem(0, []int32{1}, false)
	require.EqualError(t, err, "plain does not declare multicast")
	for i := range g.Nodes() {
		g.Nodes()[i].Multicast = g.Nodes()[i].Name == "clever"
	}
	up, _, err := g.Multimem(0, []int32{1}, false)
	require.NoError(t, err)
	require.Equal(t, []string{"gpu0->clever", "gpu1->clever"}, names(g, up...))
	_, _, err = g.Multimem(0, []int32{1}, true)
	require.EqualError(t, err, "clever does not declare reduce")
	_, _, err = g.Multimem(0, []int32{1, 2}, false)
	require.EqualError(t, err, "plain does not declare multicast")
}

// TestMultimemOverATree: over NICs, which pass data only, and leaves, the ways of one rail's GPUs
// to a spine, and back. Teams of different ranks take turns among the spines. A leaf on which ways
// meet must compute; where each leaf has one of the team, the spine alone must.
func TestMultimemOverATree(t *testing.T) {
	node := Params{Preset: "switch", Ranks: 2, Bandwidth: rate}
	network := Params{Preset: "leaf-spine", K: 4, Bandwidth: rate, Multimem: true}
	build := func() *Graph {
		g, err := Build(Params{Nodes: 4, Node: &node, Network: &network})
		require.NoError(t, err)
		return g
	}
	g := build()
	up, down, err := g.Multimem(2, []int32{0, 2, 4, 6}, true)
	require.NoError(t, err)
	own := []string{"node1/gpu0->node1/nic0", "node1/nic0->leaf0", "leaf0->spine0"}
	require.Equal(t, own, names(g, up[0]))
	require.Equal(t, own, names(g, up[2]))
	require.Equal(t, []string{"node3/gpu0->node3/nic0", "node3/nic0->leaf1", "leaf1->spine0"},
		names(g, up[4]))
	require.Equal(t, []string{"spine0->leaf0", "leaf0->node1/nic0", "node1/nic0->node1/gpu0"},
		names(g, down[2]))
	up, _, err = g.Multimem(7, []int32{1, 3, 5, 7}, true)
	require.NoError(t, err)
	require.Equal(t, "leaf1->spine1", names(g, up[0])[2])

	able := func(g *Graph, name string, multicast, reduce bool) *Graph {
		for i := range g.Nodes() {
			if n := &g.Nodes()[i]; n.Name == name {
				n.Multicast, n.Reduce = multicast, reduce
			}
		}
		return g
	}
	g = able(build(), "leaf1", false, false)
	_, _, err = g.Multimem(2, []int32{0, 4}, true)
	require.NoError(t, err)
	_, _, err = g.Multimem(2, []int32{0, 2, 4, 6}, true)
	require.EqualError(t, err,
		"leaf1, on which paths to spine0 meet, does not declare multicast")
	g = able(build(), "leaf1", true, false)
	_, _, err = g.Multimem(2, []int32{0, 2, 4, 6}, false)
	require.NoError(t, err)
	_, _, err = g.Multimem(2, []int32{0, 2, 4, 6}, true)
	require.EqualError(t, err,
		"leaf1, on which paths to spine0 meet, does not declare reduce")
}

// TestMultimemByTheOwnNIC: two GPUs of a PCIe switch with two NICs take one each, and the PCIe
// switch, which both pass, need not compute. No way leads through another GPU.
func TestMultimemByTheOwnNIC(t *testing.T) {
	var wires []Wire
	for _, ends := range [][2]string{{"gpu0", "pcie"}, {"gpu1", "pcie"}, {"pcie", "nic0"},
		{"pcie", "nic1"}, {"gpu2", "gpu0"}} {
		wires = append(wires, Wire{From: ends[0], To: ends[1], Bandwidth: rate, Both: true})
	}
	g, err := Build(Params{Nodes: 2, Node: &Params{Preset: "links", Wires: wires},
		Network: &Params{Preset: "switch", Bandwidth: rate, Multimem: true}})
	require.NoError(t, err)
	up, _, err := g.Multimem(0, []int32{0, 1, 3, 4}, true)
	require.NoError(t, err)
	for i, nic := range []string{"node0/nic0", "node0/nic1", "node1/nic1", "node1/nic0"} {
		require.Equal(t, nic+"->switch", names(g, up[i+1])[2])
	}
	_, _, err = g.Multimem(0, []int32{0, 2}, true)
	require.EqualError(t, err, "node0/gpu2 does not hang on node0/pcie, as node0/gpu0 does")
}

// ofFour returns parameters of a network of four ranks.
func (c *Preset) ofFour() Params {
	p := Params{Preset: c.Name, Ranks: 4, Bandwidth: rate}
	if slices.Contains(c.Needs, "shape") {
		p.Shape = []int{2, 2}
	}
	if slices.Contains(c.Needs, "k") {
		p.K = 2
	}
	return p
}

// TestMultimemParam: presets with switches take it, others say that they do not.
func TestMultimemParam(t *testing.T) {
	for _, c := range Catalogue() {
		p := c.ofFour()
		_, err := Build(p)
		require.NoError(t, err, c.Name)
		p.Multimem = true
		g, err := Build(p)
		if !c.switches {
			require.ErrorContains(t, err, "multimem = true: "+c.Name+" takes ", c.Name)
			continue
		}
		require.NoError(t, err, c.Name)
		for _, n := range g.Nodes() {
			require.Equal(t, n.Switch, n.Multicast && n.Reduce, n.Name)
		}
	}
	_, err := Build(Params{Nodes: 2, Multimem: true})
	require.ErrorContains(t, err, "multimem = true: a cluster takes nodes, node")
}
