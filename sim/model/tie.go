package model

import (
	"collsim/sim/internal/flat"
	"collsim/unit"
)

// Request is a request for a link, with what decides between requests made at one time
// (docs/time.md, ties; decision 9): first the wave, then the link, in any order, then the key.
// Neither the order in which an engine finds requests nor a global rank decides.
type Request = flat.Entry[unit.Time]

// Ask returns a request for a link at a moment. The item is the engine's own.
func Ask(at Moment, link int32, key uint64, item int32) Request {
	return Request{First: at.T, Second: uint64(uint32(at.Wave))<<32 | uint64(uint32(link)),
		Third: key, Item: item}
}

// AskedAt returns the moment at which a request is made.
func AskedAt(r *Request) Moment { return Moment{r.First, int32(r.Second >> 32)} }

// AskedOf returns the link that a request is for.
func AskedOf(r *Request) int32 { return int32(uint32(r.Second)) }

// A key orders the requests of one time, wave and link. Its highest bit puts messages that came
// over a wire after those that start at the node itself. The next 24 bits have the lane, or the
// port of the node at which the wire ends. The rest is a running number. A lane counts what it
// sends, in program order (step, slice, place among the peers). A link counts what it has carried,
// in the order of leaving it. A get's reply has the key that its request came with.
const keyBits = 39

// LaneKey returns the key of the first message that a lane of a rank sends. Each further message
// has 1 more.
func LaneKey(lane int) uint64 { return uint64(lane) << keyBits }

// PortKey returns the key of the first message that a link brings to its node, at the port of that
// number. Each further message has 1 more.
func PortKey(port int32) uint64 { return 1<<63 | uint64(port)<<keyBits }
