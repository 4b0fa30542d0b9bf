package topology

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// namesOf are the links of a route, in order, which must join.
func namesOf(t *testing.T, g *Graph, src, dst int) (names []string) {
	t.Helper()
	at := g.Ranks[src]
	for _, i := range g.Route(src, dst, nil) {
		l := g.Link(i)
		require.Equal(t, at, l.From, "%d to %d", src, dst)
		at, names = l.To, append(names, g.Node(l.From).Name+"->"+g.Node(l.To).Name)
	}
	require.Equal(t, g.Ranks[dst], at, "%d to %d", src, dst)
	return names
}

// nodesOf says which GPUs a route passes between its ends, and by which NICs it leaves and enters.
func nodesOf(t *testing.T, g *Graph, src, dst int) (gpus []int32, nics []string) {
	t.Helper()
	for _, i := range g.Route(src, dst, nil) {
		to := g.Link(i).To
		name := g.Node(to).Name
		if _, local, ok := strings.Cut(name, "/nic"); ok {
			nics = append(nics, local)
		}
		if !g.Node(to).Switch && to != g.Ranks[dst] {
			gpus = append(gpus, to)
		}
	}
	return gpus, nics
}

// leaveClusters are clusters of three nodes, of each kind that there is.
func leaveClusters(t *testing.T) (all []*Graph) {
	t.Helper()
	pairs := []Wire{}
	for _, w := range []string{"gpu0 nvswitch", "gpu1 nvswitch", "gpu2 nvswitch", "gpu3 nvswitch",
		"gpu0 pcie0", "gpu1 pcie0", "pcie0 nic0", "gpu2 pcie1", "gpu3 pcie1", "pcie1 nic1"} {
		from, to, _ := strings.Cut(w, " ")
		pairs = append(pairs, Wire{From: from, To: to, Bandwidth: rate, Both: true})
	}
	for _, node := range []Params{{Preset: "switch", Ranks: 4, Bandwidth: rate},
		{Preset: "full-mesh", Ranks: 4, Bandwidth: rate}, {Preset: "links", Wires: pairs}} {
		for _, network := range []Params{{Preset: "rails"},
			{Preset: "rails", Oversubscription: 1_000_000}, {Preset: "switch"},
			{Preset: "switch", NICs: 2}, {Preset: "leaf-spine", K: 4},
			{Preset: "fat-tree"}} {
			if node.Preset == "links" {
				network.NICs = 0
			}
			for _, order := range []string{"block", "round-robin"} {
				network.Bandwidth = rate
				inside, between := node, network
				g, err := Build(Params{Nodes: 3, Node: &inside, Network: &between, Order: order})
				require.NoError(t, err)
				all = append(all, g)
			}
		}
	}
	return all
}

// TestLeave: by its own NIC a message passes no other GPU; by PXN it leaves by the rail of the NIC
// by which it enters, through one GPU of its node at most. Routes are the same in a network whose
// links are listed, and in a copy.
func TestLeave(t *testing.T) {
	for _, g := range leaveClusters(t) {
		listed := g.Clone()
		listed.list()
		for _, by := range []Leave{ByOwn, ByRail, ByNeighbour, ByFirst} {
			err := g.SetLeave(by, nil)
			if by == ByOwn && g.parts.network.Connected() != nil {
				require.ErrorContains(t, err, "no route from node0/nic0 to node1/nic1")
				require.NoError(t, g.SetLeave(ByRoute, nil))
				continue
			}
			require.NoError(t, err)
			require.NoError(t, listed.SetLeave(by, nil))
			again := g.Clone()
			for src := range g.Ranks {
				for dst := range g.Ranks {
					from, _ := g.parts.place(g.Ranks[src])
					to, _ := g.parts.place(g.Ranks[dst])
					names := namesOf(t, g, src, dst)
					require.Equal(t, names, namesOf(t, listed, src, dst))
					require.Equal(t, names, namesOf(t, again, src, dst))
					if from == to {
						continue
					}
					gpus, nics := nodesOf(t, g, src, dst)
					require.Len(t, nics, 2, names)
					if by != ByOwn {
						require.Equal(t, nics[1], nics[0], names)
					}
					if by == ByOwn {
						require.Empty(t, gpus, names)
					}
					require.LessOrEqual(t, len(gpus), 1, names)
				}
			}
		}
	}
}

