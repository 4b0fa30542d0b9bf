package schedule

import (
	"fmt"
	"slices"
)

// A turn is the order of the ranks of one channel. Ranks fill nodes of perNode, one after the
// other. Inside each node, the channel's path begins at another rank than the first channel's. So
// channels leave a node by different ranks, and by these ranks' NICs, as NCCL's rings do.
//
// The author of an algorithm counts in places of that order; a Lane converts places to ranks, and
// to the blocks of ranks.
//
// With a group, [nodes, perNode], every rank's lane c does the same as rank 0's, translated. On
// local rank l of a node, lane c belongs to order (c + l) mod perNode. So a rank has the same place
// in its node in lane c of all ranks. An order's share of every block is a tile of it, numbered so
// that the translation preserves it: see Lane.place.
//
// Nodes may differ: channels then begin at ranks that are spread over each node.
type turn struct {
	perNode, by int
	grouped     bool
	// order is the rank of a node at each place in it, places the inverse; nil where by determines
	// it.
	order, places []int32

	firsts            []int // if nodes differ: first rank of each, and the number of all ranks
	channel, channels int

	place *place // of a plan with Places: it has the order, and the other fields are not used
}

// at returns the rank at a place; places count modulo the ranks.
func (t *turn) at(place, ranks int) int {
	if t.place != nil {
		return t.place.rank(place, ranks)
	}
	place = (place%ranks + ranks) % ranks
	first, size, by := t.node(place)
	if t.order != nil {
		return first + int(t.order[place-first])
	}
	return first + (place-first+by)%size
}

// placeOf returns the place of a rank.
func (t *turn) placeOf(rank int) int {
	first, size, by := t.node(rank)
	if t.order != nil {
		return first + int(t.places[rank-first])
	}
	return first + (rank-first-by+size)%size
}

// node returns the first rank of a rank's node, how many it has, and by how many it is turned.
func (t *turn) node(rank int) (first, size, by int) {
	if t.firsts == nil {
		return rank - rank%t.perNode, t.perNode, t.by
	}
	i, _ := slices.BinarySearch(t.firsts, rank+1)
	first = t.firsts[i-1]
	size = t.firsts[i] - first
	return first, size, turnedBy(t.channel, t.channels, size)
}

// lane returns the lane of a rank that has the order of a channel in rank 0's lane: see turn.
func (t *turn) lane(channel int, rank int32) int32 {
	first := channel - channel%t.perNode
	gpu := int(rank) % t.perNode
	return int32(first + (channel-first-gpu+t.perNode)%t.perNode)
}

// turns reports whether channels have orders of their own.
func (p *Plan) turns() bool {
	return len(p.Nodes) > 1 && p.Channels > 1 ||
		p.PerNode > 1 && (p.Orders != nil || p.Channels > 1 && p.Spec.Ranks > p.PerNode)
}

// groupTurns reports whether a plan has both a group and channels with orders of their own.
func (p *Plan) groupTurns() bool { return p.turns() && p.Group != nil }

// turnOf returns the order of a channel, nil where all channels have the order of the ranks.
func (p *Plan) turnOf(channel int) *turn {
	if p.Places != nil {
		return &turn{place: &place{Places: p.Places, channel: channel}}
	}
	if !p.turns() {
		return nil
	}
	if p.firsts != nil {
		return &turn{firsts: p.firsts, channel: channel, channels: p.Channels}
	}
	if p.Orders != nil {
		t := &turn{perNode: p.PerNode, order: p.Orders[channel], places: make([]int32, p.PerNode)}
		for place, gpu := range t.order {
			t.places[gpu] = int32(place)
		}
		return t
	}
	return &turn{perNode: p.PerNode, by: turnedBy(channel, p.Channels, p.PerNode),
		grouped: p.Group != nil}
}

// turnedBy spreads channels over the ranks of a node.
func turnedBy(channel, channels, size int) int {
	if full := channels - channels%size; channel >= full { // the last ones, over the whole node
		return (channel - full) * size / (channels - full)
	}
	return channel % size
}

// countNodes computes the first rank of each node where nodes differ. It returns an error if they
// have other ranks than the plan, or if there is a group.
func (p *Plan) countNodes() error {
	if p.Nodes == nil {
		return nil
	}
	first := 0
	for _, size := range p.Nodes {
		p.firsts = append(p.firsts, first)
		first += max(size, 0)
	}
	if p.firsts = append(p.firsts, first); first != p.Spec.Ranks || slices.Min(p.Nodes) < 1 ||
		p.Group != nil || p.PerNode != 0 || p.Orders != nil {
		return fmt.Errorf("nodes of %v ranks, of %d: all ranks, and no group, are expected",
			p.Nodes, p.Spec.Ranks)
	}
	return nil
}

// turned makes the author count in places of an order. REQUIRES: Rank and Root are ranks.
func (l *Lane) turned(t *turn) {
	l.turn = t
	switch {
	case t == nil:
	case t.place != nil:
		t.place.shift, l.Rank = t.place.Place(l.Channel, l.Rank), 0
	default:
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

// place converts a block, counted in places of the lane's order, to its number and tile. Blocks of
// a vector that all channels share keep the author's numbers; blocks of ranks get the ranks'.
//
// With a group, let a be one of the nodes and t one of the places of a node. Chunk (a, t) of order
// c of a vector is tile t of block (a, c). Translation by (x, y) maps it to chunk (a + x, t) of
// order c + y. Of a rank's block, order c has the tile whose number is minus the rank's place in
// its node. Channels beyond the number of ranks of a node have the following tiles.
func (l *Lane) place(r *Region, block, blocks int) {
	t := l.turn
	switch {
	case t.place != nil:
		t.place.convert(r, block, blocks)
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
	if l.turn.place != nil {
		l.turn.place.names(place)
	}
	if l.turn.grouped {
		channel = l.turn.lane(l.Channel, rank)
	}
	return Peer{Rank: rank, Lane: channel*int32(l.Lanes) + int32(l.facing), Class: c}
}
