package event

import (
	"fmt"
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

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
	post   int32  // in the lane's queue of posts, −1 for none
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

// add puts a message in use, and returns its number.
func (cs *connections) add(m message) int32 {
	m.also = -1
	i := cs.messages.Put(m)
	if cs.hasFigures() {
		cs.setFigures(i, 0, 0)
	}
	return i
}

// reuse returns the number of a message that is not in use, −1 if there is none. Its fields and
// figures still have the values of its last use.
func (cs *connections) reuse() int32 { return cs.messages.Reuse() }

// grow returns the number of a message that never was in use.
func (cs *connections) grow() int32 { return cs.messages.Grow() }

// numbers returns how many messages have numbers, in use or not, and eachUnused visits the latter.
func (cs *connections) numbers() int                 { return cs.messages.Len() }
func (cs *connections) eachUnused(see func(m int32)) { cs.messages.EachFree(see) }

// drop takes a message out of use.
func (cs *connections) drop(m int32) { cs.messages.Drop(m) }

// carried returns the bytes of a message that cross the links: none for requests and answers.
func (cs *connections) carried(m int32) unit.Bytes {
	x := cs.messages.At(m)
	switch {
	case x.kind == data && x.flags == 0:
		return x.bytes
	case x.kind == getRequest || x.kind == loadRequest || x.kind == request || x.kind == answer:
		return 0
	}
	return cs.crossing(m)
}

// crossing returns the bytes that the data of a message take on the links, even while the message
// is only asked for.
func (cs *connections) crossing(m int32) unit.Bytes {
	x := cs.messages.At(m)
	switch {
	case x.flags&multimem > 0 && cs.rules.Device.MultimemEfficiency > 0:
		return cs.rules.OnSwitch(unit.Bytes(x.flags.framing().Wire(int64(x.bytes))))
	case x.flags&padded > 0:
		return cs.onLinks[m]
	}
	return unit.Bytes(x.flags.framing().Wire(int64(x.bytes)))
}

// wire returns the bytes that a message of n bytes takes on the links, with its device's figures
// and its framing.
func (cs *connections) wire(n unit.Bytes, framing schedule.Framing) unit.Bytes {
	if cs.late != nil {
		return model.OnLinks(cs.rules.Device.Of(n), n, framing)
	}
	return unit.Bytes(framing.Wire(int64(n)))
}

// framing returns what messages have on the links in addition to their data.
func (f messageFlags) framing() schedule.Framing {
	switch {
	case f&packed > 0:
		return schedule.Packets
	case f&lined > 0:
		return schedule.Lines
	}
	return schedule.Bare
}

// shift moves the times of all messages and marks on.
func (cs *connections) shift(by unit.Time) {
	for i := range cs.messages.Len() {
		x := cs.messages.At(int32(i))
		x.at.T, x.since.T = x.at.T+by, x.since.T+by
	}
	cs.marks.Shift(by)
}

// figures holds the device's figures of messages that depend on their size. It is empty for a
// device that has none.
type figures struct {
	late       []unit.Time  // of each message: latency on top of its links'
	onLinks    []unit.Bytes // of each message that is padded: what crosses the links
	putLatency []unit.Time  // of each lane: the longest of its silent puts so far
}

// measure gives a message that a lane puts out the figures of its size. It is an error if too many
// bytes cross the links.
func (cs *connections) measure(m int32) error {
	x := cs.messages.At(m)
	f := cs.rules.Device.Of(x.bytes)
	n := model.OnLinks(f, x.bytes, x.flags.framing())
	if n > model.MostOnLinks {
		return fmt.Errorf("a message of %v puts more on its links, at efficiency %v, than is counted",
			x.bytes, f.Efficiency)
	}
	if f.Efficiency > 0 {
		x.flags |= padded
	}
	late := f.Latency
	if model.FollowsPuts(x.kind == silent, x.flags&relaxed > 0) {
		late = max(late, cs.putLatency[x.lane])
	}
	cs.setFigures(m, late, n)
	return nil
}

// setFigures sets the figures of a message.
func (cs *connections) setFigures(m int32, late unit.Time, onLinks unit.Bytes) {
	for int(m) >= len(cs.late) {
		cs.late, cs.onLinks = append(cs.late, 0), append(cs.onLinks, 0)
	}
	cs.late[m], cs.onLinks[m] = late, onLinks
}

// figuresOf returns the figures of a message, and putLatencyOf the longest latency of a lane's
// silent puts so far.
func (cs *connections) figuresOf(m int32) (late unit.Time, onLinks unit.Bytes) {
	return cs.late[m], cs.onLinks[m]
}
func (cs *connections) putLatencyOf(lane int32) unit.Time { return cs.putLatency[lane] }

// arrives returns the moment when a message can be received whose last byte has come at another.
func (cs *connections) arrives(m int32, at model.Moment) model.Moment {
	if cs.late == nil {
		return at
	}
	return at.Plus(cs.late[m])
}

// hasFigures reports whether the device has figures of messages that depend on their size.
func (cs *connections) hasFigures() bool { return cs.late != nil }

// letAhead lets lanes go on before their time as long as there are no more messages than that.
func (cs *connections) letAhead(most int) { cs.mostAhead = most }

// mayGoAhead reports whether lanes may go on before their time: not where messages would pile up
// that are received far later.
func (cs *connections) mayGoAhead() bool {
	return cs.messages.HasFree() || cs.messages.Len() < cs.mostAhead
}

// putsOut remembers the latency of silent puts of n bytes: no later message of the lane that
// follows puts has less.
func (cs *connections) putsOut(lane int32, n unit.Bytes) {
	if cs.late != nil {
		cs.putLatency[lane] = max(cs.putLatency[lane], cs.rules.Device.Of(n).Latency)
	}
}

// anyLogged reports whether times of any connection's messages are written.
func (cs *connections) anyLogged() bool {
	return slices.ContainsFunc(cs.list, func(c connection) bool { return c.logged > 0 })
}

// isLogged reports whether times of a message are written: not where they follow from its links.
func (cs *connections) isLogged(x *message) bool { return x.conn < 0 || cs.at(x.conn).logged > 0 }
