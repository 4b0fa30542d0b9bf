package nccl

import (
	"fmt"
	"math/bits"

	"collsim/collective"
	"collsim/schedule"
)

// p2p is a group of sends and receives of equal size, as NCCL plays it (enqueue.cc, addP2pToPlan):
// all_to_all, gather and scatter are made of them. A rank goes through rounds, in each of which it
// sends to one rank and hears from another; a message is cut into parts, each on a channel of its
// own, and these into chunks. In a channel, rounds are done together or one after the other.
//
// What goes to a GPU of the same node, of several, is cut as what goes over the network.
type p2p struct {
	*model
	spec     collective.Spec
	channels int // for p2p, a power of two
	rounds   []hops
	parts    []int64 // where they end, in bytes
	ll       bool    // inside of a node
	ends     []int64 // of chunks, in elements
	first    []int   // chunk of a part, and behind the last the number of chunks
}

// hops are how many ranks further a round sends and how many further back it hears from, by groups
// of ranks and inside of one.
type hops struct{ groups, local int }

// Rounds that are done together in a channel: NCCL_MAX_DEV_WORK_P2P_PER_BATCH.
const together = 8

// How a message is cut: the chunk within a node of NVLinks, and over a network
// (NCCL_P2P_NVL_CHUNKSIZE and NCCL_P2P_NET_CHUNKSIZE), up to what a part goes by LL
// (NCCL_P2P_LL_THRESHOLD), and what parts are a multiple of.
const (
	nvlinkChunk = 512 << 10
	netChunk    = 128 << 10
	llPart      = 16 << 10
	partGrain   = 4 << 10
)

// p2pOf cuts the messages of a collective.
func p2pOf(spec collective.Spec, s Setting) (*p2p, error) {
	m, err := s.model(&spec)
	if err != nil {
		return nil, err
	}
	if spec.InPlace && (spec.Kind == collective.AllToAll || spec.Kind == collective.SendRecv) {
		return nil, fmt.Errorf("nccl: NCCL does no %v in place", spec.Kind)
	}
	x := &p2p{model: m, spec: spec, channels: s.Channels, rounds: m.rounds()}
	if x.channels == 0 {
		x.channels = m.channels
	}
	x.channels = powerUp(x.channels)
	x.cut()
	return x, nil
}

// powerUp is the least power of two that is no less.
func powerUp(n int) int { return 1 << bits.Len(uint(n-1)) }

// groupSize is how many ranks next to each other make a group: a node of one, else the largest
// number that divides 8 and the ranks of a node.
func (m *model) groupSize() int {
	if m.nodes == 1 {
		return m.ranks
	}
	size := together
	for m.perNode%size != 0 {
		size /= 2
	}
	return size
}

// rounds are all of a call (init.cc, ncclP2pSchedule). By groups they go 0, 1, 3, 6, 10 … further,
// modulo a power of two, which meets every number once; those beyond the last group are left out.
func (m *model) rounds() (all []hops) {
	size := m.groupSize()
	groups := m.ranks / size
	power := powerUp(groups)
	for i, groupsOn := 0, 0; i < power; i++ {
		groupsOn = (groupsOn + i) & (power - 1)
		for local := range size {
			if groupsOn < groups {
				all = append(all, hops{groupsOn, local})
			}
		}
	}
	return all
}

// peer is the rank so far on, or back if the sign is −1.
func (x *p2p) peer(rank int, h hops, sign int) int {
	size := x.groupSize()
	groups := len(x.rounds) / size
	group, local := rank/size+sign*h.groups, rank%size+sign*h.local
	return (group+groups)%groups*size + (local+size)%size
}

// perPeer is how many channels a message may take: at least, of as many as leave every rank some,
// and at most (graph/paths.cc, ncclTopoComputeP2pChannels).
func (x *p2p) perPeer() (least, most int) {
	if most = powerUp(x.toPeer); x.nodes == 1 {
		most = min(most, x.channels)
	} else {
		for most*((x.ranks+together-1)/together) > x.channels && most > 1 {
			most /= 2
		}
	}
	for least = most; least*x.ranks > x.channels && least > 1; least /= 2 {
	}
	return least, most
}

// cut makes parts and chunks.
func (x *p2p) cut() {
	size, step := x.spec.Count*int64(x.spec.Type.Width()), int64(nvlinkChunk)
	shortest, longest := step/8, step*32 // parts
	if x.nodes > 1 {
		step = netChunk
		shortest, longest = step/2, step
	}
	least, most := x.perPeer()
	n := max(1, min(int64(least), up(size, shortest)))
	for part := max(shortest, up(size, n)); part > longest && n <= int64(most/2); part = up(size, n) {
		n *= 2
	}
	x.ll = size <= n*llPart
	chunk := step
	switch {
	case x.nodes == 1:
	case size < step:
		chunk /= 4
	case size < 8*step:
		chunk /= 2
	}
	part, width := up(up(size, n), partGrain)*partGrain, int64(x.spec.Type.Width())
	for i := range n {
		end := min((i+1)*part, size)
		x.parts, x.first = append(x.parts, end), append(x.first, len(x.ends))
		at := min(i*part, size)
		for at < end || len(x.ends) == x.first[i] {
			at = min(at+chunk, end)
			x.ends = append(x.ends, at/width)
		}
	}
	x.first = append(x.first, len(x.ends))
}

