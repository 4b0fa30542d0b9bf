package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

// forwards reports whether the step that is kept of a lane receives one message and sends one,
// alone on its links, and nobody watches: a rank of a ring does nothing else nearly all the time.
func (r *repeater) forwards(l *lane) bool {
	e := r.e
	return l.step.isAlone && l.receives == 1 && len(l.named) == 2 && !e.links.isBehind() &&
		e.observer == nil && (!e.log.isOn() || l.step.isBare)
}

// forward repeats a step that forwards a message: it does the work of start, perform and end in
// one. The message that it sends gets the number of the one that it receives, which is also what
// the list of free numbers would give; so messages never pile up. The message arrives at once, so
// its sender and its route are not needed any more.
func (r *repeater) forward(i int32) {
	e := r.e
	l := e.lanes.at(i)
	from, to := l.named[0], l.named[1]
	in, out := e.conns.at(from), e.conns.at(to)
	dst := e.lanes.at(out.dst)
	for {
		m := in.queue.First
		if m < 0 || !e.conns.message(m).isHere {
			l.waits, l.on = forMessage, from
			return
		}
		slot, known := e.conns.slot(out)
		if !known {
			l.waits, l.on = forSlot, to
			return
		}
		x, n := e.conns.message(m), r.moves(l)
		start := model.Later(model.Later(l.end, x.at), slot)
		if e.log.isOn() && !e.log.goesOn(i, start.T) {
			e.log.bare(i, start.T)
		}
		at := start.Plus(n.cost)
		e.conns.dequeue(in)
		e.conns.take(out, l.end.T)
		left, came := r.cross(m, out, l.step.wire(n.bytes), 1, at)
		x.at, x.bytes = came, n.bytes
		e.conns.enqueue(out, m)
		if out.queue.First == m && dst.waits == forMessage && dst.on == to {
			e.lanes.wake(out.dst)
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
	e.lanes.wake(i)
}

// crossesAlone reports whether messages of a rank's step that is kept are alone on all links of a
// connection, and get across.
func (r *repeater) crossesAlone(rank int32, c *connection, of *resolved) bool {
	e := r.e
	path := &e.network.Routes[c.route]
	for i := range of.sizes {
		n := of.wire(of.sizes[i].bytes)
		if !e.isFluid || !path.IsShared(n) {
			continue
		}
		if _, ok := e.rules.Alone(rank, 1, path.Slowest, n); !ok {
			return false
		}
	}
	return e.links.isAlone(path)
}

// cross lets n bytes of a message, one of so many of a step, cross the links of its connection from
// a moment on: when it has left and when it has come.
func (r *repeater) cross(m int32, c *connection, n unit.Bytes, peers int32, at model.Moment) (
	left, came model.Moment) {
	e := r.e
	path, put := &e.network.Routes[c.route], unit.Time(0)
	if e.rules.Device.LaneRate != unit.Unlimited {
		put = e.rules.Pace(path.Src, peers, n)
	}
	if e.isFluid {
		e.links.load(path, n)
		if left = at.Plus(put); path.IsShared(n) {
			left, _ = e.drainedAlone(c, path.Src, n, at)
		}
		return left, left.Plus(path.Latency)
	}
	since, entry := at, uint32(0)
	isLogged := e.log.isOn() && (c.logged > 0 || e.log.isByWay())
	if isLogged {
		e.enlistOf(m)
		entry = e.conns.message(m).entry
	}
	for hop, on := range e.network.LinksOf(path) {
		l := e.links.at(on)
		takes := l.Over(n)
		start, over := l.serve(at, n, takes)
		if isLogged && !l.isPrompt && (start.T > at.T || hop >= int(aPacket.ownKinds())) {
			entry = e.log.write(aPacket.on(int32(hop)), entry, start.T)
		}
		if hop == 0 {
			came = model.PutOut(start, since, false, 0, put)
			if path.Slowest != l.Bandwidth {
				takes = l.slowest(path, n)
			}
			left = model.Leaves(start, 0, max(put, takes))
		}
		at, came = e.rules.Switching.Forward(start, model.Later(over, came), l.Latency)
	}
	return left, came
}
