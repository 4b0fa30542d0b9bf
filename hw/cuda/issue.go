package cuda

import (
	"cmp"
	"context"
	"fmt"

	"collsim/hw"
	"collsim/schedule"
)

// connection is what is on its way between two lanes, as far as it is planned.
type connection struct {
	hw.Connection
	messages         []message
	free             []place // that a message was in, and may be again
	held             int     // messages that nobody has received
	sender, receiver *lane   // who waits
}

// message is one on its way: it is there when its event comes.
type message struct {
	place
	bytes int64
}

// place is memory of the receiver's GPU that is for messages, and the event that comes when
// it is filled, or when it was read. Between machines it is memory of both hosts (mail.go).
type place struct {
	run
	event    int
	host     []byte // of this machine, if it is for messages between that and another
	crossing int    // by which the other machine hears of the event; 0: it need not
}

// issue plans all that a repetition does.
func (p *execution) issue() error {
	for {
		if err := context.Cause(p.ctx); err != nil {
			return fmt.Errorf("cuda: %w", err)
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

// stuck says what a schedule that cannot go on waits for, nil if all lanes have ended.
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

// connection is the one of that name.
func (p *execution) connection(c hw.Connection) *connection {
	one, there := p.connections[c]
	if !there {
		one = &connection{Connection: c}
		p.connections[c] = one
	}
	return one
}

// advance issues the next sub-step of a lane, if the host has issued all that it waits for. Lanes
// take turns.
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

// ended is what happens when a lane has come to the end of its program.
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

// What a lane may want.
const (
	nothing  = ""
	aMessage = "a message"
	aSlot    = "a slot"
	anEvent  = "an event"
)

// want is what a lane wants, of which lane; of a message or a slot, on which connection.
type want struct {
	what       string
	rank, lane int
	connection *connection
	// cut is set where all is issued, but on another machine by the graph that is planned: a graph
	// is launched as a whole, so that it must not wait for what waits for it.
	cut bool
}

// wants is the first thing that the step in p.step wants and that the host has not issued.
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

// slots is how many messages a connection of class FIFO holds from a lane; 0 is any number.
func (p *execution) slots(l *lane) int {
	if n := l.program.Slots(l.index); n > 0 {
		return n
	}
	return p.env.Slots
}

// from and to are the connections of a lane with a peer.
func from(l *lane, p *schedule.Peer) hw.Connection {
	return hw.ConnectionFrom(l.rank.number, l.index, p)
}

func to(l *lane, p *schedule.Peer) hw.Connection {
	return hw.ConnectionTo(l.rank.number, l.index, p)
}
