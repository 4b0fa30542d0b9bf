package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// params reads the lines of a script's build command. Presets get a bandwidth and a latency where
// the script says nothing.
func params(t *testing.T, input string) Params {
	var p Params
	for _, line := range strings.Split(input, "\n") {
		to := &p
		if rest, ok := strings.CutPrefix(line, "node: "); ok {
			line, p.Node = rest, &Params{}
			to = p.Node
		}
		if rest, ok := strings.CutPrefix(line, "network: "); ok {
			line, p.Network = rest, &Params{}
			to = p.Network
		}
		if strings.Contains(line, "preset=") {
			to.Bandwidth, to.Latency = rate, hop
		}
		for _, word := range strings.Fields(line) {
			key, value, _ := strings.Cut(word, "=")
			to.set(t, key, value)
		}
	}
	return p
}

func (p *Params) set(t *testing.T, key, value string) {
	whole := map[string]*int{"ranks": &p.Ranks, "k": &p.K, "a": &p.A, "p": &p.P, "h": &p.H,
		"nodes": &p.Nodes, "nics": &p.NICs}
	list := func() (list []int) {
		list = []int{}
		for _, s := range strings.Split(value, ",") {
			list = append(list, number(t, s))
		}
		return list
	}
	switch key {
	case "preset":
		p.Preset = value
	case "shape":
		p.Shape = list()
	case "oversubscription":
		f, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err)
		p.Oversubscription = unit.Share(f * 1e6)
	case "order":
		p.Order = value
	case "places":
		p.Places = list()
	case "routing":
		p.Routing = map[string]Routing{"shortest": Shortest, "ecmp": ECMP, "other": 2}[value]
	case "bandwidth":
		p.Bandwidth = unit.Rate(number(t, value))
	case "latency":
		p.Latency = unit.Time(number(t, value))
	case "":
	default:
		require.Contains(t, whole, key)
		*whole[key] = number(t, value)
	}
}

// printNodes prints the names of the ranks' nodes, then those of the switches.
func printNodes(g *Graph) string {
	var lines [2][]string
	for _, n := range g.Nodes() {
		i := 0
		if n.Switch {
			i = 1
		}
		lines[i] = append(lines[i], n.Name)
	}
	return strings.Join(lines[0], " ") + "\n" + strings.Join(lines[1], " ") + "\n"
}

// builds returns small networks of every preset and several clusters.
func builds() []Params {
	all := []Params{
		{Preset: "mesh", Shape: []int{3}},
		{Preset: "mesh", Shape: []int{2, 3, 2}},
		{Preset: "torus", Shape: []int{4, 3}},
		{Preset: "torus", Shape: []int{2, 1, 5}},
		{Preset: "hypercube", Ranks: 8},
		{Preset: "tree", Ranks: 7, K: 2},
		{Preset: "fat-tree", Ranks: 13},
		{Preset: "fat-tree", K: 4, Oversubscription: 2_000_000},
		{Preset: "leaf-spine", Ranks: 12, K: 4, Oversubscription: 2_000_000},
		{Preset: "dragonfly", Ranks: 20, A: 3, P: 2, H: 1},
		{Preset: "dragonfly", A: 2, P: 1, H: 2},
		{Preset: "rails", Ranks: 6, K: 1},
		{Preset: "rails", Ranks: 12, K: 4, Oversubscription: 1_000_000},
		{Preset: "rails", Ranks: 8, K: 2, Oversubscription: 2_000_000},
	}
	join := func(nodes, nics int, node, network Params) {
		node.Bandwidth, network.Bandwidth = rate, rate
		network.NICs = nics
		all = append(all, Params{Nodes: nodes, Node: &node, Network: &network})
	}
	join(3, 0, Params{Preset: "switch", Ranks: 4}, Params{Preset: "rails"})
	join(2, 2, Params{Preset: "ring", Ranks: 6}, Params{Preset: "switch"})
	join(2, 4, Params{Preset: "full-mesh", Ranks: 2}, Params{Preset: "leaf-spine"})
	join(3, 0, Params{Preset: "mesh", Shape: []int{4}}, Params{Preset: "dragonfly"})
	join(4, 1, Params{Preset: "torus", Shape: []int{3}}, Params{Preset: "torus", Shape: []int{4}})
	for i := range all {
		if all[i].Node == nil {
			all[i].Bandwidth = rate
		}
	}
	return all
}

func TestCatalogueIsComplete(t *testing.T) {
	for _, c := range Catalogue() {
		require.Regexp(t, `^[A-Zk].*\.$`, c.Text)
		require.NotEmpty(t, c.Takes)
		// A preset takes what it says: anything else is refused by name.
		for _, key := range []string{"ranks", "shape", "k", "a", "p", "h", "oversubscription"} {
			p := Params{Preset: c.Name, Bandwidth: rate}
			p.set(t, key, "2")
			_, err := Build(p)
			refused := err != nil && strings.Contains(err.Error(), ": "+c.Name+" takes ")
			require.Equal(t, !slices.Contains(c.Takes, key), refused, "%s %s: %v", c.Name, key, err)
		}
	}
	require.Subset(t, Names(), presets())
}

