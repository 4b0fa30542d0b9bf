package mscclpp

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/schedule"
)

// Limits of the executor (execution_common.hpp).
const (
	maxOps       = 64 // of a thread block, including those in pipelines
	maxChannels  = 16 // of a thread block, of each type; remote buffers likewise
	maxPerOp     = 8  // channels of an operation
	maxBuffers   = 10 // sources, or destinations, of an operation
	maxBarriers  = 16
	maxSemsPerOp = 16
)

// checkLimits reports the limits of the executor that the plan exceeds.
func (l *lowering) checkLimits() {
	if l.options.Runtime == "none" {
		return
	}
	for rank := range l.plan.gpus {
		g := &l.plan.gpus[rank]
		for b := range g.blocks {
			l.checkBlock(rank, &g.blocks[b])
		}
		for b := schedule.Input; b <= schedule.Scratch; b++ {
			bytes := g.chunks[b] * l.chunk * int64(l.options.DataType().Width())
			if bytes > maxUnit {
				l.limit(rank, "%v of gpu %d has %d bytes; the executor's offsets have 32 bits", b, rank,
					bytes)
			}
		}
	}
}

// limit adds a violation of a limit without a step.
func (l *lowering) limit(rank int, format string, args ...any) {
	if len(l.found) < maxFound {
		l.found = append(l.found, finding{schedule.Limit, -1, rank, fmt.Sprintf(format, args...)})
	}
}

// checkBlock checks a thread block.
func (l *lowering) checkBlock(rank int, b *block) {
	where := fmt.Sprintf("line %d: gpu %d tb %d", b.line, rank, b.id)
	ops := 0
	for i := range b.ops {
		ops += 1 + len(b.ops[i].body)
		l.checkOp(rank, &b.ops[i])
		for j := range b.ops[i].body {
			l.checkOp(rank, &b.ops[i].body[j])
		}
	}
	if ops > maxOps {
		l.limit(rank, "%s has %d operations; the executor holds %d", where, ops, maxOps)
	}
	for k := memoryChannel; k <= switchChannel; k++ {
		if n := max(len(b.channels[k]), len(b.remotes[k])); n > maxChannels {
			l.limit(rank, "%s uses %d %s channels or remote buffers; the executor holds %d", where, n,
				kindNames[k], maxChannels)
		}
	}
}

// checkOp checks an operation.
func (l *lowering) checkOp(rank int, o *op) {
	where := fmt.Sprintf("line %d: %s", o.line, o.what.name)
	for _, x := range []struct {
		what       string
		have, most int
	}{
		{"channels", len(o.channels), maxPerOp},
		{"sources", len(o.src), maxBuffers},
		{"destinations", len(o.dst), maxBuffers},
		{"semaphores", len(o.sems), maxSemsPerOp},
	} {
		if x.have > x.most {
			l.limit(rank, "%s has %d %s; the executor holds %d", where, x.have, x.what, x.most)
		}
	}
	if o.barrier >= maxBarriers {
		l.limit(rank, "%s %d; the executor has %d", where, o.barrier, maxBarriers)
	}
	if o.reduce != "" && o.reduce != "sum" {
		l.limit(rank, "%s with reduce_op %s; the executor adds", where, o.reduce)
	}
}

// extent is a range of a rank's scratch buffer, in elements, that a node uses for packets or for
// plain data.
type extent struct {
	from, to int64
	packets  bool
	node     int32
}

// checkAliases reports plain elements of scratch buffers in the bytes of packets. A packet's flag
// is as long as its data: chunk c of packets overlaps chunks 2c and 2c+1 of elements.
func (l *lowering) checkAliases() {
	byRank := make([][]extent, len(l.plan.gpus))
	for i := range l.nodes {
		for _, operands := range [2][]operand{l.nodes[i].src, l.nodes[i].dst} {
			for _, x := range operands {
				if x.buffer != schedule.Scratch || x.n == 0 {
					continue
				}
				e := extent{x.off, x.off + x.n, false, int32(i)}
				if x.letter != 'l' && x.letter != 'r' && x.letter != 's' {
					e = extent{2 * x.off, 2 * (x.off + x.n), true, int32(i)}
				}
				owners := x.team
				if owners == nil {
					owners = []int32{x.rank}
				}
				for _, rank := range owners {
					byRank[rank] = append(byRank[rank], e)
				}
			}
		}
	}
	for rank := range byRank {
		l.checkAlias(rank, byRank[rank])
	}
}

// checkAlias reports, in a sweep over a rank's extents, the first of each kind that overlaps the
// other.
func (l *lowering) checkAlias(rank int, extents []extent) {
	slices.SortFunc(extents, func(a, b extent) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.node, b.node))
	})
	var reach [2]int64 // ends of plain elements and of packets so far
	for _, e := range extents {
		mine, other := 0, 1
		if e.packets {
			mine, other = 1, 0
		}
		if e.from < reach[other] {
			l.find(schedule.Malformed, e.node, "%s: plain elements and packets, which take twice the "+
				"bytes, overlap in the scratch buffer of rank %d", l.nodes[e.node].op.what.name, rank)
			return
		}
		reach[mine] = max(reach[mine], e.to)
	}
}

// checkOverlaps reports operations whose destination overlaps their source at another offset: their
// threads process elements in no order.
func (l *lowering) checkOverlaps() {
	local := func(x *operand) bool { return x.letter == 'l' || x.letter == 'p' }
	for i := range l.nodes {
		n := &l.nodes[i]
		for a := range n.src {
			for b := range n.dst {
				x, y := &n.src[a], &n.dst[b]
				if !local(x) || !local(y) {
					continue
				}
				home, from := l.head.Home(x.buffer, int(n.rank))
				other, to := l.head.Home(y.buffer, int(n.rank))
				from, to = from+x.off, to+y.off
				if home == other && from != to && from < to+y.n && to < from+x.n {
					l.find(schedule.Race, int32(i), "%s writes elements of %v that other threads of the "+
						"block read", n.op.what.name, y.buffer)
				}
			}
		}
	}
}
