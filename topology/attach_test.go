package topology

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// randomWires are the wires of a node, all of whose GPUs reach each other: a random tree of GPUs
// and switches, a few more wires, and NICs with one or several wires each.
func randomWires(rng *rand.Rand, gpus, switches, nics int) (wires []Wire) {
	name := func(v int) string {
		if v < gpus {
			return rankName(v)
		}
		return fmt.Sprint("pcie", v-gpus)
	}
	add := func(from, to string) {
		for _, w := range wires {
			if w.From == from && w.To == to || w.From == to && w.To == from {
				return
			}
		}
		wires = append(wires, Wire{From: from, To: to, Both: true, Length: rng.Intn(4),
			Bandwidth: unit.Rate(1+rng.Intn(9)) * rate, Latency: unit.Time(rng.Intn(9))})
	}
	all := rng.Perm(gpus + switches)
	for i := 1; i < len(all); i++ {
		add(name(all[i]), name(all[rng.Intn(i)]))
	}
	for range rng.Intn(4) {
		if from, to := rng.Intn(len(all)), rng.Intn(len(all)); from != to {
			add(name(from), name(to))
		}
	}
	for nic := range nics {
		for range 1 + rng.Intn(2) {
			add(fmt.Sprint("nic", nic), name(rng.Intn(len(all))))
		}
	}
	rng.Shuffle(len(wires), func(i, j int) { wires[i], wires[j] = wires[j], wires[i] })
	return wires
}

// nearNICs are the wires of a node in which each GPU has a NIC, and gpu1 a second one.
func nearNICs() (wires []Wire) {
	for i := range 4 {
		gpu := rankName(i)
		wires = append(wires, Wire{From: gpu, To: "nvswitch", Bandwidth: 4 * rate, Both: true},
			Wire{From: fmt.Sprint("nic", 3-i), To: gpu, Bandwidth: rate, Latency: hop, Both: true})
	}
	return append(wires, Wire{From: "gpu1", To: "nic4", Bandwidth: rate, Both: true})
}

// farNICs are the wires of a node whose GPUs hang on two PCIe switches: one has a NIC, and the
// other reaches a second one over its processor.
func farNICs() []Wire {
	wire := func(from, to string, length int) Wire {
		return Wire{From: from, To: to, Bandwidth: rate, Latency: hop, Both: true, Length: length}
	}
	return []Wire{wire("gpu0", "pcie0", 1), wire("gpu1", "pcie0", 1), wire("gpu2", "pcie1", 1),
		wire("pcie0", "cpu0", 2), wire("pcie1", "cpu1", 2), wire("cpu0", "cpu1", 5),
		wire("pcie0", "nic0", 1), wire("cpu1", "nic1", 3)}
}

// composed is a cluster of nodes of wires, link by link, with what each link counts.
type composed struct {
	length map[[2]string]int // of each link by the names of its ends
	like   map[[2]string]Wire
}

// compose puts the links of nodes and of their network together by name, but for those of what is
// absent.
func compose(nodes [][]Wire, nics int, network *Graph, absent map[string]bool) *composed {
	c := &composed{map[[2]string]int{}, map[[2]string]Wire{}}
	add := func(from, to string, length int, like Wire) {
		if !absent[from] && !absent[to] {
			c.length[[2]string{from, to}], c.like[[2]string{from, to}] = length, like
		}
	}
	for node, wires := range nodes {
		for _, w := range wires {
			from, to := fmt.Sprint("node", node, "/", w.From), fmt.Sprint("node", node, "/", w.To)
			length := max(w.Length, 1)
			if w.From[:3] == "nic" || w.To[:3] == "nic" {
				length += aCrossing
			}
			add(from, to, length, w)
			if w.Both {
				add(to, from, length, w)
			}
		}
	}
	name := func(v int32) string {
		if int(v) < len(network.Ranks) {
			return fmt.Sprint("node", int(v)/nics, "/nic", int(v)%nics)
		}
		return network.Node(v).Name
	}
	for _, l := range network.Links() {
		add(name(l.From), name(l.To), 1+int(l.extra), Wire{Bandwidth: l.Bandwidth, Latency: l.Latency})
	}
	return c
}

// aCrossing is what a link between a node and its NIC counts, in a naive search.
const aCrossing = 1_000_000_000

// lengths are those of the shortest ways between all pairs (Floyd and Warshall's).
func (c *composed) lengths() map[[2]string]int {
	names := map[string]bool{}
	d := map[[2]string]int{}
	for way, length := range c.length {
		names[way[0]], names[way[1]] = true, true
		d[way] = length
	}
	for k := range names {
		for i := range names {
			ik, ok := d[[2]string{i, k}]
			if !ok {
				continue
			}
			for j := range names {
				kj, ok := d[[2]string{k, j}]
				if old, known := d[[2]string{i, j}]; ok && (!known || ik+kj < old) {
					d[[2]string{i, j}] = ik + kj
				}
			}
		}
	}
	return d
}

