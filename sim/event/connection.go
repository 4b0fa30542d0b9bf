package event

import (
	"cmp"

	"collsim/schedule"
	"collsim/sim/internal/exchange"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// connection is a FIFO of messages from one lane to another.
type connection struct {
	src, dst int32 // lanes, among those of all ranks
	route    int32
	class    schedule.Class
	tag      int32
	slots    exchange.Slots
	queue    flat.Chain // messages that have been sent and not received
	stream   int32      // what it has to send, where lanes may run ahead of it
	logged   int32      // times of each message's links

	flowed unit.Bytes // the last size that flowed alone on its links, and how long that takes
	takes  unit.Time
}

// before puts connections in order.
func (c *connection) before(o *connection) bool {
	return cmp.Or(cmp.Compare(c.src, o.src), cmp.Compare(c.dst, o.dst),
		cmp.Compare(c.class, o.class), cmp.Compare(c.tag, o.tag)) < 0
}

// is reports whether a connection is the one between two lanes with the class and tag of a peer.
func (c *connection) is(src, dst int32, p *schedule.Peer) bool {
	return c.src == src && c.dst == dst && c.class == p.Class && c.tag == p.Tag
}

// connections holds the connections between lanes, their slots, and the messages that are on their
// way. What is over is used again, so that memory is that of what is in flight.
type connections struct {
	rules     *model.Rules
	list      []connection
	byLanes   flat.Table
	byTag     flat.Table
	marks     exchange.Marks // of slots
	messages  flat.Pool[message]
	mostAhead int // messages for which lanes go on before their time
	least     int // elements for which there is room at first
	figures
}

func newConnections(rules *model.Rules, lanes int) connections {
	cs := connections{rules: rules, byLanes: flat.NewTable(), byTag: flat.NewTable(),
		marks: exchange.NewMarks(lanes), messages: flat.NewPool[message](lanes), least: lanes}
	if rules.Device.HasMessage() {
		cs.late, cs.putLatency = []unit.Time{}, make([]unit.Time, lanes)
	}
	return cs
}

func (cs *connections) len() int32               { return int32(len(cs.list)) }
func (cs *connections) at(i int32) *connection   { return &cs.list[i] }
func (cs *connections) message(m int32) *message { return cs.messages.At(m) }

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
	c.queue, c.slots = flat.NewChain(), exchange.NewSlots(model.Slots(c.class, src.slots))
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

// slot returns since when the connection has a slot for the next message, where that is known.
func (cs *connections) slot(c *connection) (at model.Moment, known bool) {
	return c.slots.Next(&cs.marks)
}

// take uses a slot; there must be one. The last step of the lane that sends ended at a time.
func (cs *connections) take(c *connection, ended unit.Time) { c.slots.Take(&cs.marks, ended) }

// free makes a slot free from a moment on, and returns its number.
func (cs *connections) free(c *connection, at model.Moment) (slot int32) {
	return c.slots.Free(&cs.marks, at)
}

// writeSlots appends what decides when a connection has slots.
func (cs *connections) writeSlots(s []int64, c *connection, now unit.Time) []int64 {
	return c.slots.AppendState(&cs.marks, s, now)
}

// enqueue adds a message to its connection, and dequeue takes the first one out.
func (cs *connections) enqueue(c *connection, m int32)  { cs.messages.Append(&c.queue, m) }
func (cs *connections) dequeue(c *connection) (m int32) { return cs.messages.Pop(&c.queue) }

// next returns the message behind another of a connection, −1 for none.
func (cs *connections) next(m int32) int32 { return cs.messages.Next(m) }
