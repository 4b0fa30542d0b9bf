package nccl

import (
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// aggregate does an all_reduce over several nodes whose network adds up and multicasts:
// CollNetDirect, CollNetChain, and NVLS where CollNet is on (device/all_reduce.h). In each node
// some GPUs are heads: they have the sum of a chunk over their node. The heads of a chunk, one of
// every node, have the network add up their sums, and hand the result to their node.
//
//	CollNetDirect  all GPUs send chunks to the heads, one for every NIC; these send sums to all
//	CollNetChain   a chain of the GPUs ends at the head of a channel, and begins there
//	NVLS           the switch of the node adds up and multicasts
//
// A loop of a channel has a chunk for every head; the next channel's come behind them. One head of
// a chunk starts the network's part when all others have signalled that they are ready, and
// signals to them when they have the sum. Different channels have different nodes do so. As many
// chunks of a head are under way in the network as NCCL has slots, in a lane each. NCCL copies
// chunks through buffers of its own besides, as in NVLS.
type aggregate struct {
	*Choice
	spec  collective.Spec
	heads []int // GPUs of a node
	parts int   // chunks of a loop of a channel
	loops int
}

// layAggregate completes the plan of a call that the network reduces.
func (c *Choice) layAggregate(p *schedule.Plan) {
	x := &aggregate{Choice: c, spec: p.Spec, heads: c.headsOf(), parts: 1}
	p.Lanes = inNetwork + slots
	switch c.Algorithm {
	case CollNetDirect:
		p.Lanes, x.parts = inNetworkOfDirect+slots, len(x.heads)
	case NVLS:
		x.parts = len(x.heads)
	}
	width := int64(p.Spec.Type.Width())
	chunk := c.networkChunk(p.Spec.Count*width) / width
	all := chunk * int64(c.Channels) * int64(x.parts)
	x.loops = int(up(p.Spec.Count, all))
	ends := make([]int64, x.loops*c.Channels*x.parts)
	for i := range ends {
		ends[i] = min(int64(i+1)*chunk, p.Spec.Count)
	}
	p.Channels, p.Protocol, p.Lane = c.Channels, c.protocol(), x.lane
	if p.Slots == 0 {
		p.Slots = slots
	}
	p.Cuts = cuts(&p.Spec, ends, false)
}

// headsOf returns the GPUs of a node that reduce chunks: all by NVLS, else as many as there are
// NICs, as far from each other as that lets them be.
func (c *Choice) headsOf() (heads []int) {
	m := c.model
	n := m.directHeads()
	if c.Algorithm == NVLS {
		n = m.heads()
	}
	for i := range n {
		heads = append(heads, i*m.perNode/n)
	}
	return heads
}

// lane writes what a rank does in a lane of a channel.
func (x *aggregate) lane(l *schedule.Lane) {
	perNode := x.model.perNode
	m := &member{Lane: l, aggregate: x, first: l.Rank / perNode * perNode}
	m.head = slices.Index(x.heads, l.Rank-m.first)
	switch x.Algorithm {
	case CollNetDirect:
		m.direct()
	case CollNetChain:
		m.chain()
	default:
		m.bySwitch()
	}
}

// member is a rank in a channel.
type member struct {
	*schedule.Lane
	*aggregate
	first int // of its node
	head  int // among the heads; −1: it is none
}

// each does a step for every chunk of a head.
func (m *member) each(head int, step func(loop int)) {
	m.Repeat(m.loops, func(i int) {
		m.to(i, head)
		step(i)
	})
}

// eachReduced does a step for every chunk of a head that the network has reduced, in the lanes from
// one on.
func (m *member) eachReduced(head, lane int, step func()) {
	at := func(loop int) {
		m.to(loop, head)
		m.After(lane+loop%slots, loop/slots+1)
		step()
	}
	m.Repeat(m.loops/slots, func(round int) {
		for i := range slots {
			at(round*slots + i)
		}
	})
	for loop := m.loops / slots * slots; loop < m.loops; loop++ {
		at(loop)
	}
}

// to goes to the chunk of a head in a loop.
func (m *member) to(loop, head int) {
	m.Tile((loop*m.Choice.Channels+m.Channel)*m.parts + head)
}

// in and out return the chunk in the input and in the output.
func (m *member) in() schedule.Region  { return m.In(0) }
func (m *member) out() schedule.Region { return m.Out(0) }

// reduceOverNetwork has the network add up what the heads of a chunk have, one in each node at the
// same place as this one, when a lane has posted that this head's is there. It posts when the sum
// is. This lane does every slots-th loop, from a number on.
func (m *member) reduceOverNetwork(head, sums, from int) {
	perNode, nodes := m.model.perNode, m.model.nodes
	var team []int32
	for node := range nodes {
		team = append(team, int32(node*perNode+m.Rank-m.first))
	}
	issuer := int(team[m.Channel%nodes])
	m.Repeat(int(up(int64(max(m.loops-from, 0)), slots)), func(round int) {
		loop := round*slots + from
		m.to(loop, head)
		m.After(sums, loop+1)
		if m.Rank != issuer {
			m.Signal(issuer)
			m.Wait(issuer)
			m.Post()
			return
		}
		for _, other := range team {
			if int(other) != issuer {
				m.Wait(int(other))
			}
		}
		m.ReduceToAll(team, m.out(), m.out())
		m.Post()
		for _, other := range team {
			if int(other) != issuer {
				m.Signal(int(other))
			}
		}
	})
}

// The lanes of CollNetDirect.
const (
	scatters = iota
	reduces
	hands
	gathers
	inNetworkOfDirect // and those behind it
)

// direct does the part of a lane of CollNetDirect.
func (m *member) direct() {
	var others []int // ranks of the node
	for r := m.first; r < m.first+m.model.perNode; r++ {
		if r != m.Rank {
			others = append(others, r)
		}
	}
	switch {
	case m.Index == scatters:
		m.toHeads(func(head, rank int) {
			m.Facing(reduces)
			m.Send(rank, m.in())
		})
	case m.Index == gathers:
		m.toHeads(func(head, rank int) {
			m.Facing(hands)
			m.Recv(rank, m.out())
		})
	case m.head < 0:
	case m.Index == reduces:
		m.each(m.head, func(int) {
			from := []schedule.Source{m.Local(m.in())}
			m.Facing(scatters)
			for _, r := range others {
				from = append(from, m.From(r))
			}
			m.Combine([]schedule.Region{m.out()}, nil, from...)
			m.Post()
		})
	case m.Index == hands:
		m.hand(m.head, inNetworkOfDirect, gathers, others)
	default:
		m.reduceOverNetwork(m.head, reduces, m.Index-inNetworkOfDirect)
	}
}

// toHeads does a step for every chunk of the other heads of the node. Each GPU begins with another
// head.
func (m *member) toHeads(step func(head, rank int)) {
	m.Repeat(m.loops, func(loop int) {
		for i := range m.heads {
			head := (m.Rank - m.first + i) % len(m.heads)
			if rank := m.first + m.heads[head]; rank != m.Rank {
				m.to(loop, head)
				step(head, rank)
			}
		}
	})
}

// hand sends chunks that the network has reduced, in the lanes from one on, to ranks of the node.
// Operators that scale sums do so here.
func (m *member) hand(head, lane, facing int, to []int) {
	scales := m.spec.ScalesAfter()
	if len(to) == 0 && !scales {
		return
	}
	m.eachReduced(head, lane, func() {
		var into []schedule.Region
		if scales {
			m.Completes()
			into = append(into, m.out())
		}
		m.Facing(facing)
		m.Combine(into, to, m.Local(m.out()))
	})
}

// The lanes of CollNetChain, and of NVLS.
const (
	rising = iota
	falling
	inNetwork // and those behind it
)

// chain does the part of a lane of CollNetChain: sums go along the GPUs of a node to the first one,
// and the result goes back.
func (m *member) chain() {
	perNode := m.model.perNode
	place := m.placeOf(m.Channel, m.Rank)
	at := place % perNode
	var next []int // towards the end of the chain
	if at < perNode-1 {
		next = append(next, m.rankAt(m.Channel, place+1))
	}
	switch {
	case m.Index == rising:
		m.each(0, func(int) {
			var from []schedule.Source
			for _, r := range next {
				from = append(from, m.From(r))
			}
			from = append(from, m.Local(m.in()))
			if at > 0 {
				m.Combine(nil, []int{m.rankAt(m.Channel, place-1)}, from...)
				return
			}
			m.Combine([]schedule.Region{m.out()}, nil, from...)
			m.Post()
		})
	case m.Index == falling && at > 0:
		m.each(0, func(int) {
			m.Combine([]schedule.Region{m.out()}, next, m.From(m.rankAt(m.Channel, place-1)))
		})
	case m.Index == falling:
		m.hand(0, inNetwork, falling, next)
	case at == 0:
		m.reduceOverNetwork(0, rising, m.Index-inNetwork)
	}
}

// bySwitch does the part of a lane of NVLS over several nodes. Every GPU is a head: it loads the
// sum of a chunk from the switch of its node, and has the switch store the result.
func (m *member) bySwitch() {
	g := &gpu{Lane: m.Lane, local: m.Rank - m.first, first: m.first}
	for i := range m.model.perNode {
		g.team = append(g.team, int32(m.first+i))
	}
	switch {
	case m.Index == rising:
		g.barrier()
		if m.head >= 0 {
			m.each(m.head, func(int) {
				m.Combine([]schedule.Region{m.out()}, nil, m.LoadReduceOf(g.team, m.in()))
				m.Post()
			})
		}
	case m.Index == falling:
		if m.head >= 0 {
			m.eachReduced(m.head, inNetwork, func() {
				m.MulticastTo(g.team, m.out(), m.Local(m.out()))
			})
		}
		g.barrier()
	case m.head >= 0:
		m.reduceOverNetwork(m.head, rising, m.Index-inNetwork)
	}
}
