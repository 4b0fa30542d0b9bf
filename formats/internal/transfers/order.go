package transfers

import (
	"cmp"
	"slices"

	"collsim/schedule"
)

// laneKey identifies a lane. A rank's lanes are numbered in this order: to each peer, from each
// peer, copies.
type laneKey struct {
	rank, kind, peer, conn int32
}

func (k laneKey) compare(o laneKey) int {
	return cmp.Or(cmp.Compare(k.rank, o.rank), cmp.Compare(k.kind, o.kind),
		cmp.Compare(k.peer, o.peer), cmp.Compare(k.conn, o.conn))
}

const (
	outward int32 = iota
	inward
	inside
)

func (l *Lowered) isCopy(move int32) bool {
	m := &l.plan.Moves[move]
	return m.From == m.To
}

// key returns the lane of an end.
func (l *Lowered) key(e int32) laneKey {
	m := &l.plan.Moves[e/2]
	switch {
	case m.From == m.To:
		return laneKey{rank: m.From, kind: inside}
	case e%2 == 0:
		return laneKey{m.From, outward, m.To, m.Conn}
	}
	return laneKey{m.To, inward, m.From, m.Conn}
}

// divide makes the lanes and distributes the ends.
func (l *Lowered) divide() {
	l.ranks = make([][]lane, l.plan.Spec.Ranks)
	l.ends = make([]end, 2*len(l.plan.Moves))
	seen := map[laneKey]int32{}
	var keys []laneKey
	for e := range int32(len(l.ends)) {
		if e%2 == 0 && l.isCopy(e/2) {
			continue
		}
		if k := l.key(e); seen[k] == 0 {
			seen[k] = 1
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, laneKey.compare)
	for _, k := range keys {
		seen[k] = int32(len(l.ranks[k.rank]))
		l.ranks[k.rank] = append(l.ranks[k.rank], lane{})
	}
	for e := range int32(len(l.ends)) {
		if e%2 == 0 && l.isCopy(e/2) {
			continue
		}
		k := l.key(e)
		lane := &l.ranks[k.rank][seen[k]]
		l.ends[e].lane, l.ends[e].at = seen[k], int32(len(lane.ends))
		lane.ends = append(lane.ends, e)
		lane.stages = append(lane.stages, l.plan.Moves[e/2].Stage)
	}
}

// cellKey identifies a block by its memory: buffers that share memory in place share cells.
type cellKey struct {
	rank  int32
	home  schedule.Buffer
	start int64
}

// cell records the last end that wrote a block, −1 for none, and those that have read it since.
type cell struct {
	writer  int32
	readers []int32
}

// order makes every end await the ends that it must not overtake.
func (l *Lowered) order(head schedule.Schedule) error {
	empty, err := schedule.Assemble(head, make([]int, head.Spec.Ranks), nil)
	if err != nil {
		return err
	}
	o := orderer{l: l, blocks: empty, cells: map[cellKey]*cell{}}
	moves := l.plan.Moves
	for from := 0; from < len(moves); {
		to := from
		for to < len(moves) && moves[to].Stage == moves[from].Stage {
			o.read(int32(to))
			to++
		}
		for i := from; i < to; i++ {
			o.write(int32(i))
		}
		from = to
	}
	for e := range l.ends {
		l.reduce(&l.ends[e])
	}
	for rank := range l.ranks {
		for i := range l.ranks[rank] {
			l.ranks[rank][i].count(l.ends, l.plan.Tiles)
		}
	}
	return nil
}

// reduce keeps, of the awaited ends, the last of each lane other than the end's own, and marks them
// as posting.
func (l *Lowered) reduce(e *end) {
	slices.SortFunc(e.awaits, func(a, b int32) int {
		x, y := &l.ends[a], &l.ends[b]
		if x.lane != y.lane {
			return int(x.lane - y.lane)
		}
		return int(y.at - x.at)
	})
	last, kept := int32(-1), e.awaits[:0]
	for _, a := range e.awaits {
		if lane := l.ends[a].lane; lane != e.lane && lane != last {
			last = lane
			kept = append(kept, a)
			l.ends[a].posts = true
		}
	}
	e.awaits = slices.Clip(kept)
}

type orderer struct {
	l      *Lowered
	blocks *schedule.Schedule // knows the memory of blocks
	cells  map[cellKey]*cell
	spans  []schedule.Span
}

// each calls f with the cell of every block of a run.
func (o *orderer) each(rank int32, p Blocks, f func(*cell)) {
	for b := range p.Run {
		key := cellKey{rank, p.Buffer, int64(p.Block + b)}
		if o.l.plan.Spec.InPlace && p.Buffer != schedule.Scratch {
			base := int64(0)
			key.home, base = o.blocks.Home(p.Buffer, int(rank))
			r := region(Blocks{p.Buffer, p.Block + b, 1}, 0)
			o.spans = o.blocks.Spans(o.spans[:0], schedule.Spot{Rank: int(rank)}, &r)
			if len(o.spans) == 0 {
				continue
			}
			key.start = base + o.spans[0].Off
		}
		c := o.cells[key]
		if c == nil {
			c = &cell{writer: -1}
			o.cells[key] = c
		}
		f(c)
	}
}

// read orders a send after the writers of its source.
func (o *orderer) read(move int32) {
	if m := &o.l.plan.Moves[move]; m.From != m.To {
		o.each(m.From, m.Source, func(c *cell) { o.l.ends[2*move].after(c, 2*move) })
	}
}

// after orders an end after the writer of a cell that it reads.
func (e *end) after(c *cell, number int32) {
	if c.writer >= 0 {
		e.awaits = append(e.awaits, c.writer)
	}
	c.readers = append(c.readers, number)
}

// write orders a move after the ends that have written or read its target, and after the writers of
// what it adds to.
func (o *orderer) write(move int32) {
	m, number := &o.l.plan.Moves[move], 2*move+1
	e := &o.l.ends[number]
	if m.From == m.To {
		o.each(m.From, m.Source, func(c *cell) { e.after(c, number) })
	}
	o.each(m.To, m.Add, func(c *cell) { e.after(c, number) })
	o.each(m.To, m.Target, func(c *cell) {
		if c.writer >= 0 {
			e.awaits = append(e.awaits, c.writer)
		}
		for _, reader := range c.readers {
			if reader != number {
				e.awaits = append(e.awaits, reader)
			}
		}
		c.writer, c.readers = number, c.readers[:0]
	})
}
