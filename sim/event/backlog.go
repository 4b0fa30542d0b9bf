package event

import "collsim/sim/model"

// Silent puts have no message: nobody receives them, and a lane's later signal says that they have
// landed. That it cannot come sooner follows from the sharing of links wherever the lane is held
// until its last byte has left: the signal then follows the bytes over the same links, and under
// FIFO is served after them at each; a flow, for its part, has passed all links at once when it has
// left. Where a lane goes on before, the messages that follow puts (model.FollowsPuts) stand behind
// those that have not left, and set out when these have.

// backlog holds what a lane has sent and what has not left yet.
type backlog struct {
	first, last int32        // silent puts, in order, with the messages that follow them; −1 for none
	left        model.Moment // when all puts before them have left

	// With a send buffer: how many of the lane's messages have not left, and when the last of those
	// that have did so.
	unsent   int32
	lastLeft model.Moment
}

func newBacklogs(lanes int) []backlog {
	list := make([]backlog, lanes)
	for i := range list {
		list[i].first = -1
	}
	return list
}

// follow lets a message that has been sent set out, or puts it behind the silent puts before it.
func (a *ahead) follow(m int32, at model.Moment) {
	e := a.e
	x := e.conns.message(m)
	b := &a.backlogs[x.lane]
	follows := model.FollowsPuts(x.kind == silent, x.flags&relaxed > 0)
	if follows && b.first < 0 {
		a.setOutBehind(m, at)
		return
	}
	if follows || x.kind == silent {
		x.since, x.flags, x.also = at, x.flags|queued, -1
		if b.first < 0 {
			b.first = m
		} else {
			e.conns.message(b.last).also = m
		}
		b.last = m
	}
	if !follows {
		a.unblock(m, at)
	}
}

// putLeft notes that a silent put has left, and lets those messages set out that only stood behind
// it.
func (a *ahead) putLeft(m int32, at model.Moment) {
	e := a.e
	x := e.conns.message(m)
	lane := x.lane
	b := &a.backlogs[lane]
	x.at, x.flags = at, x.flags|gone
	for b.first >= 0 {
		m := b.first
		x := e.conns.message(m)
		if x.kind == silent && x.flags&gone == 0 {
			return
		}
		b.first = x.also
		x.flags &^= queued
		if x.kind != silent {
			a.setOutBehind(m, x.since)
			continue
		}
		if x.at.T > b.left.T {
			e.report(putLeaves, m, lane, x.at.T)
		}
		b.left = model.Later(b.left, x.at)
		if x.isHere {
			e.conns.drop(m)
		}
	}
}

// setOutBehind lets a message set out at the time when the last of the silent puts before it had
// left. All of these have left by now.
func (a *ahead) setOutBehind(m int32, at model.Moment) {
	e := a.e
	lane, ready := e.conns.message(m).lane, at
	if at = model.Later(at, a.backlogs[lane].left); at.T > ready.T {
		e.report(followsPuts, m, lane, at.T)
		e.log.waits(aBehind, e.conns.message(m).entry, at.T)
	}
	a.unblock(m, at)
}

// departure says when a posted message has left, if that is known.
type departure struct {
	at    model.Moment
	known bool
}

// postLeft notes that a posted message has left.
func (a *ahead) postLeft(post int32, at model.Moment) { *a.posts.At(post) = departure{at, true} }

// leftBuffer notes that a message has left whose lane need not have waited for it.
func (a *ahead) leftBuffer(m int32, at model.Moment) {
	e := a.e
	lane := e.conns.message(m).lane
	b := &a.backlogs[lane]
	if at.T >= b.lastLeft.T {
		e.report(bufferDrains, m, lane, at.T)
	}
	b.lastLeft = model.Later(b.lastLeft, at)
	if b.unsent--; b.unsent == 0 && e.lanes.at(lane).waits == forPost {
		e.lanes.wake(lane)
	}
}

// post hands a message to the queue of a device that offloads: the step need only wait until it is
// handed over.
func (a *ahead) post(i, m int32, at model.Moment) {
	e := a.e
	l, x := e.lanes.at(i), e.conns.message(m)
	over := at.Plus(e.pace(x, e.conns.carried(m)))
	l.until = model.Later(l.until, over)
	x.post = a.posts.Put(departure{})
	e.report(posted, m, x.post, over.T)
	a.posts.Append(&l.posted, x.post)
	l.outstanding++
}

// room makes room for what the step in e.step will send: on a device that offloads, a place in its
// queue; a flush waits until all that the lane has sent has left. It reports whether it is known
// when that is.
func (a *ahead) room(i int32, at *model.Moment) bool {
	e := a.e
	if !e.rules.Device.Offload {
		return !e.step.Flush || a.drainBuffer(i, at)
	}
	l := e.lanes.at(i)
	most, waits := e.rules.Outstanding(&e.step)
	if !waits {
		return true
	}
	p := l.posted.First
	for k := most; k < l.outstanding; k++ {
		if !a.posts.At(p).known {
			return false
		}
		p = a.posts.Next(p)
	}
	for ; l.outstanding > most; l.outstanding-- {
		p = a.posts.Pop(&l.posted)
		left := a.posts.At(p).at
		if left.T > at.T {
			e.report(postLeft, i, p, left.T)
		}
		*at = model.Later(*at, left)
		a.posts.Drop(p)
	}
	return true
}

// drainBuffer raises at to the time when everything that a lane has sent had left. It reports
// whether that time is known.
func (a *ahead) drainBuffer(i int32, at *model.Moment) bool {
	b := &a.backlogs[i]
	if b.unsent > 0 {
		return false
	}
	if b.lastLeft.T > at.T {
		a.e.report(bufferClear, i, 0, b.lastLeft.T)
	}
	*at = model.Later(*at, b.lastLeft)
	return true
}
