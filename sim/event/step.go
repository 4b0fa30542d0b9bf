package event

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
	"fmt"
)

// perform carries out the sub-step in e.step, which starts at S = start: it works out D, takes what
// it receives and the slots of what it sends, and asks for links.
func (e *engine) perform(i int32, start model.Moment) error {
	l, s := e.lanes.at(i), &e.step
	if !l.cursor.Edge() {
		e.totals.Steps++
	}
	l.waits, l.sends, l.pending = forStep, -1, 1
	if e.repeats.isOn() {
		e.repeats.keep(i)
	}
	e.moved = e.size(l)
	l.isPost = s.Post && l.cursor.Last(l.slices)
	l.until = start.Plus(e.cost(i))
	if e.faults.isOn() {
		e.faults.count(i, start)
	}
	if e.gpu != nil {
		e.gpu.stepBegins(i)
	}
	gets := getsOf(s)
	if e.log.isOn() {
		e.log.begin(i, gets+len(model.Sent(s)), start.T)
		if !e.isSized {
			e.log.size(i, start.T, e.moved)
		}
	}
	e.report(stepBegins, i, 0, start.T)
	e.receive(l)
	if err := e.prepare(i); err != nil {
		return err
	}
	if e.faults.isOn() {
		e.faults.lose(i)
	}
	if gets == 0 {
		e.send(i, l.until)
	} else if err := e.get(i, l.until); err != nil {
		return err
	}
	if e.gpu != nil {
		e.gpu.engage(i)
	}
	if l.pending--; l.pending == 0 { // the 1 above: nobody but us ends the step meanwhile
		e.completed(i)
	}
	return e.err
}

// cost returns the duration D − S of the sub-step in e.step (docs/time.md).
func (e *engine) cost(i int32) unit.Time {
	l, s := e.lanes.at(i), &e.step
	switch {
	case len(s.From) == 0 && model.IsFree(s, l.cursor.Edge()):
		return 0
	case e.gpu != nil:
		return e.rules.CostOnGPU(e.gpu.pacerOf(i) == model.EnginePace, l.rank, s, e.moved)
	}
	return e.rules.Cost(l.rank, s, e.moved)
}

// size returns the bytes that the step in e.step moves: what its regions say, or else what it is
// about to receive.
func (e *engine) size(l *lane) unit.Bytes {
	n, known := e.rules.Size(l.spot(), &e.step)
	if e.isSized = known; !known {
		for _, c := range l.received() {
			n = max(n, e.conns.message(e.conns.at(c).queue.First).bytes)
		}
	}
	return n
}

// spot returns the rank, channel, slice and part of the lane's present sub-step.
func (l *lane) spot() schedule.Spot {
	return schedule.Spot{Rank: int(l.rank), Channel: int(l.channel), Slice: int(l.cursor.Slice()),
		Part: int(l.part)}
}

// receive takes the messages of the lane's present step out of their connections. Their slots are
// taken until it ends.
func (e *engine) receive(l *lane) {
	for _, c := range l.received() {
		e.conns.drop(e.conns.dequeue(e.conns.at(c)))
		if e.rendezvous.isOn() {
			e.rendezvous.received(c)
		}
	}
}

// getsOf counts the gets of a step.
func getsOf(s *schedule.Step) (gets int) {
	for k := range s.From {
		if f := s.From[k].Kind; f == schedule.Get || f == schedule.Multimem {
			gets++
		}
	}
	return gets
}

// prepare makes the messages of the step in e.step, of e.moved bytes each, and takes their slots.
func (e *engine) prepare(i int32) error {
	l, n := e.lanes.at(i), e.moved
	sends := l.sent()
	e.totals.Messages += int64(len(sends))
	if !e.plain {
		e.totals.BytesSent += n * unit.Bytes(len(model.Sent(&e.step)))
		return e.prepareOthers(i)
	}
	e.totals.BytesSent += n * unit.Bytes(len(sends))
	for j := len(sends) - 1; j >= 0; j-- { // so that l.sends is in program order
		if err := e.add(l, e.plainMessage(i, sends[j], n, int32(len(sends)))); err != nil {
			return err
		}
	}
	return nil
}

// plainMessage makes a message of n bytes that lane i sends over a connection, in a step with peers
// messages. The message takes a slot of the connection.
func (e *engine) plainMessage(i, conn int32, n unit.Bytes, peers int32) int32 {
	c := e.conns.at(conn)
	e.conns.take(c, e.lanes.at(i).end.T)
	m := e.conns.reuse()
	if m < 0 {
		m = e.conns.grow()
	}
	x := e.conns.message(m) // field by field: a copy of the whole would take as long as the rest
	x.kind, x.flags, x.pacer, x.isHere = data, 0, 0, false
	x.bytes, x.lane, x.conn, x.route = n, i, conn, c.route
	x.peers, x.post = peers, -1
	return m
}

