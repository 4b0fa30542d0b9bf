package model

import (
	"collsim/sim/internal/flat"
	"collsim/unit"
)

// Request is who asks for a link, and what decides between those that ask at one time
// (docs/time.md, ties; decision 9): first the wave, then the link, of which any order will do, then
// the key. Neither the order in which an engine finds requests nor a global rank plays a part.
type Request = flat.Entry[unit.Time]

// Ask is a request for a link at a moment. The item is the engine's.
func Ask(at Moment, link int32, key uint64, item int32) Request {
	return Request{First: at.T, Second: uint64(uint32(at.Wave))<<32 | uint64(uint32(link)),
		Third: key, Item: item}
}

// AskedAt is the moment at which a request is made.
func AskedAt(r *Request) Moment { return Moment{r.First, int32(r.Second >> 32)} }

// AskedOf is the link that a request is made of.
func AskedOf(r *Request) int32 { return int32(uint32(r.Second)) }

// A key is a bit that puts what comes over a wire after what starts at the node itself; then 24
// bits for the lane, or for the port of the node at which the wire ends; then a running number: of
// what the lane sends, in program order (step, slice, place among the peers), or of what the link
// has carried, in the order of leaving it. A get's reply has the key that its request came with.
const keyBits = 39

// LaneKey is the key of the first message that a lane of a rank sends. Each further one has 1 more.
func LaneKey(lane int) uint64 { return uint64(lane) << keyBits }

// PortKey is the key of what a link brings first to its node, to which it is the port of that
// number. All that it brings afterwards has 1 more than what came before.
func PortKey(port int32) uint64 { return 1<<63 | uint64(port)<<keyBits }
