package topology

import (
	"cmp"
	"fmt"
	"slices"
)

// routes is what Route has worked out so far. A node from which one link leads away, or to which
// only one leads, needs no table: there is no choice. Ranks on a switch are of that kind, so their
// routes take memory for each link and not for each pair.
type routes struct {
	built bool
	out   adjacency // links by the node they leave, then by the node they reach
	in    adjacency // links by the node they reach, then by index
	next  [][]int32 // next[d][v] is the link that v takes towards node d; nil until asked for
	depth []int32   // scratch of table: the number of links from a node to the destination
	queue []int32   // scratch of table
}

// Route appends to buf the links from rank src to rank dst, in order; none if they are the same.
// The package comment has the rule. What it works out it keeps: the neighbours of every node at
// the first call, and one number per node for every destination that leaves a choice.
//
// REQUIRES: Connected returned nil. Route panics where there is no way.
func (g *Graph) Route(src, dst int, buf []int32) []int32 {
	if !g.routes.built {
		g.buildNeighbours()
	}
	from, to := g.Ranks[src], g.Ranks[dst]
	limit := len(buf) + len(g.Nodes)
	for from != to { // forward from the source, as long as there is no choice
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
	for from != end { // backward from the destination likewise
		l := g.routes.in.only(end)
		if l < 0 {
			break
		}
		if tail++; len(buf)+tail > limit {
			panic(g.noRoute(src, dst))
		}
		end = g.Links[l].From
	}
	buf, ok := g.walk(from, end, buf)
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

// walk appends the links from node v to node end, and reports whether there is a way.
func (g *Graph) walk(v, end int32, buf []int32) ([]int32, bool) {
	if v == end {
		return buf, true
	}
	if l := g.direct(v, end); l >= 0 { // neighbours need no table
		return append(buf, l), true
	}
	next := g.table(end)
	for v != end {
		l := next[v]
		if l < 0 {
			return buf, false
		}
		buf = append(buf, l)
		v = g.Links[l].To
	}
	return buf, true
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

// table returns the link that each node takes towards dst, -1 for dst itself and where there is no
// way: a breadth-first search backward from dst, then for each node the lowest link that goes down.
func (g *Graph) table(dst int32) []int32 {
	r := &g.routes
	if r.next[dst] != nil {
		return r.next[dst]
	}
	for v := range r.depth {
		r.depth[v] = -1
	}
	r.depth[dst] = 0
	r.queue = append(r.queue[:0], dst)
	for i := 0; i < len(r.queue); i++ {
		v := r.queue[i]
		for _, l := range r.in.of(v) {
			if u := g.Links[l].From; r.depth[u] < 0 {
				r.depth[u] = r.depth[v] + 1
				r.queue = append(r.queue, u)
			}
		}
	}
	next := make([]int32, len(g.Nodes))
	for v := range next {
		next[v] = -1
	}
	for i := len(g.Links) - 1; i >= 0; i-- { // the lowest index is written last
		l := &g.Links[i]
		if d := r.depth[l.To]; d >= 0 && r.depth[l.From] == d+1 {
			next[l.From] = int32(i)
		}
	}
	r.next[dst] = next
	return next
}

// buildNeighbours makes what routes holds for the whole graph.
func (g *Graph) buildNeighbours() {
	n := len(g.Nodes)
	r := &g.routes
	r.out = group(g.Links, n, func(l *Link) int32 { return l.From })
	r.in = group(g.Links, n, func(l *Link) int32 { return l.To })
	for v := range int32(n) {
		slices.SortStableFunc(r.out.of(v), func(a, b int32) int {
			return cmp.Compare(g.Links[a].To, g.Links[b].To)
		})
	}
	r.next = make([][]int32, n)
	r.depth = make([]int32, n)
	r.built = true
}

// adjacency lists links by node: those of node v are links[start[v]:start[v+1]].
type adjacency struct{ start, links []int32 }

func (a *adjacency) of(v int32) []int32 { return a.links[a.start[v]:a.start[v+1]] }

// only returns the single link of v, or -1 if it has another number of them.
func (a *adjacency) only(v int32) int32 {
	if l := a.of(v); len(l) == 1 {
		return l[0]
	}
	return -1
}

// group lists the links of each of n nodes by index, the node of a link being what end says.
func group(links []Link, n int, end func(*Link) int32) adjacency {
	a := adjacency{start: make([]int32, n+1), links: make([]int32, len(links))}
	for i := range links {
		a.start[end(&links[i])+1]++
	}
	for v := range n {
		a.start[v+1] += a.start[v]
	}
	free := slices.Clone(a.start[:n])
	for i := range links {
		v := end(&links[i])
		a.links[free[v]] = int32(i)
		free[v]++
	}
	return a
}

// Connected returns an error that names two ranks of which the first cannot reach the second, or
// nil if there is a route from every rank to every other.
func (g *Graph) Connected() error {
	if len(g.Ranks) == 0 {
		return fmt.Errorf("topology: a network without ranks")
	}
	if !g.routes.built {
		g.buildNeighbours()
	}
	first := g.Ranks[0]
	there := g.reach(first, &g.routes.out, func(l *Link) int32 { return l.To })
	back := g.reach(first, &g.routes.in, func(l *Link) int32 { return l.From })
	for _, v := range g.Ranks {
		from, to := first, v
		if there[v] {
			from, to = v, first
		}
		if !there[v] || !back[v] {
			return fmt.Errorf("topology: no route from %s to %s",
				g.Nodes[from].Name, g.Nodes[to].Name)
		}
	}
	return nil
}

// reach marks the nodes that can be reached from v over the links that a lists, whose far ends far
// returns.
func (g *Graph) reach(v int32, a *adjacency, far func(*Link) int32) []bool {
	seen := make([]bool, len(g.Nodes))
	seen[v] = true
	for queue := []int32{v}; len(queue) > 0; queue = queue[1:] {
		for _, l := range a.of(queue[0]) {
			if u := far(&g.Links[l]); !seen[u] {
				seen[u] = true
				queue = append(queue, u)
			}
		}
	}
	return seen
}
