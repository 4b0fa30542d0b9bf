package event

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// tape is the log of a run as it is written: of each sub-step when it started, and under FIFO when
// each link on the way of what it sends began to carry that, unless it did so at once because
// nobody ever waits for it; under fluid sharing when that had left, unless it was alone on its
// links. All else follows from these times, and is worked out when the log is read (read.go). The
// times of a sub-step lie one after the other on a strip of its lane, so a lane knows where its
// next ones belong. More is written where messages are one-sided or asked for, or lanes go on
// before they have left (tapeway.go), and of brackets and kernels, which are few (tapegpu.go).
//
// Of each time there is the lower half: it is the first that has this half from a time on that is
// known, which is when the lane's sub-step before started, or when the message asked for its first
// link. Those that come 2³² ps later or more, about 4 ms, are written once more, as a whole.
type tape struct {
	times  [][]uint32 // in pieces, so that nothing is copied on the way
	used   int32
	far    []farTime
	heads  []head  // of the lanes; nil: nobody asked
	strips []strip // in the order in which they were begun
	isFull bool    // segments are told of at all links: for a picture
	wayTape
	gpuTape
}

// head is where a lane's next times belong.
type head struct {
	since   unit.Time // when its last sub-step started
	at, end int32     // of its strip,
	size    int32     // which has so many
}

// strip is times of a lane, from a place to another.
type strip struct{ lane, from, to int32 }

// The first strip of a lane has as many times as a line of a cache, unless its sub-steps have more,
// and each further one twice as many, up to a most.
const (
	leastStrip = 16
	mostStrip  = 64
	pieceBits  = 14 // of a piece of the tape
	piece      = 1 << pieceBits
)

// farTime is a time that its lower half does not tell.
type farTime struct {
	at   int32 // where that is
	time unit.Time
}

// write writes a time that is known to be no sooner than since.
func (t *tape) write(at int32, time, since unit.Time) {
	t.times[at>>pieceBits][at&(piece-1)] = uint32(time)
	if time-since > math.MaxUint32 {
		t.far = append(t.far, farTime{at, time})
	}
}

// read is the time that has been written.
//
// REQUIRES: what is far is in order.
func (t *tape) read(at int32, since unit.Time) unit.Time {
	if len(t.far) > 0 {
		if time, isFar := t.readFar(at); isFar {
			return time
		}
	}
	return since + unit.Time(t.times[at>>pieceBits][at&(piece-1)]-uint32(since))
}

func (t *tape) readFar(at int32) (time unit.Time, isFar bool) {
	i, isFar := slices.BinarySearchFunc(t.far, at, func(f farTime, at int32) int {
		return cmp.Compare(f.at, at)
	})
	if isFar {
		time = t.far[i].time
	}
	return time, isFar
}

// rewind puts in order what is far, and the strips by their lanes.
func (t *tape) rewind() {
	slices.SortFunc(t.far, func(a, b farTime) int { return cmp.Compare(a.at, b.at) })
	slices.SortFunc(t.strips, func(a, b strip) int {
		return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.from, b.from))
	})
	t.gpuTape.rewind()
}

var errTooLong = errors.New("sim: there is more to log than is counted; leave out the trace and " +
	"the critical path")

// begin begins a strip of a lane that has room for so many times.
func (t *tape) begin(lane int32, least int64) error {
	h, from := &t.heads[lane], t.used
	if least > math.MaxInt32 {
		return errTooLong
	}
	n := max(int32(least), min(max(2*h.size, leastStrip), mostStrip))
	if from > math.MaxInt32-n {
		return errTooLong
	}
	for t.used += n; int(t.used) > len(t.times)<<pieceBits; {
		t.times = append(t.times, make([]uint32, piece))
	}
	h.at, h.end, h.size = from, from+n, n
	t.strips = append(t.strips, strip{lane, h.at, h.end})
	return nil
}

// writeStep writes when the step in e.step starts, and how much it moves if it does not tell.
func (e *engine) writeStep(lane int32, at unit.Time) {
	if !e.tape.byWay {
		e.writeBegin(lane, e.timesOf(&e.lanes[lane]), at)
		return
	}
	if e.writeBegin(lane, 0, at); e.isSized || e.err != nil {
		return
	}
	if of := e.reserve(lane, 1); e.err == nil {
		e.tape.write(of, unit.Time(e.moved), 0)
	}
}

// writeBegin writes when a lane's next sub-step starts, and makes room for what it sends: so many
// times.
func (e *engine) writeBegin(lane int32, sends int64, at unit.Time) {
	t := &e.tape
	h := &t.heads[lane]
	if int64(h.at)+sends >= int64(h.end) {
		if e.err = t.begin(lane, 1+sends); e.err != nil {
			t.heads = nil
			return
		}
	}
	t.write(h.at, at, h.since)
	h.since = at
	h.at++
}

