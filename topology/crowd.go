package topology

import "slices"

// exchangeable is a network of parts, of as many ranks each, of which any two can be put in each
// other's places, and of nodes that are in none.
type exchangeable interface {
	formula
	isExchangeable() bool
	divided() (parts, ranks int32)
	// place is the part that a node is in, −1 for none, and its number there; at is the way back.
	place(v int32) (part, local int32)
	at(part, local int32) int32
	// reduced is the same network of fewer parts.
	reduced(parts int32) *Graph
}

// Crowd is a small network that stands for a large one whose parts can be put in each other's
// places: it has the parts of which links were changed, and a few others; the last part stands for
// all that are left, its links each for those of all these.
type Crowd struct {
	*Graph
	Times  int64 // how many parts the last one stands for
	Within int64 // how many links lead from one of these to another, all of them like
	Like   Link

	small exchangeable
	whole *Graph
	of    exchangeable // the whole network's
	parts []int32      // of the whole network; of the last, the first that it stands for
}

// Crowd is such a network in which the parts of certain ranks are told from the others; it has the
// first other part, too, of which no link was changed. ok is false of a network whose parts are not
// known to be exchangeable, or that has hardly more.
func (g *Graph) Crowd(apart ...int) (c *Crowd, ok bool) {
	of, ok := g.formula.(exchangeable)
	if !ok || g.isListed || !of.isExchangeable() || !g.isInOrder() {
		return nil, false
	}
	all, ranks := of.divided()
	var kept []int32
	for _, rank := range apart {
		kept = append(kept, int32(rank)/ranks)
	}
	for _, x := range g.changed {
		l := of.link(x.link)
		for _, v := range [2]int32{l.From, l.To} {
			if part, _ := of.place(v); part >= 0 {
				kept = append(kept, part)
			}
		}
	}
	slices.Sort(kept)
	kept = slices.Compact(kept)
	if int(all) < len(kept)+2 {
		return nil, false
	}
	c = &Crowd{whole: g, of: of}
	var others [2]int32 // the first that are not kept
	for i, part := 0, int32(0); i < len(others); part++ {
		if _, isKept := slices.BinarySearch(kept, part); !isKept {
			others[i] = part
			i++
		}
	}
	c.parts = append(kept, others[0])
	slices.Sort(c.parts)
	c.parts = append(c.parts, others[1])
	c.Times = int64(all) - int64(len(kept)) - 1
	c.Graph = of.reduced(int32(len(c.parts)))
	c.small = c.Graph.formula.(exchangeable)
	if e, isMesh := of.(*everyPair); isMesh {
		c.Within, c.Like = c.Times*(c.Times-1), e.like
	}
	c.change()
	return c, true
}

// change changes the links that are changed in the whole network.
func (c *Crowd) change() {
	byEnds := map[[2]int32]changed{}
	for _, x := range c.whole.changed {
		l := c.of.link(x.link)
		byEnds[[2]int32{l.From, l.To}] = x
	}
	for i := range int32(c.Graph.NumLinks()) {
		l := c.small.link(i)
		if x, isChanged := byEnds[[2]int32{c.Of(l.From), c.Of(l.To)}]; isChanged {
			x.link = i
			c.Graph.changed = append(c.Graph.changed, x)
		}
	}
}

// Of is the node of the whole network that one of the small one is, or the first that it stands
// for.
func (c *Crowd) Of(v int32) int32 {
	part, local := c.small.place(v)
	if part >= 0 {
		part = c.parts[part]
	}
	return c.of.at(part, local)
}

// Stand is the node that stands for one of the whole network.
func (c *Crowd) Stand(v int32) int32 {
	part, local := c.of.place(v)
	if part >= 0 {
		last := len(c.parts) - 1
		at, isKept := slices.BinarySearch(c.parts[:last], part)
		if !isKept {
			at = last
		}
		part = int32(at)
	}
	return c.small.at(part, local)
}

// StandsFor is how many nodes a node stands for.
func (c *Crowd) StandsFor(v int32) int64 {
	if part, _ := c.small.place(v); int(part) == len(c.parts)-1 {
		return c.Times
	}
	return 1
}

func (s *star) isExchangeable() bool { return s.hubs == 1 }

func (s *star) divided() (parts, ranks int32) { return s.ranks, 1 }

func (s *star) place(v int32) (part, local int32) {
	if v >= s.ranks {
		return -1, v - s.ranks
	}
	return v, 0
}

func (s *star) at(part, local int32) int32 {
	if part < 0 {
		return s.ranks + local
	}
	return part
}

func (s *star) reduced(parts int32) *Graph {
	less := *s
	less.ranks = parts
	return newNumbered("switch", int(parts), &less)
}

func (e *everyPair) isExchangeable() bool { return true }

func (e *everyPair) divided() (parts, ranks int32) { return e.ranks, 1 }

func (e *everyPair) place(v int32) (part, local int32) { return v, 0 }

func (e *everyPair) at(part, _ int32) int32 { return part }

func (e *everyPair) reduced(parts int32) *Graph {
	return newNumbered("full-mesh", int(parts), &everyPair{ranks: parts, like: e.like})
}

// isExchangeable: not where which switch a NIC hangs on depends on its node.
func (c *cluster) isExchangeable() bool {
	return c.star.hubs == 1 || c.star.hubs == c.parts.nics
}

func (c *cluster) divided() (parts, ranks int32) { return c.parts.nodes, c.parts.gpus }

// place: a node's GPUs and switches come first, then its NICs.
func (c *cluster) place(v int32) (part, local int32) {
	p := c.parts
	if part, local = p.place(v); part >= 0 {
		return part, local
	}
	if local >= c.star.ranks {
		return -1, local - c.star.ranks
	}
	return local / p.nics, p.gpus + p.switches + local%p.nics
}

func (c *cluster) at(part, local int32) int32 {
	p := c.parts
	inside := p.gpus + p.switches
	switch {
	case part < 0:
		return p.fabric + c.star.ranks + local
	case local >= inside:
		return p.fabric + part*p.nics + local - inside
	}
	return p.at(part, local)
}

func (c *cluster) reduced(parts int32) *Graph {
	less := *c.star
	less.ranks = parts * c.parts.nics
	network := newNumbered("", int(less.ranks), &less)
	p := newParts(int(parts), newKind(c.parts.node.Clone(), c.parts.attached), network)
	g := newNumbered("cluster", int(parts*p.gpus), newCluster(p, &less))
	g.parts = p
	return g
}
