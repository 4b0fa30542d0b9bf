package topology

// Cell is one of as many alike parts of a network, each with so many ranks and the nodes near them.
// Out and In are the links out of it and into it; Times is how many of each there are, where only
// one is named of such as are alike.
type Cell struct {
	Ranks, Cells int
	Out, In      []int32
	Times        int
}

// Few is a small network in which one can look up what is so in this one, of which no list is kept,
// and whose ranks all see the same: the least latency over each kind of link and between the ranks
// of each kind of pair. The cells are parts of this network, with their links in the small one; it
// is the network's first two nodes, or else its first ranks. There is none of other networks.
func (g *Graph) Few() (few *Graph, cells []Cell, ok bool) {
	if !g.Alike() || len(g.Ranks) < 3 {
		return nil, nil, false
	}
	n := len(g.Ranks)
	one := Cell{Ranks: 1, Cells: n, Times: 1}
	switch f := g.formula.(type) {
	case *star:
		less := *f
		less.ranks = 3
		one.Out, one.In = []int32{0}, []int32{less.ranks}
		return newNumbered(g.Preset, 3, &less), []Cell{one}, f.hubs == 1
	case *everyPair:
		less := *f
		less.ranks = 3
		one.Out, one.In, one.Times = []int32{0}, []int32{2}, n-1 // 0->1, 2->0
		return newNumbered(g.Preset, 3, &less), []Cell{one}, true
	case *cluster:
		cells, ok = f.cells()
		return f.two.Clone(), cells, ok
	}
	return nil, nil, false
}

// Extremes are a rank to which rank 0 has the shortest of its routes, and one to which it has the
// longest, in a grid whose ends are joined, of which no list is kept: all links are alike. There
// are none of other networks.
func (g *Graph) Extremes() (nearest, farthest int, ok bool) {
	w, isWrapped := g.formula.(*wrapped)
	if !isWrapped || !g.Alike() || len(w.dims) == 0 {
		return 0, 0, false
	}
	for _, d := range w.dims {
		farthest += int(d.size / 2 * d.stride)
	}
	return int(w.dims[0].stride), farthest, true
}

// cells are each GPU with its NIC, and each node. Its GPUs must all see the same.
func (c *cluster) cells() (cells []Cell, ok bool) {
	p := c.parts
	if !c.isAlike() {
		return nil, false
	}
	up := func(at int32) int32 { return c.number(toStar, 0, at, 2) }
	down := func(at int32) int32 { return c.number(toStar+1, 0, at, 2) }
	gpu := Cell{Ranks: 1, Cells: int(p.nodes * p.gpus), Times: 1}
	for i, l := range c.two.links[:c.each[0]] {
		if l.From == 0 {
			gpu.Out = append(gpu.Out, int32(i))
		}
		if l.To == 0 {
			gpu.In = append(gpu.In, int32(i))
		}
	}
	gpu.Out, gpu.In = append(gpu.Out, up(0)), append(gpu.In, down(0))
	node := Cell{Ranks: int(p.gpus), Cells: int(p.nodes), Times: 1}
	for i := range p.nics {
		node.Out, node.In = append(node.Out, up(i)), append(node.In, down(i))
	}
	return []Cell{gpu, node}, true
}
