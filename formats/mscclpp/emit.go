package mscclpp

import (
	"fmt"
	"slices"

	"collsim/formats/internal/foreign"
	"collsim/schedule"
)

// assemble writes the schedule's steps.
func (l *lowering) assemble() (*schedule.Schedule, error) {
	l.cut()
	l.count()
	lanes := make([]int, len(l.lanes))
	l.steps = make([][][]int32, len(l.lanes))
	for rank := range l.lanes {
		lanes[rank] = len(l.lanes[rank])
		if l.ghosts[rank].needed {
			lanes[rank]++
		}
		l.steps[rank] = make([][]int32, lanes[rank])
	}
	return schedule.Assemble(l.head, lanes, func(rank, lane int, add func(schedule.Step)) {
		if lane == len(l.lanes[rank]) {
			for _, peer := range l.ghosts[rank].hears {
				l.steps[rank][lane] = append(l.steps[rank][lane], -1)
				add(schedule.Step{From: []schedule.Source{{Kind: schedule.Message, Peer: peer}}})
			}
			return
		}
		w := writer{lowering: l, open: map[int32]bool{}}
		for _, i := range l.lanes[rank][lane] {
			steps := w.node(&l.nodes[i])
			for _, s := range steps {
				l.steps[rank][lane] = append(l.steps[rank][lane], i)
				add(s)
			}
		}
	})
}

// cut divides the buffers at the ends of all accesses.
func (l *lowering) cut() {
	for b := range l.ends {
		for rank := range l.plan.gpus {
			n := l.head.Len(schedule.Buffer(b), rank)
			l.ends[b] = append(l.ends[b], n)
		}
	}
	for i := range l.nodes {
		for _, operands := range [2][]operand{l.nodes[i].src, l.nodes[i].dst} {
			for _, x := range operands {
				if x.n > 0 {
					l.ends[x.buffer] = append(l.ends[x.buffer], x.off, x.off+x.n)
				}
			}
		}
	}
	for b := range l.ends {
		slices.Sort(l.ends[b])
		ends := slices.Compact(l.ends[b])
		if ends[0] == 0 {
			ends = ends[1:]
		}
		if l.ends[b] = ends; len(ends) > 0 {
			l.head.Cuts[b] = schedule.Cut{{Axis: schedule.Block, Split: schedule.Table,
				Ends: [][]int64{ends}}}
			if b == int(schedule.Scratch) {
				l.head.Memory = ends[len(ends)-1]
			}
		}
	}
}

// region returns the blocks of an operand's elements.
func (l *lowering) region(x *operand) schedule.Region {
	block := func(off int64) int32 {
		if off == 0 {
			return 0
		}
		i, _ := slices.BinarySearch(l.ends[x.buffer], off)
		return int32(i) + 1
	}
	first := block(x.off)
	return schedule.Region{Buffer: x.buffer, First: first, Run: block(x.off+x.n) - first, Times: 1}
}

// count numbers the posts that others of the same rank await, and the rounds: a round begins where
// a block first depends on data that others have sent.
func (l *lowering) count() {
	wanted := make([]bool, len(l.nodes))
	for i := range l.nodes {
		n := &l.nodes[i]
		if i > 0 && l.nodes[i-1].rank == n.rank && l.nodes[i-1].block == n.block {
			n.round = l.nodes[i-1].round
		}
		if n.hears {
			n.round++
		}
		for _, on := range n.awaits {
			wanted[on] = wanted[on] || l.nodes[on].lane != n.lane
		}
	}
	for _, lanes := range l.lanes {
		for _, lane := range lanes {
			posts := int32(0)
			for _, i := range lane {
				if wanted[i] {
					posts++
					l.nodes[i].posts = posts
				}
			}
		}
	}
}

// writer writes the steps of a lane.
type writer struct {
	*lowering
	open map[int32]bool // port channels with puts that are not flushed yet
}

// node writes a node's steps: its waits, its data movement, its signals.
func (w *writer) node(n *node) []schedule.Step {
	var steps []schedule.Step
	for _, source := range n.waits {
		steps = append(steps, schedule.Step{From: []schedule.Source{source}})
	}
	steps = append(steps, w.moves(n)...)
	steps = append(steps, w.signals(n)...)
	steps = w.flush(n, steps)
	var awaits []schedule.Event
	for _, on := range n.awaits {
		if before := &w.nodes[on]; before.lane != n.lane {
			awaits = append(awaits, schedule.Event{Lane: before.lane, Value: before.posts})
		}
	}
	if n.never {
		awaits = append(awaits, schedule.Event{Lane: int32(len(w.lanes[n.rank])), Value: 1})
	}
	if len(steps) == 0 && (len(awaits) > 0 || n.posts > 0) {
		steps = append(steps, schedule.Step{})
	}
	if len(steps) > 0 {
		steps[0].Await = awaits
		steps[len(steps)-1].Post = n.posts > 0
	}
	for i := range steps {
		steps[i].Round = n.round
	}
	return steps
}

// moves writes the steps that move data.
func (w *writer) moves(n *node) []schedule.Step {
	var steps []schedule.Step
	if !n.op.what.pairs {
		if len(n.src) == 0 || n.src[0].n == 0 {
			return nil
		}
		return append(steps, w.move(n, n.src, n.dst))
	}
	for i := range n.src {
		if n.src[i].n > 0 {
			steps = append(steps, w.move(n, n.src[i:i+1], n.dst[i:i+1]))
		}
	}
	return steps
}