// TestBuildMakesPresets: one network by two doors.
func TestBuildMakesPresets(t *testing.T) {
	for i, made := range []func(int, unit.Rate, unit.Time) (*Graph, error){Switch, FullMesh, Ring} {
		want, err := made(5, rate, hop)
		require.NoError(t, err)
		got, err := plain(presets()[i], 5, rate, hop)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestParamErrorCanBeMatched(t *testing.T) {
	_, err := Build(Params{
		Nodes:   2,
		Node:    &Params{Preset: "switch", Ranks: 8, Bandwidth: rate},
		Network: &Params{Preset: "fat-tree", K: 3, Bandwidth: rate},
	})
	var param *ParamError
	require.ErrorAs(t, err, &param)
	require.Equal(t, ParamError{"network.k", "3",
		"an even number of ports from 2 to 162 is expected"}, *param)
}

// TestClusterOfOneNodeKeepsItsRoutes: NICs change nothing inside a node, whatever its shape.
func TestClusterOfOneNodeKeepsItsRoutes(t *testing.T) {
	for _, shape := range []string{"ring", "switch", "full-mesh"} {
		alone, err := plain(shape, 8, rate, hop)
		require.NoError(t, err)
		node := Params{Preset: shape, Ranks: 8, Bandwidth: rate, Latency: hop}
		network := Params{Preset: "switch", Bandwidth: rate, NICs: 2}
		g, err := Build(Params{Nodes: 3, Node: &node, Network: &network})
		require.NoError(t, err)
		for s := range 8 {
			for d := range 8 {
				for n := range 3 {
					var names []string
					for _, l := range g.Route(8*n+s, 8*n+d, nil) {
						names = append(names, g.Links()[l].Name)
					}
					var want []string
					for _, l := range alone.Route(s, d, nil) {
						in := fmt.Sprintf("node%d/", n)
						want = append(want, in+strings.Replace(alone.Links()[l].Name, "->", "->"+in, 1))
					}
					require.Equal(t, want, names)
				}
			}
		}
	}
}

// TestANodeAloneIsItsNetwork: a cluster of one node without a network between nodes is what the
// network inside the node is, but for names.
func TestANodeAloneIsItsNetwork(t *testing.T) {
	flat := append(builds(), Params{Preset: "switch", Ranks: 5, Bandwidth: rate},
		Params{Preset: "switch", Ranks: 5, Bandwidth: rate, Multimem: true},
		Params{Preset: "full-mesh", Ranks: 4, Bandwidth: rate},
		Params{Preset: "ring", Ranks: 6, Bandwidth: rate})
	for _, p := range flat {
		if p.Node != nil || p.Preset == "rails" {
			continue
		}
		want, err := Build(p)
		require.NoError(t, err)
		g, err := Build(Params{Nodes: 1, Node: &p})
		require.NoError(t, err)
		require.Equal(t, want.IsListed(), g.IsListed())
		require.Equal(t, want.IsStar(), g.IsStar())
		require.Equal(t, want.Alike(), g.Alike())
		require.Equal(t, want.Computes(), g.Computes())
		for size := range int32(len(g.Ranks)) {
			move := Translation{Size: size + 1, Weight: 1, Step: 1}
			require.Equal(t, want.Moves(move), g.Moves(move))
		}
		for _, g := range []*Graph{g.Clone(), g} {
			require.NoError(t, g.Override("node0/* -> *", Change{Bandwidth: 3 * rate}))
			for i, l := range want.Links() {
				from, to, _ := strings.Cut(l.Name, "->")
				require.Equal(t, "node0/"+from+"->node0/"+to, g.LinkName(int32(i)))
				require.Equal(t, g.LinkName(int32(i)), g.Links()[i].Name)
			}
			for s := range g.Ranks {
				for d := range g.Ranks {
					require.Equal(t, want.Route(s, d, nil), g.Route(s, d, nil))
				}
			}
		}
	}
}

// TestCloneKeepsWhatBuildSays: the copy routes, and teams up, as the original does.
func TestCloneKeepsWhatBuildSays(t *testing.T) {
	for _, p := range builds() {
		p.Routing = ECMP
		g, err := Build(p)
		require.NoError(t, err)
		c := g.Clone()
		last := len(g.Ranks) - 1
		require.Equal(t, g.Route(0, last, nil), c.Route(0, last, nil))
		want, err := g.Teams("node")
		require.NoError(t, err)
		got, err := c.Teams("node")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func ExampleBuild() {
	g, err := Build(Params{
		Nodes:   4,
		Node:    &Params{Preset: "switch", Ranks: 8, Bandwidth: 450 * unit.Rate(unit.GB)},
		Network: &Params{Preset: "rails", Bandwidth: 50 * unit.Rate(unit.GB)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range g.Route(0, 13, nil) { // gpu0 of node0 to gpu5 of node1
		fmt.Println(g.Links()[l].Name, g.Links()[l].Bandwidth)
	}
	// Output:
	// node0/gpu0->node0/switch 450 GB/s
	// node0/switch->node0/gpu5 450 GB/s
	// node0/gpu5->node0/nic5 unlimited
	// node0/nic5->rail5 50 GB/s
	// rail5->node1/nic5 50 GB/s
	// node1/nic5->node1/gpu5 unlimited
}
