package schedule

// Outermost returns where the outermost loop around the present step is written and how many of its
// iterations follow the present one. It returns −1 and 0 outside of loops. REQUIRES: not Done.
func (c *Cursor) Outermost() (loop, follow int32) {
	if c.depth == 0 {
		return -1, 0
	}
	return c.at[0], c.code.nodes[c.at[0]].count - c.iterated[0] - 1
}

// Iterations returns how many iterations are done of each loop around the present step, the
// outermost first.
func (c *Cursor) Iterations() []int32 { return c.iterated[:c.depth] }

// SkipOutermost goes on by whole iterations of the outermost loop, which have so many steps in all.
// REQUIRES: no fewer iterations follow.
func (c *Cursor) SkipOutermost(iterations, steps int32) {
	c.iterated[0] += iterations
	c.Step += steps
}

// AlikeAfter returns how many iterations of the outermost loop, right behind a given one, do what
// that one does: the same steps to the same peers, which move as many bytes. Rounds may differ, and
// tiles and blocks of one length. It is 0 where a step of the loop posts or awaits an event.
//
// REQUIRES: c is in a loop of a lane of a channel; no parts and no teams.
func (p *Program) AlikeAfter(c *Cursor, channel int, iteration int32) int32 {
	loop := c.at[0]
	more := c.code.nodes[loop].count - iteration - 1
	var inner []innerLoop
	for i := loop + 1; i <= loop+c.code.nodes[loop].size && more > 0; i++ {
		for len(inner) > 0 && inner[len(inner)-1].end < i {
			inner = inner[:len(inner)-1]
		}
		n := &c.code.nodes[i]
		if n.leaf < 0 {
			inner = append(inner, innerLoop{end: i + n.size, count: n.count})
			continue
		}
		more = p.alikeSteps(&alikeStep{p.leafOf(n), c.lane, channel, inner}, iteration, more)
	}
	return more
}

// EvenLoop reports whether the innermost loop takes the same time in every iteration: its steps are
// steady (SteadyLoop), or differ in tiles of one length, of a lane of a channel.
//
// REQUIRES: there is a loop; no parts and no teams.
func EvenLoop(p *Program, c *Cursor, channel int) bool {
	if p.SteadyLoop(c) {
		return true
	}
	_, follow := c.Around()
	return c.depth == 1 && p.AlikeAfter(c, channel, 0) == c.Iteration()+follow
}

// innerLoop is a loop whose last node is end, and how many iterations it has.
type innerLoop struct{ end, count int32 }

// alikeStep is a step of a loop as it is written: its lane within the bundle, its channel, and the
// loops around it inside of the outermost.
type alikeStep struct {
	*leaf
	lane    int32
	channel int
	inner   []innerLoop
}

func (p *Program) leafOf(n *node) *leaf { return &p.code.leaves[n.leaf] }

// alikeSteps returns how many of the iterations behind one, at most more, a step is alike in.
func (p *Program) alikeSteps(a *alikeStep, iteration, more int32) int32 {
	s := &a.step
	if s.Post || len(s.Await) > 0 {
		return 0
	}
	if len(a.strides) < 2 || a.strides[1] == nil {
		return more
	}
	stride := a.strides[1]
	if !s.samePeers(stride) {
		return 0
	}
	s.regionPlaces(func(r *Region, k int) {
		if stride[k+1] != 0 && !p.schedule.EvenBlocks(r.Buffer) {
			more = 0
		}
		if stride[k] != 0 && more > 0 {
			more = p.alikeTiles(a, r, k, iteration, more)
		}
	})
	return more
}

// alikeTiles returns how many of the iterations behind one, at most more, name tiles of a region
// that are as long as those which that one names: in each iteration of the inner loops. The stride
// of the tile is at place k among those of the step.
func (p *Program) alikeTiles(a *alikeStep, r *Region, k int, iteration, more int32) int32 {
	length := p.tileLengths(r.Buffer, a.channel)
	if length == nil {
		return 0
	}
	first := r.Tile + a.times(0, k, a.lane)
	done := make([]int32, len(a.inner))
	for {
		tile := first + a.times(1, k, iteration)
		for d, n := range done {
			tile += a.times(2+d, k, n)
		}
		by, like := a.strides[1][k], length(tile)
		for n := int32(1); n <= more; n++ {
			if length(tile+n*by) != like {
				more = n - 1
			}
		}
		if !next(done, a.inner) {
			return more
		}
	}
}

// times returns by how much so many iterations of the d-th loop change the variable at a place.
func (l *leaf) times(d, k int, iterations int32) int32 {
	if d >= len(l.strides) || l.strides[d] == nil {
		return 0
	}
	return iterations * l.strides[d][k]
}

// next counts up the iterations of nested loops, and reports whether there was one more.
func next(done []int32, of []innerLoop) bool {
	for d := len(done) - 1; d >= 0; d-- {
		if done[d]++; done[d] < of[d].count {
			return true
		}
		done[d] = 0
	}
	return false
}

// tileLengths returns the length of each tile of a buffer in a channel, where it is the same on all
// ranks and in all blocks; else nil. Parts of tiles of one length have one length.
func (p *Program) tileLengths(b Buffer, channel int) func(tile int32) int64 {
	s := p.schedule
	if !s.evenLen(b) {
		return nil
	}
	whole := span{0, s.Len(b, 0) / Components(s)}
	for i := range *s.cut(b) {
		switch l := &(*s.cut(b))[i]; {
		case len(l.Ends) > 1 || l.Axis == Block && !l.even(whole.len):
			return nil
		case l.Axis == Block:
			whole = l.part(whole, 0, 0)
		case l.Axis == Channel:
			whole = l.part(whole, int64(channel), 0)
		default:
			return func(tile int32) int64 { return l.part(whole, int64(tile), 0).len * Components(s) }
		}
	}
	return nil
}