// TestLeaveThrough: which GPU a message passes through, where two share a NIC, and where some take
// no part.
func TestLeaveThrough(t *testing.T) {
	inside := Params{Preset: "switch", Ranks: 4, Bandwidth: rate}
	g, err := Build(Params{Nodes: 2, Node: &inside,
		Network: &Params{Preset: "switch", NICs: 2, Bandwidth: rate}})
	require.NoError(t, err)
	const none = -1
	for _, test := range []struct {
		by            Leave
		src, dst, via int32
		nic           string
		teams         [][]int
	}{
		{ByFirst, 0, 7, 2, "1", nil}, {ByFirst, 3, 7, 2, "1", nil}, {ByFirst, 2, 7, none, "1", nil},
		{ByNeighbour, 0, 7, 2, "1", nil}, {ByNeighbour, 3, 7, none, "1", nil},
		{ByOwn, 0, 7, none, "0", nil}, {ByOwn, 3, 5, none, "1", nil},
		{ByFirst, 0, 7, 3, "1", [][]int{{0, 3, 7}, {1, 2, 4, 5}}},
		{ByFirst, 0, 7, none, "0", [][]int{{0, 2, 7}}}, // nobody there has the number of 7
		{ByFirst, 5, 3, 7, "1", [][]int{{0, 1, 2}, {3, 5, 7}}},
	} {
		require.NoError(t, g.SetLeave(test.by, test.teams))
		gpus, nics := nodesOf(t, g, int(test.src), int(test.dst))
		require.Equal(t, test.nic, nics[0], "%+v", test)
		if test.via == none {
			require.Empty(t, gpus, "%+v", test)
		} else {
			require.Equal(t, []int32{test.via}, gpus, "%+v", test)
		}
	}
}

// TestLeaveCube: PXN passes no second GPU: where only others join two, the own NIC is taken.
func TestLeaveCube(t *testing.T) {
	var wires []Wire
	for _, w := range []string{"gpu0 gpu1", "gpu1 gpu2", "gpu2 gpu3", "gpu0 nic0", "gpu1 nic1",
		"gpu2 nic2", "gpu3 nic3"} {
		from, to, _ := strings.Cut(w, " ")
		wires = append(wires, Wire{From: from, To: to, Bandwidth: rate, Both: true})
	}
	g, err := Build(Params{Nodes: 2, Node: &Params{Preset: "links", Wires: wires},
		Network: &Params{Preset: "switch", Bandwidth: rate}})
	require.NoError(t, err)
	require.NoError(t, g.SetLeave(ByFirst, nil))
	require.Equal(t, []string{"node0/gpu0->node0/gpu1", "node0/gpu1->node0/nic1"},
		namesOf(t, g, 0, 5)[:2])
	require.Equal(t, "node0/gpu0->node0/nic0", namesOf(t, g, 0, 6)[0])
}

// TestLeaveIsSeen: no network is said to look alike from all ranks by other routes than it has.
func TestLeaveIsSeen(t *testing.T) {
	inside := Params{Preset: "switch", Ranks: 4, Bandwidth: rate}
	g, err := Build(Params{Nodes: 4, Node: &inside,
		Network: &Params{Preset: "switch", Bandwidth: rate}})
	require.NoError(t, err)
	turn := Translation{Size: 16, Weight: 1, Step: 4}
	require.True(t, g.Moves(turn))
	require.NoError(t, g.SetLeave(ByFirst, nil))
	require.False(t, g.Moves(turn))
	require.NoError(t, g.SetLeave(ByRoute, nil))
	require.True(t, g.Moves(turn))
}

// TestLeaveSpreads: with ECMP, pairs of ranks that share their NICs take several ways between them,
// in networks with a formula and in others.
func TestLeaveSpreads(t *testing.T) {
	for _, network := range []Params{{Preset: "fat-tree", NICs: 1, K: 4},
		{Preset: "rails", NICs: 2, Oversubscription: 1_000_000}} {
		network.Bandwidth = rate
		g, err := Build(Params{Nodes: 8, Node: &Params{Preset: "switch", Ranks: 8, Bandwidth: rate},
			Network: &network, Routing: ECMP})
		require.NoError(t, err)
		require.NoError(t, g.SetLeave(ByOwn, nil))
		ways := map[string]bool{}
		for src := range 4 { // by the first NIC
			for dst := 60; dst < 64; dst++ { // to the last
				names := namesOf(t, g, src, dst)
				ways[strings.Join(names[1:len(names)-1], " ")] = true
			}
		}
		require.Greater(t, len(ways), 1, network.Preset)
	}
}
