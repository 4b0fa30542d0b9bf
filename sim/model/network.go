package model

import (
	"collsim/sim/internal/flat"
	"collsim/topology"
	"collsim/unit"
)

// Network holds the links of a graph, and the routes over them that have been asked for so far.
type Network struct {
	Links  []Link
	Routes []Route
	Hops   []int32 // the links of all routes
	Trees  []Tree  // further facts on the routes of multimem
	// Wires is the number of links of the graph. Links behind them, if any, are the memories of the
	// ranks, in order: AddMemory.
	Wires int32

	graph          *topology.Graph
	isCrossed      bool // messages cross the memories of both ends
	byRanks, byKey flat.Table
	orbits         *Orbits // of a folded schedule
}

// Link is a link with the time that it takes for bytes.
type Link struct {
	Bandwidth unit.Rate
	Latency   unit.Time
	Key       uint64 // of the next request that it brings to its node; the engine counts it up

	n     unit.Bytes // the size that Over was last called with
	takes unit.Time  // its result
}

// Over returns how long n bytes take on the link. It remembers the last size, since most calls
// repeat it.
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

// Part returns how long the link takes for the bytes of a message from one to another. The parts of
// a message together take the time of the whole.
func (l *Link) Part(from, to unit.Bytes) unit.Time {
	takes := l.Over(to)
	if from > 0 {
		takes -= from.Over(l.Bandwidth)
	}
	return takes
}

// Route is a route from a rank to another, or that of a multimem operation.
type Route struct {
	Src, Dst int32     // ranks
	From, To int32     // its links are Network.Hops[From:To]
	Latency  unit.Time // of all its links
	Slowest  unit.Rate // the least bandwidth of its links
	Tree     int32     // of multimem: its place in Network.Trees; else −1
	Across   int32     // of a folded schedule: the translation that takes Dst to the route's end
}

// IsShared reports whether a message that puts n bytes on its links is a flow that shares them,
// under fluid sharing. A message without bytes, or over links without limit only, is none: it has
// left at D + Rules.Pace, and arrives Latency later.
func (r *Route) IsShared(n unit.Bytes) bool { return n > 0 && r.Slowest != unit.Unlimited }

// NewNetwork returns the network of a graph's links, without routes.
func NewNetwork(g *topology.Graph) Network {
	n := Network{graph: g, Wires: int32(len(g.Links())), Links: make([]Link, len(g.Links())),
		byRanks: flat.NewTable(), byKey: flat.NewTable()}
	for i := range g.Links() {
		l := &g.Links()[i]
		n.Links[i] = Link{Bandwidth: l.Bandwidth, Latency: l.Latency, Key: PortKey(l.Port)}
	}
	return n
}

// AddMemory adds a link for the memory of each rank, without latency: all bytes that are read from
// the memory or written to it cross the link. Under fluid sharing the routes of messages begin and
// end at the memories of their ranks. Those of multimem do not.
func (n *Network) AddMemory(ranks int, bandwidth unit.Rate, isFluid bool) {
	for range ranks {
		n.Links = append(n.Links, Link{Bandwidth: bandwidth})
	}
	n.isCrossed = isFluid
}

// Memory returns the number of the route that has only a rank's memory.
//
// REQUIRES: AddMemory.
func (n *Network) Memory(rank int32) int32 { return n.Route(rank, rank) }

// Route returns the number of the route between two ranks, and makes it at the first call.
func (n *Network) Route(src, dst int32) int32 {
	key := uint64(src)<<32 | uint64(dst)
	if r := n.byRanks.Find(key); r >= 0 {
		return r
	}
	from := int32(len(n.Hops))
	if src == dst && len(n.Links) > int(n.Wires) { // its own memory
		n.Hops = append(n.Hops, n.Wires+src)
	} else {
		n.cross(src)
		n.Hops = n.graph.Route(int(src), int(dst), n.Hops)
		n.cross(dst)
	}
	number := n.add(src, dst, from)
	n.byRanks.Put(key, number)
	return number
}

// cross adds a rank's memory to the route in the making, if messages cross it.
func (n *Network) cross(rank int32) {
	if n.isCrossed {
		n.Hops = append(n.Hops, n.Wires+rank)
	}
}

// add adds the route whose links are the last of all hops, and returns its number.
func (n *Network) add(src, dst, from int32) int32 {
	r := Route{Src: src, Dst: dst, From: from, To: int32(len(n.Hops)), Slowest: unit.Unlimited,
		Tree: -1}
	for _, l := range n.Hops[from:] {
		r.Latency = min(r.Latency+n.Links[l].Latency, unit.Forever)
		r.Slowest = min(r.Slowest, n.Links[l].Bandwidth)
	}
	n.Routes = append(n.Routes, r)
	return int32(len(n.Routes)) - 1
}

// LinksOf returns the links of a route, in order. For multimem the rank's own link is the first, or
// the last of the way back.
func (n *Network) LinksOf(r *Route) []int32 { return n.Hops[r.From:r.To] }

// Others returns the ranks at the other end of a route that begins or ends at a rank. For multimem
// these are the ranks of the team, which the rank itself may be in.
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
