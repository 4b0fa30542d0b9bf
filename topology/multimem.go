package topology

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Multimem returns the links of a rank's multimem operations over a team. up[0] leads from the rank
// to the root, and up[i+1] from team[i] to it, link by link. down[i] has the same links in the
// opposite direction. A store goes up once and comes down to the whole team: a switch on which its
// paths part must multicast. A load (reduces) brings the data of the whole team up and their sum
// down: such a switch must also reduce, as the request is itself multicast.
//
// If all ranks are on one switch that does both, it is the root: the rank's first such switch.
// Otherwise the paths are a tree over several switches (see aggregate). If there is none, the error
// names what is missing.
//
// NVLink switches have supported that since their third generation (NVIDIA, "NVIDIA H100 Tensor
// Core GPU Architecture", 2022: NVLink SHARP; PTX calls the operations multimem.ld_reduce and
// multimem.st). InfiniBand switches do it over several hops (Graham et al., "Scalable Hierarchical
// Aggregation Protocol (SHArP)", COMHPC 2016).
func (g *Graph) Multimem(rank int32, team []int32, reduces bool) (up, down [][]int32, err error) {
	if !g.routes.built {
		g.buildNeighbours()
	}
	why := fmt.Errorf("%s hangs on no switch", g.Nodes()[g.Ranks[rank]].Name)
	found := 0 // how far the best switch got
	for _, l := range g.routes.out.of(g.Ranks[rank]) {
		hub := g.Links()[l].To
		if !g.Nodes()[hub].Switch {
			continue
		}
		reached := 0
		up, down, reached, err = g.spokes(hub, rank, team, reduces)
		if err == nil {
			return up, down, nil
		}
		if reached > found {
			found, why = reached, err
		}
	}
	if up, down, err = g.aggregate(rank, team, reduces); err != nil {
		why = err
	}
	if up == nil {
		return nil, nil, why
	}
	return up, down, nil
}

// spokes returns the links of Multimem over one switch. If that fails, met is the number of
// conditions that hold before the one in the error.
func (g *Graph) spokes(hub, rank int32, team []int32, reduces bool) (
	up, down [][]int32, met int, err error) {
	for i := range len(team) + 1 {
		r := rank
		if i > 0 {
			r = team[i-1]
		}
		node := g.Ranks[r]
		there, back := g.direct(node, hub), g.direct(hub, node)
		if there < 0 || back < 0 {
			return nil, nil, 1 + i, fmt.Errorf("%s does not hang on %s, as %s does", g.Nodes()[node].Name,
				g.Nodes()[hub].Name, g.Nodes()[g.Ranks[rank]].Name)
		}
		up, down = append(up, []int32{there}), append(down, []int32{back})
	}
	met = 2 + len(team)
	if lacks := g.Nodes()[hub].lacks(reduces); lacks != "" {
		if lacks == "reduce" {
			met++
		}
		return nil, nil, met, fmt.Errorf("%s does not declare %s", g.Nodes()[hub].Name, lacks)
	}
	return up, down, met, nil
}

// lacks names the capability of multimem that a switch lacks; "" if none.
func (n *Node) lacks(reduces bool) string {
	switch {
	case !n.Multicast:
		return "multicast"
	case reduces && !n.Reduce:
		return "reduce"
	}
	return ""
}

// aggregate returns the links of Multimem over a tree of switches: every path is a shortest one to
// the root, over no other rank. A switch on which paths meet must multicast and reduce. One that
// paths only pass, a NIC or a PCIe switch, need not. up is nil if no such root is within reach of
// all.
func (g *Graph) aggregate(rank int32, team []int32, reduces bool) (
	up, down [][]int32, err error) {
	root := g.root(append(slices.Clone(team), rank), reduces)
	if root < 0 {
		return nil, nil, nil
	}
	t := climbs{g: g, root: root, left: g.lengths(root), after: map[int32]int32{}}
	for _, r := range append([]int32{rank}, team...) {
		way, back := t.climb(r)
		if way == nil {
			return nil, nil, fmt.Errorf("%s has no path to %s and back, the switch that all reach",
				g.Nodes()[g.Ranks[r]].Name, g.Nodes()[root].Name)
		}
		up, down = append(up, way), append(down, back)
	}
	meets := map[int32]int32{} // by link: the link before it on a path
	for _, way := range up[1:] {
		for i := 1; i <= len(way); i++ {
			onto := int32(-1)
			if i < len(way) {
				onto = way[i]
			}
			if before, isThere := meets[onto]; isThere && before != way[i-1] {
				n := &g.Nodes()[g.Links()[way[i-1]].To]
				if lacks := n.lacks(reduces); lacks != "" {
					return nil, nil, fmt.Errorf("%s, on which paths to %s meet, does not declare %s", n.Name,
						g.Nodes()[root].Name, lacks)
				}
			}
			meets[onto] = way[i-1]
		}
	}
	return up, down, nil
}

