package sim

import (
	"collsim/schedule"
	"collsim/unit"
)

// perform carries out the sub-step in e.step, which starts at S = start: it works out D, takes what
// it receives and the slots of what it sends, and asks for links.
func (e *engine) perform(i int32, start moment) error {
	l, s := &e.lanes[i], &e.step
	e.result.Steps++
	l.waits, l.got, l.sends, l.flying = forStep, -1, -1, 1
	l.will = s.Post && l.cursor.Last(int32(e.s.Slices))
	if e.why != nil {
		e.begins(i, start.t)
	}
	if e.trace != nil {
		e.taken(i)
	}
	gets, err := e.receive(i)
	if err != nil {
		return err
	}
	n := e.size(l)
	done := start.plus(e.cost(l.rank, n))
	l.leaves = done
	if e.why != nil {
		e.dispatched(i, n, done.t)
	}
	if err := e.prepare(i, n); err != nil {
		return err
	}
	if e.trace != nil {
		e.record(i, n, start.t, done.t)
	}
	if gets == 0 {
		e.depart(i, done)
	} else if err := e.fetch(i, done); err != nil {
		return err
	}
	if l.flying--; l.flying == 0 { // the 1 above: nobody but us ends the step meanwhile
		e.through(i)
	}
	return e.err
}

// receive takes the messages of the step in e.step out of their connections, and counts its gets.
func (e *engine) receive(i int32) (gets int, err error) {
	l, s := &e.lanes[i], &e.step
	messages := 0
	for k := range s.From {
		f := &s.From[k]
		switch f.Kind {
		case schedule.Message:
			m := e.dequeue(&e.conns[e.named[messages]])
			if e.meets != nil {
				e.met(e.named[messages])
			}
			e.messages[m].next = l.got
			l.got = m
			messages++
		case schedule.Get:
			if f.Peer.Rank == l.rank {
				return 0, e.malformed(i, "is its own peer")
			}
			gets++
		case schedule.Multimem:
			if len(f.Team) == 0 {
				return 0, e.malformed(i, "loads from no rank")
			}
			gets++
		}
	}
	return gets, nil
}

// size is the number of bytes that the step in e.step moves: what its regions say, or else what it
// has received.
func (e *engine) size(l *lane) unit.Bytes {
	n, known := e.s.Size(l.spot(), &e.step)
	if known {
		return unit.Bytes(n * e.width)
	}
	most := unit.Bytes(0)
	for m := l.got; m >= 0; m = e.messages[m].next {
		most = max(most, e.messages[m].bytes)
	}
	return most
}

// spot is where the lane's present sub-step takes place.
func (l *lane) spot() schedule.Spot {
	return schedule.Spot{Rank: int(l.rank), Channel: int(l.channel), Slice: int(l.cursor.Slice())}
}

// cost is D − S of the step in e.step: o + (sources − 1)·n·γ, and n over the copy rate where it has
// neither message nor peer; or o and what the step computes.
func (e *engine) cost(rank int32, n unit.Bytes) unit.Time {
	d, s := &e.env.Device, &e.step
	cost := min(e.slowed(rank, d.Overhead)+e.additions(rank, n), unit.Forever)
	if s.Cost > 0 && !e.env.FreeCompute {
		return min(cost+e.slowed(rank, min(unit.Time(s.Cost), unit.Forever)), unit.Forever)
	}
	if d.CopyRate == unit.Unlimited || len(s.Send) > 0 || len(s.From) == 0 {
		return cost
	}
	for k := range s.From {
		if s.From[k].Kind != schedule.Local {
			return cost
		}
	}
	return min(cost+e.slowed(rank, n.Over(d.CopyRate)), unit.Forever)
}

// additions is how long the step in e.step takes to combine its sources.
func (e *engine) additions(rank int32, n unit.Bytes) unit.Time {
	more := len(e.step.From) - 1
	if more <= 0 {
		return 0
	}
	return e.slowed(rank, times(n, more, e.env.Device.ReduceRate))
}

func (e *engine) slowed(rank int32, t unit.Time) unit.Time {
	if e.env.Slowdown == nil {
		return t
	}
	return scaled(t, e.env.Slowdown[rank])
}

// pace is how long a lane takes to put out n bytes to each of k peers.
func (e *engine) pace(m *message, n unit.Bytes) unit.Time {
	if m.peers == 0 {
		return 0
	}
	return e.slowed(e.lanes[m.lane].rank, times(n, int(m.peers), e.env.Device.LaneRate))
}

