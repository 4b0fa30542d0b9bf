package event

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// A link needs a queue to put those in order who ask for it. Where all that crosses it comes from
// one lane, or over one link before, it is asked in order anyway: then it carries at once whatever
// asks, long before its time may have come, and nobody waits in a queue. Under fluid sharing a lane
// that has a link for itself has one flow on it at a time, at a rate that is known from the
// beginning. Lanes so go on as far as is known, which is the same run: what happens follows from
// moments alone.

// origins notes, for each link, whether all that crosses it comes from one place or from several.
type origins struct {
	from  []int32
	first []int32 // the last step whose messages have it as their first link
	steps int32   // so far

	size      unit.Bytes // of all messages so far; −1: there were none
	isUnequal bool       // they are not all of that size, or it is not known
}

const (
	nowhere int32 = 0  // nothing crosses it
	several int32 = -1 // else 1 more than a lane, or (under FIFO) than lanes and a link before
)

// comes notes where something comes from that crosses a link.
func (o *origins) comes(link, from int32) {
	if o.from[link] == nowhere {
		o.from[link] = from
	} else if o.from[link] != from {
		o.from[link] = several
	}
}

// begins notes that a message of the present step begins on a link.
func (o *origins) begins(link int32) {
	if o.first[link] == o.steps {
		o.first[link] = several
	} else if o.first[link] != several {
		o.first[link] = o.steps
	}
}

// findSole finds the links that are asked in order. It does so only if nothing but two-sided
// messages crosses links, and if the programs describe all messages without a walk through their
// loops. Where switches store messages, the last byte may come in another order. But messages of
// one size, from lanes without a pace of their own, at least never wait for such a link.
func (e *engine) findSole() {
	stores := e.rules.Switching == model.StoreForward
	if !e.repeats.isOn || e.rules.HasMemory() || stores && !e.storesAlike() {
		return
	}
	o := origins{from: make([]int32, len(e.links)), first: make([]int32, len(e.links)), size: -1}
	if !e.eachWritten(func(lane int32, isSame bool) bool {
		return e.findOrigins(&o, lane, isSame)
	}) || stores && o.isUnequal {
		return
	}
	for i := range e.links {
		l := &e.links[i]
		l.isSole = o.from[i] > nowhere
		l.isPrompt = l.isSole && e.isPrompt(&o, i)
		l.isSole = l.isSole && e.rules.Segment == 0 && !stores
		e.isAhead, e.hasPrompt = e.isAhead || l.isSole, e.hasPrompt || l.isPrompt
	}
	e.mostAhead = 4*len(e.lanes) + 1<<12
}

// storesAlike reports whether messages that switches store may all be of one size, and come as soon
// as their last link has carried them.
func (e *engine) storesAlike() bool {
	s := e.rules.Schedule
	if e.rules.Segment > 0 || e.rules.Device.LaneRate != unit.Unlimited || !s.SameSizes() {
		return false
	}
	for b := range schedule.Buffer(s.Buffers()) {
		if !s.EvenBlocks(b) {
			return false
		}
	}
	return true
}

// compares notes the size of what a lane's step sends, slice by slice.
func (e *engine) compares(o *origins, lane int32) {
	l := &e.lanes[lane]
	for slice := range l.slices {
		where := l.spot()
		where.Slice = int(slice)
		moved, known := e.rules.Size(where, &e.step)
		for k := range e.step.Send {
			n := unit.Bytes(e.step.Send[k].Framing().Wire(int64(moved)))
			if o.size < 0 {
				o.size = n
			}
			o.isUnequal = o.isUnequal || !known || n != o.size
		}
	}
}

// eachWritten visits the steps of all lanes as they are written: Program.Written.
func (e *engine) eachWritten(see func(lane int32, isSame bool) bool) bool {
	for rank, p := range e.programs {
		for i := range p.Lanes() {
			lane := e.first[rank] + int32(i)
			if !p.Written(i, &e.step, func(_ int64, isSame bool) bool { return see(lane, isSame) }) {
				return false
			}
		}
	}
	return true
}

// isPacedBy reports whether a link alone, the first on a way, says when one segment has left and
// the next asks for it.
func (e *engine) isPacedBy(link int32, path *model.Route) bool {
	return e.rules.Device.LaneRate == unit.Unlimited && path.Slowest == e.links[link].Bandwidth
}

// isPrompt reports whether nobody ever waits for a link that is asked in order, under FIFO: a lane
// has sent nothing else over it at a time, and has been held until that had left, or else the link
// before has taken as long for each message.
func (e *engine) isPrompt(o *origins, link int) bool {
	before := o.from[link] - int32(len(e.lanes)) - 1
	switch {
	case before >= 0 && e.rules.Segment > 0: // may take a picosecond more or less on another
		return e.links[link].Bandwidth == e.links[before].Bandwidth
	case before >= 0:
		return e.links[link].Bandwidth >= e.links[before].Bandwidth
	}
	return o.first[link] != several
}

