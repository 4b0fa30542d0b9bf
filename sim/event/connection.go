package event

import (
	"cmp"

	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// connection is a FIFO of messages from one lane to another.
type connection struct {
	src, dst   int32 // lanes, among those of all ranks
	route      int32
	class      schedule.Class
	bounded    bool
	tag        int32
	head, tail int32 // messages, −1 for none
	// unused counts the slots that were never used, and free those that are free again after use.
	// The latter form a circle of marks, in order, from freed to last; each mark says since when
	// its slot is free.
	unused, free int32
	freed, last  int32
	stream       int32 // what it has to send, where lanes may run ahead of it
	logged       int32 // times of each message's links

	flowed unit.Bytes // the last size that flowed alone on its links, and how long that takes
	takes  unit.Time
}

// before puts connections in order.
func (c *connection) before(o *connection) bool {
	return cmp.Or(cmp.Compare(c.src, o.src), cmp.Compare(c.dst, o.dst),
		cmp.Compare(c.class, o.class), cmp.Compare(c.tag, o.tag)) < 0
}

// mark is a moment in a list: a slot is free again, a post has left.
type mark struct {
	at    model.Moment
	next  int32
	known bool
}

// is reports whether a connection is the one between two lanes with the class and tag of a peer.
func (c *connection) is(src, dst int32, p *schedule.Peer) bool {
	return c.src == src && c.dst == dst && c.class == p.Class && c.tag == p.Tag
}

// connections holds the connections between lanes, their slots, and the messages that are on their
// way. What is over is used again, so that memory is that of what is in flight.
type connections struct {
	rules       *model.Rules
	list        []connection
	byLanes     flat.Table
	byTag       flat.Table
	marks       []mark
	freeMark    int32
	messages    []message
	freeMessage int32
	mostAhead   int // messages for which lanes go on before their time
	least       int // elements for which there is room at first
	figures
}

func newConnections(rules *model.Rules, lanes int) connections {
	cs := connections{rules: rules, byLanes: flat.NewTable(), byTag: flat.NewTable(), freeMark: -1,
		freeMessage: -1, least: lanes}
	if rules.Device.HasMessage() {
		cs.late, cs.putLatency = []unit.Time{}, make([]unit.Time, lanes)
	}
	return cs
}

func (cs *connections) len() int32               { return int32(len(cs.list)) }
func (cs *connections) at(i int32) *connection   { return &cs.list[i] }
func (cs *connections) mark(i int32) *mark       { return &cs.marks[i] }
func (cs *connections) message(m int32) *message { return &cs.messages[m] }

// connect adds a connection, and returns its number. Connections with a tag are found by the number
// of the one without, of.
func (cs *connections) connect(c connection, of int32) int32 {
	i := cs.len()
	if c.tag == 0 {
		cs.byLanes.Put(keyOf(c.src, c.dst, c.class), i)
	} else {
		cs.byTag.Put(tagKey(of, c.tag), i)
	}
	cs.list = flat.Add(cs.list, c, cs.least)
	return i
}

// between returns the connection between two lanes without a tag, and tagged the one of another
// with a tag; −1 if there is none yet.
func (cs *connections) between(src, dst int32, class schedule.Class) int32 {
	return cs.byLanes.Find(keyOf(src, dst, class))
}
func (cs *connections) tagged(of, tag int32) int32 { return cs.byTag.Find(tagKey(of, tag)) }

func keyOf(src, dst int32, class schedule.Class) uint64 {
	return uint64(src)<<33 | uint64(dst)<<2 | uint64(class)
}
func tagKey(of, tag int32) uint64 { return uint64(of)<<32 | uint64(uint32(tag)) }

// connect returns the connection between a lane and a peer, which it makes on first use. It tries
// the one that the lane used last in that direction first, without a look into the table.
func (e *engine) connect(lane int32, p *schedule.Peer, out bool) int32 {
	l := e.lanes.at(lane)
	src, dst, near := e.first[p.Rank]+p.Lane, lane, &l.in
	if out {
		src, dst, near = dst, src, &l.out
	}
	i := *near
	if i < 0 || !e.conns.at(i).is(src, dst, p) {
		i = e.connection(src, dst, p)
		*near = i
	}
	return i
}

// connection returns the connection between two lanes with the class and tag of a peer.
func (e *engine) connection(src, dst int32, p *schedule.Peer) int32 {
	i := e.conns.between(src, dst, p.Class)
	if i < 0 {
		i = e.newConnection(connection{src: src, dst: dst, class: p.Class}, -1)
	}
	if p.Tag == 0 {
		return i
	}
	tagged := e.conns.tagged(i, p.Tag)
	if tagged < 0 {
		tagged = e.newConnection(connection{src: src, dst: dst, class: p.Class, tag: p.Tag}, i)
	}
	return tagged
}

// newConnection completes a connection, which may be a tagged one of another, and adds it.
func (e *engine) newConnection(c connection, of int32) int32 {
	src := e.lanes.at(c.src)
	c.head, c.tail, c.freed, c.last = -1, -1, -1, -1
	c.unused = model.Slots(c.class, src.slots)
	c.bounded = c.unused > 0
	c.route = e.network.Route(src.rank, e.lanes.at(c.dst).rank)
	if e.log.isOn() {
		c.logged = e.links.timesOn(c.route)
	}
	if e.ahead.hasStreams() {
		c.stream = e.ahead.newStream(c.src, c.route)
	}
	e.rendezvous.connect()
	return e.conns.connect(c, of)
}

// slot says when the connection has a slot for the next message; not known where the receiver has
// not got so far.
func (cs *connections) slot(c *connection) (at model.Moment, known bool) {
	switch {
	case !c.bounded || c.unused > 0:
		return model.Moment{}, true
	case c.free == 0:
		return model.Moment{}, false
	}
	return cs.marks[c.freed].at, true
}

// take uses one of the free slots; there must be one. A slot that has been free since before the
// lane's last step ended is as good as one that was never used. It is taken first, so that the
// circle grows no larger than the number of messages in flight.
func (cs *connections) take(c *connection, ended unit.Time) {
	switch {
	case !c.bounded:
	case c.unused > 0 && (c.free == 0 || cs.marks[c.freed].at.T >= ended):
		c.unused--
	default:
		c.freed = cs.marks[c.freed].next
		c.free--
	}
}

// free makes one more slot of a connection free from a moment on, and returns its mark.
func (cs *connections) free(c *connection, at model.Moment) (slot int32) {
	i := c.freed
	if c.last >= 0 {
		i = cs.marks[c.last].next
	}
	if c.free > 0 && i == c.freed || i < 0 {
		i = cs.addSlot(c)
	}
	cs.marks[i].at = at
	c.last = i
	c.free++
	return i
}

// addSlot makes the circle of a connection's free slots larger by one. None of its marks is
// available.
func (cs *connections) addSlot(c *connection) int32 {
	i := cs.newMark(model.Moment{}, true)
	if c.last < 0 {
		c.freed, cs.marks[i].next = i, i
	} else {
		cs.marks[i].next, cs.marks[c.last].next = cs.marks[c.last].next, i
	}
	return i
}

// enqueue adds a message to its connection.
func (cs *connections) enqueue(c *connection, m int32) {
	if c.tail < 0 {
		c.head = m
	} else {
		cs.messages[c.tail].next = m
	}
	c.tail = m
}

// dequeue takes the first message out of its connection.
func (cs *connections) dequeue(c *connection) int32 {
	m := c.head
	if c.head = cs.messages[m].next; c.head < 0 {
		c.tail = -1
	}
	return m
}

func (cs *connections) newMark(at model.Moment, known bool) int32 {
	m := mark{at: at, known: known, next: -1}
	i := cs.freeMark
	if i < 0 {
		cs.marks = flat.Add(cs.marks, m, cs.least)
		return int32(len(cs.marks) - 1)
	}
	cs.freeMark = cs.marks[i].next
	cs.marks[i] = m
	return i
}

func (cs *connections) dropMark(i int32) {
	cs.marks[i].next = cs.freeMark
	cs.freeMark = i
}
