package event

import (
	"slices"

	"collsim/unit"
)

// writeState appends everything that the rest of the run depends on, with times as seen from now. A
// time before now is written as one value: it decides nothing any more. It is not ok where
// something is under way that it does not write: on a GPU, or over a memory.
func (p *period) writeState(s []int64, now unit.Time) (state []int64, ok bool) {
	e := p.e
	if e.gpu != nil {
		changes, isIdle := e.gpu.isIdle()
		if !isIdle {
			return s, false
		}
		s = append(s, changes)
	}
	for i := range e.lanes.len() {
		s = p.writeLane(s, int32(i), now)
	}
	for i := range e.conns.len() {
		c := e.conns.at(i)
		s = e.conns.writeSlots(s, c, now)
	}
	if !p.writeMessages(now) {
		return s, false
	}
	for i := range p.rows {
		s = append(s, p.rows[i][:]...)
	}
	return s, true
}

// writeLane appends where a lane is, but for the iteration of the outermost loop, and what it waits
// for.
func (p *period) writeLane(s []int64, i int32, now unit.Time) []int64 {
	e := p.e
	l := e.lanes.at(i)
	if l.waits == forEver {
		return append(s, -2)
	}
	s = append(s, int64(l.waits), int64(l.on), int64(l.pending), int64(l.waiters), int64(l.next),
		int64(len(l.posts)))
	s = l.until.AppendSince(l.end.AppendSince(s, now), now)
	if e.row != nil {
		calls, left := e.row.progress(l.rank)
		s = append(s, int64(calls), int64(left))
	}
	if e.gpu != nil {
		s = e.gpu.writeLane(s, i)
	}
	if e.conns.hasFigures() {
		s = append(s, int64(e.conns.putLatencyOf(i)))
	}
	c := &l.cursor
	if c.Done() {
		return append(s, -3)
	}
	loop, _ := c.Outermost()
	s = append(s, int64(loop), int64(c.Place()), int64(c.Slice()))
	if loop < 0 {
		return append(s, int64(c.Step))
	}
	for _, done := range c.Iterations()[1:] {
		s = append(s, int64(done))
	}
	return s
}

// messageRow is a message that is under way or not received yet, as the state has it. Rows are
// sorted, since the number of a message means nothing.
type messageRow [16]int64

// writeMessages writes the rows of all messages.
func (p *period) writeMessages(now unit.Time) bool {
	e := p.e
	if p.rows = p.rows[:0]; e.conns.numbers() == 0 {
		return true
	}
	const nowhere, over = -1, -2
	place := slices.Repeat([]int32{nowhere}, e.conns.numbers()) // among those of a connection
	e.conns.eachUnused(func(m int32) { place[m] = over })
	for i := range e.conns.len() {
		at := int32(0)
		for m := e.conns.at(i).queue.First; m >= 0; m = e.conns.next(m) {
			place[m] = at
			at++
		}
	}
	unsent := make([]bool, e.conns.numbers())
	for i := range e.lanes.len() {
		for m := e.lanes.at(i).sends; m >= 0; m = e.conns.message(m).also {
			unsent[m] = true
		}
	}
	for m := range int32(len(place)) {
		if place[m] == over {
			continue
		}
		if e.conns.message(m).kind >= copying {
			return false
		}
		p.rows = append(p.rows, p.messageRow(int32(m), place[m], unsent[m], now))
	}
	slices.SortFunc(p.rows, func(a, b messageRow) int { return slices.Compare(a[:], b[:]) })
	return true
}

// messageRow writes a message at a place of its connection.
func (p *period) messageRow(m, place int32, isUnsent bool, now unit.Time) messageRow {
	e := p.e
	x := e.conns.message(m)
	r := messageRow{int64(x.lane), int64(x.conn), int64(place), int64(x.route),
		int64(x.kind)<<32 | int64(x.flags)<<16 | int64(x.pacer), int64(x.peers), int64(x.bytes)}
	if e.conns.hasFigures() {
		late, onLinks := e.conns.figuresOf(m)
		if r[7] = int64(late); x.flags&padded > 0 {
			r[8] = int64(onLinks)
		}
	}
	switch {
	case isUnsent: // of a step that has to fetch first
		r[9] = 1
		return r
	case x.isHere:
		r[9] = 2
		x.at.AppendSince(r[:10], now)
	case e.flows.isUnderWay(m):
		n, rest := e.flows.Left(m, now).Bytes()
		r[9], r[12], r[13], r[14] = 3, int64(n), int64(rest), int64(e.flows.Rate(m))
	default:
		r[9] = 4
		x.since.AppendSince(r[:10], now)
	}
	r[15] = int64(x.key - e.lanes.at(x.lane).key)
	return r
}