// prepare makes the messages of the step in e.step, n bytes each, and takes their slots.
func (e *engine) prepare(i int32, n unit.Bytes) error {
	l, k := &e.lanes[i], len(e.step.Send)
	e.result.Messages += int64(len(e.named) - e.receives)
	e.result.BytesSent += n * unit.Bytes(k)
	if !e.plain {
		return e.prepareOthers(i, n)
	}
	for j := len(e.named) - 1; j >= e.receives; j-- { // so that l.sends is in program order
		c := e.named[j]
		e.take(&e.conns[c])
		m := e.newMessage(message{bytes: n, lane: i, conn: c, route: e.conns[c].route,
			peers: int32(k), post: -1})
		if e.late != nil {
			if err := e.addFigures(m); err != nil {
				return err
			}
		}
		e.enqueue(m)
		e.messages[m].also = l.sends
		l.sends = m
	}
	return nil
}

// prepareOthers is prepare where some of the messages are silent, packets or relaxed.
func (e *engine) prepareOthers(i int32, n unit.Bytes) error {
	l, k, named, quiet := &e.lanes[i], len(e.step.Send), len(e.named), false
	for j := k - 1; j >= 0; j-- {
		d := &e.step.Send[j]
		x := message{bytes: n, lane: i, conn: -1, peers: int32(k), post: -1}
		if d.Message() {
			named--
			x.conn = e.named[named]
			c := &e.conns[x.conn]
			e.take(c)
			x.route = c.route
		} else if err := e.silence(&x, d); err != nil {
			return err
		}
		quiet = quiet || x.kind == silent
		if d.Packet {
			x.flags |= flagged
		}
		if d.Relaxed {
			x.flags |= relaxed
		}
		m := e.newMessage(x)
		if e.late != nil {
			if err := e.addFigures(m); err != nil {
				return err
			}
		}
		if x.conn >= 0 {
			e.enqueue(m)
		}
		e.messages[m].also = l.sends
		l.sends = m
	}
	if quiet {
		e.lags(i, n)
	}
	return nil
}

// depart lets the messages of the lane's present step ask for their first links.
func (e *engine) depart(i int32, at moment) {
	l, after := &e.lanes[i], int32(-1)
	l.leaves = later(l.leaves, at)
	if e.why != nil {
		after = e.why.lanes[i].ends // a get, if any
	}
	for m := l.sends; m >= 0; {
		x := &e.messages[m]
		next := x.also
		x.line = l.line
		l.line++
		if e.meets != nil {
			e.asks(x)
		}
		if e.why != nil {
			e.setsOut(m, at.t, after)
		}
		if e.streams != nil {
			e.enter(i, m, at)
		} else {
			l.flying++
			e.request(m, at)
		}
		m = next
	}
	l.sends = -1
}

// fetch lets the gets of the step in e.step ask their owners.
func (e *engine) fetch(i int32, at moment) error {
	l, s := &e.lanes[i], &e.step
	for k := range s.From {
		f, owner := &s.From[k], l.spot()
		x := message{kind: asking, lane: i, conn: -1, post: -1, line: l.line}
		switch f.Kind {
		case schedule.Get:
			owner.Rank, x.route = int(f.Peer.Rank), e.routeOf(l.rank, f.Peer.Rank)
		case schedule.Multimem:
			route, err := e.fan(i, f.Team, true)
			if err != nil {
				return err
			}
			owner.Rank, x.route, x.flags = int(f.Team[0]), route, fanned
		default:
			continue
		}
		x.bytes = unit.Bytes(e.s.Elements(owner, &f.Region) * e.width)
		l.line++
		l.flying++
		e.result.BytesSent += x.bytes
		m := e.newMessage(x)
		if e.why != nil {
			e.setsOut(m, at.t, -1)
		}
		if x.flags&fanned > 0 && e.env.Sharing == FIFO {
			e.call(m)
		}
		e.request(m, at)
	}
	return nil
}

// through is called when all that the step waited for, after D, has left or come.
func (e *engine) through(i int32) {
	l := &e.lanes[i]
	if l.sends < 0 {
		e.finish(i)
		return
	}
	l.flying = 1 // what it sends had to be fetched first
	e.depart(i, l.leaves)
	if l.flying--; l.flying == 0 {
		e.finish(i)
	}
}
