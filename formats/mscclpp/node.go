package mscclpp

import (
	"slices"

	"collsim/schedule"
)

// node is an operation as it is carried out once: in one turn of its pipeline, by one lane.
type node struct {
	op          *op
	rank, block int32
	lane        int32
	number      int32 // of the operation in its block
	inner, turn int32 // in its pipeline, −1 outside
	leaves      bool  // a barrier at which its block has come, in the node before
	src, dst    []operand

	waits   []schedule.Source // messages that come before, a step each
	signals []schedule.Dest   // sent after
	awaits  []int32           // nodes of the same rank that come before
	never   bool              // it awaits what the plan lacks
	posts   int32             // of its lane at its end, if others await it
	hears   bool              // it awaits data of others
	round   int32
}

// maxNodes bounds how many operations are carried out, turns of pipelines counted one by one.
const maxNodes = 1 << 19

// maxTurns is how often the executor can repeat a pipeline: it counts in 16 bits.
const maxTurns = 1<<16 - 1

// unroll makes the nodes of all blocks, in lanes.
func (l *lowering) unroll() error {
	l.lanes = make([][][]int32, len(l.plan.gpus))
	for rank := range l.plan.gpus {
		g := &l.plan.gpus[rank]
		for b := range g.blocks {
			u := unroller{lowering: l, rank: int32(rank), block: int32(b), join: -1,
				base: int32(len(l.lanes[rank]))}
			if err := u.ops(g.blocks[b].ops); err != nil {
				return err
			}
			u.finish()
		}
		if len(l.lanes[rank]) > maxRanks {
			return at(g.line, "gpu %d needs %d lanes; at most %d are simulated", rank,
				len(l.lanes[rank]), maxRanks)
		}
		if len(g.blocks) == 0 {
			l.ghosts[rank].needed = true // others may read its buffers
		}
	}
	return nil
}

// unroller makes the nodes of a block.
type unroller struct {
	*lowering
	rank, block int32
	base        int32   // the block's first lane
	width       int32   // lanes
	segment     []int32 // nodes since the last nop
	join        int32   // the node that the last nop is, −1 for none
	wide        int32   // lanes used since
	number      int32
}

