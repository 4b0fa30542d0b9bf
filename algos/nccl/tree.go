package nccl

import "collsim/schedule"

// branch is a node's place in one of the two binary trees over nodes: −1 is none. A node hangs
// below its parent's side 0 or 1, by which it is lower or higher than that.
type branch struct {
	up    int
	down  [2]int
	below int
}

// binary returns a node's place in the first tree, whose leaves are the odd nodes
// (graph/trees.cc, ncclGetBtree). The parent has the next higher bit in place of the lowest, or
// just not the lowest if that is no node. Children are half the lowest bit away.
func binary(node, nodes int) branch {
	b := branch{up: -1, down: [2]int{-1, -1}}
	low := node & -node
	if node == 0 {
		for low = 1; low < nodes; low *= 2 {
		}
	} else {
		if b.up = node&^low | 2*low; b.up >= nodes {
			b.up = node &^ low
		}
		if b.below = 0; node > b.up {
			b.below = 1
		}
		if low > 1 {
			b.down[0] = node - low/2
		}
	}
	for half := low / 2; half > 0; half /= 2 {
		if node+half < nodes {
			b.down[1] = node + half
			break
		}
	}
	return b
}

// double returns a node's place in tree 0 or 1 (ncclGetDtree). The second tree mirrors the first
// where the number of nodes is even, so that no node is inside both; else it is shifted by one.
func double(tree, node, nodes int) branch {
	number := func(i int) int { return (i + 1) % nodes }
	place := (node - 1 + nodes) % nodes
	switch {
	case tree == 0:
		return binary(node, nodes)
	case nodes%2 == 0:
		number = func(i int) int { return nodes - 1 - i }
		place = nodes - 1 - node
	}
	b := binary(place, nodes)
	for _, i := range []*int{&b.up, &b.down[0], &b.down[1]} {
		if *i >= 0 {
			*i = number(*i)
		}
	}
	return b
}

// twig is a rank's place in the tree of a channel: −1 is no parent. Children are in the order in
// which their sums are added.
type twig struct {
	up   int
	down []int
}

// twigOf returns a rank's place in a channel's tree: a chain in the node, whose first GPU has the
// parent in another node (graph/connect.cc). Which GPU has the children there depends on the
// graph.
func (c *Choice) twigOf(channel, rank int) twig {
	m := c.model
	half := max(m.channels/2, 1)
	b := double(channel%(2*half)/half, rank/m.perNode, m.nodes)
	sides := [2]int{min(1, m.perNode-1), 0} // the GPUs of the children
	if m.tree.fromTop {
		sides[0] = 0
	}
	place := c.placeOf(channel, rank)
	at := place % m.perNode
	t := twig{up: -1}
	switch {
	case at > 0:
		t.up = c.rankAt(channel, place-1)
	case b.up >= 0:
		t.up = c.rankAt(channel, b.up*m.perNode+sides[b.below])
	}
	if at < m.perNode-1 {
		t.down = append(t.down, c.rankAt(channel, place+1))
	}
	for side, node := range b.down {
		if node >= 0 && sides[side] == at {
			t.down = append(t.down, c.rankAt(channel, node*m.perNode))
		}
	}
	return t
}

// climb is an all_reduce on trees (device/all_reduce.h, runTreeSplit): lane 0 sums up towards the
// root, lane 1 hands the result down, at the same time; the root does both in one step.
type climb struct {
	*Choice
	*pieces
}

func (c *climb) lane(l *schedule.Lane) {
	t := c.twigOf(l.Channel, l.Rank)
	from := 1 // the parent's lane
	if t.up >= 0 && c.twigOf(l.Channel, t.up).up < 0 {
		from = 0
	}
	l.Repeat(c.loops[l.Channel]*c.slices, func(piece int) {
		l.Tile(c.at(l.Channel, 0, 0, piece))
		switch {
		case l.Index == 0:
			t.sum(l)
		case t.up >= 0:
			t.hand(l, from)
		}
	})
}

// mostTrees are so many that a rank's peers in all of them, up to four in each, can be a role's.
const mostTrees = 16

// roles says which ranks do the same in the trees of so many channels: those that have a parent,
// or have the root for a parent, and as many children in each. It is nil where channels set out
// from more GPUs of a node: then each rank has a program of its own.
func (c *Choice) roles(channels int) schedule.Roles {
	var trees []int // a channel of each
	seen := map[[2]int]bool{}
	half := max(c.model.channels/2, 1)
	for channel := range channels {
		tree := [2]int{c.way(channel), channel % (2 * half) / half}
		if !seen[tree] {
			seen[tree], trees = true, append(trees, channel)
		}
	}
	if len(trees) > mostTrees {
		return nil
	}
	return func(rank int, peers []int32) (role int64, all []int32) {
		for _, channel := range trees {
			t := c.twigOf(channel, rank)
			what := int64(len(t.down))
			if t.up >= 0 {
				what |= 4
				peers = append(peers, int32(t.up))
				if c.twigOf(channel, t.up).up < 0 {
					what |= 8
				}
			}
			for _, child := range t.down {
				peers = append(peers, int32(child))
			}
			role = role<<4 | what
		}
		return role, peers
	}
}

// sum adds to this rank's part what its children send, one after the other.
func (t *twig) sum(l *schedule.Lane) {
	sum := []schedule.Source{l.Local(l.In(0))}
	for _, child := range t.down {
		sum = append(sum, l.From(child))
	}
	if t.up >= 0 {
		l.Combine(nil, []int{t.up}, sum...)
		return
	}
	l.Completes()
	l.Facing(1)
	l.Combine([]schedule.Region{l.Out(0)}, t.down, sum...)
}

// hand keeps the result, which comes from a lane of the parent, and hands it on.
func (t *twig) hand(l *schedule.Lane, from int) {
	l.Facing(from)
	result := l.From(t.up)
	l.Facing(1)
	l.Combine([]schedule.Region{l.Out(0)}, t.down, result)
}
