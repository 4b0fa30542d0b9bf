package topology

import (
	"fmt"
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
	for _, inner := range []Params{flat("switch", 4, 0), flat("full-mesh", 4, 0), flat("ring", 4, 0),
		flat("torus", 0, 0, 2, 2), flat("tree", 4, 2), flat("mesh", 0, 0, 4), flat("switch", 1, 0)} {
		for _, network := range []string{"switch", "rails"} {
			for _, nics := range []int{0, 1, 2, 8} {
				outer := flat(network, 0, 0)
				outer.NICs, outer.Bandwidth = nics, rate/4
				add(fmt.Sprint(inner.Preset, inner.Ranks, network, nics),
					Params{Nodes: 3, Node: &inner, Network: &outer})
			}
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
		require.NoError(t, listed.Connected())
		listed.parts, listed.grid = nil, nil
		for s := range g.Ranks {
			for d := range g.Ranks {
				require.Equal(t, listed.Route(s, d, nil), g.Route(s, d, nil), "%s %d %d", name, s, d)
			}
		}
		require.False(t, g.IsListed())
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
					move := Translation{size, weight, step}
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
		"switch4rails0": 2, "tree4rails0": 2} {
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
				require.Equal(t, [2]any{a.Bandwidth, a.Latency}, [2]any{b.Bandwidth, b.Latency})
				x.Rank = move.Of(x.Rank)
				if x.To >= 0 {
					x.To = move.Of(x.To)
				}
				require.Equal(t, x, g.Anchor(there[i]), "%s %v: %d to %d", name, move, s, d)
			}
		}
	}
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

// TestIsStar: a switch is a star whether or not somebody has asked for its links, and is none once
// one of them is another than the others.
func TestIsStar(t *testing.T) {
	star := func() *Graph {
		g, err := New("switch", 5, 125e8, unit.Microsecond)
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
		require.False(t, g.IsStar())
	}
	for _, preset := range []string{"full-mesh", "ring"} {
		g, err := New(preset, 5, 125e8, unit.Microsecond)
		require.NoError(t, err)
		require.False(t, g.IsStar())
	}
	g, err := Build(Params{Preset: "rails", Ranks: 6, K: 2, Bandwidth: 125e8})
	require.NoError(t, err)
	require.False(t, g.IsStar())
}
