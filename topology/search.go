package topology

import (
	"cmp"
	"fmt"
	"slices"
)

// routes caches the results of Route. A node with one outgoing link, or with one incoming link,
// needs no search: there is no choice. Ranks on a switch are such nodes, and share the tables of
// their switch.
type routes struct {
	built bool
	out   adjacency // links by the node they leave, then by the node they reach
	in    adjacency // links by the node they reach, then by index
	// through has the links of out, by the node they leave, that may lead further than to their
	// end. Between the nodes of a cluster these are all but those to a NIC whose only way on is
	// back.
	through adjacency
	tables  [][]int32        // tables[d][v] is the length of the path from v to d; nil: not made
	next    [][]int32        // next[d][v] is the link of v to d, plus 1; 0: unknown
	held    int              // number of tables that are not nil, next included
	room    int              // the most tables that there may be
	effort  []int32          // by node: nodes visited by searches towards it
	near    []int32          // the table of the latest search
	queues  []queue          // by extra length of a link; scratch of search
	roots   map[string]int32 // of multimem, by the ranks: see root
}

// queue holds nodes by ascending distance: nodes are added by ascending distance, and all links of
// a queue have the same length.
type queue struct {
	extra int32
	nodes []visit
	next  int // index of the first node not served yet
}

// visit is a node and the distance that it was found at.
type visit struct{ node, distance int32 }

// maxTables bounds the memory of tables, in numbers of 4 bytes.
const maxTables = 1 << 26

// distances returns the length of the path to end from v and from every node nearer than v. It is
// negative for nodes without a path, and meaningless for others. Until the searches towards a node
// have visited four times all nodes, each stops at v; then a full table is kept. So a few routes
// cost a few searches, and all pairs cost a table for each destination.
func (g *Graph) distances(v, end int32) []int32 {
	r := &g.routes
	if r.tables[end] != nil {
		return r.tables[end]
	}
	g.forgetSearch()
	pays := 4 * len(g.nodes)
	if int(r.effort[end]) > pays && r.held < r.room {
		return g.makeTable(end)
	}
	g.search(r.near, end, v, true)
	if int(r.effort[end]) <= pays {
		for _, q := range r.queues {
			r.effort[end] += int32(len(q.nodes))
		}
	}
	return r.near
}

// forgetSearch undoes the latest search that wrote to near.
func (g *Graph) forgetSearch() {
	r := &g.routes
	for _, q := range r.queues {
		for _, n := range q.nodes {
			r.near[n.node] = -1
		}
	}
}

// nexts returns the cached links of routes to end, if there is room for them and all pairs take the
// same; else nil.
func (g *Graph) nexts(end int32) []int32 {
	r := &g.routes
	if g.Routing != Shortest || g.grid != nil || g.parts != nil || r.tables[end] == nil {
		return nil
	}
	if r.next[end] == nil && r.held < r.room {
		r.next[end] = make([]int32, len(g.nodes))
		r.held++
	}
	return r.next[end]
}

// makeTable searches from end to all nodes and keeps the table.
func (g *Graph) makeTable(end int32) []int32 {
	table := make([]int32, len(g.nodes))
	for i := range table {
		table[i] = -1
	}
	g.search(table, end, -1, true)
	g.routes.tables[end] = table
	g.routes.held++
	return table
}

// search writes the length of the path to end from each node, nearest first, until it reaches stop;
// −1 never stops. throughRanks says whether paths may pass ranks. It is Dijkstra's algorithm with a
// queue for each of the few lengths of links, in place of a heap. REQUIRES: all distances are −1.
func (g *Graph) search(distances []int32, end, stop int32, throughRanks bool) {
	r := &g.routes
	for i := range r.queues {
		r.queues[i].nodes = r.queues[i].nodes[:0]
		r.queues[i].next = 0
	}
	distances[end] = 0
	r.queues[0].nodes = append(r.queues[0].nodes, visit{end, 0})
	for {
		at := r.nearest()
		if at.node < 0 || at.node == stop {
			return
		}
		if at.distance > distances[at.node] {
			continue // a shorter path was found since
		}
		if !throughRanks && at.node != end && !g.nodes[at.node].Switch {
			continue
		}
		for _, l := range r.in.of(at.node) {
			link := &g.links[l]
			d := at.distance + 1 + link.extra
			if old := distances[link.From]; old >= 0 && old <= d {
				continue
			}
			distances[link.From] = d
			q := r.queue(link.extra)
			q.nodes = append(q.nodes, visit{link.From, d})
		}
	}
}

