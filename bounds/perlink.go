package bounds

import (
	"fmt"

	"collsim/collective"
	"collsim/topology"
	"collsim/unit"
)

// mostListed bounds the links of a network that is searched link by link although it has replicas.
const mostListed = 1 << 14

// searches reports whether a network is small enough to be searched link by link.
func (l limits) searches(g *topology.Graph) bool { return g.IsListed() || g.NumLinks() <= l.links }

// useReplicas finds the bounds on a network of replicated parts by one part of each kind. It
// considers a single rank, a node, and all of either together. It reports false where the network
// is small enough for a search, has no such parts, or has further ranks.
func (s *search) useReplicas(g *topology.Graph) (ok bool) {
	if s.limits.searches(g) || s.spec.Ranks != len(g.Ranks) ||
		s.spec.Kind.Splits() || s.spec.Kind == collective.SendRecv {
		return false
	}
	few, cells, ok := g.Miniature()
	if !ok {
		return false
	}
	whole := s.spec
	s.spec.Ranks, s.spec.Root = len(few.Ranks), 0
	s.net = newNetwork(few, s.spec.Ranks)
	s.net.measure()
	s.spec.Kind = collective.Barrier // all pairs: each rank's farthest is at the same distance
	s.latency()
	s.spec = whole
	for _, c := range cells {
		s.cell(c)
	}
	return true
}

// cell raises the bounds by the links out of a cell, by those into it, and by both for all cells
// together.
func (s *search) cell(c topology.Replica) {
	n, r := int64(s.spec.Ranks), int64(c.Ranks)
	block := s.spec.Count * int64(s.spec.Type.Width())
	out, in := int64(0), int64(0)
	switch s.spec.Kind {
	case collective.AllReduce:
		whole := product(product(2, int64(c.Count)-1), block) // see groupClaims
		s.claimCells(c, whole, int64(c.Count), true)
		s.claimCells(c, whole, int64(c.Count), false)
		out, in = block, block
	case collective.AllGather:
		out, in = product(r, block), product(n-r, block)
	case collective.ReduceScatter:
		out, in = product(n-r, block), product(r, block)
	case collective.Broadcast, collective.Reduce:
		out, in = block, block
	case collective.Gather:
		out, in = product(r, block), product(n-r, block)
	case collective.Scatter:
		out, in = product(n-r, block), product(r, block)
	case collective.AllToAll:
		out = product(product(r, n-r), block)
		in = out
	}
	s.claimCells(c, out, 1, true)
	s.claimCells(c, in, 1, false)
}

// claimCells considers a bound of so many bytes over the links out of, or else into, so many cells
// together.
func (s *search) claimCells(c topology.Replica, bytes, cells int64, out bool) {
	links := c.In
	if out {
		links = c.Out
	}
	x := noLinks(bytes)
	for _, l := range links {
		rate := product(product(int64(s.net.rate[l]), int64(c.Times)), cells)
		x = x.over(unit.Rate(rate), s.net.lead[l])
	}
	s.consider(x, func() string { return s.describeCell(c, links, cells > 1, out) })
}

// describeCell names the links of a cell, or of all cells.
func (s *search) describeCell(c topology.Replica, links []int32, isAll, out bool) string {
	direction := "into"
	if out {
		direction = "out of"
	}
	ranks := s.spec.Ranks
	s.spec.Ranks = len(s.net.ranks) // those that have names here
	defer func() { s.spec.Ranks = ranks }()
	inside := func(r int) bool { return r < c.Ranks }
	switch {
	case isAll && c.Ranks == 1:
		return "all links " + direction + " the ranks"
	case isAll:
		return fmt.Sprintf("all links %s %d groups of ranks (the first is %s)", direction, c.Count,
			s.describeRanks(inside))
	case c.Times > 1:
		return fmt.Sprintf("%d links %s %s", c.Times, direction, s.nameOf(0))
	}
	return s.describe(links, out, inside)
}
