package topology

import "strconv"

// cluster is the formula of many equal nodes around the switches of a star. A route leads from one
// node to another over the star, so routes between any two nodes are like those between two
// particular ones: they are looked up in a network of just two. Links are in five blocks, each
// ordered by node: those inside the nodes, from GPUs to NICs, from NICs to GPUs, up to the star and
// down from it.
type cluster struct {
	parts *parts
	star  *star
	two   *Graph // a cluster of two such nodes
	each  [clusterBlocks]int32
	// Routes between two places of a node, or, with the second number offset by a node, of two
	// nodes.
	routes map[[2]int32][]clusterHop
}

// clusterBlocks is the number of blocks of links; toStar is the block from NICs to the star.
const (
	clusterBlocks = 5
	toStar        = 3
)

// clusterHop is a link of a route: link n·each + first, where n is the route's first node or, if
// isFar, its last.
type clusterHop struct {
	first, each int32
	isFar       bool
}

// newCluster returns the formula of a cluster. REQUIRES: at least two nodes.
func newCluster(p *parts, s *star) *cluster {
	pairs := int32(len(p.attached))
	few := *s
	few.ranks = 2 * p.nics
	node := p.node.Clone()
	two := &Graph{Preset: "cluster", parts: newParts(2, newKind(node, p.attached),
		newNumbered("", int(few.ranks), &few))}
	for i := range 2 * p.gpus {
		two.Ranks = append(two.Ranks, i)
	}
	two.compose()
	return &cluster{parts: p, star: s, two: two, routes: map[[2]int32][]clusterHop{},
		each: [clusterBlocks]int32{int32(p.node.NumLinks()), pairs, pairs, p.nics, p.nics}}
}

func (c *cluster) clone(p *parts) *cluster {
	other := *c
	other.parts, other.two, other.routes = p, c.two.Clone(), map[[2]int32][]clusterHop{}
	return &other
}

func (c *cluster) size() (nodes, links int) {
	for _, n := range c.each {
		links += int(n) * int(c.parts.nodes)
	}
	return int(c.parts.fabric) + int(c.star.ranks+c.star.hubs), links
}

// block returns the block of a link, its node and its index there, in a cluster of so many nodes;
// number is the inverse.
func (c *cluster) block(i, nodes int32) (block int, node, at int32) {
	for i >= c.each[block]*nodes {
		i -= c.each[block] * nodes
		block++
	}
	return block, i / c.each[block], i % c.each[block]
}

func (c *cluster) number(block int, node, at, nodes int32) int32 {
	first := int32(0)
	for _, n := range c.each[:block] {
		first += n * nodes
	}
	return first + node*c.each[block] + at
}

func (c *cluster) node(v int32) Node {
	p := c.parts
	if node, local := p.place(v); node >= 0 {
		n := p.node.Node(local)
		n.Name = "node" + strconv.Itoa(int(node)) + "/" + n.Name
		return n
	}
	n := c.star.node(v - p.fabric)
	if v -= p.fabric; v < c.star.ranks {
		n.Name = "node" + strconv.Itoa(int(v/p.nics)) + "/nic" + strconv.Itoa(int(v%p.nics))
	}
	n.Switch = true
	return n
}

func (c *cluster) link(i int32) Link {
	p := c.parts
	block, node, at := c.block(i, p.nodes)
	l := c.two.links[c.number(block, 0, at, 2)]
	l.Name, l.From, l.To = "", c.from(l.From, node), c.from(l.To, node)
	if block == toStar {
		l.Port = c.star.link(node*p.nics + at).Port
	}
	return l
}

// from maps a node of the network of two to the cluster, with node 0 replaced by another.
func (c *cluster) from(v, node int32) int32 {
	p := c.parts
	_, local := c.two.parts.place(v)
	switch hub := v - c.two.parts.fabric - 2*p.nics; {
	case hub >= 0:
		return p.fabric + c.star.ranks + hub
	case v >= c.two.parts.fabric:
		return p.fabric + node*p.nics + local
	}
	return p.at(node, local)
}

func (c *cluster) route(src, dst int32, buf []int32) []int32 {
	g := c.parts.gpus
	from, to := src/g, dst/g
	key := [2]int32{src % g, dst % g}
	if from != to {
		key[1] += g
	}
	hops, ok := c.routes[key]
	if !ok {
		for _, l := range c.two.Route(int(key[0]), int(key[1]), nil) {
			block, node, at := c.block(l, 2)
			hops = append(hops, clusterHop{c.number(block, 0, at, c.parts.nodes), c.each[block],
				node > 0})
		}
		c.routes[key] = hops
	}
	for _, h := range hops {
		node := from
		if h.isFar {
			node = to
		}
		buf = append(buf, h.first+node*h.each)
	}
	return buf
}

func (c *cluster) apart() (from, to int32, ok bool) { return c.parts.apart() }

func (c *cluster) anchor(i int32) Anchor {
	p := c.parts
	block, node, at := c.block(i, p.nodes)
	first := node * p.gpus
	if block == 0 && p.node.formula != nil {
		a := p.node.formula.anchor(at)
		a.Kind, a.Rank = clusterBlocks*a.Kind, first+a.Rank
		if a.To >= 0 {
			a.To += first
		}
		return a
	}
	if block > 0 && p.isPaired() {
		return Anchor{Kind: int32(block), Rank: first + at, To: -1}
	}
	return Anchor{Kind: int32(block) + clusterBlocks*at, Rank: first, To: -1}
}

func (c *cluster) series() (all []series) {
	for block, n := range c.each {
		for at := range n {
			all = append(all, series{c.number(block, 0, at, c.parts.nodes), n, c.parts.nodes})
		}
	}
	return all
}

func (c *cluster) isAlike() bool {
	return c.parts.isPaired() && c.parts.node.formula != nil && c.parts.node.formula.isAlike()
}

// moves accepts translations by whole nodes. If each GPU has a NIC, it also accepts translations
// within nodes, the same in all.
func (c *cluster) moves(t Translation) bool {
	p := c.parts
	step, size := int64(t.Step)*int64(t.Weight), int64(t.Size)*int64(t.Weight)
	if step%int64(p.gpus) == 0 && size%int64(p.gpus) == 0 {
		return true
	}
	return int64(p.gpus)%size == 0 && p.isPaired() && p.node.formula != nil &&
		(c.star.hubs == 1 || c.star.hubs == p.nics) && p.node.formula.moves(t)
}