// followsNaive compares every route of a cluster of wires with the naive search.
func followsNaive(g *Graph, c *composed) error {
	shortest := c.lengths()
	for s := range g.Ranks {
		for d := range g.Ranks {
			at, end := g.Node(g.Ranks[s]).Name, g.Node(g.Ranks[d]).Name
			if s == d {
				continue
			}
			want, ok := shortest[[2]string{at, end}]
			if !ok {
				return fmt.Errorf("no way from %s to %s", at, end)
			}
			length := 0
			for _, i := range g.Route(s, d, nil) {
				l := g.Link(i)
				way := [2]string{g.Node(l.From).Name, g.Node(l.To).Name}
				like, isLink := c.like[way]
				if !isLink || way[0] != at || like.Bandwidth != l.Bandwidth || like.Latency != l.Latency {
					return fmt.Errorf("from %s to %s: at %s there is no %+v",
						g.Node(g.Ranks[s]).Name, end, at, l)
				}
				length += c.length[way]
				at = way[1]
			}
			if at != end || length != want {
				return fmt.Errorf("from %d to %d: ends at %s after %d, want %s and %d",
					s, d, at, length, end, want)
			}
		}
	}
	return nil
}

// TestWiresFollowTheNaiveSearch: routes of random nodes by wires are as short as any, take the
// links that the package comment says, and are alike however a cluster is kept.
func TestWiresFollowTheNaiveSearch(t *testing.T) {
	params := gopter.DefaultTestParametersWithSeed(11)
	params.MinSuccessfulTests = 200
	p := gopter.NewProperties(params)
	p.Property("random nodes", prop.ForAll(func(seed int64, gpus, switches, nics, nodes int) (
		bool, error) {
		rng := rand.New(rand.NewSource(seed))
		if gpus == 1 {
			switches++ // a node has a wire at least
		}
		wires := randomWires(rng, gpus, switches, nics)
		network := []Params{{Preset: "rails"}, {Preset: "switch"}, {Preset: "ring"},
			{Preset: "leaf-spine"}, {Preset: "full-mesh"}, {Preset: "switch"}}[rng.Intn(6)]
		network.Bandwidth, network.Latency = rate, hop
		given := Params{Nodes: nodes, Node: &Params{Preset: "links", Wires: wires}, Network: &network,
			Routing: Routing(rng.Intn(2)), Order: []string{"", "round-robin"}[rng.Intn(2)]}
		g, err := Build(given)
		if err != nil {
			return false, err
		}
		between, err := given.Network.between(nodes, gpus, nics)
		if err != nil || between.Connected() != nil && network.Preset != "rails" {
			return false, fmt.Errorf("%v %v", err, between.Connected())
		}
		c := compose(slices.Repeat([][]Wire{wires}, nodes), nics, between, nil)
		if g.Connected() != nil { // rails, and a rail that no GPU is on
			return network.Preset == "rails", nil
		}
		if err := followsNaive(g, c); err != nil {
			return false, fmt.Errorf("%+v %v: %w", network, wires, err)
		}
		copied := g.Clone()
		if err := equalsRule(g); err != nil {
			return false, fmt.Errorf("%+v %v: %w", network, wires, err)
		}
		if err := copied.Override("node0/* <-> node0/nic0", Change{Bandwidth: 7}); err != nil {
			return false, err
		}
		err = equalsRule(searched(copied))
		return err == nil, err
	}, gen.Int64(), gen.IntRange(1, 5), gen.IntRange(0, 4), gen.IntRange(1, 4), gen.IntRange(1, 4)))
	p.TestingRun(t)
}

// TestOneNodeOfWires: a node alone is the network of its wires, without NICs.
func TestOneNodeOfWires(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	for range 50 {
		wires := randomWires(rng, 1+rng.Intn(5), 1+rng.Intn(3), rng.Intn(3))
		node := Params{Preset: "links", Wires: wires}
		g, err := Build(Params{Nodes: 1, Node: &node})
		require.NoError(t, err)
		require.Zero(t, g.NICs())
		flat, err := Build(node)
		require.NoError(t, err)
		require.Equal(t, len(flat.Links()), len(g.Links()))
		for s := range g.Ranks {
			for d := range g.Ranks {
				require.Equal(t, flat.Route(s, d, nil), g.Route(s, d, nil))
			}
		}
		require.NoError(t, equalsRule(g))
	}
}

