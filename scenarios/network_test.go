package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/topology"
	"collsim/unit"
)

const (
	gbs     = unit.Rate(unit.GB)
	figures = "\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n"
)

// loadTopology returns the network of a scenario with those lines under [topology].
func loadTopology(t *testing.T, lines string, set ...string) *Topology {
	t.Helper()
	o := testOptions()
	o.Set = set
	s, err := load("s.toml", []byte("[topology]\n"+lines+someCollective), o)
	require.NoError(t, err)
	require.Len(t, s.Points, 1)
	return s.Points[0].Topology
}

// TestPresets: what the keys say is what package topology is asked for, of each of its presets.
func TestPresets(t *testing.T) {
	for _, c := range []struct {
		lines string
		want  topology.Params
	}{
		{`ranks = 5`, topology.Params{Preset: "switch", Ranks: 5}},
		{`ranks = 5`, topology.Params{Preset: "full-mesh", Ranks: 5}},
		{`ranks = 5`, topology.Params{Preset: "ring", Ranks: 5}},
		{`shape = [2, 3]`, topology.Params{Preset: "mesh", Shape: []int{2, 3}}},
		{"shape = [2, 3, 3]\nranks = 18",
			topology.Params{Preset: "torus", Shape: []int{2, 3, 3}, Ranks: 18}},
		{`ranks = 8`, topology.Params{Preset: "hypercube", Ranks: 8}},
		{"ranks = 9\nk = 3", topology.Params{Preset: "tree", Ranks: 9, K: 3}},
		{"ranks = 9", topology.Params{Preset: "fat-tree", Ranks: 9, Routing: topology.ECMP}},
		{"k = 4\noversubscription = 2\nrouting = \"shortest\"",
			topology.Params{Preset: "fat-tree", K: 4, Oversubscription: 2_000_000}},
		{"ranks = 12\nk = 6\noversubscription = 1.5", topology.Params{Preset: "leaf-spine", Ranks: 12,
			K: 6, Oversubscription: 1_500_000, Routing: topology.ECMP}},
		{"a = 2\np = 3\nh = 1", topology.Params{Preset: "dragonfly", A: 2, P: 3, H: 1}},
		{"ranks = 8\norder = [7, 6, 5, 4, 3, 2, 1, 0]\nrouting = \"ecmp\"",
			topology.Params{Preset: "dragonfly", Ranks: 8, Places: []int{7, 6, 5, 4, 3, 2, 1, 0},
				Routing: topology.ECMP}},
	} {
		c.want.Bandwidth, c.want.Latency = gbs, unit.Microsecond
		net := loadTopology(t, fmt.Sprintf("preset = %q\n", c.want.Preset)+c.lines+figures)
		requireGraph(t, c.want, net)
		require.Equal(t, c.want.Preset, net.Preset)
		require.Equal(t, 1, net.Nodes)
		require.Equal(t, gbs, net.Bandwidth)
	}
}

// TestEveryPreset: each preset for GPUs may be named, with four ranks.
func TestEveryPreset(t *testing.T) {
	for _, p := range topology.Catalogue() {
		if p.OnlyNICs {
			continue
		}
		lines, want := "ranks = 4", topology.Params{Ranks: 4}
		if slices.Contains(p.Needs, "shape") {
			lines, want = "shape = [2, 2]", topology.Params{Shape: []int{2, 2}}
		}
		if slices.Contains(p.Needs, "k") {
			lines, want.K = lines+"\nk = 4", 4
		}
		want.Preset, want.Bandwidth, want.Latency = p.Name, gbs, unit.Microsecond
		if want.HasSpines() {
			want.Routing = topology.ECMP
		}
		requireGraph(t, want, loadTopology(t, fmt.Sprintf("preset = %q\n", p.Name)+lines+figures))
	}
}

// requireGraph: a network is the one that params make.
func requireGraph(t *testing.T, params topology.Params, net *Topology) {
	t.Helper()
	want, err := topology.Build(params)
	require.NoError(t, err)
	have, err := net.Graph()
	require.NoError(t, err)
	require.Equal(t, want.Links(), have.Links())
	require.Equal(t, want.Ranks, have.Ranks)
	require.Equal(t, want.Routing, have.Routing, net.Preset)
	require.Equal(t, len(want.Ranks), net.Ranks)
}

