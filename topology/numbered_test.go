package topology

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// numbered are networks that follow a formula, of many shapes.
func numbered(t *testing.T) map[string]*Graph {
	t.Helper()
	all := map[string]*Graph{}
	add := func(name string, p Params) {
		g, err := Build(p)
		require.NoError(t, err, name)
		require.False(t, g.IsListed(), name)
		all[name] = g
	}
	flat := func(preset string, ranks, k int, shape ...int) Params {
		return Params{Preset: preset, Ranks: ranks, K: k, Shape: shape, Bandwidth: rate,
			Latency: unit.Microsecond}
	}
	for _, ranks := range []int{1, 2, 3, 4, 5, 8, 12} {
		for _, preset := range []string{"switch", "full-mesh", "ring"} {
			add(fmt.Sprint(preset, ranks), flat(preset, ranks, 0))
		}
	}
	add("hypercube", flat("hypercube", 16, 0))
	add("hypercube2", flat("hypercube", 2, 0))
	for _, shape := range [][]int{{4, 3}, {2, 6}, {3, 2, 4}, {2, 2, 2}, {1, 5}, {6, 1, 2}} {
		add(fmt.Sprint("torus", shape), flat("torus", 0, 0, shape...))
	}
	for _, p := range fromLists() {
		if p.Ranks <= 16 {
			add(fmt.Sprintf("%s %v %d %d %d %d %d %v", p.Preset, p.Shape, p.Ranks, p.K, p.A, p.P, p.H,
				int64(p.Oversubscription)), p)
		}
	}
	for _, inner := range []Params{flat("switch", 4, 0), flat("full-mesh", 4, 0), flat("ring", 4, 0),
		flat("torus", 0, 0, 2, 2), flat("tree", 4, 2), flat("mesh", 0, 0, 4), flat("switch", 1, 0),
		flat("fat-tree", 2, 4), flat("leaf-spine", 6, 3)} {
		for _, network := range []string{"switch", "rails"} {
			for _, nics := range []int{0, 1, 2, 8} {
				outer := flat(network, 0, 0)
				outer.NICs, outer.Bandwidth = nics, rate/4
				add(fmt.Sprint(inner.Preset, inner.Ranks, network, nics),
					Params{Nodes: 3, Node: &inner, Network: &outer})
			}
		}
	}
	for name, wires := range map[string][]Wire{"near": nearNICs(), "far": farNICs()} {
		for _, network := range []string{"switch", "rails"} {
			outer := flat(network, 0, 0)
			add(fmt.Sprint(name, network),
				Params{Nodes: 3, Node: &Params{Preset: "links", Wires: wires}, Network: &outer})
		}
	}
	return all
}

// TestNumbered: links by number are those of the list, with their ports, and routes by formula
// those that a search of the list finds.
func TestNumbered(t *testing.T) {
	for name, g := range numbered(t) {
		listed := g.Clone()
		require.Equal(t, len(listed.Nodes()), g.NumNodes(), name)
		require.Equal(t, len(listed.Links()), g.NumLinks(), name)
		for v, n := range listed.Nodes() {
			require.Equal(t, n, g.Node(int32(v)), name)
		}
		into := make([]int32, g.NumNodes())
		for i, l := range listed.Links() {
			require.Equal(t, l.Name, g.LinkName(int32(i)), name)
			require.Equal(t, into[l.To], l.Port, name)
			into[l.To]++
			l.Name = ""
			require.Equal(t, l, g.Link(int32(i)), "%s %d", name, i)
		}
		figures := map[[2]int64]bool{}
		for _, i := range g.Samples() {
			l := g.Link(i)
			figures[[2]int64{int64(l.Bandwidth), int64(l.Latency)}] = true
		}
		for _, l := range listed.Links() {
			require.True(t, figures[[2]int64{int64(l.Bandwidth), int64(l.Latency)}], name)
		}
		require.NoError(t, g.Connected())
		require.NoError(t, searched(g).Connected())
		for _, routing := range []Routing{Shortest, ECMP} {
			if g.parts == nil || routing == Shortest {
				requireRoutes(t, searched(g), g, routing, name)
			}
		}
		require.False(t, g.IsListed())
	}
}

// requireRoutes: the routes of a network are those that a search of a list finds.
func requireRoutes(t *testing.T, listed, g *Graph, routing Routing, name string) {
	t.Helper()
	g.Routing, listed.Routing = routing, routing
	listed.parts, listed.grid = nil, nil
	there, here := make([]int32, 0, 64), make([]int32, 0, 64)
	for s := range g.Ranks {
		for d := range g.Ranks {
			want, got := listed.Route(s, d, there[:0]), g.Route(s, d, here[:0])
			if !slices.Equal(want, got) {
				require.Equal(t, want, got, "%s %d %d", name, s, d)
			}
		}
	}
	g.Routing = Shortest
}

