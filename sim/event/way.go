package event

import "collsim/sim/model"

// setOut lets a message set out at a moment.
func (e *engine) setOut(m int32, at model.Moment) {
	e.conns.message(m).since = at
	if e.isFluid {
		e.inject(m, at)
		return
	}
	e.addPacket(m, 0, at)
}

// left notes that the last byte of a message has left its first node.
func (e *engine) left(m int32, at model.Moment) {
	x := e.conns.message(m)
	switch {
	case x.kind > silent: // no lane takes part
		return
	case x.post >= 0:
		e.ahead.postLeft(x.post, at)
		if e.lanes.at(x.lane).waits == forPost {
			e.lanes.wake(x.lane)
		}
		if x.kind == silent {
			e.ahead.putLeft(m, at)
		}
	case x.flags&buffered > 0:
		e.ahead.leftBuffer(m, at)
		if x.kind == silent {
			e.ahead.putLeft(m, at)
		}
	default:
		e.report(messageLeaves, m, 0, at.T)
		e.oneDone(x.lane, at)
	}
	if e.ahead.hasStreams() {
		e.ahead.left(m, at)
	}
}

// arrived notes that the last byte of a message has reached the end of its route.
func (e *engine) arrived(m int32, at model.Moment) {
	x := e.conns.message(m)
	switch x.kind {
	case getRequest:
		x.kind, x.route = getReply, e.links.wayBack(x.route)
		e.report(asksAfter, m, m, at.T)
		e.setOut(m, at)
	case request:
		e.rendezvous.requestCame(m, at)
	case answer:
		e.rendezvous.answerCame(m, at)
	case silent:
		e.report(putArrives, m, 0, at.T)
		if x.isHere = true; x.flags&queued == 0 {
			e.conns.drop(m)
		}
	case getReply, loadData:
		e.report(replyArrives, m, 0, at.T)
		lane := x.lane
		e.conns.drop(m)
		e.oneDone(lane, at)
	default:
		if e.faults.isOn() && e.faults.isLost(m) {
			return
		}
		at = e.conns.arrives(m, at)
		x.at, x.isHere = at, true
		c := e.conns.at(x.conn)
		e.report(messageArrives, m, 0, at.T)
		if dst := e.lanes.at(c.dst); c.queue.First == m && dst.waits == forMessage && dst.on == x.conn {
			e.lanes.wake(c.dst)
		}
	}
}

// oneDone notes that one of the things that a lane's step waits for is over. After the last one the
// step goes on.
func (e *engine) oneDone(i int32, at model.Moment) {
	l := e.lanes.at(i)
	l.until = model.Later(l.until, at)
	if l.pending--; l.pending == 0 {
		e.completed(i)
	}
}