// TestNodes: nodes may be written in one table or in two; ranks are those of all nodes.
func TestNodes(t *testing.T) {
	us := unit.Microsecond
	node := topology.Params{Preset: "switch", Ranks: 4, Bandwidth: 100 * gbs, Latency: us}
	rails := topology.Params{Preset: "rails", NICs: 2, Bandwidth: gbs, Latency: 2 * us}
	const fast, slow = "\nbandwidth = \"100 GB/s\"\nlatency = \"1 us\"\n",
		"[topology.network]\npreset = \"rails\"\nnics = 2\nbandwidth = \"1 GB/s\"\nlatency = \"2 us\"\n"
	want := topology.Params{Nodes: 3, Node: &node, Network: &rails}
	for _, lines := range []string{
		"nodes = 3\nranks = 12\npreset = \"switch\"" + fast + slow,
		"nodes = 3\n[topology.node]\npreset = \"switch\"\nranks = 4" + fast + slow,
		"nodes = 3\nranks = 12\n[topology.node]\npreset = \"switch\"" + fast + slow,
		"nodes = 3\nranks = 12\n[topology.node]\npreset = \"switch\"\nranks = 4" + fast + slow,
	} {
		net := loadTopology(t, lines)
		requireGraph(t, want, net)
		require.Equal(t, "cluster", net.Preset)
		require.Equal(t, 3, net.Nodes)
		require.Zero(t, net.Bandwidth)
	}
	whole := "nodes = 3\nranks = 12\npreset = \"switch\"" + fast + slow
	want.Order = "round-robin"
	requireGraph(t, want, loadTopology(t, whole, "topology.order=round-robin"))
	want.Order, rails.Preset, want.Routing = "", "leaf-spine", topology.ECMP
	requireGraph(t, want, loadTopology(t, whole, "topology.network.preset=leaf-spine"))

	// One node needs nothing to join it, and a shape says how many ranks there are.
	mesh := topology.Params{Preset: "mesh", Shape: []int{2, 2}, Bandwidth: gbs, Latency: us}
	requireGraph(t, topology.Params{Node: &mesh},
		loadTopology(t, "nodes = 1\npreset = \"mesh\"\nshape = [2, 2]\nranks = 4"+figures))
	requireGraph(t, topology.Params{Node: &mesh},
		loadTopology(t, "[topology.node]\npreset = \"mesh\"\nshape = [2, 2]"+figures))
}

// TestOverrides: links and ranks of nodes by name; numbers of ranks are not places.
func TestOverrides(t *testing.T) {
	net := loadTopology(t, `nodes = 2
ranks = 4
order = "round-robin"
preset = "full-mesh"
bandwidth = "100 GB/s"
latency = "1 us"
[topology.network]
preset = "rails"
bandwidth = "1 GB/s"
latency = "2 us"
[[topology.link]]
match = "node1/gpu0 <-> node1/nic0"
bandwidth = "3 GB/s"
[[topology.link]]
match = "*->rail1"
bandwidth = "50 %"
[[topology.rank]]
match = "*"
start = "1 us"
[[topology.rank]]
match = "1"
start = "2 us"
[[topology.rank]]
match = "node0/gpu*"
slowdown = 2
`)
	us := unit.Microsecond
	require.Equal(t, []unit.Time{us, 2 * us, us, us}, net.Starts)
	require.Equal(t, []float64{2, 1, 2, 1}, net.Slowdowns)
	g, err := net.Graph()
	require.NoError(t, err)
	rates := map[string]unit.Rate{}
	for _, l := range g.Links() {
		rates[l.Name] = l.Bandwidth
	}
	require.Equal(t, 3*gbs, rates["node1/gpu0->node1/nic0"])
	require.Equal(t, 3*gbs, rates["node1/nic0->node1/gpu0"])
	require.Equal(t, unit.Unlimited, rates["node0/gpu0->node0/nic0"])
	require.Equal(t, gbs/2, rates["node0/nic1->rail1"])
	require.Equal(t, gbs, rates["rail1->node0/nic1"])

	// On links by hand only the routing has a choice to make.
	net = loadTopology(t, "routing = \"ecmp\""+figures+
		"[[topology.link]]\nfrom = \"gpu0\"\nto = \"gpu1\"\n")
	g, err = net.Graph()
	require.NoError(t, err)
	require.Equal(t, topology.ECMP, g.Routing)
}

