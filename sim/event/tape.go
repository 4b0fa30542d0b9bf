package event

import (
	"errors"
	"math"

	"collsim/sim/model"
	"collsim/unit"
)

// tape holds the log of a run as it is written. Of each sub-step it has the start. Under FIFO it
// has, of each message, when a link on its route began to carry it, if it had to wait for the link.
// Under fluid sharing it has when the message had left, unless that was alone on its links.
// Everything else follows from these times, and is computed when the log is read (read.go). More is
// written where messages are one-sided or asked for, or where lanes go on before their messages
// have left (tapeway.go). The same holds for brackets and kernels, which are few (tapegpu.go).
//
// The times are in the order in which they become known, whatever they belong to, because that is
// fastest to write. Each says what it belongs to, so that a reader can put them in the order of
// lanes (tapeorder.go):
//
//	number        0       1       2       3       4
//	of       lane 3       0  lane 5       0       2
//	time         20      20      20      21      21     two of lane 3's step, one of lane 5's
//
// Sub-steps that have no other times, and that start at equal intervals, are only counted.
type tape struct {
	heads  []head    // of the lanes; nil: nobody asked
	page   []entry   // that is being written,
	pages  [][]entry // those before it,
	before int       // and their entries
	base   unit.Time // times of entries are relative to this one
	bases  []rebase
	evenly []evenly
	isFull bool // segments are written at all links: for a picture
	wayTape
	gpuTape
}

// entry is a time, and what it belongs to: the number of another entry, or of a lane, and in the
// bits above it what kind of entry this is.
type entry struct{ of, time uint32 }

// entryKind says what an entry's time means. A wait that took no time has no entry.
type entryKind uint8

const (
	aStart   entryKind = iota // of a lane's next sub-step
	aPlace                    // of what will belong to it: no time
	aMessage                  // of several of a sub-step: likewise
	aSize                     // of a sub-step, if its step does not say: so long after its start
	aRoom                     // in the send buffer was behind a message
	aBehind                   // the silent puts before it had left
	aSetOut                   // the messages before it had left
	aReceive                  // of what was asked for was posted, long after that
	aRequest                  // was carried by its first link; by all others is the next kind
	_
	anAnswer // likewise
	_
	aPacket // of data likewise, by its first three and all others; or a flow had left
)

const (
	numberBits = 28
	mostNumber = 1<<numberBits - 1
	leastPage  = 1 << 9 // entries
	mostPage   = 1 << 13
)

// ownKinds returns how many links of a route, from the first on, have an entry kind of their own.
// These have an entry only if the packet had to wait there.
func (k entryKind) ownKinds() int8 {
	if k == aPacket {
		return 3
	}
	return 1
}

// on returns the kind of a link's entry, from that of the first link on the route.
func (k entryKind) on(hop int32) entryKind { return k + entryKind(min(hop, int32(k.ownKinds()))) }

// belongs returns the kind of an entry, and the number of the entry or lane that it belongs to.
func (x entry) belongs() (k entryKind, of uint32) {
	return entryKind(x.of >> numberBits), x.of & mostNumber
}

// rebase notes that times are relative to another base from an entry on.
type rebase struct {
	from int // the first such entry
	base unit.Time
}

// evenly is sub-steps of a lane that have started evenly, behind that of an entry.
type evenly struct {
	of, n uint32
	every unit.Time
}

// leastEvenly is the least number of sub-steps that take no more room as a count (evenly) than as
// entries.
const leastEvenly = 3

// head is the entry of the start of a lane's last sub-step, but for those since that have started
// evenly.
type head struct {
	evenly
	at      unit.Time // when the last of them started
	isBare  bool      // nothing else is written of it
	several bool      // the step sends several messages, so each has an entry of its own
}

// goesOn counts a sub-step that has no other entries, if it starts as long after the last one as
// that did after the one before. It reports whether it has.
func (h *head) goesOn(at unit.Time) bool {
	if at-h.at != h.every || !h.isBare || h.n == mostNumber {
		return false
	}
	h.n, h.at = h.n+1, at
	return true
}

var errTooLong = errors.New("there is more to log than is counted; leave out the trace and " +
	"the critical path")

// write writes a time, and is the number of its entry.
func (e *engine) write(k entryKind, of uint32, at unit.Time) uint32 {
	t := &e.tape
	if uint64(at-t.base) > math.MaxUint32 || len(t.page) == cap(t.page) {
		e.turn(at)
	}
	n := t.before + len(t.page)
	t.page = append(t.page, entry{uint32(k)<<numberBits | of, uint32(at - t.base)})
	return uint32(n)
}

