package sim

import "collsim/unit"

// request lets a message set out at a moment.
func (e *engine) request(m int32, at moment) {
	e.messages[m].since = at
	if e.env.Sharing == Fluid {
		e.pour(m, at)
		return
	}
	e.addPacket(m, 0, at)
}

// carried is how many bytes of a message cross the links.
func (e *engine) carried(m int32) unit.Bytes {
	x := &e.messages[m]
	switch {
	case x.kind == data && x.flags == 0:
		return x.bytes
	case x.kind == asking || x.kind == calling || x.kind == requesting || x.kind == granting:
		return 0
	}
	return e.crosses(m)
}

// crosses is how many bytes of the data of a message cross the links, also while it is only asked
// for.
func (e *engine) crosses(m int32) unit.Bytes {
	x := &e.messages[m]
	if x.flags&wasteful > 0 {
		return e.crossing[m]
	}
	return x.bytes << (x.flags & flagged)
}

// departed tells that the last byte of a message has left its first node.
func (e *engine) departed(m int32, at moment) {
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
			e.hush(m, at)
		}
	case x.flags&early > 0:
		e.unloaded(m, at)
		if x.kind == silent {
			e.hush(m, at)
		}
	default:
		if e.why != nil {
			e.why.ended(x.lane, e.why.ofMessage[m], inStep(x.line), at.t)
		}
		e.left(x.lane, at)
	}
	if e.streams != nil {
		e.passed(m, at)
	}
}

// arrived tells that the last byte of a message has come to its end.
func (e *engine) arrived(m int32, at moment) {
	x := &e.messages[m]
	switch x.kind {
	case asking:
		there := e.routes[x.route]
		if x.kind = reply; there.fan >= 0 {
			x.route = e.fans[there.fan].back
		} else {
			x.route = e.routeOf(there.dst, there.src)
		}
		if e.why != nil {
			e.setsOut(m, at.t, e.why.ofMessage[m])
		}
		e.request(m, at)
	case requesting:
		e.requested(m, at)
	case granting:
		e.granted(m, at)
	case silent:
		if x.here = true; x.flags&lined == 0 {
			e.dropMessage(m)
		}
	case reply, merging:
		lane := x.lane
		if e.why != nil {
			e.why.ended(lane, e.why.ofMessage[m], uint64(e.why.ofMessage[m]), at.t)
		}
		e.dropMessage(m)
		e.left(lane, at)
	default:
		if e.late != nil {
			at = at.plus(e.late[m])
		}
		x.at, x.here = at, true
		c := &e.conns[x.conn]
		if e.trace != nil {
			e.recordArrival(m)
		}
		if dst := &e.lanes[c.dst]; c.head == m && dst.waits == forMessage && dst.on == x.conn {
			e.wake(c.dst)
		}
	}
}

// left tells a lane that one more of the things that its step waits for is over.
func (e *engine) left(i int32, at moment) {
	l := &e.lanes[i]
	l.leaves = later(l.leaves, at)
	if l.flying--; l.flying == 0 {
		e.through(i)
	}
}

// post hands a message to the queue of a device that offloads: the step need only wait until it is
// handed over.
func (e *engine) post(i, m int32, at moment) {
	l, x := &e.lanes[i], &e.messages[m]
	over := at.plus(e.pace(x, e.carried(m)))
	l.leaves = later(l.leaves, over)
	x.post = e.newMark(moment{}, false)
	if e.why != nil {
		e.why.ended(i, e.why.ofMessage[m], inStep(x.line), over.t)
		e.why.ofMark = put(e.why.ofMark, x.post, e.why.ofMessage[m])
	}
	if l.outstanding == 0 {
		l.oldest = x.post
	} else {
		e.marks[l.newest].next = x.post
	}
	l.newest = x.post
	l.outstanding++
}

// room makes room for what the step in e.step will post: it begins only when so many of the
// lane's earlier posts have left, in order, that all of its own can be outstanding; a flush, when
// all have. It reports whether it is known when that is.
func (e *engine) room(i int32, at *moment) bool {
	if !e.env.Device.Offload {
		return !e.step.Flush || e.emptied(i, at)
	}
	l := &e.lanes[i]
	may := max(int32(e.env.Device.Queue-len(e.step.Send)), 0)
	if e.step.Flush {
		may = 0
	} else if len(e.step.Send) == 0 {
		return true
	}
	p := l.oldest
	for k := may; k < l.outstanding; k++ {
		if !e.marks[p].known {
			return false
		}
		p = e.marks[p].next
	}
	for ; l.outstanding > may; l.outstanding-- {
		p, l.oldest = l.oldest, e.marks[l.oldest].next
		if e.why != nil && e.marks[p].at.t > at.t {
			e.why.room = e.why.ofMark[p]
		}
		*at = later(*at, e.marks[p].at)
		e.dropMark(p)
	}
	return true
}
