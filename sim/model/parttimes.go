package model

import "collsim/unit"

// PartTimes holds the times at which a rank works on a part of a composed schedule. Its lists are
// in no order.
type PartTimes struct {
	Rank, Part int32
	// At Ready the first bracket of the part began or, where none was launched, everything had ended
	// that it waits for. From is the start of its first step, and To the end of its last;
	// unit.Forever and 0 if it has none.
	Ready, From, To unit.Time
	Kernels         []Interval // in which kernels of the part compute
	Moves           []Moving
}

// Interval is the time between two moments.
type Interval struct{ From, To unit.Time }

// Moving is a time in which something of a lane moves. A message to it or from it is in flight:
// from when its first byte crosses its first link until it has arrived. Or a step of the lane works
// on the bytes before or after: its overhead, additions and copies. Kernels do not count.
type Moving struct {
	From, To unit.Time
	// Peer is the rank that kept it from beginning sooner: the sender of the message, or the rank
	// that had to free a slot; −1: none but the lane's own rank.
	Peer int32
}

// Precedes orders by begin. Of those that begin at one time, one with a peer is first, and the peer
// that is kept when they are joined.
func (s Moving) Precedes(t Moving) bool {
	return s.From < t.From || s.From == t.From && uint32(s.Peer) < uint32(t.Peer)
}

// AddMoving adds a time to a list in which most are in order: it prolongs the last one if it can.
func AddMoving(list *[]Moving, s Moving) {
	if s.From >= s.To {
		return
	}
	if n := len(*list) - 1; n >= 0 && !s.Precedes((*list)[n]) && s.From <= (*list)[n].To {
		(*list)[n].To = max((*list)[n].To, s.To)
		return
	}
	*list = append(*list, s)
}
