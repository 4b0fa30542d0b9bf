package nccl

import (
	"fmt"
	"math/bits"

	"collsim/collective"
	"collsim/schedule"
)

// p2p is a group of sends and receives as NCCL executes it (enqueue.cc, addP2pToPlan): all_to_all,
// all_to_allv, gather and scatter are such groups. A rank goes through rounds. In each it sends to
// one rank and receives from another. A message is cut into parts, each on a channel of its own,
// and these into chunks. In a channel, rounds are done together or one after the other.
//
// What goes to a GPU of the same node, of several, is cut as what goes over the network.
type p2p struct {
	*model
	spec     collective.Spec
	channels int // for p2p, a power of two
	rounds   []hops
	same     *message // of every pair that has one, where all have one size
	ragged   *ragged  // where sizes differ, else nil
}

// hops says how many ranks further a round sends and how many further back it receives from: by
// groups of ranks, and inside of one.
type hops struct{ groups, local int }

// Rounds that are done together in a channel: NCCL_MAX_DEV_WORK_P2P_PER_BATCH.
const together = 8

// p2pOf cuts the messages of a collective.
func p2pOf(spec collective.Spec, s Setting) (*p2p, error) {
	m, err := s.model(&spec)
	if err != nil {
		return nil, err
	}
	if spec.InPlace && (spec.Kind == collective.AllToAll || spec.Kind == collective.SendRecv) {
		return nil, fmt.Errorf("NCCL does no %v in place", spec.Kind)
	}
	x := &p2p{model: m, spec: plain(spec), channels: s.Channels, rounds: m.rounds()}
	if x.channels == 0 {
		x.channels = m.channels
	}
	x.channels = x.p2pChannels(x.channels)
	if x.spec.Kind == collective.AllToAllV {
		x.ragged, err = x.raggedOf(s.SkipEmpty)
		return x, err
	}
	x.same = x.cut(x.spec.Count)
	return x, nil
}

// powerUp returns the least power of two that is no less than n.
func powerUp(n int) int { return 1 << bits.Len(uint(n-1)) }

// groupSize returns the number of neighbouring ranks that form a group: all of a single node,
// else the largest number that divides 8 and the ranks of a node.
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

// rounds lists all rounds of a call (init.cc, ncclP2pSchedule). By groups they go 0, 1, 3, 6, 10
// … further, modulo a power of two, which meets every number once; those beyond the last group
// are left out.
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

// peer returns the rank so far on, or back if the sign is −1.
func (x *p2p) peer(rank int, h hops, sign int) int {
	size := x.groupSize()
	groups := len(x.rounds) / size
	group, local := rank/size+sign*h.groups, rank%size+sign*h.local
	return (group+groups)%groups*size + (local+size)%size
}

// channelOf returns the channel of a part of a round (include/channel.h and device.h). Rounds are
// dealt out as far from each other as possible, with parts side by side.
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

// mostParts returns the largest number of parts of a message of a round.
func (x *p2p) mostParts(round int) (most int) {
	if x.ragged == nil {
		return len(x.same.parts)
	}
	for from := range x.ranks {
		if m := x.message(from, x.peer(from, x.rounds[round], 1)); m != nil {
			most = max(most, len(m.parts))
		}
	}
	return most
}

