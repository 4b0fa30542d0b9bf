package plots

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/machine"
	"collsim/topology"
	"collsim/unit"
)

const gigabyte = unit.Rate(1_000_000_000)

// built is a network of some parameters.
func built(t *testing.T, p topology.Params) *topology.Graph {
	t.Helper()
	g, err := topology.Build(p)
	require.NoError(t, err)
	return g
}

// cluster is nodes of eight GPUs on a switch, with a NIC each.
func clusterOf(nodes int, network topology.Params) topology.Params {
	network.Bandwidth, network.Latency = 50*gigabyte, unit.Microsecond
	return topology.Params{Nodes: nodes, Network: &network,
		Node: &topology.Params{Preset: "switch", Ranks: 8, Bandwidth: 367 * gigabyte}}
}

// machineOf is so many nodes of a machine by name.
func machineOf(m *machine.Machine, nodes int) topology.Params {
	node := m.Node(m.GPUs)
	p := topology.Params{Nodes: nodes, Node: &node}
	if nodes > 1 {
		p.Network = &topology.Params{Preset: m.Joins, NICs: m.NICs, Bandwidth: m.NICReached(nodes),
			Latency: m.Hop / 2}
	}
	return p
}

// flat are networks of all presets, small and large.
func flat() (list []topology.Params) {
	for _, p := range []topology.Params{
		{Preset: "switch", Ranks: 1}, {Preset: "switch", Ranks: 8}, {Preset: "switch", Ranks: 300},
		{Preset: "full-mesh", Ranks: 2}, {Preset: "full-mesh", Ranks: 8},
		{Preset: "full-mesh", Ranks: 40000}, {Preset: "ring", Ranks: 16},
		{Preset: "ring", Ranks: 1 << 20}, {Preset: "mesh", Shape: []int{40}},
		{Preset: "mesh", Shape: []int{3, 12}}, {Preset: "torus", Shape: []int{4, 4, 4}},
		{Preset: "torus", Shape: []int{9, 9, 9}}, {Preset: "torus", Shape: []int{2, 3, 2, 3}},
		{Preset: "hypercube", Ranks: 16}, {Preset: "hypercube", Ranks: 64},
		{Preset: "tree", Ranks: 64, K: 4}, {Preset: "tree", Ranks: 5000, K: 2},
		{Preset: "fat-tree", K: 4}, {Preset: "fat-tree", K: 16, Ranks: 1000},
		{Preset: "leaf-spine", Ranks: 8}, {Preset: "leaf-spine", Ranks: 640, K: 16},
		{Preset: "dragonfly", A: 4, P: 2, H: 2}, {Preset: "dragonfly", A: 8, P: 4, H: 4},
	} {
		p.Bandwidth, p.Latency = 50*gigabyte, unit.Microsecond
		list = append(list, p)
	}
	return list
}

// clustered are networks of nodes of all presets between them.
func clustered() (list []topology.Params) {
	for _, p := range []topology.Params{{Preset: "rails"}, {Preset: "switch", NICs: 1},
		{Preset: "fat-tree", K: 8}, {Preset: "leaf-spine", K: 16}, {Preset: "ring"},
		{Preset: "tree", K: 8}, {Preset: "full-mesh", NICs: 2}} {
		for _, nodes := range []int{2, 9} {
			list = append(list, clusterOf(nodes, p))
		}
	}
	return list
}

// requireClear requires that no text leaves the picture or runs into another one, and that boxes
// are within the picture and apart from each other.
func requireClear(t *testing.T, g *topology.Graph, o NetworkOptions) {
	t.Helper()
	svg, err := Network(g, o)
	require.NoError(t, err)
	size := regexp.MustCompile(`viewBox="0 0 ([\d.]+) ([\d.]+)"`).FindSubmatch(svg)
	width, err := strconv.ParseFloat(string(size[1]), 64)
	require.NoError(t, err)
	height, err := strconv.ParseFloat(string(size[2]), 64)
	require.NoError(t, err)
	require.Less(t, height, 297/25.4*72, "A4")
	list := extents(t, string(svg))
	for n, a := range list {
		require.True(t, 0 <= a.from && a.to <= width, "%q from %v to %v", a.text, a.from, a.to)
		for _, b := range list[n+1:] {
			require.False(t, max(a.y-b.y, b.y-a.y) < 6 && a.from < b.to && b.from < a.to,
				"%q runs into %q in %v", a.text, b.text, o.Figure)
		}
	}
	f, err := newFrame(o.Format, o.Figure, o.WidthMM)
	require.NoError(t, err)
	d := &diagram{frame: f, faces: newTypefaces(SVG), parts: newReader(g, o.Changed).parts(f.width)}
	d.layOut()
	var boxes []*site
	for _, p := range d.parts {
		for _, row := range p.rows {
			boxes = append(boxes, row.sites...)
		}
		for _, o := range p.owners {
			if o != nil {
				boxes = append(boxes, o)
			}
		}
	}
	for n, a := range boxes {
		require.True(t, 0 <= a.box.x0 && a.box.x0 < a.box.x1 && a.box.x1 <= f.width, "%+v", a)
		require.True(t, 0 <= a.box.y0 && a.box.y1 <= d.height, "%+v", a)
		for _, b := range boxes[n+1:] {
			const least = 0.01
			require.False(t, a.box.x0+least < b.box.x1 && b.box.x0+least < a.box.x1 &&
				a.box.y0+least < b.box.y1 && b.box.y0+least < a.box.y1, "%+v on %+v", a, b)
		}
	}
}