// move makes one step: sources combined in the executor's order, stored, and put.
func (w *writer) move(n *node, src, dst []operand) schedule.Step {
	var s schedule.Step
	for i := range src {
		x := &src[i]
		f := schedule.Source{Region: w.region(x)}
		switch x.letter {
		case 'r':
			f.Kind, f.Peer.Rank = schedule.Get, x.rank
		case 's':
			f.Kind, f.Team = schedule.Multimem, x.team
		}
		s.From = append(s.From, f)
	}
	if n.op.what.packsFirst {
		s.From = append(s.From[1:], s.From[0])
	}
	for i := range dst {
		x := &dst[i]
		d := schedule.Dest{Peer: schedule.Peer{Rank: x.rank, Class: schedule.Puts},
			Put: true, Region: w.region(x), Packet: x.letter == 'R' || x.letter == 'S'}
		switch x.letter {
		case 'l', 'p':
			s.To = append(s.To, d.Region)
			continue
		case 's', 'S':
			d = schedule.Dest{Team: x.team, Region: d.Region, Packet: d.Packet}
		default:
			if d.Silent = !x.loud; x.loud {
				d.Peer = w.settle(x.peer)
			}
		}
		s.Send = append(s.Send, d)
	}
	return s
}

// settle sets the lane of a ghost peer.
func (w *writer) settle(p schedule.Peer) schedule.Peer {
	if p.Lane < 0 {
		p.Lane = int32(len(w.lanes[p.Rank]))
	}
	return p
}

// signals writes the signals of a node. Those over different connections are one step.
func (w *writer) signals(n *node) []schedule.Step {
	var steps []schedule.Step
	for _, d := range n.signals {
		d.Peer = w.settle(d.Peer)
		last := len(steps) - 1
		if last < 0 || slices.ContainsFunc(steps[last].Send, func(o schedule.Dest) bool {
			return o.Peer == d.Peer
		}) {
			steps, last = append(steps, schedule.Step{}), last+1
		}
		steps[last].Send = append(steps[last].Send, d)
	}
	return steps
}

// flush adds the flush that frees the origins of puts over ports. A flush of the schedule frees
// those of all channels of a lane: it is left out while other channels of the lane have puts in
// flight.
func (w *writer) flush(n *node, steps []schedule.Step) []schedule.Step {
	name := n.op.what.name
	if n.op.kind != portChannel {
		return steps
	}
	for j := range n.dst {
		if n.dst[j].n > 0 {
			w.open[n.op.wires[j]] = true
		}
	}
	if name != "flush" && name != "pwsf" {
		return steps
	}
	if name == "flush" {
		w.note("flush: the executor counts its channels by dst_buff, of which it has none, and does " +
			"nothing; what the plan says is verified")
	}
	for _, wire := range n.op.wires {
		delete(w.open, wire)
	}
	if len(w.open) > 0 {
		w.note("a flush of some of the port channels that a thread block puts over is taken to free " +
			"no origin before all are flushed")
		return steps
	}
	return append(steps, schedule.Step{Flush: true})
}

// where returns the place of a step in the file.
func (l *lowering) where(rank, lane, step int) foreign.Place {
	none := foreign.Place{Block: -1, Step: -1}
	if rank < 0 || rank >= len(l.steps) || lane < 0 || lane >= len(l.steps[rank]) {
		return none
	}
	if lane == len(l.lanes[rank]) {
		none.Text = fmt.Sprintf("gpu %d: nothing in the plan", rank)
		return none
	}
	if steps := l.steps[rank][lane]; step >= 0 && step < len(steps) {
		return l.place(&l.nodes[steps[step]])
	}
	if nodes := l.lanes[rank][lane]; len(nodes) > 0 {
		n := &l.nodes[nodes[0]]
		none.Line = l.plan.gpus[rank].blocks[n.block].line
		none.Block = int(n.block)
		none.Text = fmt.Sprintf("gpu %d tb %d", rank, n.block)
	}
	return none
}

// place returns the place of a node's operation in the file.
func (l *lowering) place(n *node) foreign.Place {
	p := foreign.Place{Line: n.op.line, Block: int(n.block), Step: int(n.number)}
	p.Text = fmt.Sprintf("gpu %d tb %d op %d: ", n.rank, n.block, n.number)
	if n.inner >= 0 && n.turn >= 0 {
		p.Text += fmt.Sprintf("pipeline turn %d op %d: ", n.turn, n.inner)
	}
	p.Text += n.op.what.name
	return p
}

// violations returns the violations, each with the first step of its node.
func (l *lowering) violations() []*schedule.Violation {
	first := make([]int, len(l.nodes))
	for i := range first {
		first[i] = -1
	}
	for _, lanes := range l.steps {
		for _, steps := range lanes {
			for s := len(steps) - 1; s >= 0; s-- {
				if steps[s] >= 0 {
					first[steps[s]] = s
				}
			}
		}
	}
	var all []*schedule.Violation
	for _, f := range l.found {
		v := &schedule.Violation{Kind: f.kind, Rank: f.rank, Lane: -1, Step: -1, Chunk: -1,
			Text: f.text}
		if f.node >= 0 {
			v.Lane, v.Step = int(l.nodes[f.node].lane), first[f.node]
		}
		all = append(all, v)
	}
	return all
}
