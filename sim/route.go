package sim

import "collsim/unit"

// link is the state of a link.
type link struct {
	bandwidth unit.Rate
	latency   unit.Time
	line      uint64 // what has come over it stands in line like this, elsewhere
	busy      unit.Time
	load      unit.Bytes

	// FIFO
	free  unit.Time  // when it can carry the next message
	n     unit.Bytes // the size last asked about, and how long it takes
	takes unit.Time

	fluidLink
}

// over is how long n bytes take on the link; most ask for the same size as the last.
func (l *link) over(n unit.Bytes) unit.Time {
	if n != l.n {
		l.n, l.takes = n, n.Over(l.bandwidth)
	}
	return l.takes
}

// route is the way from a rank to another.
type route struct {
	src, dst int32     // ranks
	from, to int32     // its links are engine.hops[from:to]
	latency  unit.Time // of all its links
	slowest  unit.Rate // of its links
	fan      int32     // of multimem: more about it; else −1
}

// newLinks copies the network's links. A line is a bit that puts wires after what starts at the
// node itself, 24 bits for the port and 39 for a running number.
func (e *engine) newLinks() {
	e.links = make([]link, len(e.env.Graph.Links))
	e.fills = make([]filling, len(e.links))
	for i := range e.links {
		g := &e.env.Graph.Links[i]
		e.links[i] = link{bandwidth: g.Bandwidth, latency: g.Latency,
			line: 1<<63 | uint64(g.Port)<<lineBits}
		e.links[i].settle(g.Bandwidth)
	}
}

const lineBits = 39

// routeOf is the number of the route between two ranks.
func (e *engine) routeOf(src, dst int32) int32 {
	key := uint64(src)<<32 | uint64(dst)
	if r := e.routeBy.find(key); r >= 0 {
		return r
	}
	from := int32(len(e.hops))
	e.hops = e.env.Graph.Route(int(src), int(dst), e.hops)
	r := route{src: src, dst: dst, from: from, to: int32(len(e.hops)), slowest: unit.Unlimited,
		fan: -1}
	for _, l := range e.hops[from:] {
		r.latency = min(r.latency+e.links[l].latency, unit.Forever)
		r.slowest = min(r.slowest, e.links[l].bandwidth)
	}
	number := int32(len(e.routes))
	e.routes = append(e.routes, r)
	e.routeBy.put(key, number)
	return number
}