// TestWaysToNICs: a GPU leaves by a NIC of its own, or by the nearest over its node's switches.
func TestWaysToNICs(t *testing.T) {
	tests := []struct {
		name    string
		node    Params
		network string
		from    int
		to      int
		want    string
	}{
		{"its own", Params{Wires: nearNICs()}, "switch", 2, 5,
			"node0/gpu2 node0/nic1 switch node1/nic2 node1/gpu1"},
		{"by rail", Params{Wires: nearNICs()}, "rails", 2, 5,
			"node0/gpu2 node0/nvswitch node0/gpu1 node0/nic2 rail2 node1/nic2 node1/gpu1"},
		{"a switch away", Params{Wires: farNICs()}, "switch", 1, 3,
			"node0/gpu1 node0/pcie0 node0/nic0 switch node1/nic0 node1/pcie0 node1/gpu0"},
		{"over the processor", Params{Wires: farNICs()}, "switch", 2, 3, "node0/gpu2 node0/pcie1 " +
			"node0/cpu1 node0/nic1 switch node1/nic0 node1/pcie0 node1/gpu0"},
		{"inside", Params{Wires: farNICs()}, "switch", 0, 2,
			"node0/gpu0 node0/pcie0 node0/cpu0 node0/cpu1 node0/pcie1 node0/gpu2"},
		{"the first GPUs", Params{Wires: farNICs(), Ranks: 2}, "rails", 1, 2,
			"node0/gpu1 node0/pcie0 node0/nic0 rail0 node1/nic0 node1/pcie0 node1/gpu0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.node.Preset = "links"
			g, err := Build(Params{Nodes: 2, Node: &tt.node,
				Network: &Params{Preset: tt.network, Bandwidth: rate}})
			require.NoError(t, err)
			way := g.Node(g.Ranks[tt.from]).Name
			for _, l := range g.Route(tt.from, tt.to, nil) {
				way += " " + g.Node(g.Link(l).To).Name
			}
			require.Equal(t, tt.want, way)
		})
	}
}

// TestWrongNodesOfWires: each mistake is named by its wire and key, or by its parameter.
func TestWrongNodesOfWires(t *testing.T) {
	wire := func(from, to string) Wire { return Wire{From: from, To: to, Bandwidth: rate, Both: true} }
	base := []Wire{wire("gpu0", "gpu1"), wire("gpu0", "nic0")}
	tests := []struct {
		name  string
		node  Params
		nics  int
		extra Wire
		want  string
	}{
		{"no NIC", Params{Wires: base[:1]}, 0, wire("gpu0", "cpu0"),
			"node.wires: a wire to a NIC, nic0, is expected"},
		{"other number of NICs", Params{}, 2, wire("gpu0", "cpu0"),
			"network.nics = 2: the wires of a node have 1"},
		{"a gap", Params{}, 0, wire("gpu0", "nic2"), "node.wires: there is a wire to nic2 " +
			"and none to nic1; NICs are nic0, nic1, … without a gap"},
		{"a NIC's name", Params{}, 0, wire("nic01", "gpu0"),
			`link 2: from = "nic01": write nic1`},
		{"two NICs", Params{}, 0, wire("nic0", "nic1"),
			`link 2: to = "nic1": a GPU or a switch is expected, not a NIC`},
		{"one way", Params{}, 0, Wire{From: "gpu1", To: "nic1", Bandwidth: rate},
			`link 2: to = "nic1": the way back is expected, too`},
		{"too long", Params{}, 0, Wire{From: "gpu1", To: "cpu0", Bandwidth: rate, Length: 1001},
			`link 2: length = "1001": 0 to 1000, and 1048576 in all, are expected`},
		{"too many ranks", Params{Ranks: 3}, 0, wire("gpu0", "cpu0"),
			"node.ranks = 3: the wires have 2"},
		{"apart", Params{}, 0, wire("gpu2", "cpu0"), `node.preset = "links": a network in ` +
			"which all ranks reach each other is expected"},
		{"a rate", Params{Bandwidth: rate}, 0, wire("gpu0", "cpu0"),
			"node.bandwidth = 12.5 GB/s: links takes ranks, wires, multimem"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.node.Preset = "links"; tt.node.Wires == nil {
				tt.node.Wires = base
			}
			tt.node.Wires = append(tt.node.Wires[:len(tt.node.Wires):len(tt.node.Wires)], tt.extra)
			_, err := Build(Params{Nodes: 2, Node: &tt.node,
				Network: &Params{Preset: "switch", Bandwidth: rate, NICs: tt.nics}})
			require.EqualError(t, err, tt.want)
		})
	}
	_, err := Build(Params{Nodes: 2, Node: &Params{Preset: "switch", Ranks: 2, Bandwidth: rate},
		Network: &Params{Preset: "links", Wires: base}})
	require.EqualError(t, err, `network.preset = "links": wires are inside nodes only`)
}

// TestMultimemOfWires: with it the switches called nvswitch do it, and no others.
func TestMultimemOfWires(t *testing.T) {
	wires := append(nearNICs(), Wire{From: "gpu0", To: "cpu0", Bandwidth: rate})
	for nodes, network := range map[int]*Params{1: nil, 2: {Preset: "switch", Bandwidth: rate}} {
		g, err := Build(Params{Nodes: nodes, Network: network,
			Node: &Params{Preset: "links", Wires: wires, Multimem: true}})
		require.NoError(t, err)
		require.True(t, g.Computes())
		_, _, err = g.Multimem(1, []int32{0, 2}, true)
		require.NoError(t, err)
		for _, n := range g.Nodes() {
			require.Equal(t, n.Name[len("node0/"):] == "nvswitch", n.Multicast, n.Name)
		}
	}
}
