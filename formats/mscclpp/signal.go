package mscclpp

import (
	"slices"

	"collsim/schedule"
)

// Tags distinguish the connections between two lanes: one for each purpose and channel or packet.
const (
	tagMemory = iota // signals of a memory channel
	tagPort          // signals of a port channel
	tagData          // puts of a port channel
	tagPacket
	tagPurposes
)

// end holds the uses of one of a rank's channels, in order.
type end struct {
	signals []signal
	waits   []int32 // nodes
	left    []put   // puts over a port without a later signal
}

// signal is a signal, and the puts over its port that precede it.
type signal struct {
	node int32
	puts []put
}

// put is a destination of a node.
type put struct{ node, dst int32 }

// pairSignals pairs the n-th signal of one end of each channel with the n-th wait of the other.
func (l *lowering) pairSignals() error {
	ends := make([][4][]end, len(l.plan.gpus))
	for rank := range ends {
		for k := memoryChannel; k <= portChannel; k++ {
			ends[rank][k] = make([]end, len(l.wires[rank].peers[k]))
		}
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		if n.op.kind != memoryChannel && n.op.kind != portChannel {
			continue
		}
		for j, wire := range n.op.wires {
			if err := l.use(&ends[n.rank][n.op.kind][wire], int32(i), j); err != nil {
				return err
			}
		}
	}
	for rank := range ends {
		for k := memoryChannel; k <= portChannel; k++ {
			for wire := range ends[rank][k] {
				l.pairEnd(ends, int32(rank), k, int32(wire))
			}
		}
	}
	return nil
}

// use records a node's use of its j-th channel.
func (l *lowering) use(e *end, i int32, j int) error {
	n := &l.nodes[i]
	if n.op.kind == portChannel && j < len(n.dst) && n.dst[j].letter == 'r' && n.dst[j].n > 0 {
		e.left = append(e.left, put{i, int32(j)})
	}
	if n.op.what.signals {
		if k := len(e.signals); k > 0 && l.nodes[e.signals[k-1].node].block != n.block {
			return l.ambiguous(n, "signal", l.nodes[e.signals[k-1].node].block)
		}
		e.signals = append(e.signals, signal{i, e.left})
		e.left = nil
	}
	if n.op.what.waits {
		if k := len(e.waits); k > 0 && l.nodes[e.waits[k-1]].block != n.block {
			return l.ambiguous(n, "wait", l.nodes[e.waits[k-1]].block)
		}
		e.waits = append(e.waits, i)
	}
	return nil
}

// ambiguous makes the error of a channel or semaphore that several blocks use in the same way.
func (l *lowering) ambiguous(n *node, what string, other int32) error {
	return at(n.op.line, "thread blocks %d and %d of gpu %d both %s at the same counter: which of "+
		"them meets which is left to chance", other, n.block, n.rank, what)
}

// pairEnd pairs the signals of a rank over a channel with the waits at its other end. Waits without
// a signal never end.
func (l *lowering) pairEnd(ends [][4][]end, rank int32, k kind, wire int32) {
	peer, other := l.wires[rank].peers[k][wire], l.wires[rank].other[k][wire]
	mine := &ends[rank][k][wire]
	var waits []int32
	if other >= 0 {
		waits = ends[peer][k][other].waits
	} else {
		for _, w := range mine.waits { // the other end does not exist
			l.wanting(w, "nobody signals: rank %d has no such channel", peer)
		}
		other = int32(len(l.wires[peer].peers[k])) + wire
	}
	for i, s := range mine.signals {
		if i < len(waits) {
			l.meet(s, waits[i], k, other)
			continue
		}
		l.ghosts[peer].needed = true
		l.find(schedule.Unmatched, s.node, "signal %d over %s channel %d to rank %d; that waits %d "+
			"times", i+1, kindNames[k], wire, peer, len(waits))
		l.signal(s.node, schedule.Peer{Rank: peer, Lane: -1, Class: schedule.Free,
			Tag: tag(other, int32(k-memoryChannel))}, false)
		l.unobserved(s.puts, peer, other)
	}
	for i := len(mine.signals); i < len(waits); i++ {
		l.wanting(waits[i], "wait %d over %s channel %d for rank %d, which signals %d times", i+1,
			kindNames[k], other, rank, len(mine.signals))
	}
	l.unobserved(mine.left, peer, other)
}

// tag returns the tag of a purpose, for the number-th channel or packet.
func tag(number, purpose int32) int32 { return number*tagPurposes + purpose }

// wanting makes a node wait forever, and notes why.
func (l *lowering) wanting(i int32, format string, args ...any) {
	l.nodes[i].never = true
	l.ghosts[l.nodes[i].rank].needed = true
	l.find(schedule.Deadlock, i, format, args...)
}

// meet pairs a signal with its wait, which also observes the puts before the signal. A relaxed
// signal orders nothing, unless a proxy makes it.
func (l *lowering) meet(s signal, w int32, k kind, wire int32) {
	from, to := &l.nodes[s.node], &l.nodes[w]
	for _, p := range s.puts {
		l.observe(p, schedule.Peer{Rank: to.rank, Lane: to.lane, Class: schedule.Puts,
			Tag: tag(wire, tagData)})
		origin := &l.nodes[p.node]
		to.waits = append(to.waits, schedule.Source{Kind: schedule.Message,
			Peer: schedule.Peer{Rank: origin.rank, Lane: origin.lane, Class: schedule.Puts,
				Tag: tag(wire, tagData)}})
	}
	relaxed := k == memoryChannel && (from.op.what.relaxed || to.op.what.relaxed)
	to.hears = to.hears || !relaxed
	number := tag(wire, int32(k-memoryChannel))
	to.waits = append(to.waits, schedule.Source{Kind: schedule.Message, Peer: schedule.Peer{
		Rank: from.rank, Lane: from.lane, Class: schedule.Free, Tag: number}})
	l.signal(s.node, schedule.Peer{Rank: to.rank, Lane: to.lane, Class: schedule.Free, Tag: number},
		relaxed)
}

