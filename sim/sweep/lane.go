package sweep

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// resolve sets the fields of a lane's present step. A step that is the same in all iterations of a
// loop is resolved once.
func (e *engine) resolve(i int32) {
	l := &e.lanes[i]
	place := l.cursor.Place()
	if place == l.place && (l.isSteady || l.cursor.Slice() > 0) {
		return
	}
	p, s := e.programs[l.rank], &e.step
	p.Load(&l.cursor, s)
	l.receives, l.sends, l.sizes = l.receives[:0], l.sends[:0], l.sizes[:0]
	l.awaits = append(l.awaits[:0], s.Await...)
	for k := range s.From {
		if f := &s.From[k]; f.Kind == schedule.Message {
			l.receives = append(l.receives, e.connect(i, &f.Peer, false))
		}
	}
	for k := range s.Send {
		d := &s.Send[k]
		l.sends = append(l.sends, sending{e.connect(i, &d.Peer, true), d.Framing()})
	}
	l.posting, l.sources = s.Post, int32(len(s.From))
	slices := int32(1)
	if s.Moves() {
		slices = l.slices
	}
	for slice := range slices {
		n, known := e.rules.Size(schedule.Spot{Rank: int(l.rank), Channel: int(l.channel),
			Slice: int(slice)}, s)
		if known {
			l.sizes = append(l.sizes, size{n, e.cost(l.rank, s, n)})
		} else {
			l.sizes = append(l.sizes, size{bytes: unknown})
		}
	}
	l.place, l.isSteady = place, len(s.Await) == 0 && e.isSteady(p, &l.cursor)
}

// isSteady reports whether a step is the same in all iterations of its loop.
func (e *engine) isSteady(p *schedule.Program, c *schedule.Cursor) bool {
	if loop, _ := c.Around(); loop < 0 {
		return false
	}
	if e.steadyAt == nil {
		return p.Steady(c)
	}
	known, ok := e.steadyAt[c.Place()]
	if !ok {
		known = p.Steady(c)
		e.steadyAt[c.Place()] = known
	}
	return known
}

// cost returns D − S of a sub-step of n bytes.
func (e *engine) cost(rank int32, s *schedule.Step, n unit.Bytes) unit.Time {
	if len(s.From) == 0 && model.IsFree(s, false) {
		return 0
	}
	return e.rules.Cost(rank, s, n)
}

// start returns S of a lane's sub-step, if all that it depends on is known. Otherwise the lane
// waits for the first thing that is not.
func (e *engine) start(i int32) (at model.Moment, known bool) {
	l := &e.lanes[i]
	at = l.end
	for _, c := range l.receives {
		m := e.conns[c].queue.First
		if m < 0 || !e.messages.At(m).isHere {
			l.waits, l.on = forMessage, c
			return at, false
		}
		at = model.Later(at, e.messages.At(m).at)
	}
	for _, s := range l.sends {
		t, ok := e.slot(&e.conns[s.conn])
		if !ok {
			l.waits, l.on = forSlot, s.conn
			return at, false
		}
		at = model.Later(at, t)
	}
	if l.cursor.Slice() > 0 {
		return at, true
	}
	for _, v := range l.awaits {
		if v.Value <= 0 {
			continue
		}
		on := e.first[l.rank] + v.Lane
		o := &e.lanes[on]
		if int(v.Value) > len(o.posts) {
			l.waits, l.on, l.next = forEvent, on, o.waiters
			o.waiters = i
			return at, false
		}
		at = model.Later(at, o.posts[v.Value-1])
	}
	return at, true
}

// perform executes a lane's sub-step, which starts at S = start.
func (e *engine) perform(i int32, start model.Moment) {
	l := &e.lanes[i]
	n := l.sizes[l.cursor.Slice()]
	if n.bytes == unknown {
		n = e.sizeReceived(l)
	}
	e.totals.Steps++
	l.waits, l.pending = forStep, int32(len(l.sends))
	l.isPost = l.posting && l.cursor.Last(l.slices)
	l.until = start.Plus(n.cost)
	if e.isRecording {
		e.note(i, n)
	}
	l.received = l.received[:0]
	for _, c := range l.receives {
		l.received = append(l.received, e.dequeue(&e.conns[c]))
	}
	k := int32(len(l.sends))
	e.totals.Messages += int64(k)
	e.totals.BytesSent += n.bytes * unit.Bytes(k)
	for _, s := range l.sends {
		c := &e.conns[s.conn]
		e.take(c, 0)
		f := e.rules.Device.Of(n.bytes)
		carried := model.OnLinks(f, n.bytes, s.framing)
		if carried > model.MostOnLinks {
			e.refuse("a message is larger than is counted")
			return
		}
		m := e.messages.Put(message{since: l.until, bytes: n.bytes, carried: carried, late: f.Latency,
			lane: i, conn: s.conn, route: c.route, peers: k})
		e.enqueue(m)
		e.addPacket(m, 0, l.until)
	}
	if k == 0 {
		e.finish(i)
	}
}

// sizeReceived returns the size and cost of a sub-step whose size is that of the largest message
// that it receives.
func (e *engine) sizeReceived(l *lane) (n size) {
	n.bytes = 0
	for _, c := range l.receives {
		n.bytes = max(n.bytes, e.messages.At(e.conns[c].queue.First).bytes)
	}
	e.programs[l.rank].Load(&l.cursor, &e.step)
	n.cost = e.cost(l.rank, &e.step, n.bytes)
	return n
}

// finish ends a lane's present sub-step: E is l.until.
func (e *engine) finish(i int32) {
	l := &e.lanes[i]
	l.end = l.until
	if l.end.T >= unit.Forever {
		e.refuse("time is counted no further")
	}
	freed := e.rules.Freed(l.end)
	for _, m := range l.received {
		e.release(m, freed)
	}
	if l.isPost {
		l.posts = append(l.posts, l.end)
		for w := l.waiters; w >= 0; w = e.lanes[w].next {
			e.wake(w)
		}
		l.waiters = -1
	}
	l.cursor.Next(l.slices)
	if l.waits = forNothing; len(l.sends) > 0 {
		e.wake(i)
	}
}

// left notes that the last byte of a message of a lane's step has left.
func (e *engine) left(i int32, at model.Moment) {
	l := &e.lanes[i]
	l.until = model.Later(l.until, at)
	if l.pending--; l.pending == 0 {
		e.finish(i)
	}
}