// TestTeamSpec: each team has the collective for its own number of ranks.
func TestTeamSpec(t *testing.T) {
	s, err := load("s.toml", []byte(someNetwork+`
[collective]
kind = "reduce_scatter"
bytes = "120 B"
teams = [[6, 2, 4], [1, 3]]
[sweep]
"collective.teams" = [[[6, 2, 4], [1, 3]]]
`), testOptions())
	require.NoError(t, err)
	require.Len(t, s.Points, 1)
	p := s.Points[0]
	require.Equal(t, [][]int{{6, 2, 4}, {1, 3}}, p.Teams)
	require.Equal(t, p.Spec, p.TeamSpec(3))
	require.Equal(t, 3, p.Spec.Ranks)
	require.EqualValues(t, 10, p.Spec.Count)
	two := p.TeamSpec(2)
	require.Equal(t, 2, two.Ranks)
	require.EqualValues(t, 15, two.Count)
	require.Equal(t, collective.ReduceScatter, two.Kind)
	require.Equal(t, 8, p.Topology.Ranks)
	require.Equal(t, "[[6, 2, 4], [1, 3]]", fmt.Sprint(p.Axes[0].Value))
	text, err := json.Marshal(p.Axes[0].Value)
	require.NoError(t, err)
	require.JSONEq(t, "[[6, 2, 4], [1, 3]]", string(text))
	require.Equal(t, "6-2-4_1-3", p.FileName("{collective.teams}"))

	s, err = load("s.toml", []byte(someNetwork+someCollective), testOptions())
	require.NoError(t, err)
	require.Nil(t, s.Points[0].Teams)
	require.Equal(t, s.Points[0].Spec, s.Points[0].TeamSpec(8))
}

// TestEvery: what "all" chose is marked, and is never asked about; without a list of algorithms
// "all" stays.
func TestEvery(t *testing.T) {
	text := []byte(someNetwork + `
[collective]
kind = "broadcast"
algorithm = ["all", "flat"]
bytes = "1 KiB"
`)
	o := testOptions()
	var asked []string
	o.Check = func(_ collective.Kind, a Algorithm) error {
		asked = append(asked, a.Name)
		return nil
	}
	s, err := load("s.toml", text, o)
	require.NoError(t, err)
	var every []bool
	for _, p := range s.Points {
		every = append(every, p.Algorithm.Every)
	}
	require.Equal(t, []bool{true, true, false}, every) // binomial, chain, and flat by its name
	require.Equal(t, []string{"flat"}, asked)

	s, err = load("s.toml", text, world{})
	require.NoError(t, err)
	require.Len(t, s.Points, 2)
	require.Equal(t, Algorithm{Name: "all", Slices: 1}, s.Points[0].Algorithm)
}

// TestPerNode: the ranks of a node, where nodes are filled one after the other.
func TestPerNode(t *testing.T) {
	network := func(order string) *Topology {
		p := topology.Params{Nodes: 3, Order: order,
			Node:    &topology.Params{Preset: "full-mesh", Ranks: 4, Bandwidth: 1e9},
			Network: &topology.Params{Preset: "rails", NICs: 4, Bandwidth: 1e9}}
		n, err := NewTopology(p)
		require.NoError(t, err)
		return n
	}
	block := network("")
	for _, tt := range []struct {
		ranks []int
		want  int
	}{
		{nil, 4},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, 4},
		{[]int{1, 2, 5, 6, 9, 10}, 2},
		{[]int{0, 4, 8}, 1},
		{[]int{3, 2, 1, 0}, 4},
		{[]int{0, 1, 4}, 0},          // not as many
		{[]int{0, 4, 1, 5}, 0},       // not one after the other
		{[]int{0, 1, 4, 5, 2, 3}, 0}, // node 0 twice
	} {
		require.Equal(t, tt.want, block.PerNode(tt.ranks), tt.ranks)
	}
	require.Zero(t, network("round-robin").PerNode(nil))
	require.Equal(t, []int{2, 1}, block.NodeSizes([]int{0, 1, 4}))
	require.Nil(t, block.NodeSizes([]int{0, 4, 1}))
	require.Nil(t, network("round-robin").NodeSizes(nil))
	p := topology.Params{Sizes: []int{4, 1, 3}, Absent: []string{"node0/gpu2"},
		Node:    &topology.Params{Preset: "full-mesh", Bandwidth: 1e9},
		Network: &topology.Params{Preset: "rails", Bandwidth: 1e9}}
	n, err := NewTopology(p)
	require.NoError(t, err)
	require.Equal(t, 3, n.Nodes)
	require.Equal(t, []int{3, 1, 3}, n.NodeSizes(nil))
	require.Equal(t, 3, n.InNode())
	require.Zero(t, n.PerNode(nil))
	require.Equal(t, [][]int{{0, 1, 2}, {3}, {4, 5, 6}}, n.node())
	require.Equal(t, [][]int{{0, 3, 4}, {1, 5}, {6}, {2}}, n.rail())
	one, err := NewTopology(topology.Params{Preset: "switch", Ranks: 4, Bandwidth: 1e9})
	require.NoError(t, err)
	require.Zero(t, one.PerNode(nil))
}