// signal adds a signal of a node to a peer.
func (l *lowering) signal(i int32, peer schedule.Peer, relaxed bool) {
	l.nodes[i].signals = append(l.nodes[i].signals, schedule.Dest{Peer: peer, Relaxed: relaxed})
}

// observe gives a put a message to the lane that observes it.
func (l *lowering) observe(p put, peer schedule.Peer) {
	d := &l.nodes[p.node].dst[p.dst]
	d.peer, d.loud = peer, true
}

// unobserved makes a ghost observe puts, so that nothing is ordered after them.
func (l *lowering) unobserved(puts []put, peer, wire int32) {
	for _, p := range puts {
		n := &l.nodes[p.node]
		l.ghosts[peer].needed = true
		number := tag(wire, tagData)
		l.ghosts[peer].hears = append(l.ghosts[peer].hears, schedule.Peer{Rank: n.rank,
			Lane: n.lane, Class: schedule.Puts, Tag: number})
		l.observe(p, schedule.Peer{Rank: peer, Lane: -1, Class: schedule.Puts, Tag: number})
	}
}

// pairBarriers makes every block that leaves a barrier for the n-th time await all blocks that
// arrive there for the n-th time.
func (l *lowering) pairBarriers() error {
	type meeting struct{ rank, barrier, round int32 }
	type visitor struct{ rank, block, barrier int32 }
	met, rounds := map[meeting][]int32{}, map[visitor]int32{}
	var order []meeting
	for i := range l.nodes {
		n := &l.nodes[i]
		if !n.leaves {
			continue
		}
		who := visitor{n.rank, n.block, int32(n.op.barrier)}
		m := meeting{n.rank, who.barrier, rounds[who]}
		rounds[who]++
		if met[m] == nil {
			order = append(order, m)
		}
		met[m] = append(met[m], int32(i))
	}
	for _, m := range order {
		if err := l.meeting(met[m]); err != nil {
			return err
		}
	}
	return nil
}

// meeting orders the blocks at one meeting of a barrier.
func (l *lowering) meeting(nodes []int32) error {
	first := l.nodes[nodes[0]].op
	for _, i := range nodes {
		n := &l.nodes[i]
		switch {
		case n.op.blocks != first.blocks:
			return at(n.op.line, "barrier %d is for %d thread blocks here, and for %d elsewhere",
				n.op.barrier, n.op.blocks, first.blocks)
		case len(nodes) > int(first.blocks):
			return at(n.op.line, "barrier %d is for %d thread blocks, and %d meet there: which of them "+
				"do is left to chance", n.op.barrier, first.blocks, len(nodes))
		case len(nodes) < int(first.blocks):
			l.wanting(i, "barrier %d is for %d thread blocks, and %d come", n.op.barrier,
				first.blocks, len(nodes))
		}
	}
	if len(nodes) == 1 {
		return nil
	}
	// The last block awaits all, and the others await it: the number of events stays linear.
	gate := &l.nodes[nodes[len(nodes)-1]]
	for _, i := range nodes[:len(nodes)-1] {
		gate.awaits = append(gate.awaits, i-1)
		l.nodes[i].awaits = append(l.nodes[i].awaits, nodes[len(nodes)-1])
	}
	return nil
}

// pairSemaphores pairs releases and acquires of every semaphore in order.
func (l *lowering) pairSemaphores() error {
	type counter struct{ releases, acquires []int32 }
	counters := make([][]counter, len(l.plan.gpus))
	for rank := range counters {
		counters[rank] = make([]counter, len(l.plan.gpus[rank].semaphores))
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		for _, s := range n.op.sems {
			c := &counters[n.rank][s]
			list := &c.releases
			if n.op.what.name == "sem_acquire" {
				list = &c.acquires
			}
			if k := len(*list); k > 0 && l.nodes[(*list)[k-1]].block != n.block {
				return l.ambiguous(n, n.op.what.name, l.nodes[(*list)[k-1]].block)
			}
			*list = append(*list, int32(i))
		}
	}
	for rank := range counters {
		for s, c := range counters[rank] {
			free := l.plan.gpus[rank].semaphores[s]
			for k, i := range c.acquires {
				switch before := int64(k) - free; {
				case before < 0:
				case before >= int64(len(c.releases)):
					l.wanting(i, "semaphore %d is acquired %d times, and released %d", s, k+1,
						len(c.releases))
				case !slices.Contains(l.nodes[i].awaits, c.releases[before]):
					l.nodes[i].awaits = append(l.nodes[i].awaits, c.releases[before])
				}
			}
			if left := int64(len(c.releases)) - int64(len(c.acquires)); left != 0 {
				l.note("semaphore %d of gpu %d does not come back to its initial value: the next "+
					"launch finds another", s, rank)
			}
		}
	}
	return nil
}
