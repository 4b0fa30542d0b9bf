package nccl

import (
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// around is a call on rings. A rank sends to the next one of its channel; its own part stands on
// the left of every sum.
//
// The rings of one node go from rank to rank. Those of several go through one node after the other,
// each channel's from another GPU on, so that all NICs are taken. Where the links of a node prefer
// other orders (Setting.Rings), a channel has one of these.
type around struct {
	*Choice
	*pieces
	spec collective.Spec
}

// way returns the number of GPUs by which a channel's path through a node is turned or, where
// rings are given, the number of its ring. The second half of the channels has the rings of the
// first. Fewer rings than GPUs leave by GPUs that are as far from each other, and so by all NICs.
func (c *Choice) way(channel int) int {
	half := max(c.model.channels/2, 1)
	switch {
	case c.rings != nil:
		return channel % half % len(c.rings)
	case c.model.nodes == 1:
		return 0
	}
	return channel % half * max(c.model.perNode/half, 1) % c.model.perNode
}

// crossed returns the number of the ring that a node has in place of another one.
func (c *Choice) crossed(way, node int) int {
	if other := way ^ 1; c.crosses && node%2 == 1 && other < len(c.rings) {
		return other
	}
	return way
}

// rankAt returns the rank at a place of a channel's ring; places are counted modulo the ranks.
func (c *Choice) rankAt(channel, place int) int {
	ranks, perNode := c.model.ranks, c.model.perNode
	place = (place%ranks + ranks) % ranks
	node, gpu, way := place/perNode, place%perNode, c.way(channel)
	if c.rings != nil {
		return node*perNode + int(c.rings[c.crossed(way, node)][gpu])
	}
	return node*perNode + (gpu+way)%perNode
}

// placeOf returns a rank's place on a channel's ring.
func (c *Choice) placeOf(channel, rank int) int {
	perNode := c.model.perNode
	node, gpu, way := rank/perNode, rank%perNode, c.way(channel)
	if c.rings != nil {
		return node*perNode + slices.Index(c.rings[c.crossed(way, node)], int32(gpu))
	}
	return node*perNode + (gpu-way+perNode)%perNode
}

// translations returns those that take what each rank does on rings to what another does: from node
// to node or, of two, where odd nodes have rings of their own; with one rank a node, or one node,
// from rank to rank. They are nil where chunks of a loop differ in size, and of chains.
func (c *Choice) translations(spec *collective.Spec, x *pieces) *schedule.Translations {
	m := c.model
	switch {
	case spec.Kind.Rooted() || !x.isEven():
		return nil
	case c.rings == nil && (m.nodes == 1 || m.perNode == 1):
		return schedule.AllOf(schedule.Rotations(m.ranks))
	}
	t := &schedule.Translations{Group: schedule.Group{int32(m.nodes), int32(m.perNode)},
		Steps: []int32{1, int32(m.perNode)}}
	if c.crosses && m.nodes%2 == 0 {
		t.Steps[0] = 2
	} else if c.crosses {
		return nil
	}
	return t
}

// places returns the order of the ranks on each channel's ring. Chunks of an all_reduce, which are
// numbered by places, are pieces of the vector, the last ones of a loop maybe shorter than others.
func (c *Choice) places(spec *collective.Spec, x *pieces) *schedule.Places {
	p := &schedule.Places{Rank: c.rankAt, Place: c.placeOf}
	if byBlocks(spec) {
		p.Cuts = cuts(spec, x.ends, true)
		return p
	}
	strips := make([]int64, 0, len(x.ends)/x.chunks)
	at := int64(0)
	for k := range int32(cap(strips)) {
		longest := int64(0)
		for chunk := range int32(x.chunks) {
			longest = max(longest, x.size(int(x.ofStrip(k, chunk))))
		}
		at += longest * int64(x.chunks)
		strips = append(strips, at)
	}
	cut := schedule.Cut{{Axis: schedule.Tile, Split: schedule.Table, Ends: [][]int64{strips}},
		{Axis: schedule.Block, N: int64(x.chunks), ByRank: true}}
	p.Cuts, p.Tile = &[3]schedule.Cut{cut, cut, cut}, x.ofStrip
	return p
}

// lane writes the steps of a rank in a channel.
func (a *around) lane(l *schedule.Lane) {
	do := map[collective.Kind]func(*hop){collective.AllReduce: (*hop).allReduce,
		collective.ReduceScatter: (*hop).reduceScatter, collective.AllGather: (*hop).allGather,
		collective.Broadcast: (*hop).broadcast, collective.Reduce: (*hop).reduce}[a.spec.Kind]
	h := &hop{Lane: l, around: a, prev: l.Rank - 1, next: l.Rank + 1}
	if a.spec.Kind.Rooted() {
		place := a.placeOf(l.Channel, l.Rank)
		h.prev, h.next = a.rankAt(l.Channel, place-1), a.rankAt(l.Channel, place+1)
	}
	l.Repeat(a.loops[l.Channel], func(loop int) {
		h.loop = loop
		do(h)
	})
}

// hop is a rank on the ring of a channel, in a loop. But for chains from or to a root, ranks and
// blocks are counted in places, from this rank on (schedule.Places).
type hop struct {
	*schedule.Lane
	*around
	prev, next int
	loop       int
}

// each does a step for the slices of a chunk.
func (h *hop) each(step func()) {
	for slice := range h.slices {
		h.Tile(h.strip(h.Channel, h.loop, slice))
		step()
	}
}

// plus returns the operands of a sum: this rank's part and the message.
func (h *hop) plus(own schedule.Region) []schedule.Source {
	return []schedule.Source{h.Local(own), h.From(h.prev)}
}

// allReduce follows device/all_reduce.h, runRing: chunk c sets out from place c+1, is complete at
// c, and goes round once more.
func (h *hop) allReduce() {
	to := []int{h.next}
	h.each(func() { h.Send(h.next, h.In(-1)) })
	for j := 2; j < h.Ranks; j++ {
		h.each(func() { h.Combine(nil, to, h.plus(h.In(-j))...) })
	}
	h.each(func() {
		h.Completes()
		h.Combine([]schedule.Region{h.Out(0)}, to, h.plus(h.In(0))...)
	})
	for j := 1; j < h.Ranks-1; j++ {
		h.each(func() { h.CopySend(h.prev, h.next, h.Out(-j)) })
	}
	h.each(func() { h.Recv(h.prev, h.Out(1)) })
}

// reduceScatter follows device/reduce_scatter.h: a block sets out from the rank after its own.
func (h *hop) reduceScatter() {
	to := []int{h.next}
	h.each(func() { h.Send(h.next, h.In(-1)) })
	for j := 2; j < h.Ranks; j++ {
		h.each(func() { h.Combine(nil, to, h.plus(h.In(-j))...) })
	}
	h.each(func() {
		h.Completes()
		h.Combine([]schedule.Region{h.Out(0)}, nil, h.plus(h.In(0))...)
	})
}

// allGather follows device/all_gather.h: every block goes round, from its own rank on.
func (h *hop) allGather() {
	h.each(func() { h.keepSend(h.Out(0)) })
	for j := 1; j < h.Ranks-1; j++ {
		h.each(func() { h.CopySend(h.prev, h.next, h.Out(-j)) })
	}
	h.each(func() { h.Recv(h.prev, h.Out(1)) })
}

// keepSend sends this rank's input, and copies it to where it belongs unless it is there.
func (h *hop) keepSend(at schedule.Region) {
	var into []schedule.Region
	if !h.spec.InPlace {
		into = append(into, at)
	}
	h.Combine(into, []int{h.next}, h.Local(h.In(0)))
}

// broadcast follows device/broadcast.h: a chain from the root to the rank before it.
func (h *hop) broadcast() {
	h.each(func() {
		switch {
		case h.Rank == h.Root:
			h.keepSend(h.Out(0))
		case h.next == h.Root:
			h.Recv(h.prev, h.Out(0))
		default:
			h.CopySend(h.prev, h.next, h.Out(0))
		}
	})
}

// reduce follows device/reduce.h: a chain to the root from the rank after it.
func (h *hop) reduce() {
	h.each(func() {
		switch {
		case h.Rank == h.Root:
			h.Completes()
			h.Combine([]schedule.Region{h.Out(0)}, nil, h.plus(h.In(0))...)
		case h.prev == h.Root:
			h.Send(h.next, h.In(0))
		default:
			h.Combine(nil, []int{h.next}, h.plus(h.In(0))...)
		}
	})
}
