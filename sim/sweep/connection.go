package sweep

import (
	"collsim/schedule"
	"collsim/sim/internal/exchange"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// connection is a FIFO of messages from one lane to another.
type connection struct {
	src, dst int32 // lanes
	route    int32
	class    schedule.Class
	tag      int32
	slots    exchange.Slots
	queue    flat.Chain // messages that have been sent and not received
	column   int32      // its index in a period; −1: none
}

// message is a message from when it is sent until the step that receives it has ended.
type message struct {
	since   model.Moment // when it asked for its first link: D
	at      model.Moment // of arrival, if isHere
	bytes   unit.Bytes   // of its data
	carried unit.Bytes   // that cross the links
	late    unit.Time    // the latency of its size
	lane    int32        // that sends it
	conn    int32
	route   int32
	peers   int32 // of its step, which share the lane's pace
	isHere  bool
}

// connect returns the connection between a lane and a peer, and makes it at first use. The one that
// the lane used last in that direction is found without a lookup.
func (e *engine) connect(lane int32, p *schedule.Peer, out bool) int32 {
	l := &e.lanes[lane]
	src, dst, near := e.first[p.Rank]+p.Lane, lane, &l.in
	if out {
		src, dst, near = dst, src, &l.out
	}
	i := *near
	if i < 0 || e.conns[i].src != src || e.conns[i].dst != dst || e.conns[i].class != p.Class ||
		e.conns[i].tag != p.Tag {
		i = e.connection(src, dst, p)
		*near = i
	}
	return i
}

// connection returns the connection between two lanes with the class and the tag of a peer.
func (e *engine) connection(src, dst int32, p *schedule.Peer) int32 {
	return e.connBy.Find(src, dst, p, func(tag int32) int32 {
		return e.newConnection(src, dst, p.Class, tag)
	})
}

// newConnection makes a connection between two lanes.
func (e *engine) newConnection(src, dst int32, class schedule.Class, tag int32) int32 {
	from := &e.lanes[src]
	c := connection{src: src, dst: dst, class: class, tag: tag, column: -1,
		queue: flat.NewChain(), slots: exchange.NewSlots(e.rules.Slots(class)),
		route: e.network.Route(from.rank, e.lanes[dst].rank)}
	for _, on := range e.network.Hops[len(e.hops):] {
		e.hops = flat.Add(e.hops, e.link(on), len(e.lanes))
	}
	e.conns = flat.Add(e.conns, c, len(e.lanes))
	return int32(len(e.conns) - 1)
}

// slot returns since when the connection has a slot for the next message, where that is known.
func (e *engine) slot(c *connection) (at model.Moment, known bool) { return c.slots.Next(&e.marks) }

// take uses that slot. The last step of the lane that sends ended at a time.
func (e *engine) take(c *connection, ended unit.Time) { c.slots.Take(&e.marks, ended) }

// release makes the slot of a received message free from a moment on, and forgets the message.
func (e *engine) release(m int32, at model.Moment) {
	conn := e.messages.At(m).conn
	c := &e.conns[conn]
	if c.slots.IsBounded {
		c.slots.Free(&e.marks, at)
		if src := &e.lanes[c.src]; src.waits == forSlot && src.on == conn {
			e.wake(c.src)
		}
	}
	e.messages.Drop(m)
}

// enqueue adds a message to its connection.
func (e *engine) enqueue(m int32) {
	e.messages.Append(&e.conns[e.messages.At(m).conn].queue, m)
	e.waiting++
}

// dequeue removes the first message of a connection and returns it.
func (e *engine) dequeue(c *connection) int32 {
	e.waiting--
	return e.messages.Pop(&c.queue)
}

// arrived sets the arrival of a message, whose last byte has come over its last link at a moment.
func (e *engine) arrived(m int32, at model.Moment) {
	x := e.messages.At(m)
	x.at, x.isHere = at.Plus(x.late), true
	c := &e.conns[x.conn]
	if dst := &e.lanes[c.dst]; c.queue.First == m && dst.waits == forMessage && dst.on == x.conn {
		e.wake(c.dst)
	}
}
