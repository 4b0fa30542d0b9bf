package bounds

import (
	"fmt"
	"slices"
)

// A partition divides nodes into groups. of gives each node's group, −1 for none. Every rank is in
// a group, and every group has a rank.
type partition struct {
	of         []int32
	groups     int
	replicated []bool // by group: it represents several groups; nil if none does
}

// groupings returns partitions of the ranks into at least two groups each:
//
//   - every rank by itself;
//   - ranks with the switches that they are linked to (the leaves of a tree, the groups of a
//     dragonfly, unless ranks join them);
//   - components of the links that are faster than some rate, for up to 16 rates that occur. These
//     are the nodes of a cluster whose network is slower than the links inside a node.
func (n *network) groupings() []partition {
	alone := n.singletons()
	all := []partition{alone}
	add := func(joined func(l int) bool) {
		g := n.connectedBy(joined)
		known := func(other partition) bool {
			return slices.Equal(g.of, other.of) && slices.Equal(g.replicated, other.replicated)
		}
		if g.groups > 1 && !slices.ContainsFunc(all, known) {
			all = append(all, g)
		}
	}
	add(func(l int) bool { return n.rank[n.from[l]] >= 0 || n.rank[n.to[l]] >= 0 })
	rates := slices.Compact(slices.Clone(n.each)) // few, mostly
	slices.Sort(rates)
	rates = slices.Compact(rates)
	const most = 16
	for i := range min(len(rates), most) {
		rate := rates[i*len(rates)/min(len(rates), most)]
		add(func(l int) bool { return n.each[l] > rate })
	}
	return all
}

// connectedBy groups nodes that certain links connect, in either direction. Groups without a rank
// are dissolved; the others are numbered by their first rank.
func (n *network) connectedBy(joined func(l int) bool) partition {
	parent := make([]int32, len(n.rank))
	for v := range parent {
		parent[v] = int32(v)
	}
	root := func(v int32) int32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	for l := range n.rate {
		if joined(l) {
			parent[root(n.from[l])] = root(n.to[l])
		}
	}
	number := make([]int32, len(n.rank)) // by root, plus 1
	g := partition{of: make([]int32, len(n.rank))}
	for _, v := range n.ranks {
		if number[root(v)] == 0 {
			g.groups++
			number[root(v)] = int32(g.groups)
		}
	}
	for v := range g.of {
		g.of[v] = number[root(int32(v))] - 1
	}
	g.replicated = n.replicatedGroups(g, joined)
	return g
}

// groupBounds considers, for all_reduce, that for every element 2(k−1) values leave k groups, and
// as many enter them.
//
// Proof: take one element, and the moment at which the first rank can have its result. Before it,
// each of the other k−1 groups has sent at least one value of its ranks' inputs. At that moment the
// ranks of k−1 groups have no result, so each of these groups still has to receive a value. Values
// received before and after are different ones. So 2(k−1) values go from group to group. None is
// part of another: messages carry elements, and no switch outside the groups adds or multicasts
// them. A switch inside a group produces values of that group.
//
// With every rank by itself and equal ports this is the 2(p−1)/p · n of Patarasu and Yuan (2009).
// The bound concerns all groups together: a single rank with slow links may send and receive n
// only.
func (s *search) groupBounds() {
	bytes := s.spec.Count * int64(s.spec.Type.Width())
	for _, g := range s.net.groupings() {
		if s.net.computesBetween(g) {
			continue
		}
		out := noLinks(product(2*(s.net.count(g)-1), bytes))
		in := out
		for l := range s.net.rate {
			from, to := g.of[s.net.from[l]], g.of[s.net.to[l]]
			if from == to && !(s.net.isWithin(l) && g.replicated[from]) {
				continue
			}
			if from >= 0 {
				out = out.over(s.net.rate[l], s.net.lead[l])
			}
			if to >= 0 {
				in = in.over(s.net.rate[l], s.net.lead[l])
			}
		}
		s.consider(out, func() string { return s.describeGroups(g, "out of") })
		s.consider(in, func() string { return s.describeGroups(g, "into") })
	}
}

// computesBetween reports whether a switch outside all groups multicasts or adds.
func (n *network) computesBetween(g partition) bool {
	if !n.graph.Computes() {
		return false
	}
	for v := range g.of {
		at := int32(v)
		if n.quotient != nil {
			at = n.quotient.Original(at)
		}
		if node := n.graph.Node(at); g.of[v] < 0 && (node.Multicast || node.Reduce) {
			return true
		}
	}
	return false
}

// describeGroups names the links of all groups: "all links out of the ranks", "all links into 4
// groups of ranks (the first is gpu0-gpu7)".
func (s *search) describeGroups(g partition, direction string) string {
	groups := s.net.count(g)
	if groups == int64(s.spec.Ranks) {
		return "all links " + direction + " the ranks"
	}
	first := s.describeRanks(func(r int) bool { return g.of[s.net.nodeOf(r)] == 0 })
	return fmt.Sprintf("all links %s %d groups of ranks (the first is %s)", direction, groups, first)
}

// groupCuts considers the traffic out of and into every group.
func (s *search) groupCuts(t traffic, g partition) {
	out, in := make([]cutBound, g.groups), make([]cutBound, g.groups)
	of := make([]int32, s.spec.Ranks)
	for r, v := range s.net.ranks {
		of[r] = g.of[v]
	}
	sent, received := t.between(g.groups, of)
	for i := range out {
		out[i], in[i] = noLinks(sent[i]), noLinks(received[i])
	}
	for l := range s.net.rate {
		a, b := g.of[s.net.from[l]], g.of[s.net.to[l]]
		if a == b {
			continue
		}
		if a >= 0 {
			out[a] = out[a].over(s.net.rate[l], s.net.lead[l])
		}
		if b >= 0 {
			in[b] = in[b].over(s.net.rate[l], s.net.lead[l])
		}
	}
	for i := range out {
		s.consider(out[i], func() string { return s.describeGroup(g, i, true) })
		s.consider(in[i], func() string { return s.describeGroup(g, i, false) })
	}
}

// describeGroup names the links out of, or into, one group.
func (s *search) describeGroup(g partition, i int, out bool) string {
	var links []int32
	for l := range s.net.rate {
		a, b := g.of[s.net.from[l]], g.of[s.net.to[l]]
		if a != b && (out && int(a) == i || !out && int(b) == i) {
			links = append(links, int32(l))
		}
	}
	return s.describe(links, out, func(r int) bool { return int(g.of[s.net.ranks[r]]) == i })
}