// TestNetworksAreClear draws every preset, every network between nodes and every machine, for all
// figures.
func TestNetworksAreClear(t *testing.T) {
	all := append(flat(), clustered()...)
	for _, m := range machine.Catalogue() {
		all = append(all, machineOf(m, 1), machineOf(m, 4))
	}
	for _, p := range all {
		name := p.Preset
		if p.Node != nil {
			name = p.Node.Preset
		}
		t.Run(fmt.Sprintf("%s %d", name, p.Ranks), func(t *testing.T) {
			g := built(t, p)
			for figure := Page; figure <= Slide; figure++ {
				requireClear(t, g, NetworkOptions{Title: "a network", Caption: "collsim", Figure: figure})
			}
		})
	}
}

// TestNetworksByHandAreClear draws random links between GPUs, NICs, processors and switches.
func TestNetworksByHandAreClear(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	names := []string{"pcie0", "pcie1", "cpu0", "cpu1", "nvswitch0", "hub", "nic0", "pod0/edge1",
		"a-switch-with-a-very-long-name"}
	for range 200 {
		var wires []topology.Wire
		ranks := 1 + random.Intn(20)
		for i := range ranks {

			wires = append(wires, topology.Wire{From: "gpu" + strconv.Itoa(i),
				To: names[random.Intn(9)], Bandwidth: unit.Rate(1 + random.Intn(1e9)), Both: i%5 > 0})
		}
		seen := map[string]bool{}
		for range random.Intn(30) {
			a, b := "gpu"+strconv.Itoa(random.Intn(ranks)), names[random.Intn(9)]
			if random.Intn(2) == 0 {
				a = names[random.Intn(9)]
			}
			if random.Intn(3) == 0 {
				b = "gpu" + strconv.Itoa(random.Intn(ranks))
			}
			if a == b || seen[a+b] || seen[b+a] {
				continue
			}
			seen[a+b] = true
			wires = append(wires, topology.Wire{From: a, To: b,
				Bandwidth: unit.Rate(1+random.Intn(4)) * gigabyte, Both: random.Intn(4) > 0})
		}
		g, err := topology.Links(ranks, wires)
		if err != nil {
			continue // a wire twice
		}
		changed := []int32{int32(random.Intn(g.NumLinks()))}
		requireClear(t, g, NetworkOptions{Figure: Figure(random.Intn(3)), Changed: changed})
	}
}

func TestNetworkGolden(t *testing.T) {
	rails := built(t, clusterOf(12, topology.Params{Preset: "rails"}))
	require.NoError(t, rails.Override("node7/nic2 <-> rail2", topology.Change{Share: 500_000}))
	slow, err := rails.MatchLinks("node7/nic2 <-> rail2")
	require.NoError(t, err)
	mesh, err := machine.Find("mi300x-8")
	require.NoError(t, err)
	dgx1, err := machine.Find("dgx-1v")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		g *topology.Graph
		o NetworkOptions
	}{
		"network-rails.svg": {rails, NetworkOptions{Title: "12 nodes", Changed: slow}},
		"network-mesh.svg":  {built(t, machineOf(mesh, 2)), NetworkOptions{Figure: Slide}},
		"network-wires.svg": {built(t, machineOf(dgx1, 1)), NetworkOptions{Caption: "dgx-1v"}},
		"network-torus.svg": {built(t, flat()[10]), NetworkOptions{Figure: Column}},
	} {
		t.Run(name, func(t *testing.T) {
			svg, err := Network(c.g, c.o)
			require.NoError(t, err)
			again, err := Network(c.g.Clone(), c.o)
			require.NoError(t, err)
			require.Equal(t, string(svg), string(again))
			file := filepath.Join("testdata", name)
			if flag.Lookup("update").Value.String() == "true" {
				require.NoError(t, os.WriteFile(file, svg, 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), string(svg), "look at both, then run with -update")
		})
	}
}

// TestNetworkSaysWhatItShows: rates and numbers, also of what is left out; changed links are told.
func TestNetworkSaysWhatItShows(t *testing.T) {
	texts := func(g *topology.Graph, o NetworkOptions) (list []string) {
		svg, err := Network(g, o)
		require.NoError(t, err)
		for _, e := range extents(t, string(svg)) {
			list = append(list, e.text)
		}
		return list
	}
	g := built(t, clusterOf(12, topology.Params{Preset: "rails"}))
	plain := texts(g, NetworkOptions{})
	for _, want := range []string{"Node 0 of 12", "8 GPUs", "8 NICs", "367 GB/s", "50 GB/s",
		"12 nodes and the network between them", "8 rail switches", "8 NICs each", "node 11"} {
		require.Contains(t, plain, want)
	}
	require.NotContains(t, plain, "node 7")
	for match, want := range map[string][]string{
		"node7/nic2->rail2":         {"50 GB/s and 25 GB/s, 1.00 us (changed)", "node 7", "Node 0 of 12"},
		"node7/gpu3<->node7/switch": {"183.5 GB/s, 0 s (changed)", "Node 7 of 12"},
	} {
		slow := g.Clone()
		require.NoError(t, slow.Override(match, topology.Change{Share: 500_000}))
		links, err := slow.MatchLinks(match)
		require.NoError(t, err)
		require.Subset(t, texts(slow, NetworkOptions{Changed: links}), want)
	}
	_, err := Network(g, NetworkOptions{Changed: []int32{-1}})
	require.ErrorContains(t, err, "changed link -1")
	large := texts(built(t, clusterOf(1<<17, topology.Params{Preset: "rails"})), NetworkOptions{})
	require.Contains(t, large, "131072 nodes and the network between them")
	require.Contains(t, large, "node 131071")
	require.Contains(t, texts(built(t, flat()[5]), NetworkOptions{}), "40000 GPUs")
}
