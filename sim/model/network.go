package model

import (
	"collsim/sim/internal/flat"
	"collsim/topology"
	"collsim/unit"
)

// Network is the links of a graph, and the routes over them that have been asked for so far.
type Network struct {
	Links  []Link
	Routes []Route
	Hops   []int32 // the links of all routes
	Trees  []Tree  // what is more to say of the routes of multimem
	// Wires is how many of the links are the graph's. The others, if any, are the ranks' memories, in
	// order: AddMemory.
	Wires int32

	graph          *topology.Graph
	isCrossed      bool // messages cross memories
	byRanks, byKey flat.Table
}

// Link is what a link takes.
type Link struct {
	Bandwidth unit.Rate
	Latency   unit.Time
	Key       uint64 // of the next that it brings to its node: the engine counts

	n     unit.Bytes // the size last asked about, and how long it takes
	takes unit.Time
}

// Over is how long n bytes take on the link; most ask for the same size as the last.
func (l *Link) Over(n unit.Bytes) unit.Time {
	if n == l.n {
		return l.takes
	}
	return l.measure(n)
}

//go:noinline // so that Over is inlined
func (l *Link) measure(n unit.Bytes) unit.Time {
	l.n, l.takes = n, n.Over(l.Bandwidth)
	return l.takes
}

// Part is how long the link takes for the bytes from one to another of a message: its parts take
// together what the whole does.
func (l *Link) Part(from, to unit.Bytes) unit.Time {
	takes := l.Over(to)
	if from > 0 {
		takes -= from.Over(l.Bandwidth)
	}
	return takes
}

// Route is the way from a rank to another, or of a multimem operation.
type Route struct {
	Src, Dst int32     // ranks
	From, To int32     // its links are Network.Hops[From:To]
	Latency  unit.Time // of all its links
	Slowest  unit.Rate // the least bandwidth of its links
	Tree     int32     // of multimem: its place in Network.Trees; else −1
}

// IsShared reports whether a message that puts n bytes on its links shares them, under fluid
// sharing. Who has no byte, or has only links without limit on its way, shares nothing: it has left
// at D + Rules.Pace, and arrives Latency later.
func (r *Route) IsShared(n unit.Bytes) bool { return n > 0 && r.Slowest != unit.Unlimited }

// NewNetwork copies the links of a graph.
func NewNetwork(g *topology.Graph) Network {
	n := Network{graph: g, Wires: int32(len(g.Links())), Links: make([]Link, len(g.Links())),
		byRanks: flat.NewTable(), byKey: flat.NewTable()}
	for i := range g.Links() {
		l := &g.Links()[i]
		n.Links[i] = Link{Bandwidth: l.Bandwidth, Latency: l.Latency, Key: PortKey(l.Port)}
	}
	return n
}

// AddMemory adds the memory of each of so many ranks: one more link, without latency, that all
// bytes cross which are read from it or written to it. Under fluid sharing messages cross the
// memories of both ends, so that a route leads from memory to memory; what a switch copies or adds
// up does not.
func (n *Network) AddMemory(ranks int, bandwidth unit.Rate, isFluid bool) {
	for range ranks {
		n.Links = append(n.Links, Link{Bandwidth: bandwidth})
	}
	n.isCrossed = isFluid
}

// Memory is the number of the route over nothing but a rank's memory.
//
// REQUIRES: AddMemory.
func (n *Network) Memory(rank int32) int32 { return n.Route(rank, rank) }

// IsMemory reports whether a link is the memory of a rank.
func (n *Network) IsMemory(link int32) bool { return link >= n.Wires }

// Route is the number of the route between two ranks.
func (n *Network) Route(src, dst int32) int32 {
	key := uint64(src)<<32 | uint64(dst)
	if r := n.byRanks.Find(key); r >= 0 {
		return r
	}
	from := int32(len(n.Hops))
	if src == dst && len(n.Links) > int(n.Wires) { // its own memory
		n.Hops = append(n.Hops, n.Wires+src)
	} else {
		if n.isCrossed {
			n.Hops = append(n.Hops, n.Wires+src)
		}
		n.Hops = n.graph.Route(int(src), int(dst), n.Hops)
		if n.isCrossed {
			n.Hops = append(n.Hops, n.Wires+dst)
		}
	}
	r := Route{Src: src, Dst: dst, From: from, To: int32(len(n.Hops)), Slowest: unit.Unlimited,
		Tree: -1}
	for _, l := range n.Hops[from:] {
		r.Latency = min(r.Latency+n.Links[l].Latency, unit.Forever)
		r.Slowest = min(r.Slowest, n.Links[l].Bandwidth)
	}
	number := int32(len(n.Routes))
	n.Routes = append(n.Routes, r)
	n.byRanks.Put(key, number)
	return number
}

// LinksOf are the links of a route, in order; of multimem, the rank's first or last.
func (n *Network) LinksOf(r *Route) []int32 { return n.Hops[r.From:r.To] }

// Others are the ranks at the other end of a route that begins or ends at a rank: of multimem those
// of its team, which may be among them.
func (n *Network) Others(route, rank int32) []int32 {
	r := &n.Routes[route]
	if r.Tree >= 0 {
		return n.Trees[r.Tree].team
	}
	if r.Src == rank {
		return []int32{r.Dst}
	}
	return []int32{r.Src}
}