// works lists the works of all channels that have some, in order.
func (x *p2p) works() (all [][]work) {
	of := make([][]work, x.channels)
	for round := range x.rounds {
		for part := range x.mostParts(round) {
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
	if x.ragged != nil {
		p.Cuts = &x.ragged.cuts
	} else if rooted := x.spec.Kind.Rooted(); !rooted && (x.nodes == 1 || x.perNode == 1) {
		p.Group = schedule.Rotations(x.spec.Ranks)
	} else {
		p.Even = !rooted && x.spec.Kind != collective.SendRecv
	}
	if p.Cuts == nil {
		p.Cuts = x.cuts(p.Group != nil)
	}
	p.Lane = func(l *schedule.Lane) {
		for _, w := range works[l.Channel] {
			if w.place == l.Index/2 {
				x.do(l, w)
			}
		}
	}
}

// protocol returns how messages are handed over: short ones within a node by LL. The latencies are
// those of LL where all within a node are short.
func (x *p2p) protocol() schedule.Protocol {
	p := schedule.Protocol{Shape: schedule.P2PShape, Apart: x.perNode == 1, Leave: x.leaveP2P()}
	if x.within() == LL {
		p.Node = schedule.Packets
	}
	return p
}

// do writes a lane's part of a work: to send, and to copy what goes to the rank itself, or to
// receive.
func (x *p2p) do(l *schedule.Lane, w work) {
	h, isSender := x.rounds[w.round], l.Index%2 == 0
	from, to := l.Rank, x.peer(l.Rank, h, 1)
	if !isSender {
		from, to = x.peer(l.Rank, h, -1), l.Rank
	}
	m := x.message(from, to)
	if m == nil || w.part >= len(m.parts) || from == to && (!isSender || x.spec.InPlace) {
		return
	}
	for chunk := m.first[w.part]; chunk < m.first[w.part+1]; chunk++ {
		switch {
		case from == to:
			l.Copy(x.out(l, from, chunk), x.in(l, to, chunk))
		case isSender:
			l.Frame(schedule.Bare)
			if m.ll && x.inNode(from, to) {
				l.Frame(schedule.Packets)
			}
			l.Facing(l.Index + 1)
			l.Send(to, x.in(l, to, chunk))
		default:
			l.Facing(l.Index - 1)
			l.Recv(from, x.out(l, from, chunk))
		}
	}
}

// inNode reports whether two ranks are of one node.
func (x *p2p) inNode(a, b int) bool { return a/x.perNode == b/x.perNode }

// message returns the block from a rank to another one, or to itself; nil if there is none.
func (x *p2p) message(from, to int) *message {
	switch k := x.spec.Kind; {
	case x.ragged != nil:
		return x.ragged.of[from][to]
	case k == collective.Gather && to != x.spec.Root,
		k == collective.Scatter && from != x.spec.Root,
		k == collective.SendRecv && to != (from+1)%x.ranks:
		return nil
	}
	return x.same
}

// in returns a chunk of what the lane's rank has for another.
func (x *p2p) in(l *schedule.Lane, to, chunk int) schedule.Region {
	if x.ragged != nil {
		return l.In(x.ragged.first[schedule.Input][l.Rank][to] + chunk)
	}
	l.Tile(chunk)
	return l.In(to)
}

// out returns a chunk of what the lane's rank gets from another.
func (x *p2p) out(l *schedule.Lane, from, chunk int) schedule.Region {
	if x.ragged != nil {
		return l.Out(x.ragged.first[schedule.Output][l.Rank][from] + chunk)
	}
	l.Tile(chunk)
	return l.Out(from)
}

// cuts returns the cuts of the buffers: a message is cut into chunks, whatever block it is in.
func (x *p2p) cuts(byRank bool) *[3]schedule.Cut {
	piece := schedule.Level{Axis: schedule.Tile, Split: schedule.Table, Ends: [][]int64{x.same.ends}}
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

// within returns the protocol of messages within a node: Simple if any of them uses it. Between
// nodes all use Simple.
func (x *p2p) within() Protocol {
	if x.summary().simple {
		return Simple
	}
	return LL
}

// summary is the least and the most parts that a message has, and which protocols those within a
// node have, or all if no node has two ranks.
type summary struct {
	least, most int
	ll, simple  bool
}

// summary looks at all messages between two ranks.
func (x *p2p) summary() (all summary) {
	if m := x.same; m != nil {
		return summary{len(m.parts), len(m.parts), m.ll, !m.ll}
	}
	for from, row := range x.ragged.of {
		for to, m := range row {
			if m == nil || from == to {
				continue
			}
			if n := len(m.parts); all.most == 0 || n < all.least {
				all.least = n
			}
			all.most = max(all.most, len(m.parts))
			if x.perNode == 1 || x.inNode(from, to) {
				all.ll, all.simple = all.ll || m.ll, all.simple || !m.ll
			}
		}
	}
	return all
}

// String says how messages go.
func (x *p2p) String() string {
	all := x.summary()
	protocol, parts := x.within().String(), fmt.Sprint(all.most)
	switch {
	case all.most == 0:
		return "no messages"
	case all.ll && all.simple:
		protocol = "LL and Simple"
	}
	if all.least < all.most {
		parts = fmt.Sprintf("%d to %d", all.least, all.most)
	}
	text := fmt.Sprintf("%s, %s of %d channels a message", protocol, parts, x.channels)
	if x.nodes > 1 && all.ll {
		text += ", Simple between nodes"
	}
	return text
}
