package topology

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// figures are what the literature says of a network: nodes with switches, directed links, links
// that half of the ranks have to the other half, links on the longest route.
type figures struct{ nodes, links, bisection, diameter int }

// known is a network and its figures by formula.
type known struct {
	params Params
	want   figures
}

func product(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// meshes: the first dimension is the longest, and even.
func meshes() (all []known) {
	for _, shape := range [][]int{{4}, {4, 2}, {4, 3, 2}, {4, 4}, {8, 8}} {
		n := product(shape)
		f := figures{nodes: n, bisection: n / shape[0]}
		for _, s := range shape {
			f.links += 2 * n / s * (s - 1)
			f.diameter += s - 1
		}
		all = append(all, known{Params{Preset: "mesh", Shape: shape}, f})
	}
	return all
}

// tori: likewise, and longer than two.
func tori() (all []known) {
	for _, shape := range [][]int{{8}, {4, 3}, {4, 4}, {6, 2, 2}, {4, 4, 4}} {
		n := product(shape)
		f := figures{nodes: n, bisection: 2 * n / shape[0]}
		for _, s := range shape {
			f.links += 2 * n
			if s == 2 {
				f.links -= n // one link to the only neighbour
			}
			f.diameter += s / 2
		}
		all = append(all, known{Params{Preset: "torus", Shape: shape}, f})
	}
	return all
}

func hypercubes() (all []known) {
	for _, n := range []int{2, 4, 8, 16, 64} {
		d := bits.Len(uint(n)) - 1
		all = append(all, known{Params{Preset: "hypercube", Ranks: n}, figures{n, n * d, n / 2, d}})
	}
	return all
}

// trees: full, of even k; k^L ranks.
func trees() (all []known) {
	for _, t := range [][3]int{{2, 4, 2}, {2, 8, 3}, {4, 4, 1}, {4, 16, 2}, {2, 64, 6}} {
		k, n, levels := t[0], t[1], t[2]
		switches := (n - 1) / (k - 1)
		all = append(all, known{Params{Preset: "tree", Ranks: n, K: k},
			figures{n + switches, 2 * (n + switches - 1), k / 2, 2 * levels}})
	}
	return all
}

// leafSpines: an even number of full leaves.
func leafSpines() (all []known) {
	for _, t := range [][3]int{{8, 4, 1}, {8, 4, 2}, {12, 3, 1}, {12, 3, 3}, {64, 8, 2}} {
		n, k, o := t[0], t[1], t[2]
		leaves, spines := n/k, k/o
		all = append(all, known{Params{Preset: "leaf-spine", Ranks: n, K: k,
			Oversubscription: unit.Share(o * 1e6)},
			figures{n + leaves + spines, 2 * (n + leaves*spines), leaves / 2 * spines, 4}})
	}
	return all
}

// fatTrees: all places taken; k³/4 hosts, 5k²/4 switches where nothing is oversubscribed.
func fatTrees() (all []known) {
	for _, t := range [][2]int{{2, 1}, {4, 1}, {4, 2}, {6, 3}, {8, 2}} {
		k, o := t[0], t[1]
		n := k * k * k / 4
		switches := k*k/2 + k*k/2/o + k*k/4/o
		all = append(all, known{Params{Preset: "fat-tree", K: k,
			Oversubscription: unit.Share(o * 1e6)},
			figures{n + switches, 2 * (n + k*k*k/2/o), k * k * k / 8 / o, 6}})
	}
	return all
}

// dragonflies: an even number of groups, so that halves are whole groups: (g/2)² links join them,
// or as many as half of the ranks can use.
func dragonflies() (all []known) {
	for _, t := range [][3]int{{1, 1, 1}, {3, 1, 1}, {5, 1, 1}, {3, 2, 3}, {3, 3, 5}} {
		a, p, h := t[0], t[1], t[2]
		g := a*h + 1
		n := a * p * g
		f := figures{n + a*g, 2*n + g*a*(a-1) + g*a*h, min(g/2*(g/2), n/2), 5}
		if a == 1 {
			f.diameter = 3 // no local links
		}
		all = append(all, known{Params{Preset: "dragonfly", A: a, P: p, H: h}, f})
	}
	return all
}

// clusters: an even number of nodes with a fast switch inside, on rails.
func clusters() (all []known) {
	for _, t := range [][2]int{{2, 1}, {2, 2}, {4, 2}, {2, 4}, {8, 8}} {
		n, m := t[0], t[1]
		f := figures{n*(m+1+m) + m, 6 * n * m, n * m / 2, 6}
		if m == 1 {
			f.diameter = 4 // no rail to change to
		}
		all = append(all, known{Params{Nodes: n,
			Node:    &Params{Preset: "switch", Ranks: m, Bandwidth: 10},
			Network: &Params{Preset: "rails", Bandwidth: 1}}, f})
	}
	return all
}

// TestFigures compares every preset with its formulas at five sizes. The bisection is the least
// maximum flow between two halves of the ranks, of all halves where there are few, else that of
// the halves that the formula is about: the lower ranks and the higher.
func TestFigures(t *testing.T) {
	for _, all := range [][]known{meshes(), tori(), hypercubes(), trees(), leafSpines(), fatTrees(),
		dragonflies(), clusters()} {
		require.Len(t, all, 5)
		for _, k := range all {
			if k.params.Node == nil {
				k.params.Bandwidth = 1
			}
			g, err := Build(k.params)
			require.NoError(t, err)
			require.NoError(t, g.Connected())
			name := fmt.Sprintf("%+v", k.params)
			diameter, err := longestRoute(g)
			require.NoError(t, err, name)
			require.Equal(t, k.want,
				figures{len(g.Nodes()), len(g.Links()), bisection(g), diameter}, name)
		}
	}
}

// longestRoute checks that all routes are contiguous, free of loops, shortest by their measure and
// take one link of extra length in a dragonfly at most, and returns the most links of one.
func longestRoute(g *Graph) (int, error) {
	most := 0
	for d, end := range g.Ranks {
		left := lengths(g, end)
		for s := range g.Ranks {
			at, length, seen := g.Ranks[s], int32(0), map[int32]bool{}
			extra := 0
			route := g.Route(s, d, nil)
			for _, i := range route {
				l := g.Links()[i]
				if l.From != at || seen[at] {
					return 0, fmt.Errorf("%d to %d: %v leaves the path or has a loop", s, d, route)
				}
				seen[at] = true
				at = l.To
				length += 1 + l.extra
				if l.extra > 0 {
					extra++
				}
			}
			switch {
			case at != end || seen[end]:
				return 0, fmt.Errorf("%d to %d: %v ends elsewhere", s, d, route)
			case length != left[g.Ranks[s]]:
				return 0, fmt.Errorf("%d to %d: length %d is not the least, %d", s, d, length,
					left[g.Ranks[s]])
			case extra > 1 && g.Preset == "dragonfly" || extra > 2:
				return 0, fmt.Errorf("%d to %d: %v takes %d such links", s, d, route, extra)
			}
			most = max(most, len(route))
		}
	}
	return most, nil
}

// lengths returns the length of the way from each node to end: relaxing until nothing changes, the
// plainest way there is.
func lengths(g *Graph, end int32) []int32 {
	left := make([]int32, len(g.Nodes()))
	for v := range left {
		left[v] = 1 << 30
	}
	left[end] = 0
	for changed := true; changed; {
		changed = false
		for _, l := range g.Links() {
			if d := left[l.To] + 1 + l.extra; d < left[l.From] {
				left[l.From] = d
				changed = true
			}
		}
	}
	return left
}

// bisection returns the least flow between halves of the ranks; links carry their bandwidth.
func bisection(g *Graph) int {
	n := len(g.Ranks)
	lower := make([]bool, n)
	if n > 12 {
		for r := range n / 2 {
			lower[r] = true
		}
		return maxFlow(g, lower)
	}
	least := 1 << 30
	for set := range 1 << n {
		if bits.OnesCount(uint(set)) != n/2 {
			continue
		}
		for r := range n {
			lower[r] = set>>r&1 == 1
		}
		least = min(least, maxFlow(g, lower))
	}
	return least
}

// maxFlow returns the most that the ranks in from can send to the others at once (Edmonds and Karp:
// shortest augmenting paths).
func maxFlow(g *Graph, from []bool) int {
	if !g.routes.built {
		g.buildNeighbours()
	}
	free := make([]int64, len(g.Links())) // forward
	used := make([]int64, len(g.Links())) // what can be taken back
	for i, l := range g.Links() {
		free[i] = min(int64(l.Bandwidth), 1<<20)
	}
	sink := make([]bool, len(g.Nodes()))
	for r, v := range g.Ranks {
		sink[v] = !from[r]
	}
	for flow := 0; ; {
		path := augment(g, from, sink, free, used)
		if path == nil {
			return flow
		}
		most := int64(1 << 20)
		for _, e := range path {
			if e >= 0 {
				most = min(most, free[e])
			} else {
				most = min(most, used[^e])
			}
		}
		for _, e := range path {
			if e >= 0 {
				free[e] -= most
				used[e] += most
			} else {
				free[^e] += most
				used[^e] -= most
			}
		}
		flow += int(most)
	}
}

// augment returns a path with room: links, or complements of links to take back; nil if none.
func augment(g *Graph, from, sink []bool, free, used []int64) []int32 {
	const unseen, source = 1 << 30, 1<<30 + 1
	by := make([]int32, len(g.Nodes())) // what each node was reached by
	for v := range by {
		by[v] = unseen
	}
	var queue []int32
	for r, v := range g.Ranks {
		if from[r] {
			by[v] = source
			queue = append(queue, v)
		}
	}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		if sink[v] {
			var path []int32
			for by[v] != source {
				e := by[v]
				path = append(path, e)
				if e >= 0 {
					v = g.Links()[e].From
				} else {
					v = g.Links()[^e].To
				}
			}
			return path
		}
		for _, l := range g.routes.out.of(v) {
			if to := g.Links()[l].To; free[l] > 0 && by[to] == unseen {
				by[to] = l
				queue = append(queue, to)
			}
		}
		for _, l := range g.routes.in.of(v) {
			if to := g.Links()[l].From; used[l] > 0 && by[to] == unseen {
				by[to] = ^l
				queue = append(queue, to)
			}
		}
	}
	return nil
}