// turn makes room for a time that is too far from the last, or has no place on the page.
func (e *engine) turn(at unit.Time) {
	t := &e.tape
	if uint64(at-t.base) > math.MaxUint32 {
		t.base = max(0, at-1<<31) // others may be a little before it
		t.bases = append(t.bases, rebase{t.before + len(t.page), t.base})
	}
	if len(t.page) < cap(t.page) {
		return
	}
	t.pages = append(t.pages, t.page)
	if t.before += len(t.page); t.before > mostNumber-mostPage {
		e.err, t.before = errTooLong, 0
	}
	t.page = make([]entry, 0, min(max(2*len(t.page), leastPage), mostPage))
}

// keepPlaces keeps so many places, one after the other, and is the first.
func (e *engine) keepPlaces(of uint32, n int32) (first uint32) {
	for i := range n {
		if at := e.write(aPlace, of, e.tape.base); i == 0 {
			first = at
		}
	}
	return first
}

// writeStep does what writeBegin does, for the step in e.step. It also writes how much the step
// moves, if the step itself does not say so.
func (e *engine) writeStep(lane int32, messages int, at unit.Time) {
	e.writeBegin(lane, messages, at)
	if e.tape.byWay && !e.isSized {
		e.write(aSize, e.tape.heads[lane].of, at+unit.Time(e.moved))
	}
}

// writeBegin writes when a lane's next sub-step starts, which gets and sends so many messages.
func (e *engine) writeBegin(lane int32, messages int, at unit.Time) {
	e.writeStart(lane, at, messages > 1, false)
}

// writeBare writes when a lane's next sub-step starts, which will have no other entries.
func (e *engine) writeBare(lane int32, at unit.Time) { e.writeStart(lane, at, false, true) }

func (e *engine) writeStart(lane int32, at unit.Time, several, isBare bool) {
	t := &e.tape
	h := &t.heads[lane]
	if h.n > 0 {
		e.writeEvenly(lane)
	}
	if uint64(at-t.base) > math.MaxUint32 || len(t.page) == cap(t.page) {
		e.turn(at)
	}
	h.of, h.every, h.at = uint32(t.before+len(t.page)), at-h.at, at
	h.several, h.isBare = several, isBare
	t.page = append(t.page, entry{uint32(lane), uint32(at - t.base)}) // as write does, and sooner
}

// writeEvenly writes of a lane's sub-steps those that are counted.
//
//go:noinline
func (e *engine) writeEvenly(lane int32) {
	h := &e.tape.heads[lane]
	if h.n > leastEvenly {
		e.tape.evenly = append(e.tape.evenly, h.evenly)
	} else {
		for i := range h.n {
			e.write(aStart, uint32(lane), h.at-unit.Time(h.n-1-i)*h.every)
		}
	}
	h.n = 0
}

// enlist has what is written of a message belong to the step that sends or gets it.
func (e *engine) enlist(m int32) {
	if e.tape.heads != nil {
		e.enlistOf(m)
	}
}

func (e *engine) enlistOf(m int32) {
	x := &e.messages[m]
	h := &e.tape.heads[x.lane]
	x.entry = h.of
	if h.several && (e.tape.byWay || e.conns[x.conn].onTape > 0) {
		x.entry = e.write(aMessage, h.of, e.tape.base)
	}
	if x.flags&multimem > 0 && !e.isFluid {
		x.entry = e.keepPlaces(x.entry, e.timesOnTree(x))
	}
}

// label sets the message that the entries of a packet belong to. Segments, and the packets of
// multimem, are on several links at a time: then every link writes when it begins to carry the
// packet.
//
//go:noinline
func (p *packet) label(x *message) {
	p.entry, p.kind = x.entry, aPacket
	switch x.kind {
	case request, getRequest:
		p.kind = aRequest
	case answer:
		p.kind = anAnswer
	}
	p.ownKinds = p.kind.ownKinds()
	if p.from > 0 || !p.isLast || x.flags&multimem > 0 {
		p.ownKinds = 0
	}
}

// writeCarried writes when the next link of a packet begins to carry it, if the packet had to wait
// for that, or if every link writes. The entry belongs to the packet's last one, since segments of
// a message are in flight together. Times of segments behind their first link decide nothing,
// except those of the last segment.
//
//go:noinline
func (e *engine) writeCarried(p *packet, at unit.Time) {
	if hop := p.hop - p.begin; p.isLast || hop == 0 || e.tape.isFull {
		p.entry = e.write(p.kind.on(hop), p.entry, at)
	}
}

// writeDrained writes when a flow has left, or a copy has crossed its rank's memory, unless that is
// known.
func (e *engine) writeDrained(m int32, at unit.Time) {
	if e.tape.heads == nil {
		return
	}
	if x := &e.messages[m]; x.conn < 0 || e.conns[x.conn].onTape > 0 {
		e.write(aPacket, x.entry, at)
	}
}

// timesOn returns the number of times on the tape for a route: of its links, or when a flow has
// left.
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
	if e.gpu != nil {
		e.gpu.watch = newGPUWatch(e, log)
	}
}
