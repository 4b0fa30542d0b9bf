package fold

import (
	"collsim/schedule"
	"collsim/sim/internal/exchange"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// connectionKey names a connection: the lane that receives, and the rank and lane that send, as
// seen from the representative that receives.
type connectionKey struct {
	dst   int32
	rank  int32
	lane  int32
	class schedule.Class
	tag   int32
}

// connection is a FIFO of messages from one lane to another.
type connection struct {
	key      connectionKey
	src, dst int32 // lanes; src is that of its class
	route    int32 // from src's representative; −1 until it sends
	slots    exchange.Slots
	queue    flat.Chain // messages that have been sent and not received
	live     int32      // messages that have been sent and not received
}

// message is on its way from when it is sent until the step that receives it has ended.
type message struct {
	since   model.Moment // when it asked for its first link: D
	at      model.Moment // of arrival, once it is here
	bytes   unit.Bytes   // of its data
	carried unit.Bytes   // that cross the links
	late    unit.Time
	key     uint64 // at its first link
	lane    int32
	conn    int32
	route   int32
	peers   int32
	also    int32 // the next message that the same step sends, or has received
	isHere  bool
}

// resolve finds what a lane's present step does; what is the same in all iterations of a loop only
// once.
func (e *engine) resolve(i int32) {
	l := &e.lanes[i]
	p := e.programs[l.class]
	loop, _ := l.cursor.Around()
	key := [2]int32{i, l.cursor.Place()}
	if loop >= 0 {
		if a, ok := e.actionBy[key]; ok && a >= 0 {
			l.action = a
			return
		} else if !ok {
			e.actionBy[key] = -1
			if (p.Steady(&l.cursor) || e.repeats(l, loop)) && !awaits(p, &l.cursor) {
				l.action = e.newAction()
				e.actionBy[key] = l.action
				e.fill(i)
				return
			}
		}
	}
	if l.own < 0 {
		l.own = e.newAction()
	}
	l.action = l.own
	e.fill(i)
}

// repeats reports whether the innermost loop that a lane is in takes the same time in every
// iteration.
func (e *engine) repeats(l *lane, loop int32) bool {
	key := [3]int32{l.class, loop, l.index}
	known, ok := e.loops[key]
	if !ok {
		if e.loops == nil {
			e.loops = map[[3]int32]bool{}
		}
		known = schedule.EvenLoop(e.programs[l.class], &l.cursor, int(l.channel))
		e.loops[key] = known
	}
	return known
}

// awaits reports whether a step waits for events, whose numbers change from one iteration to the
// next.
func awaits(p *schedule.Program, c *schedule.Cursor) bool {
	var s schedule.Step
	p.Load(c, &s)
	return len(s.Await) > 0
}

func (e *engine) newAction() int32 {
	e.actions = append(e.actions, action{})
	return int32(len(e.actions) - 1)
}

// fill writes a lane's present step into its action.
func (e *engine) fill(i int32) {
	l := &e.lanes[i]
	a := &e.actions[l.action]
	e.programs[l.class].Load(&l.cursor, &a.step)
	a.receives, a.sends, a.sizes = a.receives[:0], a.sends[:0], a.sizes[:0]
	for k := range a.step.From {
		if f := &a.step.From[k]; f.Kind == schedule.Message {
			a.receives = append(a.receives, e.connect(connectionKey{i, f.Peer.Rank, f.Peer.Lane,
				f.Peer.Class, f.Peer.Tag}))
		}
	}
	for k := range a.step.Send {
		p := &a.step.Send[k].Peer
		class, element := e.sym.Place(p.Rank)
		me, mine := e.sym.Place(e.sym.Reps[l.class])
		c := e.connect(connectionKey{class*e.perRank + p.Lane,
			e.sym.Rank(me, e.sym.Sub(mine, element)), l.index, p.Class, p.Tag})
		if e.conns[c].route < 0 {
			e.conns[c].route = e.net.route(l.class, p.Rank)
		}
		a.sends = append(a.sends, c)
	}
}

// connect returns the connection of a key, which it makes on first use.
func (e *engine) connect(key connectionKey) int32 {
	if c, ok := e.connBy[key]; ok {
		return c
	}
	class, _ := e.sym.Place(key.rank)
	c := connection{key: key, src: class*e.perRank + key.lane, dst: key.dst, route: -1,
		queue: flat.NewChain(), slots: exchange.NewSlots(e.rules.Slots(key.class))}
	i := int32(len(e.conns))
	if n := len(e.freeConns); n > 0 {
		i, e.freeConns = e.freeConns[n-1], e.freeConns[:n-1]
		e.conns[i] = c
	} else {
		e.conns = append(e.conns, c)
	}
	e.connBy[key] = i
	return i
}

// fewConns are so few connections that all are kept.
const fewConns = 16

// forget lets go of the connections that are as if they had never been, now that nothing happens
// any more before a time: nothing is on its way, all slots have been free before, and no lane is at
// a step that names them. It is done when there are twice as many as were left the last time, so
// that an all_to_all takes memory for what is under way alone.
func (e *engine) forget(now unit.Time) {
	if len(e.connBy) < e.mostConns {
		return
	}
	named := make([]bool, len(e.conns))
	for _, c := range e.freeConns {
		named[c] = true
	}
	for i := range e.actions {
		for _, c := range e.actions[i].receives {
			named[c] = true
		}
		for _, c := range e.actions[i].sends {
			named[c] = true
		}
	}
	for i := range e.conns {
		c := &e.conns[i]
		if named[i] || c.live > 0 || !c.slots.AreFreeBefore(&e.marks, now) {
			continue
		}
		c.slots.Forget(&e.marks)
		if c.route >= 0 {
			e.net.forget(c.route)
		}
		delete(e.connBy, c.key)
		*c = connection{route: -1, queue: flat.NewChain()}
		e.freeConns = append(e.freeConns, int32(i))
	}
	e.forgotten++
	e.mostConns = max(fewConns, 2*len(e.connBy), len(e.conns))
}

// slot returns since when the connection has a slot for the next message, where that is known.
func (e *engine) slot(c *connection) (at model.Moment, known bool) { return c.slots.Next(&e.marks) }

// take uses that slot. The last step of the lane that sends ended at a time.
func (e *engine) take(c *connection, ended unit.Time) { c.slots.Take(&e.marks, ended) }

// release makes the slot of a received message free from a moment on, and forgets the message.
func (e *engine) release(m int32, at model.Moment) {
	conn := e.messages.At(m).conn
	c := &e.conns[conn]
	c.live--
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
	c := &e.conns[e.messages.At(m).conn]
	c.live++
	e.messages.Append(&c.queue, m)
}

// newMessage puts a message in use, and returns its number.
func (e *engine) newMessage(m message) int32 {
	m.also = -1
	i := e.messages.Put(m)
	if e.fair != nil {
		e.fair.Grow(e.messages.Len())
	}
	return i
}