// nearest removes the nearest node from the queues; node is −1 if they are empty.
func (r *routes) nearest() visit {
	best, from := visit{-1, 0}, -1
	for i := range r.queues {
		q := &r.queues[i]
		if q.next < len(q.nodes) && (from < 0 || q.nodes[q.next].distance < best.distance) {
			best, from = q.nodes[q.next], i
		}
	}
	if from >= 0 {
		r.queues[from].next++
	}
	return best
}

// queue returns the queue of links with an extra length.
func (r *routes) queue(extra int32) *queue {
	i := 0
	for r.queues[i].extra != extra {
		i++
	}
	return &r.queues[i]
}

// buildNeighbours builds the adjacency lists of the graph.
func (g *Graph) buildNeighbours() {
	g.list()
	n := len(g.nodes)
	r := &g.routes
	r.out = group(g.links, n, func(l *Link) int32 { return l.From })
	r.in = group(g.links, n, func(l *Link) int32 { return l.To })
	for v := range int32(n) {
		slices.SortStableFunc(r.out.of(v), func(a, b int32) int {
			return cmp.Compare(g.links[a].To, g.links[b].To)
		})
	}
	if g.parts != nil {
		r.through = g.throughs()
	}
	r.tables, r.next = make([][]int32, n), make([][]int32, n)
	r.room = maxTables / max(n, 1)
	r.effort = make([]int32, n)
	r.near = make([]int32, n)
	for v := range r.near {
		r.near[v] = -1
	}
	r.queues = []queue{{}}
	for i := range g.links {
		extra := g.links[i].extra
		if !slices.ContainsFunc(r.queues, func(q queue) bool { return q.extra == extra }) {
			r.queues = append(r.queues, queue{extra: extra})
		}
	}
	r.built = true
}

// throughs lists the links of a cluster's network that may lead further than to their end.
func (g *Graph) throughs() adjacency {
	fabric, onward := g.parts.fabric, make([]int32, len(g.nodes)) // paths on, except to GPUs
	for i := range g.links {
		if l := &g.links[i]; l.extra < anAttachment {
			onward[l.From]++
		}
	}
	a := adjacency{start: make([]int32, len(g.nodes)+1)}
	for v := range int32(len(g.nodes)) {
		for _, l := range g.routes.out.of(v) {
			if to := g.links[l].To; v >= fabric && (to < fabric || onward[to] > 1) {
				a.links = append(a.links, l)
			}
		}
		a.start[v+1] = int32(len(a.links))
	}
	return a
}

// adjacency lists links by node: those of node v are links[start[v]:start[v+1]].
type adjacency struct{ start, links []int32 }

func (a *adjacency) of(v int32) []int32 { return a.links[a.start[v]:a.start[v+1]] }

// only returns the single link of v, or −1 if it has none or several.
func (a *adjacency) only(v int32) int32 {
	if l := a.of(v); len(l) == 1 {
		return l[0]
	}
	return -1
}

// group lists the links of each of n nodes by index; end returns the node of a link.
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

// Connected returns an error that names two ranks without a route from the first to the second. It
// is nil if there is a route from every rank to every other.
func (g *Graph) Connected() error {
	if len(g.Ranks) == 0 {
		return fmt.Errorf("a network without ranks")
	}
	if g.formula != nil {
		if from, to, ok := g.formula.apart(); ok {
			return fmt.Errorf("no route from %s to %s", g.Node(from).Name, g.Node(to).Name)
		}
		return nil
	}
	if g.parts != nil {
		if from, to, ok := g.parts.apart(); ok {
			return fmt.Errorf("no route from %s to %s: their NICs hang on no network together",
				g.nodes[from].Name, g.nodes[to].Name)
		}
		return nil
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
			return fmt.Errorf("no route from %s to %s",
				g.nodes[from].Name, g.nodes[to].Name)
		}
	}
	return nil
}

// reach marks the nodes that are reachable from v over the links in a; far returns the far end of a
// link.
func (g *Graph) reach(v int32, a *adjacency, far func(*Link) int32) []bool {
	seen := make([]bool, len(g.nodes))
	seen[v] = true
	for queue := []int32{v}; len(queue) > 0; queue = queue[1:] {
		for _, l := range a.of(queue[0]) {
			if u := far(&g.links[l]); !seen[u] {
				seen[u] = true
				queue = append(queue, u)
			}
		}
	}
	return seen
}
