package model

import (
	"slices"

	"collsim/sim/internal/flat"
	"collsim/symmetry"
	"collsim/topology"
)

// An Alikeness holds what links have in common that a symmetry takes to each other: the kind of
// their Anchor, the class of its rank, and for a link between two ranks the class of the other one
// (else −1) and how far away that is.
type Alikeness struct{ Kind, Class, To, Far int32 }

// AlikenessOf returns what a link has in common with those of its orbit, and the number of the
// translation that takes the link of the class's representative to it.
//
// REQUIRES: the symmetry moves the network, but for its Changes, into itself.
func AlikenessOf(g *topology.Graph, alike *symmetry.Subgroup, link int32) (a Alikeness,
	number int32) {
	anchor := g.Anchor(link)
	a = Alikeness{Kind: anchor.Kind, To: -1}
	a.Class, number = alike.Place(anchor.Rank)
	if anchor.To >= 0 {
		to, far := alike.Place(anchor.To)
		a.To, a.Far = to, alike.Sub(far, number)
	}
	return a, number
}

// IsMoved reports whether a network is known to be moved into itself by a symmetry of all its
// ranks: by its generators.
func IsMoved(g *topology.Graph, alike *symmetry.Subgroup) bool {
	return len(g.Ranks) == alike.Group.Order() && len(g.Changes()) == 0 &&
		!slices.ContainsFunc(alike.Generators(), func(t topology.Translation) bool {
			return !g.MovesBut(t)
		})
}

// Orbits has one link for all that a symmetry takes to each other. Messages of a rank cross other
// links than those of the ranks that it stands for. So what crosses the link of an orbit is what
// crosses each of its links.
type Orbits struct {
	alike  *symmetry.Subgroup
	links  []Link
	number map[Alikeness]int32 // in links
}

// NewOrbits finds the orbits of a network's links.
//
// REQUIRES: IsMoved.
func NewOrbits(g *topology.Graph, alike *symmetry.Subgroup) *Orbits {
	o := &Orbits{alike: alike, number: map[Alikeness]int32{}}
	for i := range int32(g.NumLinks()) {
		a, number := AlikenessOf(g, alike, i)
		if number != 0 {
			continue
		}
		l := g.Base(i)
		o.number[a] = int32(len(o.links))
		o.links = append(o.links, Link{Bandwidth: l.Bandwidth, Latency: l.Latency})
	}
	return o
}

// of returns the number of a link's orbit.
func (o *Orbits) of(g *topology.Graph, link int32) int32 {
	a, _ := AlikenessOf(g, o.alike, link)
	return o.number[a]
}

// Members lists the links of every orbit, each by number.
func (o *Orbits) Members(g *topology.Graph) [][]int32 {
	links := make([][]int32, len(o.links))
	for i := range int32(g.NumLinks()) {
		orbit := o.of(g, i)
		links[orbit] = append(links[orbit], i)
	}
	return links
}

// NewFoldedNetwork returns the network of a folded schedule: its links are orbits of a graph's. The
// graph is not listed for it.
func NewFoldedNetwork(g *topology.Graph, o *Orbits) Network {
	return Network{graph: g, Wires: int32(len(o.links)), Links: slices.Clone(o.links),
		byRanks: flat.NewTable(), byKey: flat.NewTable(), orbits: o}
}

// RouteTagged returns the number of the route of a connection between two ranks, with a tag. In a
// folded schedule that leads to what a translation takes the second rank to, whose number is in the
// tag (schedule.ComposeFolded).
func (n *Network) RouteTagged(src, dst, tag int32) int32 {
	if n.orbits == nil {
		return n.Route(src, dst)
	}
	return n.routeAcross(src, dst, tag%int32(len(n.orbits.alike.Elements)))
}

// routeAcross returns the number of the route from a rank of a folded schedule to what a
// translation takes another one to.
func (n *Network) routeAcross(src, dst, across int32) int32 {
	alike := n.orbits.alike
	here, there := alike.Reps[src], alike.Rank(dst, across)
	key := uint64(here)<<32 | uint64(there)
	if r := n.byKey.Find(key); r >= 0 { // there is no multimem, whose trees are in it
		return r
	}
	from := int32(len(n.Hops))
	n.cross(src)
	first := len(n.Hops)
	n.Hops = n.graph.Route(int(here), int(there), n.Hops)
	for i, link := range n.Hops[first:] {
		n.Hops[first+i] = n.orbits.of(n.graph, link)
	}
	n.cross(dst)
	number := n.add(src, dst, from)
	n.Routes[number].Across = across
	n.byKey.Put(key, number)
	return number
}

// Back returns the number of the route in the opposite direction of another.
func (n *Network) Back(route int32) int32 {
	r := &n.Routes[route]
	if n.orbits == nil {
		return n.Route(r.Dst, r.Src)
	}
	return n.routeAcross(r.Dst, r.Src, n.orbits.alike.Sub(0, r.Across))
}