// findOrigins notes where the messages of e.step, of a lane, come to their links from. It is false
// where that is not known.
func (e *engine) findOrigins(o *origins, lane int32, isSame bool) bool {
	s := &e.step
	o.steps++
	if e.gets() > 0 || !isSame && len(s.Send) > 0 {
		return false
	}
	if e.rules.Switching == model.StoreForward && len(s.Send) > 0 {
		e.compares(o, lane)
	}
	for k := range s.Send {
		d := &s.Send[k]
		if !d.Message() {
			return false
		}
		from := lane + 1
		path := &e.network.Routes[e.network.Route(e.lanes[lane].rank, d.Peer.Rank)]
		for hop, on := range e.network.LinksOf(path) {
			if hop == 0 {
				o.begins(on)
			}
			if hop == 0 && e.rules.Segment > 0 && !e.isPacedBy(on, path) {
				o.first[on] = several
			}
			if e.isFluid && len(s.Send) > 1 { // they may meet
				from = several
			}
			if o.comes(on, from); !e.isFluid {
				from = int32(len(e.lanes)) + on + 1
			}
		}
	}
	return true
}

// mayGoAhead reports whether lanes may go on before their time: not where messages would pile up
// that are received far later.
func (e *engine) mayGoAhead() bool {
	return e.freeMessage >= 0 || len(e.messages) < e.mostAhead
}

// isAlone reports whether a flow is alone on its links as long as it lasts.
func (e *engine) isAlone(path *model.Route) bool {
	for _, on := range e.network.LinksOf(path) {
		if !e.links[on].isSole {
			return false
		}
	}
	return true
}

// flowAlone lets a message flow from a moment on that is alone on its links. It does not where that
// would have no rate.
func (e *engine) flowAlone(m int32, at model.Moment, n unit.Bytes) bool {
	x := &e.messages[m]
	path := &e.network.Routes[x.route]
	if !e.mayGoAhead() || !e.isAlone(path) {
		return false
	}
	left, ok := e.drainedAlone(&e.conns[x.conn], e.lanes[x.lane].rank, n, at)
	if ok {
		e.left(m, left)
		e.arrived(m, left.Plus(path.Latency))
	}
	return ok
}

// drainedAlone returns the moment when n bytes of a rank have left that begin to flow at a moment,
// alone on their links. It is not ok where they have no rate.
func (e *engine) drainedAlone(c *connection, rank int32, n unit.Bytes, at model.Moment) (
	left model.Moment, ok bool) {
	if c.flowed != n {
		takes, ok := e.rules.Alone(rank, 1, e.network.Routes[c.route].Slowest, n)
		if !ok {
			return left, false
		}
		c.flowed, c.takes = n, takes
	}
	e.spent.begun++
	e.spent.ended++
	return model.Moment{T: min(at.T+c.takes, unit.Forever)}, true
}

// crossesAlone reports whether messages of a rank's step that is kept are alone on all links of a
// connection, and get across.
func (e *engine) crossesAlone(rank int32, c *connection, of *resolved) bool {
	path := &e.network.Routes[c.route]
	for i := range of.sizes {
		n := of.wire(of.sizes[i].bytes)
		if !e.isFluid || !path.IsShared(n) {
			continue
		}
		if _, ok := e.rules.Alone(rank, 1, path.Slowest, n); !ok {
			return false
		}
	}
	return e.isAlone(path)
}

// cross lets n bytes of a message, one of so many of a step, cross the links of its connection from
// a moment on: when it has left and when it has come.
func (e *engine) cross(m int32, c *connection, n unit.Bytes, peers int32, at model.Moment) (
	left, came model.Moment) {
	path, put := &e.network.Routes[c.route], unit.Time(0)
	if e.rules.Device.LaneRate != unit.Unlimited {
		put = e.rules.Pace(path.Src, peers, n)
	}
	if e.isFluid {
		for _, on := range e.network.LinksOf(path) {
			e.links[on].load += n
		}
		if left = at.Plus(put); path.IsShared(n) {
			left, _ = e.drainedAlone(c, path.Src, n, at)
		}
		return left, left.Plus(path.Latency)
	}
	since, entry := at, uint32(0)
	isLogged := e.log.isOn() && (c.logged > 0 || e.log.byWay)
	if isLogged {
		e.enlistOf(m)
		entry = e.messages[m].entry
	}
	for hop, on := range e.network.LinksOf(path) {
		l := &e.links[on]
		takes := l.Over(n)
		start, over := l.serve(at, n, takes)
		if isLogged && !l.isPrompt && (start.T > at.T || hop >= int(aPacket.ownKinds())) {
			entry = e.log.write(aPacket.on(int32(hop)), entry, start.T)
		}
		if hop == 0 {
			came = model.PutOut(start, since, false, 0, put)
			if path.Slowest != l.Bandwidth {
				takes = l.slowest(path, n)
			}
			left = model.Leaves(start, 0, max(put, takes))
		}
		at, came = e.rules.Switching.Forward(start, model.Later(over, came), l.Latency)
	}
	return left, came
}
