package schedule

import (
	"math"

	"collsim/collective"
)

// What is the same of a program in all iterations of its loops, and on all ranks of a group: who
// counts steps without walking every one of them, or walks one rank in place of all, asks here.

// SameSizes reports whether every rank's steps move as much as those of rank 0 that they are
// translated from.
func (s *Schedule) SameSizes() bool {
	if s.Group == nil || s.teams != nil || s.parts != nil {
		return false
	}
	for b := range Buffer(s.Buffers()) {
		if !s.evenLen(b) || s.byRank[b] && !s.EvenBlocks(b) {
			return false
		}
		for _, l := range *s.cut(b) {
			if l.Split == Table && l.Axis != Block && !s.EvenRanks(b) {
				return false
			}
			if l.Split == Table && len(l.Ends) > 1 && !s.EvenBlocks(b) {
				return false
			}
		}
	}
	return true
}

// EvenBlocks reports whether all blocks of a buffer are of one size where all else is the same
// (channel, tile, slice), so that it is known without asking which of them a region names.
func (s *Schedule) EvenBlocks(b Buffer) bool {
	return s.teams == nil && s.parts == nil && s.isEven[b]
}

// evenBlocks finds out EvenBlocks.
func (s *Schedule) evenBlocks(b Buffer) bool {
	if !s.evenLen(b) {
		return false
	}
	lengths := []int64{s.Len(b, 0)}
	for _, l := range *s.cut(b) {
		if l.Axis == Block {
			for _, n := range lengths {
				if !l.even(n) {
					return false
				}
			}
			return true
		}
		lengths = l.partsOf(lengths)
	}
	return true
}

// evenLen reports whether a buffer is as long on every rank.
func (s *Schedule) evenLen(b Buffer) bool {
	ranks := s.Spec.Ranks
	if !s.Spec.Kind.Splits() && s.Spec.Kind != collective.Custom { // a root may differ, no others
		root := s.Spec.Root
		return s.Len(b, root) == s.Len(b, (root+1)%ranks)
	}
	for rank := range ranks {
		if s.Len(b, rank) != s.Len(b, 0) {
			return false
		}
	}
	return true
}

// even reports whether all parts of a length are alike, whatever the rank.
func (l *Level) even(length int64) bool {
	switch l.Split {
	case Table:
		for _, row := range l.Ends {
			from := int64(0)
			for _, to := range row {
				if to-from != l.Ends[0][0] {
					return false
				}
				from = to
			}
		}
		return l.Ends[0][len(l.Ends[0])-1] <= length
	case Even:
		return length%l.N == 0
	}
	return l.partSize(length)*l.N == length
}

// partsOf are the different lengths that parts of some lengths have, with 0 among them where a
// part is missing.
func (l *Level) partsOf(lengths []int64) (parts []int64) {
	seen := map[int64]bool{}
	for _, n := range lengths {
		for i := range l.parts(n) + 1 {
			if i > 1<<16 { // a cut as fine as that is not looked at
				return []int64{1, 2}
			}
			part := int64(0)
			for rank := range max(1, len(l.Ends)) {
				part = l.part(span{0, n}, i, int32(rank)).len
				if !seen[part] {
					seen[part] = true
					parts = append(parts, part)
				}
			}
		}
	}
	return parts
}

// Place is where the present step is written in the code of the program; lanes that differ by
// strides only share it. REQUIRES: not Done.
func (c *Cursor) Place() int32 { return c.pc }

// Around tells how deep in loops the present step is, and how many iterations of the innermost of
// them follow this one. Loop is where that is written, −1 outside of loops. REQUIRES: not Done.
func (c *Cursor) Around() (loop, follow int32) {
	if c.depth == 0 {
		return -1, 0
	}
	d := c.depth - 1
	return c.at[d], c.code.nodes[c.at[d]].count - c.iterated[d] - 1
}

// Body is how many steps and loops there are in the innermost loop. REQUIRES: there is one.
func (c *Cursor) Body() int32 { return c.code.nodes[c.at[c.depth-1]].size }

