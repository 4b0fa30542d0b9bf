package event

import "collsim/sim/model"

// forwards reports whether the step that is kept of a lane receives one message and sends one,
// alone on its links, and nobody watches: a rank of a ring does nothing else nearly all the time.
func (r *repeater) forwards(l *lane) bool {
	e := r.e
	return l.step.isAlone && l.receives == 1 && len(l.named) == 2 && e.behind == 0 &&
		e.observer == nil && (!e.log.isOn() || l.step.isBare)
}

// forward repeats a step that forwards a message: it does the work of start, perform and end in
// one. The message that it sends gets the number of the one that it receives, which is also what
// the list of free numbers would give; so messages never pile up. The message arrives at once, so
// its sender and its route are not needed any more.
func (r *repeater) forward(i int32) {
	e := r.e
	l := &e.lanes[i]
	from, to := l.named[0], l.named[1]
	in, out := &e.conns[from], &e.conns[to]
	dst := &e.lanes[out.dst]
	for {
		m := in.head
		if m < 0 || !e.messages[m].isHere {
			l.waits, l.on = forMessage, from
			return
		}
		slot, known := e.slot(out)
		if !known {
			l.waits, l.on = forSlot, to
			return
		}
		x, n := &e.messages[m], r.moves(l)
		start := model.Later(model.Later(l.end, x.at), slot)
		if h := e.log.heads; h != nil && !h[i].goesOn(start.T) {
			e.log.bare(i, start.T)
		}
		at := start.Plus(n.cost)
		e.dequeue(in)
		e.take(out)
		left, came := e.cross(m, out, l.step.wire(n.bytes), 1, at)
		x.at, x.bytes, x.next = came, n.bytes, -1
		e.enqueue(out, m)
		if out.head == m && dst.waits == forMessage && dst.on == to {
			e.wake(out.dst)
		}
		e.totals.Steps++
		e.totals.Messages++
		e.totals.BytesSent += n.bytes
		l.until, l.isPost = left, l.step.isPost && l.cursor.Last(l.slices)
		e.end(i)
		if e.err != nil || l.cursor.Done() || l.step.place != l.cursor.Place() {
			break
		}
	}
	e.wake(i)
}