// root returns the capable switch that is nearest to the farthest of some ranks, −1 if none reaches
// all. Several that are equally near are chosen in turn, by the least of the ranks. So teams of
// different ranks have different roots. It caches its results.
func (g *Graph) root(ranks []int32, reduces bool) int32 {
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	key := make([]byte, 1, 1+4*len(ranks))
	if reduces {
		key[0] = 1
	}
	for _, r := range ranks {
		key = binary.LittleEndian.AppendUint32(key, uint32(r))
	}
	if root, isThere := g.routes.roots[string(key)]; isThere {
		return root
	}
	height := make([]int32, len(g.Nodes())) // −1 if a rank has no path
	for _, r := range ranks {
		for v, d := range g.lengths(g.Ranks[r]) {
			if d < 0 || height[v] < 0 {
				height[v] = -1
			} else {
				height[v] = max(height[v], d)
			}
		}
	}
	var nearest []int32
	for v := range g.Nodes() {
		n := &g.Nodes()[v]
		switch {
		case !n.Switch || height[v] < 0 || n.lacks(reduces) != "":
			continue
		case len(nearest) > 0 && height[v] < height[nearest[0]]:
			nearest = nearest[:0]
		case len(nearest) > 0 && height[v] > height[nearest[0]]:
			continue
		}
		nearest = append(nearest, int32(v))
	}
	root := int32(-1)
	if len(nearest) > 0 {
		root = nearest[int(ranks[0])%len(nearest)]
	}
	if g.routes.roots == nil {
		g.routes.roots = map[string]int32{}
	}
	g.routes.roots[string(key)] = root
	return root
}

// lengths returns the length of the path to a node from every other, over no rank between; −1 if
// there is none.
func (g *Graph) lengths(end int32) []int32 {
	g.forgetSearch()
	all := make([]int32, len(g.Nodes()))
	for i := range all {
		all[i] = -1
	}
	g.search(all, end, -1, false)
	for i := range g.routes.queues {
		g.routes.queues[i].nodes = g.routes.queues[i].nodes[:0]
	}
	return all
}

// climbs holds the paths from ranks to a root. All paths through a link continue alike.
type climbs struct {
	g     *Graph
	root  int32
	left  []int32         // by node: length of the rest of the path
	after map[int32]int32 // the link after a link
}

// climb returns the links from a rank to the root and those back, along the same path; nil if there
// is none. If several links are on a shortest path, ranks use them in turn.
func (t *climbs) climb(rank int32) (up, down []int32) {
	last := int32(-1)
	for v := t.g.Ranks[rank]; v != t.root; {
		l, isKnown := t.after[last]
		if !isKnown {
			var good []int32
			for _, l := range t.g.routes.out.of(v) {
				link := &t.g.Links()[l]
				u := link.To
				isShortest := t.left[u] >= 0 && t.left[u]+1+link.extra == t.left[v]
				if isShortest && t.g.Nodes()[u].Switch && t.g.direct(v, u) == l && t.g.direct(u, v) >= 0 {
					good = append(good, l)
				}
			}
			if len(good) == 0 {
				return nil, nil
			}
			if l = good[int(rank)%len(good)]; last >= 0 {
				t.after[last] = l
			}
		}
		u := t.g.Links()[l].To
		up, down = append(up, l), append(down, t.g.direct(u, v))
		last, v = l, u
	}
	slices.Reverse(down)
	return up, down
}

// multimem makes the switches that does selects multicast and reduce.
func (g *Graph) multimem(does func(*Node) bool) {
	for i := range g.Nodes() {
		n := &g.Nodes()[i]
		n.Multicast = n.Switch && does(n)
		n.Reduce = n.Multicast
	}
}

// Computes reports whether any switch multicasts or reduces.
func (g *Graph) Computes() bool {
	if c, ok := g.formula.(*cluster); ok && !g.isListed {
		return c.parts.node.Computes()
	}
	for i := range g.nodes { // what does is listed
		if n := &g.nodes[i]; n.Multicast || n.Reduce {
			return true
		}
	}
	return false
}