// Outer are the iterations done of the loops around the present step, but for the innermost.
func (c *Cursor) Outer() (done [maxLoops]int32) {
	if c.depth > 1 {
		copy(done[:], c.iterated[:c.depth-1])
	}
	return done
}

// Iteration is how many iterations of the innermost loop around the present step are done.
// REQUIRES: there is one.
func (c *Cursor) Iteration() int32 { return c.iterated[c.depth-1] }

// Skip goes on by so many iterations of the innermost loop, which have so many steps in all.
// REQUIRES: no fewer than so many follow.
func (c *Cursor) Skip(iterations, steps int32) {
	c.iterated[c.depth-1] += iterations
	c.Step += steps
}

// Steady reports whether the present step is the same in every iteration of the loops around it
// but for its round, the blocks that it names and the value of what it awaits: the same peers, the
// same tiles. REQUIRES: not Done, no teams, no parts.
func (p *Program) Steady(c *Cursor) bool { return p.steady(c.code.nodes[c.pc].leaf) }

// Repeats is Steady but for sizes and tiles: what the step names may be of several sizes.
func (p *Program) Repeats(c *Cursor) bool { return p.repeats(c.code.nodes[c.pc].leaf, true, true) }

func (p *Program) steady(i int32) bool {
	even := true
	p.code.leaves[i].step.regions(func(r *Region) {
		even = even && p.schedule.EvenBlocks(r.Buffer)
	})
	return p.repeats(i, even, false)
}

// repeats is steady where blocks are of one size or, if even is true, as if they were; and tiles
// may be others if tiled is true.
func (p *Program) repeats(i int32, even, tiled bool) bool {
	l := &p.code.leaves[i]
	for d := 1; d < len(l.strides); d++ {
		if l.strides[d] != nil && !l.step.repeats(l.strides[d], even, tiled) {
			return false
		}
	}
	return true
}

// repeats reports whether a stride, in variables' order, changes nothing of a step but its round,
// the value of what it awaits and, if even is true, blocks, and if tiled is true, tiles.
func (s *Step) repeats(stride []int32, even, tiled bool) bool {
	k := 1
	region := func() bool { // its tile, and its first block
		k += 2
		return (tiled || stride[k-2] == 0) && (even || stride[k-1] == 0)
	}
	end := func() bool { // a peer's rank and lane, and a region
		k += 2
		return region() && stride[k-4] == 0 && stride[k-3] == 0
	}
	same := true
	for range s.From {
		same = end() && same
	}
	for range s.To {
		same = region() && same
	}
	for range s.Send {
		same = end() && same
	}
	return same
}

// Written visits the steps of a lane as they are written, each once, whatever loops it is in. It
// tells of each how many times it is carried out (2³¹−1 if more), and whether all iterations do
// the same but for rounds, blocks and what is awaited: whether the peers are these. It ends where
// see is false, and tells whether it has not.
//
// REQUIRES: no teams, no parts.
func (p *Program) Written(lane int, s *Step, see func(times int64, isSame bool) bool) bool {
	for c := p.Walk(lane); !c.Done(); c.Next(1) {
		p.Load(&c, s)
		times := int64(1)
		for d := range c.depth { // the last iteration: out of the loop that ends here
			loop := &c.code.nodes[c.at[d]]
			times = min(times*int64(loop.count), math.MaxInt32)
			c.iterated[d] = loop.count - 1
		}
		if !see(times, p.repeats(c.code.nodes[c.pc].leaf, true, false)) {
			return false
		}
	}
	return true
}

// Sized is the region that tells how much a step moves, if that is one block; else nil.
func (s *Step) Sized() *Region {
	r, _ := s.sized()
	return r
}

// sized is Sized, and where that region's block is among the step's variables.
func (s *Step) sized() (r *Region, at int) {
	if len(s.To) > 0 {
		r, at = &s.To[0], 2+4*len(s.From)
	}
	for i := 0; r == nil && i < len(s.From); i++ {
		if s.From[i].Kind == Local {
			r, at = &s.From[i].Region, 4+4*i
		}
	}
	if r == nil || r.List != nil || r.Run != 1 || r.Times != 1 {
		return nil, 0
	}
	return r, at
}

