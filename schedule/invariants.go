package schedule

import "math"

// Properties of a program that hold in all iterations of its loops. Engines use them to count steps
// without walking each one.

// Place returns the index of the present step in the code of the program. Lanes of a bundle share
// it. REQUIRES: not Done.
func (c *Cursor) Place() int32 { return c.pc }

// Around returns the index of the innermost loop around the present step in the code, and how many
// of its iterations follow this one. loop is −1 outside of loops. REQUIRES: not Done.
func (c *Cursor) Around() (loop, follow int32) {
	if c.depth == 0 {
		return -1, 0
	}
	d := c.depth - 1
	return c.at[d], c.code.nodes[c.at[d]].count - c.iterated[d] - 1
}

// Body returns the number of steps and loops in the innermost loop. REQUIRES: there is one.
func (c *Cursor) Body() int32 { return c.code.nodes[c.at[c.depth-1]].size }

// Outer returns how many iterations are done of each loop around the present step, the innermost
// excepted.
func (c *Cursor) Outer() (done [maxLoops]int32) {
	if c.depth > 1 {
		copy(done[:], c.iterated[:c.depth-1])
	}
	return done
}

// Iteration returns how many iterations of the innermost loop are done. REQUIRES: there is one.
func (c *Cursor) Iteration() int32 { return c.iterated[c.depth-1] }

// Skip advances by so many iterations of the innermost loop, which have so many steps in all.
// REQUIRES: at least as many iterations follow.
func (c *Cursor) Skip(iterations, steps int32) {
	c.iterated[c.depth-1] += iterations
	c.Step += steps
}

// Steady reports whether the present step is the same in every iteration of the loops around it:
// the same peers, tiles and sizes. Its round, its blocks and the posts it awaits may change.
// REQUIRES: not Done, no teams, no parts.
func (p *Program) Steady(c *Cursor) bool { return p.steady(c.code.nodes[c.pc].leaf) }

// Repeats reports whether the present step is steady (Steady) without regard to sizes and tiles.
func (p *Program) Repeats(c *Cursor) bool { return p.repeats(c.code.nodes[c.pc].leaf, true, true) }

// steady computes Steady for a leaf.
func (p *Program) steady(i int32) bool {
	even := true
	p.code.leaves[i].step.regions(func(r *Region) {
		even = even && p.schedule.EvenBlocks(r.Buffer)
	})
	return p.repeats(i, even, false)
}

// repeats reports whether a leaf is the same in every iteration. If even is true, blocks may
// change; if tiled is true, tiles may.
func (p *Program) repeats(i int32, even, tiled bool) bool {
	l := &p.code.leaves[i]
	for d := 1; d < len(l.strides); d++ {
		if l.strides[d] != nil && !l.step.repeats(l.strides[d], even, tiled) {
			return false
		}
	}
	return true
}

// repeats reports whether a stride, in variables' order, changes only a step's round and the posts
// it awaits. If even is true, blocks may change; if tiled is true, tiles may.
func (s *Step) repeats(stride []int32, even, tiled bool) bool {
	same := s.samePeers(stride)
	s.regionPlaces(func(_ *Region, k int) {
		same = same && (tiled || stride[k] == 0) && (even || stride[k+1] == 0)
	})
	return same
}

// samePeers reports whether a stride, in variables' order, leaves the peers of a step as they are.
func (s *Step) samePeers(stride []int32) bool {
	same, k := true, 1
	for range s.From {
		same, k = same && stride[k] == 0 && stride[k+1] == 0, k+4
	}
	k += 2 * len(s.To)
	for range s.Send {
		same, k = same && stride[k] == 0 && stride[k+1] == 0, k+4
	}
	return same
}

// regionPlaces visits the regions of a step with the place of each in a stride: of its tile, and
// behind it of its first block.
func (s *Step) regionPlaces(visit func(r *Region, k int)) {
	k := 1
	for i := range s.From {
		visit(&s.From[i].Region, k+2)
		k += 4
	}
	for i := range s.To {
		visit(&s.To[i], k)
		k += 2
	}
	for i := range s.Send {
		visit(&s.Send[i].Region, k+2)
		k += 4
	}
}

// Written visits the steps of a lane once each, whatever loops they are in. see gets the number of
// executions (at most 2³¹−1), and whether all iterations have the same peers. It stops and returns
// false when see does. REQUIRES: no teams, no parts.
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

// Sized returns the region that determines how much a step moves, if that is one block; else nil.
func (s *Step) Sized() *Region {
	r, _ := s.sized()
	return r
}

// sized returns Sized, and the index of that region's block among the step's variables.
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

// SizedBlock returns the tile and block of the step's sized region (Step.Sized), without loading
// the step. REQUIRES: Sized is not nil, no parts.
func (p *Program) SizedBlock(c *Cursor) (tile, block int32) {
	n := &c.code.nodes[c.pc]
	l := &c.code.leaves[n.leaf]
	sized, at := l.step.sized()
	r := Region{Buffer: sized.Buffer, Tile: sized.Tile, First: sized.First, Run: 1, Times: 1}
	if n.count > 0 {
		r.Tile, r.First = c.code.numbers[n.count:][at-1], c.code.numbers[n.count:][at]
	}
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

// ChangesTile reports whether the tile of the step's sized region (Step.Sized) differs in other
// iterations. REQUIRES: Sized is not nil.
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

// SteadyLoop reports whether all steps of the innermost loop are steady, and none posts or awaits.
// REQUIRES: there is a loop.
func (p *Program) SteadyLoop(c *Cursor) bool { return p.loopOf(c, p.steady) }

// SamePeersLoop reports whether all steps of the innermost loop have the same peers each time, and
// none posts or awaits. REQUIRES: there is a loop.
func SamePeersLoop(p *Program, c *Cursor) bool {
	return p.loopOf(c, func(i int32) bool { return p.repeats(i, true, true) })
}

// RepeatsLoop reports whether the innermost loop is steady (SteadyLoop) without regard to sizes of
// blocks. REQUIRES: there is a loop.
func (p *Program) RepeatsLoop(c *Cursor) bool {
	return p.loopOf(c, func(i int32) bool { return p.repeats(i, true, false) })
}

// loopOf reports whether all steps of the innermost loop have a property, and none posts or awaits.
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

// Rounds returns 1 + the highest round of a step that sends or gets data, over all ranks, as
// Execute counts it. It reads each step as it is written, without a walk through loops.
//
// REQUIRES: no teams, no parts.
func (s *Schedule) Rounds() int {
	most := int64(-1)
	for code := range codesOf(s) {
		for i := range code.bundles {
			b := &code.bundles[i]
			most = max(most, s.latest(code, b.from, b.to, []int32{b.count}))
		}
	}
	return int(most) + 1
}

// latest returns the highest round among nodes that sends or gets data, −1 without any. times has
// the iterations of the loops around them, outermost first.
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
		if n.count > 0 {
			round = int64(code.numbers[n.count])
		}
		for d, stride := range l.strides {
			if stride != nil {
				round += max(0, int64(stride[0])*int64(times[d]-1))
			}
		}
		most = max(most, round)
	}
	return most
}