// channelOf is where a part of a round goes (include/channel.h and device.h): rounds are dealt out
// as far from each other as possible, with parts side by side.
func (x *p2p) channelOf(round, part int) int {
	base := round
	if x.nodes > 1 {
		size := x.groupSize()
		base = round/size*((size+together-1)/together) + round%size/together
	}
	log := bits.Len(uint(x.channels)) - 1
	reversed := int(bits.Reverse32(uint32(base)) >> (32 - log))
	return (reversed + part) & (x.channels - 1)
}

// work is a part of a round that a channel does, and its place among those that are done together
// with it.
type work struct{ round, part, place int }

// works are those of all channels that have some, in order.
func (x *p2p) works() (all [][]work) {
	of := make([][]work, x.channels)
	for round := range x.rounds {
		for part := range x.parts {
			c := x.channelOf(round, part)
			place := 0
			for _, w := range of[c] {
				if w.round/together == round/together {
					place++
				}
			}
			of[c] = append(of[c], work{round, part, place})
		}
	}
	for _, works := range of {
		if works != nil {
			all = append(all, works)
		}
	}
	return all
}

// lay completes the plan of a call. Of works that are done together each has two lanes, one that
// sends and one that receives.
func (x *p2p) lay(p *schedule.Plan) {
	p.Name += fmt.Sprintf("(%v)", x)
	p.Lane = func(*schedule.Lane) {}
	if x.spec.Ranks == 1 || x.spec.Empty() {
		return
	}
	works := x.works()
	p.Channels, p.Lanes, p.Protocol = len(works), 1, x.protocol()
	for _, of := range works {
		for _, w := range of {
			p.Lanes = max(p.Lanes, 2*(w.place+1))
		}
	}
	if p.Slots == 0 {
		p.Slots = slots
	}
	if rooted := x.spec.Kind.Rooted(); !rooted && (x.nodes == 1 || x.perNode == 1) {
		p.Group = schedule.Rotations(x.spec.Ranks)
	} else {
		p.Even = !rooted && x.spec.Kind != collective.SendRecv
	}
	p.Cuts = x.cuts(p.Group != nil)
	p.Lane = func(l *schedule.Lane) {
		for _, w := range works[l.Channel] {
			if w.place == l.Index/2 {
				x.do(l, w)
			}
		}
	}
}

// protocol returns how messages are handed over: short ones within a node by LL.
func (x *p2p) protocol() schedule.Protocol {
	p := schedule.Protocol{Shape: schedule.P2PShape, Apart: x.perNode == 1, Leave: x.leaveP2P()}
	if x.ll {
		p.Node = schedule.Packets
	}
	return p
}

// do is the part of a work that a lane has: to send, and to copy what goes to the rank itself, or
// to receive.
func (x *p2p) do(l *schedule.Lane, w work) {
	h, isSender := x.rounds[w.round], l.Index%2 == 0
	to, from := x.peer(l.Rank, h, 1), x.peer(l.Rank, h, -1)
	for tile := x.first[w.part]; tile < x.first[w.part+1]; tile++ {
		l.Tile(tile)
		switch {
		case isSender && to == l.Rank:
			if x.has(to, to) && !x.spec.InPlace {
				l.Copy(l.Out(to), l.In(to))
			}
		case isSender && x.has(l.Rank, to):
			l.Frame(schedule.Bare)
			if x.ll && l.Rank/x.perNode == to/x.perNode {
				l.Frame(schedule.Packets)
			}
			l.Facing(l.Index + 1)
			l.Send(to, l.In(to))
		case !isSender && from != l.Rank && x.has(from, l.Rank):
			l.Facing(l.Index - 1)
			l.Recv(from, l.Out(from))
		}
	}
}

// has reports whether a rank has something for another one, or for itself.
func (x *p2p) has(from, to int) bool {
	switch x.spec.Kind {
	case collective.Gather:
		return to == x.spec.Root
	case collective.Scatter:
		return from == x.spec.Root
	case collective.SendRecv:
		return to == (from+1)%x.ranks
	}
	return true
}

// cuts are those of the buffers: a message is cut into chunks, in whatever block it is.
func (x *p2p) cuts(byRank bool) *[3]schedule.Cut {
	piece := schedule.Level{Axis: schedule.Tile, Split: schedule.Table, Ends: [][]int64{x.ends}}
	block := schedule.Level{Axis: schedule.Block, N: int64(x.spec.Ranks), ByRank: byRank}
	one, all := schedule.Cut{piece}, schedule.Cut{block, piece}
	cuts := [3]schedule.Cut{one, one, one}
	if k := x.spec.Kind; k == collective.AllToAll || k == collective.Scatter {
		cuts[schedule.Input] = all
	}
	if k := x.spec.Kind; k == collective.AllToAll || k == collective.Gather {
		cuts[schedule.Output] = all
	}
	return &cuts
}

// within is the protocol of messages within a node; between nodes they always go by Simple.
func (x *p2p) within() Protocol {
	if x.ll {
		return LL
	}
	return Simple
}

// String says how messages go.
func (x *p2p) String() string {
	text := fmt.Sprintf("%v, %d of %d channels a message", x.within(), len(x.parts), x.channels)
	if x.nodes > 1 && x.ll {
		text += ", Simple between nodes"
	}
	return text
}
