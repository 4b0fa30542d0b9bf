package bounds

import (
	"cmp"
	"math/bits"
	"slices"

	"collsim/collective"
	"collsim/topology"
	"collsim/unit"
)

// Some networks are made of interchangeable parts, except for a few parts whose links were changed.
// In the quotient of such a network, one part stands for all unchanged ones.
//
// The quotient loses nothing. Take the cuts that are worst for a root. Their near sides have a
// largest union, and a symmetry that fixes the root maps that union to itself. So the maximum flow
// in the quotient is as large, if a link that stands for several has the sum of their rates. A rank
// that stands for several likewise holds what all of them hold. Routes in the quotient have the
// same latency.

// useQuotient makes the quotient of a network the network of the search. It reports false in three
// cases: the network is small enough to be searched itself, has no such quotient, or has further
// ranks. It does so too where the collective distinguishes more ranks than a root.
func (s *search) useQuotient(g *topology.Graph) bool {
	switch s.spec.Kind {
	case collective.SendRecv, collective.AllToAll, collective.AllToAllV,
		collective.AllGatherV, collective.ReduceScatterV:
		return false
	}
	if s.limits.searches(g) || s.spec.Ranks != len(g.Ranks) {
		return false
	}
	// Of equally bad cuts the first one found is reported: keep these ranks, whose cuts are tried
	// first, distinct in the quotient.
	apart := firstScattered(len(g.Ranks), len(g.Changes())+2)
	c, ok := g.Quotient(append(apart, s.spec.Root)...)
	if !ok {
		return false
	}
	s.net = newQuotient(c)
	s.net.graph = g
	s.spec.Root = int(s.net.rank[c.Representative(g.Ranks[s.spec.Root])])
	return true
}

// newQuotient returns the network of a quotient. Links between different parts with one
// representative become one more link, the last. It is not in the adjacency of any node.
func newQuotient(c *topology.Quotient) *network {
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

// isWithin reports whether a link connects different parts that have the same representative.
func (n *network) isWithin(l int) bool { return n.from[l] == n.to[l] }

// standsFor returns how many ranks of the whole network a rank represents.
func (n *network) standsFor(rank int) int64 {
	if n.quotient == nil {
		return 1
	}
	return n.quotient.Multiplicity(n.ranks[rank])
}

// linksOf returns how many links of the whole network a link represents.
func (n *network) linksOf(l int32) int64 {
	if n.quotient == nil {
		return 1
	}
	return max(n.quotient.Multiplicity(n.from[l]), n.quotient.Multiplicity(n.to[l]))
}

// nodeOf returns the node of a rank of the whole network, or the node that represents it.
func (n *network) nodeOf(rank int) int32 {
	if n.quotient == nil {
		return n.ranks[rank]
	}
	return n.quotient.Representative(n.graph.Ranks[rank])
}

// linkName returns the name of a link that represents only itself.
func (n *network) linkName(l int32) string {
	if n.quotient == nil {
		return n.graph.LinkName(l)
	}
	name := func(v int32) string { return n.graph.Node(n.quotient.Original(v)).Name }
	return name(n.from[l]) + "->" + name(n.to[l])
}

// singletons returns the partition with every rank by itself.
func (n *network) singletons() partition {
	p := partition{of: n.rank, groups: len(n.ranks)}
	p.replicated = n.replicatedGroups(p, func(int) bool { return false })
	return p
}

// replicatedGroups reports which groups represent several groups. Such a group has only nodes that
// represent several, and joined does not connect it with the other copies of itself.
func (n *network) replicatedGroups(p partition, joined func(l int) bool) []bool {
	if n.quotient == nil {
		return nil
	}
	apart := slices.Repeat([]bool{true}, p.groups)
	for v, group := range p.of {
		if group >= 0 && n.quotient.Multiplicity(int32(v)) == 1 {
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

// count returns the number of groups that a partition has in the whole network.
func (n *network) count(p partition) int64 {
	count := int64(p.groups)
	for _, isApart := range p.replicated {
		if isApart {
			count += n.quotient.Times - 1
		}
	}
	return count
}

// scattered returns the order in which roots are tried. In a quotient it leaves out those that
// represent several: an equal one among the kept ranks stands for them.
func (n *network) scattered(roots []int) []int {
	if n.quotient == nil {
		return scattered(roots)
	}
	roots = slices.DeleteFunc(slices.Clone(roots), func(r int) bool { return n.standsFor(r) > 1 })
	place := func(r int) uint32 { return bits.Reverse32(uint32(n.quotient.Original(n.ranks[r]))) }
	slices.SortFunc(roots, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
	return roots
}
