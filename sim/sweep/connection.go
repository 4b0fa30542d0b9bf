package sweep

import (
	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// connection is a FIFO of messages from one lane to another.
type connection struct {
	src, dst   int32 // lanes
	route      int32
	class      schedule.Class
	bounded    bool // it has a limited number of slots
	tag        int32
	head, tail int32 // messages, −1 for none
	// unused counts the slots that were never used. The list of marks from freed to last has, in
	// order, the moments from which used slots are free again.
	unused      int32
	freed, last int32
	column      int32 // its index in a period; −1: none
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
	next    int32 // in the connection, or in the list of unused entries
	isHere  bool
}

// mark is an entry of a list: the moment from which a slot is free again.
type mark struct {
	at   model.Moment
	next int32
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
// Connections with a tag are found by the number of the one without a tag, which is made for that
// if need be.
func (e *engine) connection(src, dst int32, p *schedule.Peer) int32 {
	key := uint64(src)<<33 | uint64(dst)<<2 | uint64(p.Class)
	i := e.connBy.Find(key)
	if i < 0 {
		i = e.newConnection(src, dst, p)
		e.conns[i].tag = 0
		e.connBy.Put(key, i)
	}
	if p.Tag == 0 {
		return i
	}
	key = uint64(i)<<32 | uint64(uint32(p.Tag))
	if i = e.tagBy.Find(key); i < 0 {
		i = e.newConnection(src, dst, p)
		e.tagBy.Put(key, i)
	}
	return i
}

// newConnection makes a connection between two lanes.
func (e *engine) newConnection(src, dst int32, p *schedule.Peer) int32 {
	from := &e.lanes[src]
	c := connection{src: src, dst: dst, class: p.Class, tag: p.Tag, head: -1, tail: -1, freed: -1,
		last: -1, column: -1, unused: e.rules.Slots(p.Class),
		route: e.network.Route(from.rank, e.lanes[dst].rank)}
	c.bounded = c.unused > 0
	for _, on := range e.network.Hops[len(e.hops):] {
		e.hops = flat.Add(e.hops, e.link(on), len(e.lanes))
	}
	e.conns = flat.Add(e.conns, c, len(e.lanes))
	return int32(len(e.conns) - 1)
}

// slot returns when the connection has a slot for the next message. It is not known before the
// receiver has freed one.
func (e *engine) slot(c *connection) (at model.Moment, known bool) {
	switch {
	case !c.bounded || c.unused > 0:
		return model.Moment{}, true
	case c.freed < 0:
		return model.Moment{}, false
	}
	return e.marks[c.freed].at, true
}

// take uses the slot that slot has found.
func (e *engine) take(c *connection) {
	switch {
	case !c.bounded:
	case c.unused > 0:
		c.unused--
	default:
		i := c.freed
		if c.freed = e.marks[i].next; c.freed < 0 {
			c.last = -1
		}
		e.marks[i].next = e.freeMark
		e.freeMark = i
	}
}

// free adds a slot that is free from a moment on.
func (e *engine) free(c *connection, at model.Moment) {
	i := e.freeMark
	if i < 0 {
		i = int32(len(e.marks))
		e.marks = flat.Add(e.marks, mark{}, len(e.lanes))
	} else {
		e.freeMark = e.marks[i].next
	}
	e.marks[i] = mark{at, -1}
	if c.last < 0 {
		c.freed = i
	} else {
		e.marks[c.last].next = i
	}
	c.last = i
}

// release frees the slot of a received message at a moment, and the message's entry.
func (e *engine) release(m int32, at model.Moment) {
	conn := e.messages[m].conn
	if c := &e.conns[conn]; c.bounded {
		e.free(c, at)
		if src := &e.lanes[c.src]; src.waits == forSlot && src.on == conn {
			e.wake(c.src)
		}
	}
	e.messages[m].next = e.freeMessage
	e.freeMessage = m
}

// enqueue adds a message to its connection.
func (e *engine) enqueue(m int32) {
	c := &e.conns[e.messages[m].conn]
	if c.tail < 0 {
		c.head = m
	} else {
		e.messages[c.tail].next = m
	}
	c.tail = m
	e.waiting++
}

// dequeue removes the first message of a connection and returns it.
func (e *engine) dequeue(c *connection) int32 {
	m := c.head
	if c.head = e.messages[m].next; c.head < 0 {
		c.tail = -1
	}
	e.waiting--
	return m
}

// newMessage stores a message and returns its index.
func (e *engine) newMessage(m message) int32 {
	m.next = -1
	i := e.freeMessage
	if i < 0 {
		e.messages = flat.Add(e.messages, m, len(e.lanes))
		return int32(len(e.messages) - 1)
	}
	e.freeMessage = e.messages[i].next
	e.messages[i] = m
	return i
}

// arrived sets the arrival of a message, whose last byte has come over its last link at a moment.
func (e *engine) arrived(m int32, at model.Moment) {
	x := &e.messages[m]
	x.at, x.isHere = at.Plus(x.late), true
	c := &e.conns[x.conn]
	if dst := &e.lanes[c.dst]; c.head == m && dst.waits == forMessage && dst.on == x.conn {
		e.wake(c.dst)
	}
}
