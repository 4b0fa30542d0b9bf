package schedule

import "collsim/collective"

// turn orders the ranks of one channel: ranks fill nodes of perNode one after the other, and the
// channel's way through every node begins by ranks further on than the first channel's. So channels
// leave a node by different ranks, and by the NICs of these, as NCCL's rings do.
//
// The author of an algorithm writes in places of that order; a Lane names the ranks, and the blocks
// that belong to ranks, that stand there.
//
// With a group, [nodes, perNode], every rank's lane c does the same as rank 0's, translated. The
// order that lane c of rank 0 is of is then order (c + l) mod perNode on local rank l of a node, so
// that a rank stands at the same place of its node in lane c of all ranks. What an order has of
// every block is a tile of it, numbered so that the translation keeps it: see Lane.turned.
type turn struct {
	perNode, by int
	grouped     bool
}

// at is the rank at a place, both counted modulo the ranks.
func (t *turn) at(place, ranks int) int {
	place = (place%ranks + ranks) % ranks
	gpu := place % t.perNode
	return place - gpu + (gpu+t.by)%t.perNode
}

// placeOf is the place of a rank.
func (t *turn) placeOf(rank int) int {
	gpu := rank % t.perNode
	return rank - gpu + (gpu-t.by+t.perNode)%t.perNode
}

// lane is the lane in which a rank of rank 0's order stands at a place: see turn.
func (t *turn) lane(channel int, rank int32) int32 {
	first := channel - channel%t.perNode
	gpu := int(rank) % t.perNode
	return int32(first + (channel-first-gpu+t.perNode)%t.perNode)
}

// turns reports whether channels have orders of their own.
func (p *Plan) turns() bool { return p.PerNode > 1 && p.Channels > 1 && p.Spec.Ranks > p.PerNode }

// groupTurns reports whether a plan whose channels are turned has a group all the same.
func (p *Plan) groupTurns() bool { return p.turns() && p.Group != nil }

// partOf is the number that a channel has in the cuts of buffers: see turnedCuts.
func (p *Plan) partOf(channel int) int {
	if p.groupTurns() {
		return channel / p.PerNode
	}
	return channel
}

// turnOf is the order of a channel, nil where all channels have the order of the ranks.
func (p *Plan) turnOf(channel int) *turn {
	if !p.turns() {
		return nil
	}
	by := channel % p.PerNode
	if p.Channels < p.PerNode { // spread over the node
		by = channel * p.PerNode / p.Channels
	}
	return &turn{perNode: p.PerNode, by: by, grouped: p.Group != nil}
}

// turned has the lane written in places of an order. REQUIRES: Rank and Root are ranks.
func (l *Lane) turned(t *turn) {
	l.turn = t
	if t != nil {
		l.Rank, l.Root = t.placeOf(l.Rank), t.placeOf(l.Root)
	}
}

// self is the lane's rank.
func (l *Lane) self() int {
	if l.turn == nil {
		return l.Rank
	}
	return l.turn.at(l.Rank, l.Ranks)
}

// place names a block, counted in places of the lane's order, by its number and its tile. Blocks of
// a vector that every channel has a part of are numbered as the author counts; those that belong to
// ranks by these.
//
// With a group, chunk (a, t) of order c of a vector, a of the nodes and t of the places of one, is
// tile t of block (a, c): the translation by (x, y) makes of it chunk (a + x, t) of order c + y. Of
// a rank's block, order c has the tile whose number is minus the rank's place in its node.
func (l *Lane) place(r *Region, block, blocks int) {
	t := l.turn
	switch {
	case blocks == 1 && !t.grouped:
	case !vector(l.schedule.Spec.Kind):
		if blocks > 1 {
			r.First = int32(t.at(block, l.Ranks))
		} else {
			block = l.Rank
		}
		if t.grouped {
			r.Tile = int32((t.perNode - block%t.perNode) % t.perNode)
		}
	case t.grouped:
		gpu := block % t.perNode
		r.First, r.Tile = int32(block-gpu+t.by), int32(gpu)
	}
}

// turnedCuts are the cuts of a plan that has both a group and orders: see Lane.place.
func (p *Plan) turnedCuts() (cuts [3]Cut) {
	inner := Cut{}
	if n := p.Channels / p.PerNode; n > 1 {
		inner = append(inner, Level{Axis: Channel, N: int64(n)})
	}
	tiles := Cut{{Axis: Tile, N: int64(p.PerNode)}}
	if p.Spec.Kind == collective.AllReduce {
		chunks := Cut{{Axis: Block, N: int64(p.Chunks), ByRank: true}}
		cut := join(inner, chunks, tiles)
		return [3]Cut{Input: cut, Output: cut, Scratch: join(p.scratch(), inner, tiles)}
	}
	whole := join(inner, tiles)
	cuts = [3]Cut{Input: join(p.perRank(Input), whole), Output: join(p.perRank(Output), whole),
		Scratch: join(p.scratch(), whole)}
	if p.Spec.Kind.Gathers() {
		cuts[Input] = whole
	}
	if p.Spec.Kind.Scatters() {
		cuts[Output] = whole
	}
	return cuts
}

// turnedPeer is the rank at a place of the lane's order, and its lane.
func (l *Lane) turnedPeer(place int, c Class) Peer {
	rank := int32(l.turn.at(place, l.Ranks))
	channel := int32(l.Channel)
	if l.turn.grouped {
		channel = l.turn.lane(l.Channel, rank)
	}
	return Peer{Rank: rank, Lane: channel*int32(l.Lanes) + int32(l.facing), Class: c}
}
