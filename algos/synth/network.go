package synth

import (
	"cmp"
	"math/bits"
	"slices"

	"collsim/topology"
	"collsim/unit"
)

// A network is a topology as a synthesis sees it: the ranks, and how they reach each other without
// a third one between them. Links that no such route uses are left out.
type network struct {
	ranks, nodes int // ranks are the first nodes
	links        []link
	hops         []hop
	at           [][]int32 // by rank: the hops from it
}

// A link is a directed wire between nodes.
type link struct {
	from, to int
	rate     unit.Rate
}

// A hop is the route from one rank to another. It passes through switches only.
type hop struct {
	from, to int
	links    []int32 // indices in network.links
	latency  unit.Time
}

// newNetwork looks at the routes between all ranks of a topology.
func newNetwork(g *topology.Graph) *network {
	n := &network{ranks: len(g.Ranks)}
	nodeOf := map[int32]int{}
	for rank, v := range g.Ranks {
		nodeOf[v] = rank
	}
	n.nodes = n.ranks
	linkOf := map[int32]int32{}
	var route []int32
	for from := range n.ranks {
		for to := range n.ranks {
			if from == to {
				continue
			}
			if route = g.Route(from, to, route[:0]); passesRank(g, route, nodeOf, n.ranks) {
				continue
			}
			h := hop{from: from, to: to}
			for _, i := range route {
				l := g.Link(i)
				at, known := linkOf[i]
				if !known {
					at = int32(len(n.links))
					linkOf[i] = at
					n.links = append(n.links, link{n.node(nodeOf, l.From), n.node(nodeOf, l.To), l.Bandwidth})
				}
				h.links = append(h.links, at)
				h.latency += l.Latency
			}
			n.hops = append(n.hops, h)
		}
	}
	n.index()
	return n
}

// node returns the number of a topology's node, and numbers those that are new.
func (n *network) node(nodeOf map[int32]int, v int32) int {
	at, known := nodeOf[v]
	if !known {
		at = n.nodes
		nodeOf[v] = at
		n.nodes++
	}
	return at
}

// passesRank reports whether a route passes a rank between its ends.
func passesRank(g *topology.Graph, route []int32, nodeOf map[int32]int, ranks int) bool {
	return slices.ContainsFunc(route[:len(route)-1], func(i int32) bool {
		at, known := nodeOf[g.Link(i).To]
		return known && at < ranks
	})
}

// index lists the hops by the rank that they leave.
func (n *network) index() {
	n.at = make([][]int32, n.ranks)
	for i, h := range n.hops {
		n.at[h.from] = append(n.at[h.from], int32(i))
	}
}

// reversed returns the network with every link, and every hop, the other way.
func (n *network) reversed() *network {
	r := &network{ranks: n.ranks, nodes: n.nodes}
	for _, l := range n.links {
		r.links = append(r.links, link{l.to, l.from, l.rate})
	}
	for _, h := range n.hops {
		r.hops = append(r.hops, hop{h.to, h.from, h.links, h.latency})
	}
	slices.SortFunc(r.hops, func(a, b hop) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	r.index()
	return r
}

// clone returns the network with links of its own.
func (n *network) clone() *network {
	r := *n
	r.links = slices.Clone(n.links)
	return &r
}

// latency returns the largest of any hop.
func (n *network) latency() (most unit.Time) {
	for i := range n.hops {
		most = max(most, n.hops[i].latency)
	}
	return most
}

// fastest bounds rates: links that are faster, or unlimited, count as if they had this rate.
const fastest = 1 << 45

// rates lists the different rates of links, the fastest first.
func (n *network) rates() (list []unit.Rate) {
	for _, l := range n.links {
		if l.rate > 0 { // a collective may leave it to another one
			list = append(list, min(l.rate, fastest))
		}
	}
	slices.SortFunc(list, func(a, b unit.Rate) int { return cmp.Compare(b, a) })
	return slices.Compact(list)
}

// A scale says how many units a link carries: ⌊rate · units / each⌋.
type scale struct {
	units int64
	each  unit.Rate
}

// of returns the units of a rate, at most limit.
func (s scale) of(rate unit.Rate, limit int64) int64 {
	hi, lo := bits.Mul64(uint64(rate), uint64(s.units))
	if hi >= uint64(s.each) {
		return limit
	}
	n, _ := bits.Div64(hi, lo, uint64(s.each))
	return int64(min(n, uint64(limit)))
}

// capacities returns the units of every link, at most limit.
func (n *network) capacities(s scale, limit int64) []int64 {
	list := make([]int64, len(n.links))
	for i, l := range n.links {
		list[i] = s.of(l.rate, limit)
	}
	return list
}
