package schedule

import (
	"slices"

	"collsim/kernel"
)

// maxLoops bounds how deep loops nest.
const maxLoops = 4

// code is the program of a role: lanes, in bundles of lanes that differ by strides only, each a
// list of steps and loops.
type code struct {
	bundles []bundle
	nodes   []node
	leaves  []leaf
	lanes   int32
	// numbers holds those of the steps that share leaves: variables, tags, and which of the kernels.
	numbers []int32
	kernels []*kernel.Op
}

// A bundle is count lanes from first on that run the same nodes, nodes[from:to], up to strides.
type bundle struct {
	first, count           int32
	channel, channelStride int32
	from, to               int32
}

// A node is a step (leaf ≥ 0), or a loop over the size nodes that follow it. The count of a step is
// where its numbers begin, 0 if its leaf is not shared.
type node struct{ leaf, count, size int32 }

// A leaf is a step in iteration 0 of all its loops and in the first lane of its bundle, with the
// strides of its variables. strides[0] leads from lane to lane, strides[d] from iteration to
// iteration of the d-th loop around it. A nil stride changes nothing. A shared leaf has 0 in place
// of the numbers of its steps.
type leaf struct {
	step    Step
	strides [][]int32
	moves   bool
}

// A Program is what one rank runs: a role's code, translated to the rank.
type Program struct {
	schedule *Schedule
	code     *code
	peers    []int32         // by place in the code's names; nil: the code names ranks
	rank     int32           // in schedule
	team     []int           // ranks of the whole for the schedule's ranks; nil: the same
	parts    []placedProgram // of a composed schedule
}

// Rank returns the rank that runs the program.
func (p *Program) Rank() int {
	if p.team != nil {
		return p.team[p.rank]
	}
	return int(p.rank)
}

// Lanes returns the number of lanes.
func (p *Program) Lanes() int { return int(p.code.lanes) }

// Channel returns the channel that a lane belongs to.
func (p *Program) Channel(lane int) int {
	if p.parts != nil {
		own, index := p.partAt(lane)
		return own.Channel(index)
	}
	b := p.bundle(int32(lane))
	return int(b.channel + (int32(lane)-b.first)*b.channelStride)
}

// bundle returns the bundle that has a lane.
func (p *Program) bundle(lane int32) *bundle {
	i, n := 0, len(p.code.bundles)
	for n > 1 { // binary search: the last bundle that begins at or before the lane
		if half := n / 2; p.code.bundles[i+half].first <= lane {
			i, n = i+half, n-half
		} else {
			n = half
		}
	}
	return &p.code.bundles[i]
}

// A Cursor walks one lane, a sub-step (one slice of a step) at a time. It is plain data: a copy
// advances independently.
type Cursor struct {
	code         *code
	pc, end      int32
	lane         int32 // relative to the bundle's first
	slice        int32
	depth        int8
	at, iterated [maxLoops]int32 // loops around pc: their nodes, and iterations done
	Step         int32           // steps walked so far

	edge edge // in a lane of a composed schedule
	own  int  // number of that lane
}

// Walk returns a cursor at the beginning of a lane.
func (p *Program) Walk(lane int) Cursor {
	if p.parts != nil {
		return p.walkPart(lane)
	}
	b := p.bundle(int32(lane))
	c := Cursor{code: p.code, pc: b.from, end: b.to, lane: int32(lane) - b.first}
	c.enter()
	return c
}

// Done reports whether the lane has ended.
func (c *Cursor) Done() bool { return c.pc >= c.end && (c.edge == 0 || c.edge == afterEnd) }

// Edge reports whether the present sub-step is one that Compose has added at the beginning or end
// of a part's lane. It moves nothing.
func (c *Cursor) Edge() bool { return c.edge == atBegin || c.edge == atEnd }

// Slice returns the slice that the present sub-step moves.
func (c *Cursor) Slice() int32 { return c.slice }

// Last reports whether the present sub-step is the last of its step. REQUIRES: not Done.
func (c *Cursor) Last(slices int32) bool {
	return c.edge == atBegin || c.edge == atEnd || c.slice+1 >= slices ||
		!c.code.leaves[c.code.nodes[c.pc].leaf].moves
}

// Next advances to the next sub-step of a schedule with that many slices. REQUIRES: not Done.
func (c *Cursor) Next(slices int32) {
	if !c.Last(slices) {
		c.slice++
		return
	}
	c.slice = 0
	c.Step++
	if c.edge == 0 || c.edge == inside {
		c.pc++
		c.enter()
	}
	if c.edge != 0 && (c.edge != inside || c.pc >= c.end) {
		if c.edge++; c.edge == inside && c.pc >= c.end { // the part's lane has no steps
			c.edge = atEnd
		}
	}
}

// enter leaves the loops that end at pc, or begins their next iteration, and enters the loops that
// begin there.
func (c *Cursor) enter() {
	for c.depth > 0 {
		d := c.depth - 1
		loop := &c.code.nodes[c.at[d]]
		if c.pc <= c.at[d]+loop.size {
			break
		}
		if c.iterated[d]++; c.iterated[d] < loop.count {
			c.pc = c.at[d] + 1
			break
		}
		c.depth--
	}
	for c.pc < c.end && c.code.nodes[c.pc].leaf < 0 {
		c.at[c.depth], c.iterated[c.depth] = c.pc, 0
		c.depth++
		c.pc++
	}
}