func (u *unroller) ops(ops []op) error {
	for i := range ops {
		o := &ops[i]
		u.number = int32(i)
		if o.what.name != "pipeline" {
			if err := u.add(o, -1, -1); err != nil {
				return err
			}
			continue
		}
		width := int64(u.options.DataType().Width())
		turns := (o.chunks*u.chunk*width + o.unit - 1) / o.unit
		if turns > maxTurns {
			return at(o.line, "a pipeline of %d turns; the executor counts to %d", turns, maxTurns)
		}
		if o.unit%width != 0 {
			return at(o.line, "unit_size %d is no multiple of the %d bytes of an element", o.unit, width)
		}
		for turn := range turns {
			for j := range o.body {
				if err := u.add(&o.body[j], int32(j), int32(turn)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// add makes a node of an operation; in a pipeline, of its unit number turn.
func (u *unroller) add(o *op, inner, turn int32) error {
	if len(u.nodes) >= maxNodes {
		return at(o.line, "more than %d operations are carried out at this size", maxNodes)
	}
	n := node{op: o, rank: u.rank, block: u.block, number: u.number, inner: inner, turn: turn}
	self := int32(len(u.nodes))
	u.nodes = append(u.nodes, n)
	outside := u.wraps(&u.nodes[self])
	u.place(self)
	if o.what.unknown && u.options.Runtime != "none" {
		u.find(schedule.Limit, self, "the executor does not know %s", o.what.name)
	}
	if outside {
		u.find(schedule.Malformed, self, "%s ends before its pipeline does: the executor's size "+
			"wraps around, and it goes on beyond the buffer", o.what.name)
	}
	return nil
}

// wraps cuts an operation's operands to its share, and reports whether a unit lies beyond them.
func (u *unroller) wraps(n *node) bool {
	beyond := false
	cut := func(operands []operand) []operand {
		cut := make([]operand, len(operands))
		for i, x := range operands {
			x.off, x.n = u.share(n.op, &x)
			if n.turn >= 0 {
				unit := u.unit(n)
				skip := int64(n.turn) * unit
				beyond = beyond || skip > x.n
				x.n = max(0, min(x.n-skip, unit))
				x.off += u.around(x.buffer, skip)
			}
			cut[i] = x
		}
		return cut
	}
	n.src, n.dst = cut(n.op.in), cut(n.op.out)
	if n.op.what.name == "gstorepkt" && n.src[0].off == n.dst[0].off {
		u.spare(n)
	}
	return beyond
}

// spare leaves a rank out of those whose packets a switch stores, where it would store the rank's
// own onto themselves: whoever reads there finds the same word and flag, before and after.
func (u *unroller) spare(n *node) {
	others := slices.DeleteFunc(slices.Clone(n.dst[0].team), func(r int32) bool { return r == n.rank })
	if n.dst[0].team = others; len(others) == 0 {
		n.src, n.dst = nil, nil
	}
	u.note("gstorepkt of a rank's own packets onto themselves is left out of what the switch stores")
}

// unit is the elements of a turn of the pipeline that a node is in.
func (u *unroller) unit(n *node) int64 {
	pipeline := &u.plan.gpus[n.rank].blocks[n.block].ops[n.number]
	return pipeline.unit / int64(u.options.DataType().Width())
}

// share is the range of an operand that falls to a thread block of those that share the operation:
// units of buffer_alignment, the remainder to the first.
func (l *lowering) share(o *op, x *operand) (off, n int64) {
	unit := l.plan.align / int64(l.options.DataType().Width())
	units := x.size * l.chunk / unit
	each, more := units/o.tbs, units%o.tbs
	from := o.tb*each + min(o.tb, more)
	if n = each; o.tb < more {
		n++
	}
	return l.start(x) + from*unit, n * unit
}

// reused is the bytes of scratch that a plan has which reuses resources.
const reused = 1 << 26

// scratchChunk is the elements of a chunk of such scratch.
func (l *lowering) scratchChunk(rank int32) int64 {
	size := int64(reused)
	if l.plan.double {
		size /= 2
	}
	chunks := max(1, l.plan.gpus[rank].chunks[schedule.Scratch])
	bytes := (size + chunks - 1) / chunks
	bytes = (bytes + l.plan.align - 1) / l.plan.align * l.plan.align
	return max(1, bytes/int64(l.options.DataType().Width()))
}

// start is where an operand begins, before it is shared.
func (l *lowering) start(x *operand) int64 {
	chunk := l.chunk
	if x.buffer == schedule.Scratch && l.plan.reuse {
		chunk = min(chunk, l.scratchChunk(x.rank))
	}
	return x.index * chunk
}

// around is an offset of a pipeline, which in reused scratch begins anew with every chunk of it.
func (u *unroller) around(b schedule.Buffer, skip int64) int64 {
	if b == schedule.Scratch && u.plan.reuse {
		return skip % u.scratchChunk(u.rank)
	}
	return skip
}

// place gives a node its lane and what it comes after: in order by default, else after the last
// nop alone.
func (u *unroller) place(self int32) {
	n := &u.nodes[self]
	sync := n.op.what.name == "nop" || n.op.what.name == "barrier"
	switch {
	case !u.options.StrictNop:
	case sync:
		if n.op.what.name == "nop" && len(u.segment) == 0 {
			u.nodes = u.nodes[:self]
			return
		}
		n.awaits = append(n.awaits, u.segment...)
		u.after(n)
		u.segment, u.join, u.wide = u.segment[:0], self, 0
	case n.op.kind == portChannel && !n.op.what.waits:
		u.after(n) // the block's first lane: a proxy takes its requests in order
		u.segment = append(u.segment, self)
	default:
		u.wide++
		n.lane = u.wide
		u.after(n)
		u.segment = append(u.segment, self)
	}
	u.width = max(u.width, n.lane+1)
	n.lane += u.base
	u.file(self)
	if n.op.what.name == "barrier" { // it has come; then it leaves
		u.nodes = append(u.nodes, *n)
		leaves := &u.nodes[self+1]
		leaves.awaits, leaves.leaves = nil, true
		u.file(self + 1)
		if u.options.StrictNop {
			u.join = self + 1
		}
	}
}

// after has a node come after the last nop.
func (u *unroller) after(n *node) {
	if u.join >= 0 {
		n.awaits = append(n.awaits, u.join)
	}
}

// file adds a node to its lane.
func (u *unroller) file(self int32) {
	n := &u.nodes[self]
	lanes := &u.lanes[u.rank]
	for len(*lanes) <= int(n.lane) {
		*lanes = append(*lanes, nil)
	}
	(*lanes)[n.lane] = append((*lanes)[n.lane], self)
}

// finish gives a block a lane even if it does nothing.
func (u *unroller) finish() {
	for len(u.lanes[u.rank]) < int(u.base)+1 {
		u.lanes[u.rank] = append(u.lanes[u.rank], nil)
	}
}