// fromLists are networks of which there is a list link by link, too.
func fromLists() (all []Params) {
	add := func(p Params) {
		p.Bandwidth, p.Latency = rate, hop
		all = append(all, p)
	}
	for _, shape := range [][]int{{1}, {3}, {1, 4}, {2, 3, 2}, {4, 4}, {3, 1, 5}, {2, 2, 2, 2}} {
		add(Params{Preset: "mesh", Shape: shape, Ranks: product(shape)})
	}
	for _, k := range []int{2, 3, 4, 7} {
		for _, ranks := range []int{1, 2, 3, 8, 9, 16, 23, 64} {
			add(Params{Preset: "tree", Ranks: ranks, K: k})
			add(Params{Preset: "leaf-spine", Ranks: ranks, K: k})
		}
	}
	add(Params{Preset: "leaf-spine", Ranks: 22, K: 6, Oversubscription: 3e6})
	add(Params{Preset: "leaf-spine", Ranks: 3, K: 8, Oversubscription: 4e6})
	for _, k := range []int{2, 4, 6, 8} {
		most := k * k * k / 4
		for _, ranks := range []int{1, 2, k * k / 4, most / 2, most/2 + 1, most - 1, most} {
			for _, over := range []int{0, 1, k / 2} {
				add(Params{Preset: "fat-tree", K: k, Ranks: ranks, Oversubscription: unit.Share(over * 1e6)})
			}
		}
	}
	for _, x := range [][3]int{{1, 1, 1}, {1, 2, 3}, {2, 1, 1}, {2, 2, 1}, {3, 2, 1}, {2, 1, 2},
		{3, 1, 2}, {4, 2, 2}} {
		most := x[0] * x[1] * (x[0]*x[2] + 1)
		for _, ranks := range []int{1, most/2 + 1, most - 1, most} {
			if ranks > 0 {
				add(Params{Preset: "dragonfly", Ranks: ranks, A: x[0], P: x[1], H: x[2]})
			}
		}
	}
	return all
}

// TestFormulasAreTheLists: what follows a formula is what is listed link by link: nodes, links,
// ports, and routes of both kinds.
func TestFormulasAreTheLists(t *testing.T) {
	for _, p := range fromLists() {
		name := fmt.Sprintf("%+v", p)
		want := listedAs(p)
		g, err := Build(p)
		require.NoError(t, err, name)
		requireListed(t, want, g, name)
		requireRoutes(t, want, g, Shortest, name)
		requireRoutes(t, want, g, ECMP, name)
		require.False(t, g.IsListed())
		g.Links() // and when it is listed
		require.Equal(t, want.Nodes(), g.Nodes(), name)
		require.Equal(t, want.Links(), g.Links(), name)
		requireRoutes(t, want, g, ECMP, name)
	}
	for _, p := range []Params{
		{Preset: "fat-tree", K: 32, Ranks: 4096}, {Preset: "tree", Ranks: 1000, K: 10},
		{Preset: "fat-tree", K: 26, Ranks: 4096, Oversubscription: 13e6},
		{Preset: "leaf-spine", Ranks: 1000, K: 24}, {Preset: "dragonfly", A: 8, P: 4, H: 4, Ranks: 1050},
	} {
		name := fmt.Sprintf("%+v", p)
		p.Bandwidth = rate
		want := listedAs(p)
		g, err := Build(p)
		require.NoError(t, err, name)
		requireListed(t, want, g, name)
		for i := range 200 {
			s, d := i*7919%p.Ranks, i*104729%p.Ranks
			want.Routing, g.Routing = Routing(i%2), Routing(i%2)
			require.Equal(t, want.Route(s, d, nil), g.Route(s, d, nil), "%s %d %d", name, s, d)
		}
	}
}

// requireListed: nodes and links by number are those of a list.
func requireListed(t *testing.T, want, g *Graph, name string) {
	t.Helper()
	require.False(t, g.IsListed(), name)
	require.Equal(t, want.Ranks, g.Ranks, name)
	require.Equal(t, len(want.nodes), g.NumNodes(), name)
	require.Equal(t, len(want.links), g.NumLinks(), name)
	for v, n := range want.nodes {
		if n != g.Node(int32(v)) {
			require.Equal(t, n, g.Node(int32(v)), name)
		}
	}
	for i, l := range want.links {
		x := g.Link(int32(i))
		if x.Name = g.LinkName(int32(i)); x != l {
			require.Equal(t, l, x, "%s %d", name, i)
		}
	}
}

