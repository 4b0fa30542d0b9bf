package topology

// Replica is one of several equal parts of a network, each with so many ranks and the nodes near
// them. Out and In are the links out of it and into it. If only one of several equal links is
// listed, Times is their number.
type Replica struct {
	Ranks, Count int
	Out, In      []int32
	Times        int
}

// Miniature returns a small network that answers questions about this one, without listing it. All
// ranks must be equivalent. It has the same least latency over each kind of link and between the
// ranks of each kind of pair. The replicas are parts of this network, with their links in the small
// one. The small network is the first two nodes of this one, or else its first ranks. ok is false
// for other networks.
func (g *Graph) Miniature() (few *Graph, replicas []Replica, ok bool) {
	if !g.Alike() || len(g.Ranks) < 3 {
		return nil, nil, false
	}
	one := Replica{Ranks: 1, Count: len(g.Ranks), Times: 1}
	switch f := g.formula.(type) {
	case *star:
		one.Out, one.In, few = []int32{0}, []int32{3}, f.reduced(3)
	case *everyPair:
		one.Times = len(g.Ranks) - 1
		one.Out, one.In, few = []int32{0}, []int32{2}, f.reduced(3) // 0->1, 2->0
	case *cluster:
		replicas, ok = f.replicas()
		return f.two.Clone(), replicas, ok
	default:
		return nil, nil, false
	}
	few.Preset = g.Preset
	return few, []Replica{one}, g.formula.(exchangeable).isExchangeable()
}

// Extremes returns a rank with the shortest route from rank 0, and one with the longest. The
// network must be a grid with wraparound that is not listed and has equal links. ok is false for
// other networks.
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

// replicas returns each GPU with its NIC, and each node. Its GPUs must be equivalent.
func (c *cluster) replicas() (replicas []Replica, ok bool) {
	p := c.parts
	if !c.isAlike() {
		return nil, false
	}
	up := func(at int32) int32 { return c.number(toStar, 0, at, 2) }
	down := func(at int32) int32 { return c.number(toStar+1, 0, at, 2) }
	gpu := Replica{Ranks: 1, Count: int(p.nodes * p.gpus), Times: 1}
	for i, l := range c.two.links[:c.each[0]] {
		if l.From == 0 {
			gpu.Out = append(gpu.Out, int32(i))
		}
		if l.To == 0 {
			gpu.In = append(gpu.In, int32(i))
		}
	}
	gpu.Out, gpu.In = append(gpu.Out, up(0)), append(gpu.In, down(0))
	node := Replica{Ranks: int(p.gpus), Count: int(p.nodes), Times: 1}
	for i := range p.nics {
		node.Out, node.In = append(node.Out, up(i)), append(node.In, down(i))
	}
	return []Replica{gpu, node}, true
}
