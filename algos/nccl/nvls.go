package nccl

import (
	"collsim/collective"
	"collsim/schedule"
)

// multimem does a call by NVLS or NVLSTree. Every GPU of a node is the head of one slice: it loads
// the sum of all GPUs' slices from the switch, and has the switch store it in all of them
// (device/all_reduce.h, all_gather.h, reduce_scatter.h). Over several nodes the heads of a slice
// are joined by a binary tree (NVLSTree): tree 0 in even channels, tree 1 in odd ones.
//
// A channel works loop by loop, with a chunk for every head. One lane loads and another one stores,
// so that the loads of a loop and the stores of the loop before overlap; NVLSTree has two more,
// which send up and down, as NCCL's proxy does.
//
// Two things are simpler than NCCL. Steps read the caller's input and write its output, as NCCL
// does where these buffers are registered; others it copies through a buffer of its own, beside the
// transfers. And NCCL's flags are counters that the switch multicasts; here the GPUs of a node meet
// in a dissemination barrier before the first load and after the last store.
type multimem struct {
	*Choice
	*pieces
	spec collective.Spec
}

// heads returns how many GPUs of a node reduce a slice.
func (m *model) heads() int { return min(m.perNode, mostHeads) }

// layMultimem completes the plan of a call by the switch. On one node whose GPUs are all heads,
// every rank does the same as rank 0, translated.
func (c *Choice) layMultimem(p *schedule.Plan, x *pieces) {
	p.Lane = (&multimem{c, x, p.Spec}).lane
	rotates := c.model.nodes == 1 && c.model.heads() == p.Spec.Ranks
	if rotates {
		p.Group = schedule.Rotations(p.Spec.Ranks)
	}
	if p.Spec.Kind != collective.AllReduce {
		p.Cuts = cuts(&p.Spec, x.ends, rotates)
		return
	}
	if p.Lanes = 2; c.Algorithm == NVLSTree {
		p.Lanes = 4
	}
	loop := schedule.Level{Axis: schedule.Tile, Split: schedule.Table, Ends: [][]int64{x.ends}}
	slice := schedule.Level{Axis: schedule.Block, Split: schedule.Aligned,
		N: int64(c.model.heads()), Align: c.sliceGrain() / int64(p.Spec.Type.Width()), ByRank: rotates}
	cut := schedule.Cut{loop, slice}
	p.Cuts = &[3]schedule.Cut{schedule.Input: cut, schedule.Output: cut, schedule.Scratch: cut}
}

// sliceGrain returns the bytes that divide each slice of a channel's last loop.
func (c *Choice) sliceGrain() int64 {
	if c.Algorithm == NVLSTree {
		return 16
	}
	return 16 << 10
}

// lane writes what a rank does in a lane of a channel.
func (m *multimem) lane(l *schedule.Lane) {
	perNode := m.model.perNode
	g := &gpu{Lane: l, multimem: m, local: l.Rank % perNode, first: l.Rank / perNode * perNode}
	g.head = g.local < m.model.heads()
	for i := range perNode {
		g.team = append(g.team, int32(g.first+i))
	}
	switch m.spec.Kind {
	case collective.AllReduce:
		g.place = m.nodeOf(l.Channel, l.Rank)
		g.allReduce()
	case collective.AllGather:
		g.alone(func() { g.MulticastTo(g.team, g.Out(g.Rank), g.Local(g.In(0))) })
	default:
		g.alone(func() {
			g.Combine([]schedule.Region{g.Out(0)}, nil, g.LoadReduceOf(g.team, g.In(g.Rank)))
		})
	}
}

// nodeOf returns a head's place in the tree over nodes of a channel (graph/connect.cc,
// connectNvls).
func (c *Choice) nodeOf(channel, rank int) twig {
	m := c.model
	node, local := rank/m.perNode, rank%m.perNode
	b, t := double(channel%2, node, m.nodes), twig{up: -1}
	if b.up >= 0 {
		t.up = b.up*m.perNode + local
	}
	for _, child := range b.down {
		if child >= 0 {
			t.down = append(t.down, child*m.perNode+local)
		}
	}
	return t
}

// gpu is a rank in a channel: which one of its node it is, and the node's ranks.
type gpu struct {
	*schedule.Lane
	*multimem
	local, first int
	team         []int32
	head         bool
	place        twig
}

// barrier returns when every GPU of the node has come to it.
func (g *gpu) barrier() {
	n := len(g.team)
	for far := 1; far < n; far *= 2 {
		g.Signal(g.first + (g.local+far)%n)
		g.Wait(g.first + (g.local-far+n)%n)
	}
}

// loop does a step for every loop of the channel.
func (g *gpu) loop(step func(loop int)) {
	g.Repeat(g.loops[g.Channel], func(i int) {
		g.Tile(g.at(g.Channel, i, 0, 0))
		step(i)
	})
}

// alone does a step for every loop, between two barriers.
func (g *gpu) alone(step func()) {
	g.barrier()
	g.loop(func(int) { step() })
	g.barrier()
}

// The lanes of an all_reduce: the first two use the switch, the others the network.
const (
	sums = iota
	stores
	sendsUp
	sendsDown
)

// allReduce does the part of one lane.
func (g *gpu) allReduce() {
	isRoot := g.place.up < 0
	switch {
	case g.Index == sums:
		g.barrier()
		g.each(g.sum)
	case g.Index == stores:
		from := sendsDown // it has read what is stored over
		if isRoot && len(g.place.down) == 0 {
			from = sums
		}
		g.each(func(loop int) {
			g.After(from, loop+1)
			g.MulticastTo(g.team, g.Out(g.local), g.Local(g.Out(g.local)))
		})
		g.barrier()
	case g.Index == sendsUp && !isRoot:
		g.each(func(loop int) {
			g.After(sums, loop+1)
			g.Facing(sums)
			g.Send(g.place.up, g.Out(g.local))
		})
	case g.Index == sendsDown:
		g.each(g.handDown)
	}
}

// each does a step for every loop, if this GPU is a head.
func (g *gpu) each(step func(loop int)) {
	if g.head {
		g.loop(step)
	}
}

// sum reduces a slice of this node and those of the nodes below.
func (g *gpu) sum(int) {
	from := []schedule.Source{g.LoadReduceOf(g.team, g.In(g.local))}
	g.Facing(sendsUp)
	for _, child := range g.place.down {
		from = append(from, g.From(child))
	}
	g.Combine([]schedule.Region{g.Out(g.local)}, nil, from...)
	g.Post()
}

// handDown sends the result of a slice to the nodes below. It comes from the node above, and is
// kept, unless this node is the root.
func (g *gpu) handDown(loop int) {
	switch {
	case g.place.up >= 0:
		g.Combine([]schedule.Region{g.Out(g.local)}, g.place.down, g.From(g.place.up))
		g.Post()
	case len(g.place.down) > 0:
		g.After(sums, loop+1)
		g.Combine(nil, g.place.down, g.Local(g.Out(g.local)))
		g.Post()
	}
}