// Load writes the present step, concrete for the program's rank, into s, whose memory is reused.
// REQUIRES: the cursor is one of p's and not Done.
func (p *Program) Load(c *Cursor, s *Step) {
	if p.parts != nil {
		p.loadPart(c, s)
		return
	}
	n := &c.code.nodes[c.pc]
	l := &c.code.leaves[n.leaf]
	s.assign(&l.step)
	if n.count > 0 {
		c.code.number(s, n.count)
	}
	if len(l.strides) > 0 {
		if c.lane != 0 && l.strides[0] != nil {
			s.shift(l.strides[0], c.lane)
		}
		for d := 1; d < len(l.strides); d++ {
			if i := c.iterated[d-1]; i != 0 && l.strides[d] != nil {
				s.shift(l.strides[d], i)
			}
		}
	}
	p.settle(s)
}

// loadNext loads the present step into s, which holds the step before. REQUIRES: before is the
// cursor of that step, one Next before c.
func (p *Program) loadNext(before, c *Cursor, s *Step) {
	d := c.depth - 1
	isMoved := p.rank != 0 && p.schedule.Group != nil || p.peers != nil || p.team != nil
	if p.parts != nil || isMoved || s.Ranked || d < 0 ||
		before.pc != c.pc || before.depth != c.depth ||
		before.iterated[d]+1 != c.iterated[d] {
		p.Load(c, s)
		return
	}
	l := &c.code.leaves[c.code.nodes[c.pc].leaf]
	if strides := l.strides; len(strides) > int(c.depth) && strides[c.depth] != nil {
		s.shift(strides[c.depth], 1) // it is not translated, so settling again is harmless
		p.settle(s)
	}
}

// settle reduces peers and blocks modulo their numbers and translates them to the rank.
func (p *Program) settle(s *Step) {
	if s.Ranked && p.origin(&s.From[0]) > p.origin(&s.From[1]) {
		s.From[0], s.From[1] = s.From[1], s.From[0]
	}
	for i := range s.From {
		f := &s.From[i]
		if f.Kind != Local {
			p.settlePeer(&f.Peer)
			f.Team = p.settleTeam(f.Team)
		}
		if f.Kind != Message {
			p.settleRegion(&f.Region)
		}
	}
	for i := range s.To {
		p.settleRegion(&s.To[i])
	}
	for i := range s.Send {
		d := &s.Send[i]
		p.settlePeer(&d.Peer)
		if d.Lands() {
			p.settleRegion(&d.Region)
			d.Team = p.settleTeam(d.Team)
		}
	}
}

// origin returns the rank that an operand comes from, in the schedule's numbering.
func (p *Program) origin(f *Source) int32 {
	if f.Kind == Local {
		return p.rank
	}
	return p.translated(f.Peer.Rank)
}

// settleTeam translates the ranks of a multimem, in ascending order since they are a set.
func (p *Program) settleTeam(team []int32) []int32 {
	if team == nil || p.team == nil && (p.rank == 0 || p.schedule.Group == nil) {
		return team
	}
	settled := make([]int32, len(team))
	for i, r := range team {
		peer := Peer{Rank: r}
		p.settlePeer(&peer)
		settled[i] = peer.Rank
	}
	slices.Sort(settled)
	return settled
}

// translated returns the rank for a name in the code: a place among the peers of a role, or rank
// 0's name for it, translated.
func (p *Program) translated(rank int32) int32 {
	if p.peers != nil {
		return p.peers[rank]
	}
	rank = mod(rank, int32(p.schedule.Spec.Ranks))
	if p.rank != 0 && p.schedule.Group != nil {
		rank = p.schedule.Group.Add(rank, p.rank)
	}
	return rank
}

// settlePeer translates a peer to the rank.
func (p *Program) settlePeer(peer *Peer) {
	peer.Rank = p.translated(peer.Rank)
	if p.team != nil {
		peer.Rank = int32(p.team[peer.Rank])
	}
}

// settleRegion reduces a region's blocks modulo their number and, under a group, translates them by
// the program's rank.
func (p *Program) settleRegion(r *Region) {
	n := p.schedule.blocks[r.Buffer]
	r.First = mod(r.First, n)
	g := p.schedule.Group
	if p.rank == 0 || g == nil || !p.schedule.byRank[r.Buffer] {
		return
	}
	by := p.schedule.Moves(r.Buffer, p.rank)
	if whole(g, r) {
		r.First = g.Add(r.First, by) &^ (r.Run - 1)
		return
	}
	if r.List == nil && (len(g) == 1 || r.count() == 1 || keeps(g, r)) {
		r.First = g.Add(r.First, by)
		return
	}
	list := make([]int32, r.count())
	for i := range list {
		list[i] = g.Add(mod(r.block(int32(i)), n), by)
	}
	r.List = list
}
