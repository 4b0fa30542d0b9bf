package mscclpp

import (
	"slices"

	"collsim/schedule"
)

// node is one execution of an operation: in one iteration of its pipeline, by one lane.
type node struct {
	op          *op
	rank, block int32
	lane        int32
	number      int32 // of the operation in its block
	inner, turn int32 // operation and iteration of its pipeline, −1 outside
	// the leaving half of a barrier, at which its block has arrived in the node before
	leaves   bool
	src, dst []operand

	waits   []schedule.Source // messages received before, one a step
	signals []schedule.Dest   // sent after
	awaits  []int32           // nodes of the same rank that must have ended
	never   bool              // it awaits something that the plan lacks
	posts   int32             // posts of its lane at its end, if a node awaits it
	hears   bool              // it awaits data of other ranks or lanes
	round   int32
}

// maxNodes bounds the executed operations; each iteration of a pipeline counts.
const maxNodes = 1 << 19

// maxTurns is the most iterations of a pipeline: the executor counts in 16 bits.
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
			l.ghosts[rank].needed = true // others may access its buffers
		}
	}
	return nil
}

// unroller makes the nodes of a block.
type unroller struct {
	*lowering
	rank, block int32
	base        int32   // first lane of the block
	width       int32   // number of lanes
	segment     []int32 // nodes since the last nop
	join        int32   // node of the last nop, −1 for none
	wide        int32   // lanes used since then
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

// add makes a node of an operation; in a pipeline, of its iteration turn.
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

// wraps cuts an operation's operands to its share, and reports whether the iteration is beyond
// them.
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

// spare removes the own rank from those to which a switch stores packets, where it would store them
// onto themselves. A reader there finds the same word and flag before and after.
func (u *unroller) spare(n *node) {
	others := slices.DeleteFunc(slices.Clone(n.dst[0].team), func(r int32) bool { return r == n.rank })
	if n.dst[0].team = others; len(others) == 0 {
		n.src, n.dst = nil, nil
	}
	u.note("gstorepkt of a rank's own packets onto themselves is left out of what the switch stores")
}

// unit returns the elements of an iteration of the pipeline that a node is in.
func (u *unroller) unit(n *node) int64 {
	pipeline := &u.plan.gpus[n.rank].blocks[n.block].ops[n.number]
	return pipeline.unit / int64(u.options.DataType().Width())
}

// share returns the range of an operand for one of the thread blocks that share the operation.
// Ranges are units of buffer_alignment; the first blocks get the remainder.
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

// reused is the bytes of scratch of a plan with reuse_resources.
const reused = 1 << 26

// scratchChunk returns the elements of a chunk of such scratch.
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

// start returns the first element of an operand, before it is shared.
func (l *lowering) start(x *operand) int64 {
	chunk := l.chunk
	if x.buffer == schedule.Scratch && l.plan.reuse {
		chunk = min(chunk, l.scratchChunk(x.rank))
	}
	return x.index * chunk
}

// around returns an offset of a pipeline. In reused scratch it wraps around at the end of a chunk.
func (u *unroller) around(b schedule.Buffer, skip int64) int64 {
	if b == schedule.Scratch && u.plan.reuse {
		return skip % u.scratchChunk(u.rank)
	}
	return skip
}

// place sets the lane of a node and the nodes that it awaits: by default the one before it, with
// StrictNop the last nop.
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
		u.after(n) // on the block's first lane, since a proxy serves requests in order
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
	if n.op.what.name == "barrier" { // after arriving, it leaves
		u.nodes = append(u.nodes, *n)
		leaves := &u.nodes[self+1]
		leaves.awaits, leaves.leaves = nil, true
		u.file(self + 1)
		if u.options.StrictNop {
			u.join = self + 1
		}
	}
}

// after makes a node await the last nop.
func (u *unroller) after(n *node) {
	if u.join >= 0 {
		n.awaits = append(n.awaits, u.join)
	}
}

// file appends a node to its lane.
func (u *unroller) file(self int32) {
	n := &u.nodes[self]
	lanes := &u.lanes[u.rank]
	for len(*lanes) <= int(n.lane) {
		*lanes = append(*lanes, nil)
	}
	(*lanes)[n.lane] = append((*lanes)[n.lane], self)
}

// finish gives an empty block a lane.
func (u *unroller) finish() {
	for len(u.lanes[u.rank]) < int(u.base)+1 {
		u.lanes[u.rank] = append(u.lanes[u.rank], nil)
	}
}
