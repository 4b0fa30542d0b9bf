package sim

import "collsim/schedule"

// Silent puts have no message: nobody receives them, and a lane's later signal says that they have
// landed. That it cannot come sooner follows from the sharing of links wherever the lane is held
// until its last byte has left: the signal then follows the bytes over the same links, and under
// FIFO is served after them at each; a flow, for its part, has passed all links at once when it has
// left. A device that offloads lets the lane go on before. There the posts of a lane that are no
// silent puts stand in line behind those that are, and set out when these have left.

// silence makes a message of a destination that none receives.
func (e *engine) silence(x *message, d *schedule.Dest) (err error) {
	x.kind = silent
	if d.Team != nil {
		if len(d.Team) == 0 {
			return e.malformed(x.lane, "stores to no rank")
		}
		x.flags = fanned
		x.route, err = e.fan(x.lane, d.Team, false)
		return err
	}
	rank := e.lanes[x.lane].rank
	if d.Peer.Rank == rank {
		return e.malformed(x.lane, "is its own peer")
	}
	x.route = e.routeOf(rank, d.Peer.Rank)
	return nil
}

// line is the silent posts of a lane that have not left, in order, with the posts that follow them.
type line struct {
	first, last int32  // messages, −1 for none
	left        moment // when all before them have left
	latest      int32  // the record of causes of the last of those

	// With a send buffer: how many of the lane's messages have not left, when the last of those that
	// have did so, and its record of causes.
	aloft int32
	gone  moment
	by    int32
}

func newLines(lanes int) []line {
	lines := make([]line, lanes)
	for i := range lines {
		lines[i].first = -1
	}
	return lines
}

// follow lets a message that has been posted set out, or puts it in line.
func (e *engine) follow(m int32, at moment) {
	x := &e.messages[m]
	l := &e.quiet[x.lane]
	follows := x.kind != silent && x.flags&relaxed == 0
	if follows && l.first < 0 {
		e.setOff(m, at)
		return
	}
	if follows || x.kind == silent {
		x.since, x.flags, x.also = at, x.flags|lined, -1
		if l.first < 0 {
			l.first = m
		} else {
			e.messages[l.last].also = m
		}
		l.last = m
	}
	if !follows {
		e.clear(m, at)
	}
}

// hush notes that a silent post has left, and lets those set out that only stood behind it.
func (e *engine) hush(m int32, at moment) {
	x := &e.messages[m]
	l := &e.quiet[x.lane]
	x.at, x.flags = at, x.flags|gone
	for l.first >= 0 {
		m := l.first
		x := &e.messages[m]
		if x.kind == silent && x.flags&gone == 0 {
			return
		}
		l.first = x.also
		x.flags &^= lined
		if x.kind != silent {
			e.setOff(m, x.since)
			continue
		}
		if x.at != l.left && later(x.at, l.left) == x.at {
			if l.left = x.at; e.why != nil {
				l.latest = e.why.ofMessage[m]
			}
		}
		if x.here {
			e.dropMessage(m)
		}
	}
}

// setOff lets a post set out when the silent ones before it, all of which have left, had done so.
func (e *engine) setOff(m int32, at moment) {
	if l := &e.quiet[e.messages[m].lane]; l.left != at && later(l.left, at) == l.left {
		at = l.left
		if e.why != nil {
			e.waitsBehind(m, at.t, l.latest)
		}
	}
	e.clear(m, at)
}
