package cuda

import (
	"cmp"
	"context"

	"collsim/hw"
	"collsim/schedule"
)

// A connection holds the planned messages between two lanes.
type connection struct {
	hw.Connection
	messages         []message
	free             []place // places of earlier messages, for reuse
	held             int     // messages that have not been received
	sender, receiver *lane   // waiting lanes
}

// A message is in flight; its event completes when its bytes are in place.
type message struct {
	place
	bytes int64
}

// A place is memory of the receiver's GPU for a message. Its event completes when it was filled, or
// when it was read. Between machines it is memory of both hosts (mail.go).
type place struct {
	run
	event    int
	host     []byte // this machine's host memory, for a message between machines
	crossing int    // number of the crossing that carries the event; 0: none is needed
}

// issue plans all steps of a repetition.
func (p *execution) issue() error {
	for {
		if err := context.Cause(p.ctx); err != nil {
			return err
		}
		l, err := p.next()
		if err != nil {
			return err
		}
		if l == nil {
			return p.stuck()
		}
		if err := p.advance(l); err != nil {
			return err
		}
		p.moved.Add(1)
	}
}

// stuck returns the error of a schedule that cannot proceed, or that leaves messages unreceived. It
// returns nil if all lanes have ended.
func (p *execution) stuck() error {
	var waits []schedule.Waiting
	for _, l := range p.all {
		if l.cursor.Done() {
			continue
		}
		l.program.Load(&l.cursor, &p.step)
		w := p.wants(l)
		waits = append(waits, schedule.Waiting{Rank: l.rank.number, Lane: l.index,
			Step: int(l.cursor.Step), Name: p.step.Name(), Chunk: p.step.Chunk(), For: w.what,
			OnRank: w.rank, OnLane: w.lane})
	}
	if len(waits) > 0 {
		e := hw.Stalled(waits, 0, p.slots(p.all[0]))
		e.Code, e.Text = "stall", "nothing more can be issued"
		return e
	}
	var left *connection
	for _, c := range p.connections {
		if c.held > 0 && (left == nil || compare(&c.Connection, &left.Connection) < 0) {
			left = c
		}
	}
	if left != nil {
		return hw.Malformed(int(left.From), int(left.FromLane), -1,
			"%d messages to rank %d lane %d are never received", left.held, left.To, left.ToLane)
	}
	return nil
}

// compare orders connections.
func compare(a, b *hw.Connection) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.FromLane, b.FromLane),
		cmp.Compare(a.To, b.To), cmp.Compare(a.ToLane, b.ToLane), cmp.Compare(a.Class, b.Class),
		cmp.Compare(a.Tag, b.Tag))
}

// connection returns the state of a connection, and creates it if necessary.
func (p *execution) connection(c hw.Connection) *connection {
	one, there := p.connections[c]
	if !there {
		one = &connection{Connection: c}
		p.connections[c] = one
	}
	return one
}

// advance plans the next sub-step of a lane, if everything that it waits for has been planned.
// Lanes take turns.
func (p *execution) advance(l *lane) error {
	if l.cursor.Done() {
		return p.ended(l)
	}
	l.program.Load(&l.cursor, &p.step)
	switch w := p.wants(l); w.what {
	case aMessage:
		w.connection.receiver = l
		return nil
	case aSlot:
		w.connection.sender = l
		return nil
	case anEvent:
		l.rank.waiting = append(l.rank.waiting, l)
		return nil
	}
	if err := p.perform(l); err != nil {
		return p.of(err, l.rank.number, l.index, int(l.cursor.Step))
	}
	if p.step.Post && l.cursor.Last(l.slices) {
		l.posts = append(l.posts, l.last())
		p.ready = append(p.ready, l.rank.waiting...)
		l.rank.waiting = nil
	}
	l.cursor.Next(l.slices)
	p.ready = append(p.ready, l)
	return nil
}

// ended handles a lane at the end of its program; the last one of a rank begins the next iteration.
func (p *execution) ended(l *lane) error {
	one := l.rank
	if one.left--; one.left > 0 {
		return nil
	}
	if one.round++; one.round == p.env.Iterations {
		return nil
	}
	return p.again(one)
}

// Dependencies of a lane.
const (
	nothing  = ""
	aMessage = "a message"
	aSlot    = "a slot"
	anEvent  = "an event"
)

// A want is an unmet dependency on a lane; for a message or a slot, on a connection.
type want struct {
	what       string
	rank, lane int
	connection *connection
	// cut reports that the dependency is planned, but on another machine in the same graph. A graph
	// is launched as a whole, so it must be cut: it must not wait for its own successor.
	cut bool
}

// wants returns the first dependency of the loaded step that has not been planned.
func (p *execution) wants(l *lane) want {
	cut := false
	for i := range p.step.From {
		f := &p.step.From[i]
		if f.Kind != schedule.Message {
			continue
		}
		before := 0
		for j := range p.step.From[:i] {
			if o := &p.step.From[j]; o.Kind == schedule.Message && o.Peer == f.Peer {
				before++
			}
		}
		c := p.connection(from(l, &f.Peer))
		if len(c.messages) <= before {
			return want{what: aMessage, rank: int(c.From), lane: int(c.FromLane), connection: c}
		}
		cut = cut || p.inGraph(c, c.messages[before].event)
	}
	for i := range p.step.Send {
		d := &p.step.Send[i]
		if !d.Message() {
			continue
		}
		c := p.connection(to(l, &d.Peer))
		slots := c.Limit(p.slots(l))
		if slots > 0 && c.held >= slots {
			return want{what: aSlot, rank: int(c.To), lane: int(c.ToLane), connection: c}
		}
		for i := range c.free {
			cut = cut || slots > 0 && p.inGraph(c, c.free[i].event)
		}
	}
	if l.cursor.Slice() > 0 {
		return want{cut: cut}
	}
	for _, e := range p.step.Await {
		if int32(len(l.rank.lanes[e.Lane].posts)) < e.Value {
			return want{what: anEvent, rank: l.rank.number, lane: int(e.Lane)}
		}
	}
	return want{cut: cut}
}

// slots returns how many messages a FIFO connection from a lane buffers; 0 is any number.
func (p *execution) slots(l *lane) int {
	if n := l.program.Slots(l.index); n > 0 {
		return n
	}
	return p.env.Slots
}

// from returns a lane's connection from a peer.
func from(l *lane, p *schedule.Peer) hw.Connection {
	return hw.ConnectionFrom(l.rank.number, l.index, p)
}

// to returns a lane's connection to a peer.
func to(l *lane, p *schedule.Peer) hw.Connection {
	return hw.ConnectionTo(l.rank.number, l.index, p)
}
