package event

import (
	"fmt"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// setOut lets a message set out at a moment.
func (e *engine) setOut(m int32, at model.Moment) {
	e.messages[m].since = at
	if e.isFluid {
		e.inject(m, at)
		return
	}
	e.addPacket(m, 0, at)
}

// carried returns the bytes of a message that cross the links: none for requests and answers.
func (e *engine) carried(m int32) unit.Bytes {
	x := &e.messages[m]
	switch {
	case x.kind == data && x.flags == 0:
		return x.bytes
	case x.kind == getRequest || x.kind == loadRequest || x.kind == request || x.kind == answer:
		return 0
	}
	return e.crossing(m)
}

// crossing returns the bytes that the data of a message take on the links, even while the message
// is only asked for.
func (e *engine) crossing(m int32) unit.Bytes {
	x := &e.messages[m]
	switch {
	case x.flags&multimem > 0 && e.rules.Device.MultimemEfficiency > 0:
		return e.rules.OnSwitch(unit.Bytes(x.flags.framing().Wire(int64(x.bytes))))
	case x.flags&padded > 0:
		return e.onLinks[m]
	}
	return unit.Bytes(x.flags.framing().Wire(int64(x.bytes)))
}

// wire returns the bytes that a message of n bytes takes on the links, with its device's figures
// and its framing.
func (e *engine) wire(n unit.Bytes, framing schedule.Framing) unit.Bytes {
	if e.late != nil {
		return model.OnLinks(e.rules.Device.Of(n), n, framing)
	}
	return unit.Bytes(framing.Wire(int64(n)))
}

// framing returns what messages have on the links in addition to their data.
func (f messageFlags) framing() schedule.Framing {
	switch {
	case f&packed > 0:
		return schedule.Packets
	case f&lined > 0:
		return schedule.Lines
	}
	return schedule.Bare
}

// figures holds the device's figures of messages that depend on their size. It is empty for a
// device that has none.
type figures struct {
	late       []unit.Time  // of each message: latency on top of its links'
	onLinks    []unit.Bytes // of each message that is padded: what crosses the links
	putLatency []unit.Time  // of each lane: the longest of its silent puts so far
}

// addFigures gives a message that a lane puts out the figures of its size.
func (e *engine) addFigures(m int32) error {
	x := &e.messages[m]
	f := e.rules.Device.Of(x.bytes)
	n := model.OnLinks(f, x.bytes, x.flags.framing())
	if n > model.MostOnLinks {
		return fmt.Errorf("%s: a message of %v puts more on its links, at efficiency %v, than "+
			"is counted", e.place(x.lane), x.bytes, f.Efficiency)
	}
	if f.Efficiency > 0 {
		x.flags |= padded
		e.onLinks[m] = n
	}
	e.late[m] = f.Latency
	if model.FollowsPuts(x.kind == silent, x.flags&relaxed > 0) {
		e.late[m] = max(f.Latency, e.putLatency[x.lane])
	}
	return nil
}

// putsOut remembers the latency of silent puts of e.moved bytes: no later message of the lane that
// follows puts has less.
func (e *engine) putsOut(lane int32) {
	if e.late != nil {
		e.putLatency[lane] = max(e.putLatency[lane], e.rules.Device.Of(e.moved).Latency)
	}
}

// left notes that the last byte of a message has left its first node.
func (e *engine) left(m int32, at model.Moment) {
	x := &e.messages[m]
	switch {
	case x.kind > silent: // no lane takes part
		return
	case x.post >= 0:
		e.marks[x.post].at, e.marks[x.post].known = at, true
		if e.lanes[x.lane].waits == forPost {
			e.wake(x.lane)
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
	if e.ahead.streams != nil {
		e.ahead.left(m, at)
	}
}

// arrived notes that the last byte of a message has reached the end of its route.
func (e *engine) arrived(m int32, at model.Moment) {
	x := &e.messages[m]
	switch x.kind {
	case getRequest:
		x.kind, x.route = getReply, e.wayBack(x.route)
		e.report(asksAfter, m, m, at.T)
		e.setOut(m, at)
	case request:
		e.rendezvous.requestCame(m, at)
	case answer:
		e.rendezvous.answerCame(m, at)
	case silent:
		e.report(putArrives, m, 0, at.T)
		if x.isHere = true; x.flags&queued == 0 {
			e.dropMessage(m)
		}
	case getReply, loadData:
		e.report(replyArrives, m, 0, at.T)
		lane := x.lane
		e.dropMessage(m)
		e.oneDone(lane, at)
	default:
		if e.late != nil {
			at = at.Plus(e.late[m])
		}
		x.at, x.isHere = at, true
		c := &e.conns[x.conn]
		e.report(messageArrives, m, 0, at.T)
		if dst := &e.lanes[c.dst]; c.head == m && dst.waits == forMessage && dst.on == x.conn {
			e.wake(c.dst)
		}
	}
}

// wayBack returns the route in the opposite direction of another. The data of a get take it, and so
// do answers.
func (e *engine) wayBack(route int32) int32 {
	for int(route) >= len(e.waysBack) {
		e.waysBack = append(e.waysBack, -1)
	}
	if back := e.waysBack[route]; back >= 0 {
		return back
	}
	there := e.network.Routes[route]
	back := int32(-1)
	if there.Tree >= 0 {
		back = e.network.Trees[there.Tree].Back
	} else {
		back = e.network.Route(there.Dst, there.Src)
	}
	e.waysBack[route] = back
	return back
}

// oneDone notes that one of the things that a lane's step waits for is over. After the last one the
// step goes on.
func (e *engine) oneDone(i int32, at model.Moment) {
	l := &e.lanes[i]
	l.until = model.Later(l.until, at)
	if l.pending--; l.pending == 0 {
		e.completed(i)
	}
}