// SizedBlock is the tile and the block of Sized of the present step, as Load would have it.
// REQUIRES: there is one; no parts.
func (p *Program) SizedBlock(c *Cursor) (tile, block int32) {
	l := &c.code.leaves[c.code.nodes[c.pc].leaf]
	sized, at := l.step.sized()
	r := Region{Buffer: sized.Buffer, Tile: sized.Tile, First: sized.First, Run: 1, Times: 1}
	for d, stride := range l.strides {
		times := c.lane
		if d > 0 {
			times = c.iterated[d-1]
		}
		if times != 0 && stride != nil {
			r.Tile += times * stride[at-1]
			r.First += times * stride[at]
		}
	}
	p.settleRegion(&r)
	return r.Tile, r.First
}

// ChangesTile reports whether the tile of Sized is another in other iterations. REQUIRES: there is
// one.
func (p *Program) ChangesTile(c *Cursor) bool {
	l := &c.code.leaves[c.code.nodes[c.pc].leaf]
	_, at := l.step.sized()
	for d := 1; d < len(l.strides); d++ {
		if l.strides[d] != nil && l.strides[d][at-1] != 0 {
			return true
		}
	}
	return false
}

// SteadyLoop reports whether all steps of the innermost loop are steady, and none posts or awaits
// anything. REQUIRES: there is one.
func (p *Program) SteadyLoop(c *Cursor) bool { return p.loopOf(c, p.steady) }

// RepeatsLoop is SteadyLoop but for sizes: the blocks that a step names may be of several.
// REQUIRES: there is a loop.
func (p *Program) RepeatsLoop(c *Cursor) bool {
	return p.loopOf(c, func(i int32) bool { return p.repeats(i, true, false) })
}

// loopOf reports whether all steps of the innermost loop are such, and none posts or awaits
// anything.
func (p *Program) loopOf(c *Cursor, such func(leaf int32) bool) bool {
	loop := c.at[c.depth-1]
	for i := loop + 1; i <= loop+c.code.nodes[loop].size; i++ {
		leaf := c.code.nodes[i].leaf
		if leaf < 0 {
			continue
		}
		step := &p.code.leaves[leaf].step
		if step.Post || len(step.Await) > 0 || !such(leaf) {
			return false
		}
	}
	return true
}

// Rounds is 1 + the highest round of a step that sends or gets data, as Execute counts them, of
// every rank: without a walk, where a group or roles say that ranks do the same.
//
// REQUIRES: Group is not nil, or HasRoles.
func (s *Schedule) Rounds() int {
	most, codes := int64(-1), []*code{}
	if s.cast != nil {
		codes = s.cast.codes
	} else {
		codes = append(codes, s.role(0))
	}
	for _, code := range codes {
		for i := range code.bundles {
			b := &code.bundles[i]
			most = max(most, s.latest(code, b.from, b.to, []int32{b.count}))
		}
	}
	return int(most) + 1
}

// latest is the highest round of the nodes between two that sends or gets data, −1 without any, in
// loops of so many iterations, the outermost first.
func (s *Schedule) latest(code *code, from, to int32, times []int32) int64 {
	most := int64(-1)
	for i := from; i < to; i++ {
		n := &code.nodes[i]
		if n.leaf < 0 {
			if n.count > 0 {
				inside := append(times[:len(times):len(times)], n.count)
				most = max(most, s.latest(code, i+1, i+1+n.size, inside))
			}
			i += n.size
			continue
		}
		l := &code.leaves[n.leaf]
		if !s.sends(&l.step) {
			continue
		}
		round := int64(l.step.Round)
		for d, stride := range l.strides {
			if stride != nil {
				round += max(0, int64(stride[0])*int64(times[d]-1))
			}
		}
		most = max(most, round)
	}
	return most
}
