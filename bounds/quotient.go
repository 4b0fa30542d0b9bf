package bounds

import (
	"cmp"
	"math/bits"
	"slices"

	"collsim/collective"
	"collsim/topology"
	"collsim/unit"
)

// Where a network is of parts that can be put in each other's places, but for a few of which links
// were changed, one part stands for all that are as before. It loses nothing: whatever the cut that
// is worst for a root, of the nodes on the near side of all such cuts the symmetry that leaves the
// root where it is takes each to one that is there as well. So a flow that cannot be larger is as
// large in the small network, where links that stand for several have the rates of all, and ranks
// what all of them hold. A route there is one of as much latency here.

// crowded makes the network of a search such a one. It reports false where the network is small
// enough to be searched as it is, is not of that kind, or has further ranks; or where the
// collective tells more of ranks than a root.
func (s *search) useQuotient(g *topology.Graph) bool {
	switch s.spec.Kind {
	case collective.SendRecv, collective.AllToAll, collective.AllToAllV,
		collective.AllGatherV, collective.ReduceScatterV:
		return false
	}
	if s.limits.searches(g) || s.spec.Ranks != len(g.Ranks) {
		return false
	}
	// Of cuts that are as bad the first that is found is told, around one of these ranks most likely.
	apart := firstScattered(len(g.Ranks), len(g.Changes())+2)
	c, ok := g.Crowd(append(apart, s.spec.Root)...)
	if !ok {
		return false
	}
	s.net = newQuotient(c)
	s.net.graph = g
	s.spec.Root = int(s.net.rank[c.Stand(g.Ranks[s.spec.Root])])
	return true
}

// newCrowd is the network of a crowd. What leads from one part that it stands for to another is its
// last link, which no node has.
func newQuotient(c *topology.Crowd) *network {
	n := newNetwork(c.Graph, len(c.Ranks))
	n.quotient, n.each = c, slices.Clone(n.rate)
	for l := range n.rate {
		n.rate[l] = unit.Rate(product(int64(n.rate[l]), n.linksOf(int32(l))))
	}
	if c.Within > 0 {
		last := int32(c.NumNodes() - 1)
		n.from, n.to = append(n.from, last), append(n.to, last)
		n.rate = append(n.rate, unit.Rate(product(int64(c.Like.Bandwidth), c.Within)))
		n.each = append(n.each, c.Like.Bandwidth)
		n.latency, n.lead = append(n.latency, c.Like.Latency), append(n.lead, 0)
	}
	return n
}

// isWithin reports whether a link leads from one part to another for which the same part stands.
func (n *network) isWithin(l int) bool { return n.from[l] == n.to[l] }

// standsFor is how many ranks of the whole network a rank stands for.
func (n *network) standsFor(rank int) int64 {
	if n.quotient == nil {
		return 1
	}
	return n.quotient.StandsFor(n.ranks[rank])
}

// linksOf is how many links of the whole network a link stands for.
func (n *network) linksOf(l int32) int64 {
	if n.quotient == nil {
		return 1
	}
	return max(n.quotient.StandsFor(n.from[l]), n.quotient.StandsFor(n.to[l]))
}

// nodeOf is the node that a rank of the whole network is on, or that stands for that.
func (n *network) nodeOf(rank int) int32 {
	if n.quotient == nil {
		return n.ranks[rank]
	}
	return n.quotient.Stand(n.graph.Ranks[rank])
}

// linkName is the name of a link that stands for itself.
func (n *network) linkName(l int32) string {
	if n.quotient == nil {
		return n.graph.LinkName(l)
	}
	name := func(v int32) string { return n.graph.Node(n.quotient.Of(v)).Name }
	return name(n.from[l]) + "->" + name(n.to[l])
}

// alone is the partition of every rank by itself.
func (n *network) singletons() partition {
	p := partition{of: n.rank, groups: len(n.ranks)}
	p.replicated = n.replicatedGroups(p, func(int) bool { return false })
	return p
}

// apartOf says which groups stand for several: those of nothing but nodes that do, unless such are
// joined with each other.
func (n *network) replicatedGroups(p partition, joined func(l int) bool) []bool {
	if n.quotient == nil {
		return nil
	}
	apart := slices.Repeat([]bool{true}, p.groups)
	for v, group := range p.of {
		if group >= 0 && n.quotient.StandsFor(int32(v)) == 1 {
			apart[group] = false
		}
	}
	for l, v := range n.from {
		if group := p.of[v]; group >= 0 && n.isWithin(l) && joined(l) {
			apart[group] = false
		}
	}
	return apart
}

// count is how many groups a partition has of the whole network.
func (n *network) count(p partition) int64 {
	count := int64(p.groups)
	for _, isApart := range p.replicated {
		if isApart {
			count += n.quotient.Times - 1
		}
	}
	return count
}

// scattered is the order in which roots are looked at; of those that stand for several, another one
// is like each.
func (n *network) scattered(roots []int) []int {
	if n.quotient == nil {
		return scattered(roots)
	}
	roots = slices.DeleteFunc(slices.Clone(roots), func(r int) bool { return n.standsFor(r) > 1 })
	place := func(r int) uint32 { return bits.Reverse32(uint32(n.quotient.Of(n.ranks[r]))) }
	slices.SortFunc(roots, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
	return roots
}
