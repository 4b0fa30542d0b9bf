package event

import (
	"errors"
	"math"

	"collsim/unit"
)

// writer writes the compact log of a run. Of each sub-step this has the start. Under FIFO it has,
// of each message, when a link on its route began to carry it, if it had to wait for the link.
// Under fluid sharing it has when the message had left, unless that was alone on its links.
// Everything else follows from these times, and is computed when the log is read (expand.go). More
// is written where messages are one-sided or asked for, or where lanes go on before their messages
// have left (logway.go). The same holds for brackets and kernels, which are few (loggpu.go).
//
// The times are in the order in which they become known, whatever they belong to, because that is
// fastest to write. Each says what it belongs to, so that a reader can put them in the order of
// lanes (logorder.go):
//
//	number        0       1       2       3       4
//	of       lane 3       0  lane 5       0       2
//	time         20      20      20      21      21     two of lane 3's step, one of lane 5's
//
// Sub-steps that have no other times, and that start at equal intervals, are only counted.
type writer struct {
	heads  []head    // of the lanes; nil: nobody asked
	page   []entry   // that is being written,
	pages  [][]entry // those before it,
	before int       // and their entries
	base   unit.Time // times of entries are relative to this one
	bases  []rebase
	evenly []evenly
	isFull bool // segments are written at all links: for a picture
	byWay  bool // each message has entries of its own (logway.go)
	gpuLog
	err *error // of the run
}

// isOn reports whether the run is logged.
func (w *writer) isOn() bool { return w.heads != nil }

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

// packetKinds is the number of links with a kind of their own for data. The next kind, of all other
// links, is then the last that fits into the bits above numberBits.
const packetKinds = 1<<(32-numberBits) - 1 - aPacket

// ownKinds returns how many links, from the first of a route on, have an entry kind to themselves.
// Such a link has an entry only if the packet had to wait there. All later links share the next
// kind and all have entries: with one absent, nobody could say which.
func (k entryKind) ownKinds() int8 {
	if k == aPacket {
		return int8(packetKinds)
	}
	return 1 // of requests and answers
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

// goesOn counts a lane's next sub-step if that has no other entries and starts evenly. It reports
// whether it does.
func (w *writer) goesOn(lane int32, at unit.Time) bool { return w.heads[lane].goesOn(at) }

var errTooLong = errors.New("there is more to log than is counted; leave out the trace and " +
	"the critical path")

// write writes a time, and is the number of its entry.
func (w *writer) write(k entryKind, of uint32, at unit.Time) uint32 {
	if uint64(at-w.base) > math.MaxUint32 || len(w.page) == cap(w.page) {
		w.turn(at)
	}
	n := w.before + len(w.page)
	w.page = append(w.page, entry{uint32(k)<<numberBits | of, uint32(at - w.base)})
	return uint32(n)
}

// turn makes room for a time that is too far from the last, or has no place on the page.
func (w *writer) turn(at unit.Time) {
	if uint64(at-w.base) > math.MaxUint32 {
		w.base = max(0, at-1<<31) // others may be a little before it
		w.bases = append(w.bases, rebase{w.before + len(w.page), w.base})
	}
	if len(w.page) < cap(w.page) {
		return
	}
	w.pages = append(w.pages, w.page)
	if w.before += len(w.page); w.before > mostNumber-mostPage {
		*w.err, w.before = errTooLong, 0
	}
	w.page = make([]entry, 0, min(max(2*len(w.page), leastPage), mostPage))
}

// places keeps so many places, one after the other, and is the first.
func (w *writer) places(of uint32, n int32) (first uint32) {
	for i := range n {
		if at := w.write(aPlace, of, w.base); i == 0 {
			first = at
		}
	}
	return first
}

// size writes how many bytes a lane's present sub-step moves, for a step that does not say so.
func (w *writer) size(lane int32, at unit.Time, n unit.Bytes) {
	if w.byWay {
		w.write(aSize, w.heads[lane].of, at+unit.Time(n))
	}
}

// begin writes when a lane's next sub-step starts, which gets and sends so many messages.
func (w *writer) begin(lane int32, messages int, at unit.Time) {
	w.start(lane, at, messages > 1, false)
}

// bare writes when a lane's next sub-step starts, which will have no other entries.
func (w *writer) bare(lane int32, at unit.Time) { w.start(lane, at, false, true) }

func (w *writer) start(lane int32, at unit.Time, several, isBare bool) {
	h := &w.heads[lane]
	if h.n > 0 {
		w.flush(lane)
	}
	if uint64(at-w.base) > math.MaxUint32 || len(w.page) == cap(w.page) {
		w.turn(at)
	}
	h.of, h.every, h.at = uint32(w.before+len(w.page)), at-h.at, at
	h.several, h.isBare = several, isBare
	w.page = append(w.page, entry{uint32(lane), uint32(at - w.base)}) // as write does, and sooner
}

// flush writes of a lane's sub-steps those that are counted.
//
//go:noinline
func (w *writer) flush(lane int32) {
	h := &w.heads[lane]
	if h.n > leastEvenly {
		w.evenly = append(w.evenly, h.evenly)
	} else {
		for i := range h.n {
			w.write(aStart, uint32(lane), h.at-unit.Time(h.n-1-i)*h.every)
		}
	}
	h.n = 0
}

// entryOf returns the entry of a lane's present sub-step, and reports whether that has several
// messages, which may then need entries of their own.
func (w *writer) entryOf(lane int32) (of uint32, several bool) {
	h := &w.heads[lane]
	return h.of, h.several
}

// own adds an entry that the times of one message belong to, of several of a sub-step.
func (w *writer) own(of uint32) uint32 { return w.write(aMessage, of, w.base) }

// isByWay reports whether each message has entries of its own (logway.go).
func (w *writer) isByWay() bool { return w.byWay }

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

// carried writes when the next link of a packet begins to carry it, if the packet had to wait
// for that, or if every link writes. The entry belongs to the packet's last one, since segments of
// a message are in flight together. Times of segments behind their first link decide nothing,
// except those of the last segment.
//
//go:noinline
func (w *writer) carried(p *packet, at unit.Time) {
	if hop := p.hop - p.begin; p.isLast || hop == 0 || w.isFull {
		p.entry = w.write(p.kind.on(hop), p.entry, at)
	}
}

// waits writes when a message, whose times belong to an entry, has waited for what a kind says.
func (w *writer) waits(kind entryKind, of uint32, at unit.Time) {
	if w.isOn() {
		w.waited(kind, of, at)
	}
}

// waited writes as waits does. It is not inlined: runs without a log would be 4 to 7 % slower.
//
//go:noinline
func (w *writer) waited(kind entryKind, of uint32, at unit.Time) { w.write(kind, of, at) }
