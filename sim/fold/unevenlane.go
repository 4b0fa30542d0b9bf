package fold

import (
	"collsim/sim/internal/ramp"
	"collsim/unit"
)

// wake puts a lane among those that may be able to go on.
func (q *uneven) wake(i int32) {
	l := &q.lanes[i]
	switch {
	case l.isReady:
		return
	case q.serving:
		q.later = append(q.later, i)
	default:
		q.ready = append(q.ready, i)
	}
	l.isReady, l.waits = true, forNothing
}

// run simulates all rows. In a row every lane goes on up to a step that sends; then the messages
// cross their links.
func (q *uneven) run() {
	for len(q.ready) > 0 && q.why == "" {
		for n := 0; n < len(q.ready) && q.why == ""; n++ { // it grows meanwhile
			q.goOn(q.ready[n])
		}
		q.serving = true
		for len(q.packets) > 0 && q.why == "" {
			q.serve()
		}
		q.serving = false
		q.ready, q.later = q.later, q.ready[:0]
	}
}

// goOn has a lane go on, up to its next step that sends.
func (q *uneven) goOn(i int32) {
	l := &q.lanes[i]
	for l.isReady = false; q.why == ""; {
		if l.cursor.Done() {
			l.waits, l.isOver = forEver, true
			q.unfinished--
			return
		}
		if l.action == nil {
			q.resolve(i)
		}
		if !q.canStart(i) {
			return
		}
		q.perform(i)
		if l.waits == forStep {
			return
		}
	}
}

// canStart reports whether all is known that a lane's step depends on; else it waits for that.
func (q *uneven) canStart(i int32) bool {
	l := &q.lanes[i]
	for _, c := range l.action.receives {
		if len(q.conns[c].came) == 0 {
			l.waits, l.on = forMessage, c
			return false
		}
	}
	for k := range l.action.sends {
		on := l.action.sends[k].conn
		if c := &q.conns[on]; c.bounded && c.unused == 0 && len(c.freed) == 0 {
			l.waits, l.on = forSlot, on
			return false
		}
	}
	return true
}

// perform carries out a lane's step.
func (q *uneven) perform(i int32) {
	l := &q.lanes[i]
	a := l.action
	q.totals.Steps++
	at := q.get().Copy(l.end)
	n := unit.Bytes(0)
	l.froms = l.froms[:0]
	for _, on := range a.receives {
		c := &q.conns[on]
		x := c.came[0]
		c.came = append(c.came[:0], c.came[1:]...)
		q.waiting--
		n = max(n, x.bytes)
		at = q.laterOf(at, x.at)
		q.put(x.at)
		l.froms = append(l.froms, on)
	}
	for k := range a.sends {
		switch c := &q.conns[a.sends[k].conn]; {
		case !c.bounded:
		case c.unused > 0:
			c.unused--
		default:
			at = q.laterOf(at, c.freed[0])
			q.put(c.freed[0])
			c.freed = append(c.freed[:0], c.freed[1:]...)
		}
	}
	s := q.sizeOf(l, a, n)
	q.put(l.until)
	l.until = q.plus(at, s.cost)
	k := len(a.sends)
	q.totals.Messages += int64(k)
	q.totals.BytesSent += s.bytes * unit.Bytes(k)
	for j := range a.sends {
		conn := a.sends[j].conn
		q.waiting++
		q.conns[conn].sent++
		x := &parcel{}
		if n := len(q.parcels); n > 0 {
			x, q.parcels = q.parcels[n-1], q.parcels[:n-1]
		}
		*x = parcel{lane: i, conn: conn, bytes: s.bytes, way: s.ways[j], at: q.get().Copy(l.until)}
		q.packets = append(q.packets, x)
	}
	if l.waits, l.pending = forStep, k; k == 0 {
		q.finish(i)
	}
}

// left notes that the last byte of a message of a lane's step has left. It recycles the profile.
func (q *uneven) left(i int32, at ramp.Profile) {
	l := &q.lanes[i]
	l.until = q.laterOf(l.until, at)
	q.put(at)
	if l.pending--; l.pending == 0 {
		q.finish(i)
		q.wake(i)
	}
}

// finish ends a lane's step: E is its until.
func (q *uneven) finish(i int32) {
	l := &q.lanes[i]
	l.end, l.until = l.until, l.end
	if l.end.Latest(q.size) >= unit.Forever {
		q.refuse("time is counted no further")
	}
	var freed ramp.Profile
	for _, on := range l.froms {
		c := &q.conns[on]
		if !c.bounded {
			continue
		}
		if freed == nil {
			freed = append(q.get(), l.end...)
			freed = q.plus(freed, q.slotLatency)
		}
		c.freed = append(c.freed, q.get().Turn(freed, q.back(c.turn), q.size))
		if src := &q.lanes[c.src]; src.waits == forSlot && src.on == on {
			q.wake(c.src)
		}
	}
	if freed != nil {
		q.put(freed)
	}
	place, step := l.cursor.Place(), l.cursor.Step
	l.cursor.Next(q.slices)
	if l.cursor.Done() || l.cursor.Step != step && (!l.action.isSteady || l.cursor.Place() != place) {
		l.action = nil
	}
	l.waits = forNothing
}

// arrived delivers a message at its receivers. The times are in the order of the senders. It
// recycles the profile.
func (q *uneven) arrived(x *parcel, at ramp.Profile) {
	c := &q.conns[x.conn]
	c.sent--
	c.came = append(c.came, cargo{q.get().Turn(at, c.turn, q.size), x.bytes})
	q.put(at)
	q.parcels = append(q.parcels, x)
	if dst := &q.lanes[c.dst]; dst.waits == forMessage && dst.on == x.conn {
		q.wake(c.dst)
	}
}

// back returns the turn that undoes another.
func (q *uneven) back(turn int32) int32 {
	if turn == 0 {
		return 0
	}
	return q.size - turn
}
