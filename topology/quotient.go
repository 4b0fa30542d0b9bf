package topology

import "slices"

// exchangeable is a network of equal parts, with equally many ranks each, and of nodes outside of
// all parts. Any two parts can be swapped.
type exchangeable interface {
	formula
	isExchangeable() bool
	divided() (parts, ranks int32)
	// place returns the part of a node, −1 for none, and its number there; at is the inverse.
	place(v int32) (part, local int32)
	at(part, local int32) int32
	// reduced returns the same network with fewer parts.
	reduced(parts int32) *Graph
}

// Quotient is a small network that represents a large one whose parts can be swapped. It has the
// parts with changed links, and a few others. The last part represents all that are left out; each
// of its links represents those of all of these.
type Quotient struct {
	*Graph
	Times  int64 // number of parts that the last one represents
	Within int64 // number of links among these parts, all equal to Like
	Like   Link

	small exchangeable
	whole *Graph
	of    exchangeable // of the whole network
	parts []int32      // parts of the whole network; for the last, the first that it represents
}

// Quotient returns the quotient in which the parts of certain ranks are kept apart from the others.
// It also keeps the first other part without changed links. ok is false if the parts are not known
// to be exchangeable, or if the quotient would hardly be smaller.
func (g *Graph) Quotient(apart ...int) (c *Quotient, ok bool) {
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
	c = &Quotient{whole: g, of: of}
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

// change applies the changes of the whole network to the quotient.
func (c *Quotient) change() {
	byEnds := map[[2]int32]changed{}
	for _, x := range c.whole.changed {
		l := c.of.link(x.link)
		byEnds[[2]int32{l.From, l.To}] = x
	}
	for i := range int32(c.Graph.NumLinks()) {
		l := c.small.link(i)
		if x, isChanged := byEnds[[2]int32{c.Original(l.From), c.Original(l.To)}]; isChanged {
			x.link = i
			c.Graph.changed = append(c.Graph.changed, x)
		}
	}
}

// Original returns the node of the whole network that a node of the quotient is, or the first that
// it represents.
func (c *Quotient) Original(v int32) int32 {
	part, local := c.small.place(v)
	if part >= 0 {
		part = c.parts[part]
	}
	return c.of.at(part, local)
}

// Representative returns the node of the quotient for a node of the whole network.
func (c *Quotient) Representative(v int32) int32 {
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

// Multiplicity returns the number of nodes that a node of the quotient represents.
func (c *Quotient) Multiplicity(v int32) int64 {
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

// isExchangeable reports whether nodes can be swapped: not if the switch of a NIC depends on its
// node.
func (c *cluster) isExchangeable() bool {
	return c.star.hubs == 1 || c.star.hubs == c.parts.nics
}

func (c *cluster) divided() (parts, ranks int32) { return c.parts.nodes, c.parts.gpus }

// place returns the cluster node and the number in it. A node's GPUs and switches come first, then
// its NICs.
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
