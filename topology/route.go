package topology

import (
	"cmp"
	"fmt"
	"slices"
)

// Routing selects the link of a hop if several are on a shortest path.
type Routing uint8

const (
	// Shortest takes the link with the lowest index, for all pairs.
	Shortest Routing = iota
	// ECMP (equal-cost multi-path) spreads the pairs of ranks. Of the links on a shortest path, a
	// pair takes the one for which mix(mix(src·2³² + dst) + link) is largest. mix is the finalizer
	// of splitmix64, and link the index. (This is rendezvous hashing, Thaler and Ravishankar,
	// IEEE/ACM Trans. Networking 1998: even, not the same at every switch, and fixed for ever.)
	ECMP
)

// String returns the value of topology.routing in a scenario.
func (r Routing) String() string {
	if r == ECMP {
		return "ecmp"
	}
	return "shortest"
}

// mix computes the finalizer of splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom
// Number Generators", OOPSLA 2014; the constants are Stafford's mix13).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// seedOf returns the hash of a pair of ranks.
func seedOf(src, dst int) uint64 { return mix(uint64(src)<<32 + uint64(dst)) }

// pick chooses, as ECMP does, among the links that are tried, by index; best is −1 before the
// first.
type pick struct {
	seed, most uint64
	best       int32
}

func (p *pick) try(l int32) {
	if weight := mix(p.seed + uint64(l)); p.best < 0 || weight > p.most {
		p.best, p.most = l, weight
	}
}

// Route appends to buf the links from rank src to rank dst, in order; none if they are the same.
// The package comment has the rule. Route caches the neighbours of every node at the first call,
// and a table for a destination that is asked for often (see distances).
//
// REQUIRES: Connected returned nil. Route panics if there is no route.
func (g *Graph) Route(src, dst int, buf []int32) []int32 {
	if g.leaving != nil && src != dst {
		if route, ok := g.leave(src, dst, buf); ok {
			return route
		}
	}
	if g.formula != nil {
		s, ok := g.formula.(spreader)
		switch {
		case src == dst:
			return buf
		case g.Routing == Shortest:
			return g.formula.route(g.Ranks[src], g.Ranks[dst], buf)
		case ok:
			return s.spread(g.Ranks[src], g.Ranks[dst], seedOf(src, dst), buf)
		}
	}
	if !g.routes.built {
		g.buildNeighbours()
	}
	from, to := g.Ranks[src], g.Ranks[dst]
	limit := len(buf) + len(g.nodes)
	for from != to && g.parts == nil { // forward from the source, while there is no choice
		l := g.routes.out.only(from)
		if l < 0 {
			break
		}
		if len(buf) == limit {
			panic(g.noRoute(src, dst))
		}
		buf = append(buf, l)
		from = g.links[l].To
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
		end = g.links[l].From
	}
	buf, ok := g.walk(from, end, seedOf(src, dst), buf)
	if !ok {
		panic(g.noRoute(src, dst))
	}
	// The tail was found from its end: fill it in backwards.
	buf = slices.Grow(buf, tail)[:len(buf)+tail]
	for i := len(buf) - 1; tail > 0; i, tail = i-1, tail-1 {
		buf[i] = g.routes.in.only(to)
		to = g.links[buf[i]].From
	}
	return buf
}

func (g *Graph) noRoute(src, dst int) string {
	return fmt.Sprintf("no route from %s to %s: Connected was not asked",
		g.nodes[g.Ranks[src]].Name, g.nodes[g.Ranks[dst]].Name)
}

// walk appends the links from node v to node end, and reports whether there is a path. seed is the
// hash of the pair of ranks.
func (g *Graph) walk(v, end int32, seed uint64, buf []int32) ([]int32, bool) {
	if v == end {
		return buf, true
	}
	if next := g.nexts(end); next != nil {
		return g.follow(next, v, end, seed, buf)
	}
	if l := g.direct(v, end); l >= 0 && g.links[l].extra == 0 { // neighbours need no distances
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
		v = g.links[l].To
	}
	return buf, true
}

// follow does what walk does, with the links that earlier routes to end have taken.
func (g *Graph) follow(next []int32, v, end int32, seed uint64, buf []int32) ([]int32, bool) {
	known := g.routes.tables[end]
	for v != end {
		if next[v] == 0 {
			next[v] = g.hop(v, end, seed, known) + 1
		}
		l := next[v] - 1
		if l < 0 {
			return buf, false
		}
		buf = append(buf, l)
		v = g.links[l].To
	}
	return buf, true
}

// hop returns the link that a route from v to end takes, -1 if there is none.
func (g *Graph) hop(v, end int32, seed uint64, known []int32) int32 {
	c := choice{left: g.left(v, end, known), seed: seed, best: -1}
	links := g.routes.out.of(v)
	if p := g.parts; p != nil && v >= p.fabric {
		c.exits = p.shortest(v-p.fabric, c.left)
		if len(links) > fewLinks {
			links = g.routes.through.of(v)
			// skip NICs that lead nowhere else, unless one is the destination
			for i := range c.exits {
				if l := g.direct(v, p.fabric+c.exits[i].nic); l >= 0 {
					g.consider(&c, l, end, known)
				}
			}
		}
	}
	for _, l := range links {
		g.consider(&c, l, end, known)
	}
	return c.best
}

// fewLinks is the number of links up to which all are tried.
const fewLinks = 16

// choice is the best link of a hop so far.
type choice struct {
	left  int32  // length of the path from the node on
	exits []exit // in a cluster's network: see parts.shortest
	seed  uint64
	best  int32
	most  uint64
}

// consider compares a link with the best so far, if it is on a shortest path: if its length and the
// rest of the path add up to c.left.
func (g *Graph) consider(c *choice, l, end int32, known []int32) {
	link := &g.links[l]
	d := int32(0)
	if p := g.parts; c.exits != nil && link.To >= p.fabric {
		d = p.through(c.exits, link.To-p.fabric)
	} else {
		d = g.left(link.To, end, known)
	}
	if d < 0 || d+1+link.extra != c.left {
		return
	}
	weight := uint64(0)
	if g.Routing == ECMP {
		weight = mix(c.seed + uint64(l))
	}
	if c.best < 0 || weight > c.most || weight == c.most && l < c.best {
		c.best, c.most = l, weight
	}
}

// left returns the length of the path from v to end, negative if there is none.
func (g *Graph) left(v, end int32, known []int32) int32 {
	switch {
	case g.grid != nil:
		return g.grid.distance(v, end)
	case g.parts != nil:
		return g.parts.left(v, end)
	}
	return known[v]
}

// direct returns the link of the lowest index from one node to another, or −1.
func (g *Graph) direct(from, to int32) int32 {
	links := g.routes.out.of(from)
	i, ok := slices.BinarySearchFunc(links, to, func(l, to int32) int {
		return cmp.Compare(g.links[l].To, to)
	})
	if !ok {
		return -1
	}
	return links[i]
}
