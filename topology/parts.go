package topology

import "slices"

// kind describes nodes that are equal.
type kind struct {
	node           *Graph // without names
	gpus, switches int32
	// the places of its GPUs in a node without absent ones; nil: their numbers
	places   []int32
	attached []attachment
}

func newKind(node *Graph, attached []attachment) kind {
	gpus := len(node.Ranks)
	return kind{node: node, gpus: int32(gpus), switches: int32(node.NumNodes() - gpus),
		attached: attached}
}

// parts holds the parts of a cluster. Many nodes are equal and a route crosses the network once. So
// the lengths of paths inside nodes of each kind and inside the network determine all routes. Equal
// nodes share tables, and 16,384 ranks route as quickly as the network alone.
type parts struct {
	kind            // of all nodes, if they are equal
	uneven  *uneven // nil if all nodes are equal
	network *Graph  // without names
	nodes   int32
	nics    int32 // in a node, absent ones included
	ranks   int32 // all GPUs
	fabric  int32 // number of the first node of network; NICs come first

	// Paths to the latest destination.
	end     int32 // the GPU; -1 before the first
	exits   []exit
	near    []exit  // those on a shortest path of a hop: see shortest
	from    int32   // the node that paths leave; −1 if there are none
	lengths []int32 // lengths from each NIC of node from to end
}

// exit is a link from a NIC to a GPU of the destination's node.
type exit struct {
	nic   int32
	last  int32   // length from the NIC to the destination
	table []int32 // lengths to the NIC, less step; nil in a grid
	step  int32
}

// clone returns a deep copy.
func (p *parts) clone() *parts {
	c := *p
	c.network = p.network.Clone()
	if p.uneven != nil {
		c.uneven = p.uneven.clone()
	} else {
		c.node = p.node.Clone()
	}
	c.end, c.exits, c.near, c.lengths = -1, nil, nil, nil
	return &c
}

// of returns the kind of a node.
func (p *parts) of(node int32) *kind {
	if p.uneven != nil {
		return p.uneven.of(node)
	}
	return &p.kind
}

// nic returns a NIC of a node by its number in the network, −1 if it is absent.
func (p *parts) nic(node, nic int32) int32 {
	at := node*p.nics + nic
	if p.uneven != nil && p.uneven.nics != nil {
		return p.uneven.nics[at]
	}
	return at
}

// nicOf returns the number in its node of a NIC of the network.
func (p *parts) nicOf(v int32) int32 {
	if p.uneven != nil && p.uneven.nics != nil {
		v = int32(slices.Index(p.uneven.nics, v))
	}
	return v % p.nics
}

// at returns the number in the cluster of v, a number inside a node.
func (p *parts) at(node, v int32) int32 {
	if p.uneven != nil {
		return p.uneven.at(node, v)
	}
	if v < p.gpus {
		return node*p.gpus + v
	}
	return p.nodes*p.gpus + node*p.switches + v - p.gpus
}

// place returns the cluster node of v and its number there. In the network the node is −1.
func (p *parts) place(v int32) (node, local int32) {
	switch {
	case v >= p.fabric:
		return -1, v - p.fabric
	case p.uneven != nil:
		return p.uneven.place(v)
	case v < p.nodes*p.gpus:
		return v / p.gpus, v % p.gpus
	}
	v -= p.nodes * p.gpus
	return v / p.switches, p.gpus + v%p.switches
}

// left returns the length of the path from v to the GPU end: inside the node if it is the same,
// else through the best NICs of both. It is negative if there is no path.
func (p *parts) left(v, end int32) int32 {
	if p.end != end {
		p.aim(end)
	}
	node, local := p.place(v)
	switch to, target := p.place(end); node {
	case to:
		return p.of(node).node.length(local, target)
	case -1:
		return p.fromNetwork(local)
	}
	if p.from != node {
		p.from, p.lengths = node, p.lengths[:0]
		for nic := range p.nics {
			d := int32(-1)
			if v := p.nic(node, nic); v >= 0 {
				d = p.fromNetwork(v)
			}
			p.lengths = append(p.lengths, d)
		}
	}
	best, k := int32(-1), p.of(node)
	for i := range k.attached {
		a := &k.attached[i]
		if p.lengths[a.nic] < 0 {
			continue
		}
		d := k.node.length(local, a.at)
		if d < 0 {
			continue
		}
		if d += a.length + p.lengths[a.nic]; best < 0 || d < best {
			best = d
		}
	}
	return best
}

// aim sets the destination to end.
func (p *parts) aim(end int32) {
	p.end, p.from, p.exits = end, -1, p.exits[:0]
	node, local := p.place(end)
	k := p.of(node)
	for i := range k.attached {
		a := &k.attached[i]
		left := k.node.length(a.at, local)
		if left < 0 {
			continue
		}
		x := exit{nic: p.nic(node, a.nic), last: a.length + left}
		if p.network.grid == nil {
			x.table, x.step = p.network.towards(x.nic)
		}
		p.exits = append(p.exits, x)
	}
}

// fromNetwork returns the length of the path from v of the network to the destination.
func (p *parts) fromNetwork(v int32) int32 { return p.through(p.exits, v) }

// through returns the length of the path from v through the best of some exits.
func (p *parts) through(exits []exit, v int32) int32 {
	best := int32(-1)
	for i := range exits {
		if d := p.toExit(&exits[i], v); d >= 0 && (best < 0 || d < best) {
			best = d
		}
	}
	return best
}

// toExit returns the length of the path from v through one exit, negative if there is none.
func (p *parts) toExit(x *exit, v int32) int32 {
	switch {
	case v == x.nic:
		return x.last
	case x.table == nil:
		return x.last + p.network.grid.distance(v, x.nic)
	case x.table[v] < 0:
		return -1
	}
	return x.last + x.table[v] + x.step
}

// shortest returns the exits on the shortest paths from v of the network; length is that of these
// paths. Every node on such a path leads to one of these exits.
func (p *parts) shortest(v, length int32) []exit {
	p.near = p.near[:0]
	for i := range p.exits {
		if p.toExit(&p.exits[i], v) == length {
			p.near = append(p.near, p.exits[i])
		}
	}
	return p.near
}

// length returns the length of the path from v to end, negative if there is none.
func (g *Graph) length(v, end int32) int32 {
	if g.grid != nil {
		return g.grid.distance(v, end)
	}
	if v == end {
		return 0
	}
	table, step := g.towards(end)
	if table[v] < 0 {
		return -1
	}
	return table[v] + step
}

// towards returns the length of the path to end from every node but end itself, less step. Nodes
// with a single incoming link share the table of the node that it leaves.
func (g *Graph) towards(end int32) (table []int32, step int32) {
	if !g.routes.built {
		g.buildNeighbours()
	}
	if l := g.routes.in.only(end); l >= 0 {
		return g.table(g.links[l].From), 1 + g.links[l].extra
	}
	return g.table(end), 0
}

// table returns the length of the path to end from every node. If tables take too much memory it
// drops all and starts anew.
func (g *Graph) table(end int32) []int32 {
	r := &g.routes
	if r.tables[end] != nil {
		return r.tables[end]
	}
	if r.held >= r.room {
		clear(r.tables)
		r.held = 0
	}
	return g.makeTable(end)
}
