package bounds

import (
	"collsim/topology"
	"collsim/unit"
)

// A network is a topology laid out for searching, in arrays by link and by node.
type network struct {
	graph *topology.Graph
	ranks []int32 // the node of each rank of the collective
	rank  []int32 // the rank of each node, -1 for a node that only forwards

	quotient *topology.Quotient // the quotient that this is the network of; else nil

	from, to []int32
	rate     []unit.Rate // of all links that a link represents
	each     []unit.Rate // of one of these
	latency  []unit.Time
	lead     []unit.Time // of every link; see measure
	out, in  adjacency

	outward, inward []cutBound // by node: all links out of it, and into it; see measure
}

// An adjacency lists links by node, in order: those of node v are links[start[v]:start[v+1]].
type adjacency struct{ start, links []int32 }

// of returns the links of a node.
func (a *adjacency) of(v int32) []int32 { return a.links[a.start[v]:a.start[v+1]] }

// newNetwork returns the network of the first ranks of a topology.
func newNetwork(g *topology.Graph, ranks int) *network {
	nodes, links := g.NumNodes(), g.NumLinks()
	n := &network{graph: g, ranks: g.Ranks[:ranks], rank: make([]int32, nodes),
		from: make([]int32, links), to: make([]int32, links), rate: make([]unit.Rate, links),
		latency: make([]unit.Time, links), lead: make([]unit.Time, links),
		outward: make([]cutBound, nodes), inward: make([]cutBound, nodes)}
	for v := range n.rank {
		n.rank[v] = -1
	}
	for r, v := range n.ranks {
		n.rank[v] = int32(r)
	}
	for i := range int32(links) {
		l := g.Link(i)
		n.from[i], n.to[i], n.rate[i], n.latency[i] = l.From, l.To, l.Bandwidth, l.Latency
	}
	n.each = n.rate
	n.out, n.in = group(n.from, nodes), group(n.to, nodes)
	return n
}

// group returns the links by node, where end is one end of each link.
func group(end []int32, nodes int) adjacency {
	a := adjacency{start: make([]int32, nodes+2), links: make([]int32, len(end))}
	for _, v := range end {
		a.start[v+2]++
	}
	for v := range nodes {
		a.start[v+1] += a.start[v]
	}
	// start[v+1] is where the links of v begin; putting them in moves it to where they end.
	for i, v := range end {
		a.links[a.start[v+1]] = int32(i)
		a.start[v+1]++
	}
	return a
}

// A view is the network seen along its links or, backward, against them.
type view struct {
	// links by the node where they begin, and by the node where they end, in the direction of the
	// view
	ahead, behind *adjacency
	head, tail    []int32 // node where a link ends, and where it begins
}

// view returns the network along its links or, backward, against them.
func (n *network) view(backward bool) view {
	if backward {
		return view{ahead: &n.in, behind: &n.out, head: n.from, tail: n.to}
	}
	return view{ahead: &n.out, behind: &n.in, head: n.to, tail: n.from}
}

// connected reports whether every rank reaches every other. It checks that the first reaches all,
// and all reach it.
func (n *network) connected() bool {
	for _, backward := range []bool{false, true} {
		some := need{farthest: unit.Forever, wanted: make([]bool, len(n.rank)), open: len(n.ranks)}
		for _, v := range n.ranks {
			some.wanted[v] = true
		}
		n.newPaths(backward).run(n.ranks[:1], &some)
		if some.open > 0 {
			return false
		}
	}
	return true
}

// measure computes lead, the least latency of a route between two ranks over each link. It also
// sums up the links of each node.
func (n *network) measure() {
	if len(n.ranks) == len(n.rank) { // every link is such a route
		copy(n.lead, n.latency)
	} else {
		there, back := n.newPaths(false), n.newPaths(true)
		there.run(n.ranks, nil)
		back.run(n.ranks, nil)
		for l := range n.lead {
			n.lead[l] = plus(plus(there.dist[n.from[l]], n.latency[l]), back.dist[n.to[l]])
		}
	}
	for v := range n.outward {
		n.outward[v], n.inward[v] = noLinks(0), noLinks(0)
	}
	for l, rate := range n.rate {
		out, in := &n.outward[n.from[l]], &n.inward[n.to[l]]
		*out, *in = out.over(rate, n.lead[l]), in.over(rate, n.lead[l])
	}
}