// timesOf is how many times there are of what the step in e.step sends, or copies, that lie behind
// that of its start.
func (e *engine) timesOf(l *lane) (n int64) {
	if e.tape.heads == nil || e.tape.byWay {
		return 0
	}
	if e.copies() {
		n = 1
	}
	for k, c := range l.sent() {
		if e.rules.Segment == 0 {
			n += int64(e.conns[c].onTape)
		} else {
			n += e.timesOfMessage(&e.conns[c], e.wire(e.moved, e.step.Send[k].Framing()))
		}
	}
	return n
}

// leaveRoom leaves room for when the links of a message's way begin to carry it, or it has left.
func (e *engine) leaveRoom(m int32) {
	if e.tape.heads != nil {
		e.leaveRoomFor(m)
	}
}

func (e *engine) leaveRoomFor(m int32) {
	x, n := &e.messages[m], int64(1) // of a copy
	if e.tape.byWay {
		x.written = e.reserve(x.lane, e.roomFor(m))
		return
	}
	if x.conn >= 0 {
		n = e.timesOfMessage(&e.conns[x.conn], e.carried(m))
	}
	h := &e.tape.heads[x.lane]
	x.written = h.at
	h.at += int32(n)
}

// reserve is where a lane's next times belong, which lie together.
func (e *engine) reserve(lane int32, n int64) (at int32) {
	h := &e.tape.heads[lane]
	if int64(h.at)+n > int64(h.end) {
		if e.err = e.tape.begin(lane, n); e.err != nil {
			e.tape.heads = nil
			return 0
		}
	}
	at = h.at
	h.at += int32(n)
	return at
}

// timesOfMessage is how many times there are of a message that puts n bytes on its links.
func (e *engine) timesOfMessage(c *connection, n unit.Bytes) int64 {
	if e.rules.Segment == 0 {
		return int64(c.onTape)
	}
	return (e.rules.Segments(n, false)-1)*int64(e.stride(c.route, c.onTape)) + int64(c.onTape)
}

// stride is how many times there are of a segment before the last: of its first link, or of all,
// which are so many.
func (e *engine) stride(route, all int32) int32 {
	switch {
	case e.tape.isFull:
		return all
	case e.links[e.network.Hops[e.network.Routes[route].From]].isPrompt:
		return 0
	}
	return 1
}

// writeBehind has the times of a message's next segment lie behind those of the one before.
func (e *engine) writeBehind(x *message) {
	if x.conn >= 0 {
		x.written += e.stride(x.route, e.conns[x.conn].onTape)
	} else {
		x.written += e.stride(x.route, e.timesOn(x.route))
	}
}

// writeCarried writes when a link begins to carry a packet. What segments do behind their first
// link decides nothing, but for the last.
func (e *engine) writeCarried(i int32, at unit.Time) {
	p := &e.packets[i]
	if p.isLast || p.hop == p.begin || e.tape.isFull {
		e.tape.write(p.written, at, e.messages[p.message].since.T)
		p.written++
	}
}

// writeDrained writes when a flow has left, or a copy has crossed its rank's memory, if there is
// room for that.
func (e *engine) writeDrained(m int32, at unit.Time) {
	if e.tape.heads == nil {
		return
	}
	if x := &e.messages[m]; x.conn < 0 || e.conns[x.conn].onTape > 0 {
		e.tape.write(x.written, at, x.since.T)
	}
}

// timesOn is how many times of a route are on the tape: of its links, or when a flow has left.
func (e *engine) timesOn(route int32) (n int32) {
	path := &e.network.Routes[route]
	switch {
	case e.isFluid && e.isAlone(path):
		return 0
	case e.isFluid:
		return 1
	case !e.hasPrompt:
		return path.To - path.From
	}
	for _, on := range e.network.LinksOf(path) {
		if !e.links[on].isPrompt {
			n++
		}
	}
	return n
}

// startTape has the run write its times to a tape.
func (e *engine) startTape(log *model.Log) {
	e.tape.heads, e.tape.isFull = make([]head, len(e.lanes)), log.Counters != nil
	e.tape.byWay = e.streams != nil || e.rules.Schedule.AnyStep(tellsMore)
	e.tape.followsPuts = e.backlogs != nil && e.rules.Schedule.AnyStep(putsSilently)
	if e.gpu != nil {
		e.gpu.watch = newGPUWatch(e, log)
	}
}
