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
	by        exchange.Index
	marks     exchange.Marks // of slots
	messages  flat.Pool[message]
	mostAhead int // messages for which lanes go on before their time
	least     int // elements for which there is room at first
	figures
}

func newConnections(rules *model.Rules, lanes int) connections {
	cs := connections{rules: rules, by: exchange.NewIndex(), marks: exchange.NewMarks(lanes),
		messages: flat.NewPool[message](lanes), least: lanes}
	if rules.Device.HasMessage() {
		cs.late, cs.putLatency = []unit.Time{}, make([]unit.Time, lanes)
	}
	return cs
}

func (cs *connections) len() int32               { return int32(len(cs.list)) }
func (cs *connections) at(i int32) *connection   { return &cs.list[i] }
func (cs *connections) message(m int32) *message { return cs.messages.At(m) }

// find returns the connection between two lanes with the class and tag of a peer: Index.Find.
func (cs *connections) find(src, dst int32, p *schedule.Peer, make func(tag int32) int32) int32 {
	return cs.by.Find(src, dst, p, make)
}

// connect adds a connection, and returns its number.
func (cs *connections) connect(c connection) int32 {
	cs.list = flat.Add(cs.list, c, cs.least)
	return cs.len() - 1
}

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
	return e.conns.find(src, dst, p, func(tag int32) int32 {
		return e.newConnection(connection{src: src, dst: dst, class: p.Class, tag: tag})
	})
}

// newConnection completes a connection and adds it.
func (e *engine) newConnection(c connection) int32 {
	src := e.lanes.at(c.src)
	c.queue, c.slots = flat.NewChain(), exchange.NewSlots(model.Slots(c.class, src.slots))
	c.route = e.network.RouteTagged(src.rank, e.lanes.at(c.dst).rank, c.tag)
	if e.log.isOn() {
		c.logged = e.links.timesOn(c.route)
	}
	if e.ahead.hasStreams() {
		c.stream = e.ahead.newStream(c.src, c.route)
	}
	e.rendezvous.connect()
	return e.conns.connect(c)
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
