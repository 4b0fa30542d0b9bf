package host

import (
	"encoding/binary"

	"collsim/hw"
	"collsim/schedule"
)

// A frameKind is the kind of a frame on a socket between two ranks.
type frameKind uint8

const (
	frameMessage frameKind = 1 + iota // bytes of a connection; size −1: a signal without bytes
	framePut                          // bytes for runs of memory, then a message without bytes
	frameSilent                       // bytes for runs of memory, to be acknowledged
	frameLanded                       // acknowledges a silent put
	frameGet                          // requests runs of memory
	frameData                         // answers a get
	frameCredit                       // frees a slot of a connection
)

// A frame is the header of a frame on a socket between two ranks. The runs follow it, 16 bytes
// each, and then the bytes. Header and runs are little-endian; the bytes are in the memory's byte
// order.
type frame struct {
	kind             frameKind
	class            schedule.Class
	home             schedule.Buffer
	epoch            uint32 // repetition that it belongs to
	fromLane, toLane int32  // of the connection; fromLane may be the requesting lane
	tag              int32
	runs             uint32
	size             int64
}

// headerSize is the size of a frame's header. It is a multiple of the largest element's width,
// which keeps the bytes aligned.
const headerSize = 32

// put encodes the header at the beginning of b.
func (f *frame) put(b []byte) {
	b[0], b[1], b[2], b[3] = byte(f.kind), byte(f.class), byte(f.home), byte(f.home>>8)
	binary.LittleEndian.PutUint32(b[4:], f.epoch)
	binary.LittleEndian.PutUint32(b[8:], uint32(f.fromLane))
	binary.LittleEndian.PutUint32(b[12:], uint32(f.toLane))
	binary.LittleEndian.PutUint32(b[16:], uint32(f.tag))
	binary.LittleEndian.PutUint32(b[20:], f.runs)
	binary.LittleEndian.PutUint64(b[24:], uint64(f.size))
}

// get decodes the header.
func (f *frame) get(b []byte) {
	f.kind, f.class, f.home = frameKind(b[0]), schedule.Class(b[1]),
		schedule.Buffer(binary.LittleEndian.Uint16(b[2:]))
	f.epoch = binary.LittleEndian.Uint32(b[4:])
	f.fromLane = int32(binary.LittleEndian.Uint32(b[8:]))
	f.toLane = int32(binary.LittleEndian.Uint32(b[12:]))
	f.tag = int32(binary.LittleEndian.Uint32(b[16:]))
	f.runs = binary.LittleEndian.Uint32(b[20:])
	f.size = int64(binary.LittleEndian.Uint64(b[24:]))
}

// of returns the header with a connection's class, lanes and tag.
func (f frame) of(c hw.Connection) frame {
	f.class, f.fromLane, f.toLane, f.tag = c.Class, c.FromLane, c.ToLane, c.Tag
	return f
}

// connection returns the connection of a frame between two ranks.
func (f *frame) connection(from, to int32) hw.Connection {
	return hw.Connection{From: from, FromLane: f.fromLane, To: to, ToLane: f.toLane, Class: f.class,
		Tag: f.tag}
}

// runSize is the size of a run in a frame.
const runSize = 16

// putRuns encodes runs.
func putRuns(b []byte, spans []schedule.Span) {
	for i, s := range spans {
		binary.LittleEndian.PutUint64(b[i*runSize:], uint64(s.Off))
		binary.LittleEndian.PutUint64(b[i*runSize+8:], uint64(s.Len))
	}
}

// getRuns decodes runs of a memory of n bytes; false if one is outside.
func getRuns(b []byte, n int64) (spans []schedule.Span, ok bool) {
	for ; len(b) >= runSize; b = b[runSize:] {
		s := schedule.Span{Off: int64(binary.LittleEndian.Uint64(b)),
			Len: int64(binary.LittleEndian.Uint64(b[8:]))}
		if s.Off < 0 || s.Len < 0 || s.Off > n || s.Len > n-s.Off {
			return nil, false
		}
		spans = append(spans, s)
	}
	return spans, true
}
