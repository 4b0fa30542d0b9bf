package schedule

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
// every block is a tile of it, numbered so that the translation keeps it: see Lane.place.
type turn struct {
	perNode, by int
	grouped     bool
	// order is the rank of a node at each place in it, places the reverse; nil where by says it.
	order, places []int32
}

// at returns the rank at a place; places count modulo the ranks.
func (t *turn) at(place, ranks int) int {
	place = (place%ranks + ranks) % ranks
	gpu := place % t.perNode
	if t.order != nil {
		return place - gpu + int(t.order[gpu])
	}
	return place - gpu + (gpu+t.by)%t.perNode
}

// placeOf returns the place of a rank.
func (t *turn) placeOf(rank int) int {
	gpu := rank % t.perNode
	if t.order != nil {
		return rank - gpu + int(t.places[gpu])
	}
	return rank - gpu + (gpu-t.by+t.perNode)%t.perNode
}

// lane returns the lane in which a rank has the order that rank 0 has in the lane of a channel: see
// turn.
func (t *turn) lane(channel int, rank int32) int32 {
	first := channel - channel%t.perNode
	gpu := int(rank) % t.perNode
	return int32(first + (channel-first-gpu+t.perNode)%t.perNode)
}

// turns reports whether channels have orders of their own.
func (p *Plan) turns() bool {
	return p.PerNode > 1 && (p.Orders != nil || p.Channels > 1 && p.Spec.Ranks > p.PerNode)
}

// groupTurns reports whether a plan whose channels are turned has a group all the same.
func (p *Plan) groupTurns() bool { return p.turns() && p.Group != nil }

// turnOf returns the order of a channel, nil where all channels have the order of the ranks.
func (p *Plan) turnOf(channel int) *turn {
	if !p.turns() {
		return nil
	}
	if p.Orders != nil {
		t := &turn{perNode: p.PerNode, order: p.Orders[channel], places: make([]int32, p.PerNode)}
		for place, gpu := range t.order {
			t.places[gpu] = int32(place)
		}
		return t
	}
	by := channel % p.PerNode
	if full := p.Channels - p.Channels%p.PerNode; channel >= full { // spread over the node
		by = (channel - full) * p.PerNode / (p.Channels - full)
	}
	return &turn{perNode: p.PerNode, by: by, grouped: p.Group != nil}
}

// turned lets the author write the lane in places of an order. REQUIRES: Rank and Root are ranks.
func (l *Lane) turned(t *turn) {
	l.turn = t
	if t != nil {
		l.Rank, l.Root = t.placeOf(l.Rank), t.placeOf(l.Root)
	}
}

// self returns the rank that the lane is of.
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
// a rank's block, order c has the tile whose number is minus the rank's place in its node. Further
// channels, beyond the ranks of a node, have the tiles behind these.
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
			r.Tile = l.turnedTile((t.perNode - block%t.perNode) % t.perNode)
		}
	case t.grouped:
		gpu := block % t.perNode
		r.First, r.Tile = int32(block-gpu+t.by), l.turnedTile(gpu)
	}
}

// turnedTile returns a tile of the lane's channel by its number among the tiles of as many channels
// as a node has ranks.
func (l *Lane) turnedTile(number int) int32 {
	return int32(l.Channel - l.Channel%l.turn.perNode + number)
}

// turnedPeer returns the rank at a place of the lane's order, and the lane there.
func (l *Lane) turnedPeer(place int, c Class) Peer {
	rank := int32(l.turn.at(place, l.Ranks))
	channel := int32(l.Channel)
	if l.turn.grouped {
		channel = l.turn.lane(l.Channel, rank)
	}
	return Peer{Rank: rank, Lane: channel*int32(l.Lanes) + int32(l.facing), Class: c}
}
