package forestcoll

import (
	"slices"

	"collsim/collective"
	"collsim/formats/internal/transfers"
	"collsim/schedule"
)

// plan makes the moves: from the root down to gather, from the leaves up to reduce, both for an
// all-reduce. A node of a reducing tree keeps its sum in scratch, or in the output of an
// all-reduce. The first child's arrival is added to the node's own input.
func (f *forest) plan(p *transfers.Plan) {
	ranks := int64(len(f.names))
	c := caster{f: f, plan: p}
	switch p.Spec.Kind {
	case collective.AllGather:
		p.Cuts = [3]schedule.Cut{f.own(p.Spec.Count), f.all(ranks * p.Spec.Count)}
	case collective.ReduceScatter:
		all := f.all(ranks * p.Spec.Count)
		p.Cuts = [3]schedule.Cut{all, f.own(p.Spec.Count), all}
		p.Memory = ranks * p.Spec.Count
	default:
		p.Cuts = [3]schedule.Cut{f.all(p.Spec.Count), f.all(p.Spec.Count)}
	}
	for i := range f.strands {
		c.begin(&f.strands[i])
		if p.Spec.Kind == collective.AllGather || ranks == 1 {
			c.keep()
		}
		if p.Spec.Kind != collective.AllGather {
			c.up()
		}
		if p.Spec.Kind != collective.ReduceScatter {
			c.down()
		}
	}
	slices.SortStableFunc(p.Moves, func(a, b transfers.Move) int { return int(a.Stage - b.Stage) })
}

// part returns the i-th of n nearly equal parts of a length; the first parts are larger.
func part(length, n, i int64) (from, to int64) {
	size, more := length/n, length%n
	from = i*size + min(i, more)
	if to = from + size; i < more {
		to++
	}
	return from, to
}

// end returns the end of a strand's chunks in its root's block.
func (f *forest) end(s *strand, length int64) int64 {
	_, to := part(length, int64(f.chunks), int64(s.first+s.chunks-1))
	return to
}

// all cuts a vector with one block for each rank into all strands.
func (f *forest) all(length int64) schedule.Cut {
	ends := make([]int64, len(f.strands))
	for i := range f.strands {
		s := &f.strands[i]
		from, to := part(length, int64(len(f.names)), int64(f.trees[s.tree].root))
		ends[s.number] = from + f.end(s, to-from)
	}
	return schedule.Cut{{Axis: schedule.Block, Split: schedule.Table, Ends: [][]int64{ends}}}
}

// own cuts the block of every rank into its own strands.
func (f *forest) own(length int64) schedule.Cut {
	rows := make([][]int64, len(f.names))
	for i := range rows {
		rows[i] = make([]int64, f.most)
		for j := range rows[i] {
			rows[i][j] = length
		}
	}
	for i := range f.strands {
		s := &f.strands[i]
		rows[f.trees[s.tree].root][s.local] = f.end(s, length)
	}
	return schedule.Cut{{Axis: schedule.Block, Split: schedule.Table, Ends: rows}}
}

// caster makes the moves of one strand after the other.
type caster struct {
	f      *forest
	plan   *transfers.Plan
	strand *strand
	tree   *tree
	edges  []edge
	// For a reducing strand, by rank: whether data have arrived, and the lowest rank whose input is
	// in the sum.
	begun map[int]bool
	least map[int]int
}

func (c *caster) begin(s *strand) {
	c.strand, c.tree = s, &c.f.trees[s.tree]
	c.edges = c.f.edges[c.tree.edges[0]:c.tree.edges[1]]
	c.begun, c.least = map[int]bool{}, map[int]int{}
}

// input returns the location of the strand's part of a rank's own operand. The input of an
// all-gather is the rank's own block alone, cut into the strands of that rank. Every other input
// has the blocks of all ranks, cut into all strands.
func (c *caster) input() transfers.Blocks {
	if c.plan.Spec.Kind == collective.AllGather {
		return transfers.At(schedule.Input, c.strand.local)
	}
	return transfers.At(schedule.Input, c.strand.number)
}

// result returns the location where a rank stores what it receives of the strand, sums included.
// The output of a reduce-scatter is the root's own block alone; other ranks hold their sums in
// scratch.
func (c *caster) result(rank int) transfers.Blocks {
	if c.plan.Spec.Kind != collective.ReduceScatter {
		return transfers.At(schedule.Output, c.strand.number)
	}
	if rank == c.tree.root {
		return transfers.At(schedule.Output, c.strand.local)
	}
	return transfers.At(schedule.Scratch, c.strand.number)
}

// keep copies the root's part of the strand to its output. In place, it is there already.
func (c *caster) keep() {
	if root := int32(c.tree.root); !c.plan.Spec.InPlace {
		c.plan.Moves = append(c.plan.Moves, transfers.Move{From: root, To: root, Source: c.input(),
			Target: c.result(c.tree.root), Item: -1})
	}
}

// down sends from the root. Edges that the root does not reach come first, and so send missing
// data, which the proof reports.
func (c *caster) down() {
	base := int32(0)
	if c.plan.Spec.Kind == collective.AllReduce {
		base = int32(c.tree.levels)
	}
	for i := range c.edges {
		e := &c.edges[i]
		m := transfers.Move{Stage: base + int32(max(e.level, 0)), From: int32(e.from), To: int32(e.to),
			Source: c.result(e.from), Target: c.result(e.to), Conn: c.strand.conn,
			Item: int32(c.tree.edges[0] + i)}
		if e.from == c.tree.root && base == 0 {
			m.Source = c.input()
		}
		c.plan.Moves = append(c.plan.Moves, m)
	}
}

// up sends towards the root, the farthest edges first. Edges that do not lead to the root are left
// out, and the proof reports the missing input.
func (c *caster) up() {
	order := make([]int, 0, len(c.edges))
	for i := range c.edges {
		if c.edges[i].level >= 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return c.edges[b].level - c.edges[a].level })
	last := -1
	for _, i := range order {
		if c.edges[i].from == c.tree.root {
			last = i
		}
	}
	for _, i := range order {
		e := &c.edges[i]
		m := transfers.Move{Stage: int32(c.tree.levels - 1 - e.level), From: int32(e.to),
			To:     int32(e.from),
			Source: c.sum(e.to), Add: c.sum(e.from), Target: c.result(e.from),
			Conn: c.strand.conn, Item: int32(c.tree.edges[0] + i), Completes: i == last}
		m.AddFirst = c.lowest(e.from) < c.lowest(e.to)
		c.least[e.from] = min(c.lowest(e.from), c.lowest(e.to))
		c.begun[e.from] = true
		c.plan.Moves = append(c.plan.Moves, m)
	}
}

// sum returns the location of a rank's current sum: its input until something has arrived.
func (c *caster) sum(rank int) transfers.Blocks {
	if c.begun[rank] {
		return c.result(rank)
	}
	return c.input()
}

func (c *caster) lowest(rank int) int {
	if least, ok := c.least[rank]; ok {
		return least
	}
	return rank
}