// prepareOthers does what prepare does, where some of the messages are silent, packets, lines or
// relaxed.
func (e *engine) prepareOthers(i int32) error {
	sent := model.Sent(&e.step)
	l, k, puts := e.lanes.at(i), len(sent), false
	named := len(l.named)
	for j := k - 1; j >= 0; j-- {
		d := &sent[j]
		x := message{bytes: e.moved, lane: i, conn: -1, peers: int32(k), post: -1}
		if d.Message() {
			named--
			x.conn = l.named[named]
			c := e.conns.at(x.conn)
			e.conns.take(c, e.lanes.at(i).end.T)
			x.route = c.route
		} else if err := e.silence(&x, d); err != nil {
			return err
		}
		puts = puts || x.kind == silent
		if d.Packet {
			x.flags |= packed
		}
		if d.Line {
			x.flags |= lined
		}
		if d.Relaxed {
			x.flags |= relaxed
		}
		if err := e.add(l, e.conns.add(x)); err != nil {
			return err
		}
	}
	if puts {
		e.conns.putsOut(i, e.moved)
	}
	return nil
}

// silence makes a message one of a destination that no lane receives.
func (e *engine) silence(x *message, d *schedule.Dest) (err error) {
	x.kind = silent
	if d.Team != nil {
		x.flags = multimem
		x.route, err = e.branches.route(x.lane, d.Team, model.Stores)
		return err
	}
	x.route = e.network.RouteTagged(e.lanes.at(x.lane).rank, d.Peer.Rank, d.Peer.Tag)
	return nil
}

// add puts a message before those that the lane's present step will send, and into its connection.
func (e *engine) add(l *lane, m int32) error {
	x := e.conns.message(m)
	if e.gpu != nil {
		x.pacer = e.gpu.pacerOf(x.lane)
	}
	if x.conn >= 0 && e.rendezvous.asks(e.conns.at(x.conn).class, x.bytes) {
		x.kind = request
	}
	if e.conns.hasFigures() {
		if err := e.conns.measure(m); err != nil {
			return fmt.Errorf("%s: %w", e.place(x.lane), err)
		}
	}
	if x.conn >= 0 {
		e.conns.enqueue(e.conns.at(x.conn), m)
	}
	x.also = l.sends
	l.sends = m
	return nil
}

// send lets the messages of the lane's present step ask for their first links.
func (e *engine) send(i int32, at model.Moment) {
	l := e.lanes.at(i)
	l.until = model.Later(l.until, at)
	e.report(stepSends, i, 0, at.T)
	for m := l.sends; m >= 0; {
		x := e.conns.message(m)
		next := x.also
		x.key = l.key
		l.key++
		e.enlist(m)
		if e.ahead.hasStreams() {
			e.ahead.enter(i, m, at)
		} else {
			l.pending++
			e.setOut(m, at)
		}
		m = next
	}
	l.sends = -1
}

// get lets the gets of the step in e.step ask their owners.
func (e *engine) get(i int32, at model.Moment) error {
	l, s := e.lanes.at(i), &e.step
	for k := range s.From {
		f, owner := &s.From[k], l.spot()
		x := message{kind: getRequest, lane: i, conn: -1, post: -1, key: l.key}
		if e.gpu != nil && e.gpu.pacerOf(i) == model.EnginePace {
			x.pacer = model.EnginePace
		}
		switch f.Kind {
		case schedule.Get:
			owner.Rank = int(f.Peer.Rank)
			x.route = e.network.RouteTagged(l.rank, f.Peer.Rank, f.Peer.Tag)
		case schedule.Multimem:
			route, err := e.branches.route(i, f.Team, model.LoadOf(s))
			if err != nil {
				return err
			}
			owner.Rank, x.route, x.flags = int(f.Team[0]), route, multimem
		default:
			continue
		}
		x.bytes = e.rules.SizeOf(owner, &f.Region)
		l.key++
		l.pending++
		e.totals.BytesSent += x.bytes
		m := e.conns.add(x)
		e.report(asksAfter, m, -1, at.T)
		if e.enlist(m); x.flags&multimem > 0 && !e.isFluid {
			e.branches.load(m, at)
		}
		e.setOut(m, at)
	}
	return nil
}

// completed continues a step when all that it waited for, after D, has left or come.
func (e *engine) completed(i int32) {
	l := e.lanes.at(i)
	if l.sends < 0 {
		e.finish(i)
		return
	}
	l.pending = 1 // what it sends had to be fetched first
	e.send(i, l.until)
	if l.pending--; l.pending == 0 {
		e.finish(i)
	}
}
