package topology

import (
	"cmp"
	"fmt"
	"slices"
)

// Routing is how a hop is chosen where several lie on a shortest path.
type Routing uint8

const (
	// Shortest takes the link of the lowest index: all pairs alike.
	Shortest Routing = iota
	// ECMP (equal-cost multi-path) spreads the pairs of ranks: of the links that lie on a shortest
	// path, a pair takes the one for which mix(mix(src·2³² + dst) + link) is largest, mix being the
	// finalizer of splitmix64 and link the index. (That is rendezvous hashing, Thaler and Ravishankar,
	// IEEE/ACM Trans. Networking 1998: even, not the same at every switch, and fixed for ever.)
	ECMP
)

// String is the value of topology.routing in a scenario.
func (r Routing) String() string {
	if r == ECMP {
		return "ecmp"
	}
	return "shortest"
}

// mix is the finalizer of splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
// Generators", OOPSLA 2014; the constants are Stafford's mix13).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Route appends to buf the links from rank src to rank dst, in order; none if they are the same.
// The package comment has the rule. What it works out it keeps: the neighbours of every node at
// the first call, and a table for a destination that is asked for often (see distances).
//
// REQUIRES: Connected returned nil. Route panics where there is no way.
func (g *Graph) Route(src, dst int, buf []int32) []int32 {
	if !g.routes.built {
		g.buildNeighbours()
	}
	from, to := g.Ranks[src], g.Ranks[dst]
	limit := len(buf) + len(g.Nodes)
	for from != to && g.parts == nil { // forward from the source, as long as there is no choice
		l := g.routes.out.only(from)
		if l < 0 {
			break
		}
		if len(buf) == limit {
			panic(g.noRoute(src, dst))
		}
		buf = append(buf, l)
		from = g.Links[l].To
	}
	end, tail := to, 0
	for from != end && g.parts == nil { // backward from the destination likewise
		l := g.routes.in.only(end)
		if l < 0 {
			break
		}
		if tail++; len(buf)+tail > limit {
			panic(g.noRoute(src, dst))
		}
		end = g.Links[l].From
	}
	buf, ok := g.walk(from, end, mix(uint64(src)<<32+uint64(dst)), buf)
	if !ok {
		panic(g.noRoute(src, dst))
	}
	// The tail is known from its end: fill it in from there.
	buf = slices.Grow(buf, tail)[:len(buf)+tail]
	for i := len(buf) - 1; tail > 0; i, tail = i-1, tail-1 {
		buf[i] = g.routes.in.only(to)
		to = g.Links[buf[i]].From
	}
	return buf
}

func (g *Graph) noRoute(src, dst int) string {
	return fmt.Sprintf("topology: no route from %s to %s: Connected was not asked",
		g.Nodes[g.Ranks[src]].Name, g.Nodes[g.Ranks[dst]].Name)
}

// walk appends the links from node v to node end, and reports whether there is a way. seed is the
// hash of the pair of ranks.
func (g *Graph) walk(v, end int32, seed uint64, buf []int32) ([]int32, bool) {
	if v == end {
		return buf, true
	}
	if l := g.direct(v, end); l >= 0 && g.Links[l].extra == 0 { // neighbours need no distances
		return append(buf, l), true
	}
	var known []int32
	if g.grid == nil && g.parts == nil {
		known = g.distances(v, end)
	}
	for v != end {
		l := g.hop(v, end, seed, known)
		if l < 0 {
			return buf, false
		}
		buf = append(buf, l)
		v = g.Links[l].To
	}
	return buf, true
}

// hop returns the link that a route from v to end takes, -1 if there is none.
func (g *Graph) hop(v, end int32, seed uint64, known []int32) int32 {
	left := g.left(v, end, known)
	best, most := int32(-1), uint64(0)
	for _, l := range g.routes.out.of(v) {
		link := &g.Links[l]
		d := g.left(link.To, end, known)
		if d < 0 || d+1+link.extra != left {
			continue
		}
		weight := uint64(0)
		if g.Routing == ECMP {
			weight = mix(seed + uint64(l))
		}
		if best < 0 || weight > most || weight == most && l < best {
			best, most = l, weight
		}
	}
	return best
}

// left returns the length of the way from v to end, negative where there is none.
func (g *Graph) left(v, end int32, known []int32) int32 {
	switch {
	case g.grid != nil:
		return g.grid.distance(v, end)
	case g.parts != nil:
		return g.parts.left(v, end)
	}
	return known[v]
}

// direct returns the link of the lowest index from one node to another, or -1.
func (g *Graph) direct(from, to int32) int32 {
	links := g.routes.out.of(from)
	i, ok := slices.BinarySearchFunc(links, to, func(l, to int32) int {
		return cmp.Compare(g.Links[l].To, to)
	})
	if !ok {
		return -1
	}
	return links[i]
}