// TestMoves: whatever translation a network says that it has takes every route to a route of alike
// links, and links by their anchors; and of the many there are it knows the ones that matter.
func TestMoves(t *testing.T) {
	known, all := map[string]int{}, map[string]int{}
	for name, g := range numbered(t) {
		n := int32(len(g.Ranks))
		for weight := int32(1); weight <= n; weight++ {
			for size := int32(2); size*weight <= n; size++ {
				for step := int32(1); step < size; step++ {
					move := Translation{Size: size, Weight: weight, Step: step}
					if n%(size*weight) != 0 {
						continue
					}
					if all[name]++; !g.Moves(move) {
						continue
					}
					known[name]++
					requireMoved(t, g, move, name)
				}
			}
		}
	}
	for _, name := range []string{"switch12", "full-mesh12"} {
		require.Equal(t, all[name], known[name], name)
	}
	for name, most := range map[string]int{"ring8": 7, "torus[4 3]": 3 + 2, "hypercube": 4,
		"switch4rails0": 2, "nearswitch": 2, "farrails": 2, "tree4rails0": 2,
		"fat-tree [] 16 4 0 0 0 0": 3, "fat-tree [] 8 4 0 0 0 0": 1,
		"leaf-spine [] 8 2 0 0 0 0": 3, "tree [] 8 2 0 0 0 0": 1, "tree [] 9 3 0 0 0 0": 2,
		"dragonfly [] 12 0 2 2 1 0": 2} {
		require.GreaterOrEqual(t, known[name], most, name)
	}
}

func requireMoved(t *testing.T, g *Graph, move Translation, name string) {
	t.Helper()
	seen := map[Anchor]bool{}
	for i := range g.NumLinks() {
		require.False(t, seen[g.Anchor(int32(i))], name)
		seen[g.Anchor(int32(i))] = true
	}
	for s := range g.Ranks {
		for d := range g.Ranks {
			there := g.Route(int(move.Of(int32(s))), int(move.Of(int32(d))), nil)
			for i, l := range g.Route(s, d, nil) {
				a, b, x := g.Link(l), g.Link(there[i]), g.Anchor(l)
				x.Rank = move.Of(x.Rank)
				if x.To >= 0 {
					x.To = move.Of(x.To)
				}
				if a.Bandwidth != b.Bandwidth || a.Latency != b.Latency || x != g.Anchor(there[i]) {
					require.Fail(t, "is not moved", "%s %v: %d to %d", name, move, s, d)
				}
			}
		}
	}
}

// TestAlike: of a network whose ranks all see the same each has as many routes of every length.
func TestAlike(t *testing.T) {
	known := 0
	for name, g := range numbered(t) {
		if !g.Alike() {
			continue
		}
		known++
		var first map[int]int
		for s := range g.Ranks {
			lengths := map[int]int{}
			for d := range g.Ranks {
				lengths[len(g.Route(s, d, nil))]++
			}
			if s == 0 {
				first = lengths
			}
			require.Equal(t, first, lengths, "%s %d", name, s)
		}
	}
	require.Greater(t, known, 30)
}

// TestMovesIsNotSaidOfWhatMayDiffer: not where ranks sit elsewhere, paths are hashed or links have
// been listed, and so may have been changed.
func TestMovesIsNotSaidOfWhatMayDiffer(t *testing.T) {
	p := Params{Preset: "switch", Ranks: 4, Bandwidth: rate}
	move := Translation{Size: 4, Weight: 1, Step: 1}
	build := func() *Graph {
		g, err := Build(p)
		require.NoError(t, err)
		return g
	}
	g := build()
	require.True(t, g.Moves(move))
	require.True(t, g.Clone().Moves(move))
	require.NoError(t, g.Override("gpu1->switch", Change{Bandwidth: 1}))
	require.False(t, g.Moves(move))
	require.False(t, g.Clone().Moves(move))
	p.Places = []int{1, 0, 2, 3}
	require.False(t, build().Moves(move))
	p.Places, p.Routing = nil, ECMP
	require.False(t, build().Moves(move))
}

// TestIsStar: a switch is a star whether or not somebody has asked for its links, or changed one.
func TestIsStar(t *testing.T) {
	star := func() *Graph {
		g, err := plain("switch", 5, 125e8, unit.Microsecond)
		require.NoError(t, err)
		return g
	}
	require.True(t, star().IsStar())
	for _, change := range []func(l *Link){func(l *Link) { l.Bandwidth-- },
		func(l *Link) { l.Latency++ }} {
		g := star()
		g.Links()
		require.True(t, g.IsStar())
		for i := range g.Links() {
			up, down := g.Spokes(int32(i % 5))
			require.Contains(t, []int32{up, down}, int32(i))
		}
		change(&g.Links()[7])
		require.True(t, g.IsStar())
		require.Equal(t, []int32{7}, g.Changes())
	}
	for _, preset := range []string{"full-mesh", "ring"} {
		g, err := plain(preset, 5, 125e8, unit.Microsecond)
		require.NoError(t, err)
		require.False(t, g.IsStar())
	}
	g, err := Build(Params{Preset: "rails", Ranks: 6, K: 2, Bandwidth: 125e8})
	require.NoError(t, err)
	require.False(t, g.IsStar())
}
