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

// message is on its way from when it is sent until the step begins that receives it.
type message struct {
	since  model.Moment // when it asked for its first link: D
	at     model.Moment // of arrival, once it is here
	bytes  unit.Bytes   // of its data
	key    uint64       // at its first link
	lane   int32        // that sends, or that gets
	conn   int32        // −1 for what no lane receives: silent puts, gets and multimem
	route  int32
	peers  int32  // of its step, which share the lane's pace; 0 for what no lane paces
	post   int32  // mark in the lane's queue of posts, −1 for none
	next   int32  // in the connection, or of those that are free
	entry  uint32 // in the compact log, that its times belong to
	also   int32  // the next message of the same step
	kind   messageKind
	flags  messageFlags
	pacer  model.Pacer
	isHere bool
}

type messageFlags uint8

const (
	packed   messageFlags = 1 << iota // a flag beside every word: twice the bytes cross the links
	relaxed                           // it orders nothing
	queued                            // it stands in its lane's backlog
	gone                              // it has left its rank, though it stands there
	multimem                          // its route is one of multimem
	padded                            // its efficiency adds to what crosses the links
	buffered                          // its lane goes on before it has left
	lined                             // a flag in every line
)

type messageKind uint8

const (
	data        messageKind = iota // that a lane receives
	silent                         // a silent put or a multimem store
	getRequest                     // on its way to the owner
	getReply                       // a get's data
	request                        // of a large message, on its way to the receiver, or there
	answer                         // the receiver's, to that
	loadRequest                    // a multimem load's, under FIFO
	loadData                       // a multimem load's, under FIFO
	copying                        // inside of a device, over its memory
	computing                      // blocks of a kernel, over it
)

// mark is a moment in a list: a slot is free again, a post has left.
type mark struct {
	at    model.Moment
	next  int32
	known bool
}

// connect returns the connection between a lane and a peer, which it makes on first use. It tries
// the one that the lane used last in that direction first, without a look into the table.
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

// connection returns the connection between two lanes with the class and tag of a peer. Connections
// with a tag are found by the number of the connection without one, which is made for that if need
// be.
func (e *engine) connection(src, dst int32, p *schedule.Peer) int32 {
	key := uint64(src)<<33 | uint64(dst)<<2 | uint64(p.Class)
	i := e.connBy.Find(key)
	if i < 0 {
		i = e.newConnection(src, dst, p.Class)
		e.connBy.Put(key, i)
	}
	if p.Tag == 0 {
		return i
	}
	key = uint64(i)<<32 | uint64(uint32(p.Tag))
	if i = e.tagBy.Find(key); i < 0 {
		i = e.newConnection(src, dst, p.Class)
		e.conns[i].tag = p.Tag
		e.tagBy.Put(key, i)
	}
	return i
}

func (e *engine) newConnection(src, dst int32, class schedule.Class) int32 {
	c := connection{src: src, dst: dst, class: class, head: -1, tail: -1, freed: -1, last: -1,
		unused: model.Slots(class, e.lanes[src].slots),
		route:  e.network.Route(e.lanes[src].rank, e.lanes[dst].rank)}
	c.bounded = c.unused > 0
	if e.log.isOn() {
		c.logged = e.timesOn(c.route)
	}
	if e.ahead.streams != nil {
		c.stream = e.ahead.newStream(src, c.route)
	}
	e.conns = flat.Add(e.conns, c, len(e.lanes))
	if e.rendezvous.matches != nil {
		e.rendezvous.matches = append(e.rendezvous.matches, matching{first: -1, last: -1})
	}
	return int32(len(e.conns) - 1)
}

// slot says when the connection has a slot for the next message; not known where the receiver has
// not got so far.
func (e *engine) slot(c *connection) (at model.Moment, known bool) {
	switch {
	case !c.bounded || c.unused > 0:
		return model.Moment{}, true
	case c.free == 0:
		return model.Moment{}, false
	}
	return e.marks[c.freed].at, true
}

// take uses one of the free slots; there must be one. A slot that has been free since before the
// lane's last step ended is as good as one that was never used. It is taken first, so that the
// circle grows no larger than the number of messages in flight.
func (e *engine) take(c *connection) {
	switch {
	case !c.bounded:
	case c.unused > 0 && (c.free == 0 || e.marks[c.freed].at.T >= e.lanes[c.src].end.T):
		c.unused--
	default:
		c.freed = e.marks[c.freed].next
		c.free--
	}
}

// release makes the slot of a message that has been received free from a moment on.
func (e *engine) release(conn int32, at model.Moment) {
	c := &e.conns[conn]
	if !c.bounded {
		return
	}
	i := c.freed
	if c.last >= 0 {
		i = e.marks[c.last].next
	}
	if c.free > 0 && i == c.freed || i < 0 {
		i = e.addSlot(c)
	}
	e.marks[i].at = at
	c.last = i
	c.free++
	e.report(slotFreed, c.dst, i, at.T)
	if src := &e.lanes[c.src]; src.waits == forSlot && src.on == conn {
		e.wake(c.src)
	}
}

// addSlot makes the circle of a connection's free slots larger by one. None of its marks is
// available.
func (e *engine) addSlot(c *connection) int32 {
	i := e.newMark(model.Moment{}, true)
	if c.last < 0 {
		c.freed, e.marks[i].next = i, i
	} else {
		e.marks[i].next, e.marks[c.last].next = e.marks[c.last].next, i
	}
	return i
}

// enqueue adds a message to its connection.
func (e *engine) enqueue(c *connection, m int32) {
	if c.tail < 0 {
		c.head = m
	} else {
		e.messages[c.tail].next = m
	}
	c.tail = m
}

// dequeue takes the first message out of its connection.
func (e *engine) dequeue(c *connection) int32 {
	m := c.head
	if c.head = e.messages[m].next; c.head < 0 {
		c.tail = -1
	}
	return m
}

func (e *engine) newMessage(m message) int32 {
	m.next, m.also = -1, -1
	i := e.emptyMessage()
	e.messages[i] = m
	if e.late != nil {
		e.late[i] = 0
	}
	return i
}

// emptyMessage returns the number of a message that is not in use. Its fields and figures still
// have the values of its last use.
func (e *engine) emptyMessage() int32 {
	i := e.freeMessage
	if i < 0 {
		return e.addMessage()
	}
	e.freeMessage = e.messages[i].next
	return i
}

func (e *engine) addMessage() int32 {
	e.messages = flat.Add(e.messages, message{}, len(e.lanes))
	if e.late != nil {
		e.late, e.onLinks = append(e.late, 0), append(e.onLinks, 0)
	}
	if e.fair != nil {
		e.fair.Grow(cap(e.messages))
	}
	return int32(len(e.messages) - 1)
}

func (e *engine) dropMessage(m int32) {
	e.messages[m].next = e.freeMessage
	e.freeMessage = m
}

func (e *engine) newMark(at model.Moment, known bool) int32 {
	m := mark{at: at, known: known, next: -1}
	i := e.freeMark
	if i < 0 {
		e.marks = flat.Add(e.marks, m, len(e.lanes))
		return int32(len(e.marks) - 1)
	}
	e.freeMark = e.marks[i].next
	e.marks[i] = m
	return i
}

func (e *engine) dropMark(i int32) {
	e.marks[i].next = e.freeMark
	e.freeMark = i
}
