package schedule

import (
	"fmt"
	"strings"
)

// A Waiting is a lane that is blocked, and the lane that it waits for.
type Waiting struct {
	Rank, Lane, Step int
	Name             string // of the step
	Chunk            int    // first block that the step moves, −1 for none
	For              string // "a message", "a slot", "an event", "a receive" or "places"
	OnRank, OnLane   int
}

// A StallError is an execution that cannot continue although lanes are unfinished.
type StallError struct {
	// Waits lists blocked lanes; each waits for the next. In a Cycle the last waits for the first,
	// otherwise for a lane that has ended.
	Waits []Waiting
	Cycle bool
	// Slots is the number of messages that connections held. NeedsSlots says that one of the Waits
	// is for a slot, so that more slots may suffice. MinSlots is how many do, 0 if that is not
	// known.
	Slots, MinSlots int
	NeedsSlots      bool
	// Stopped says that the lane which the last of the Waits is for has not ended: a fault has stopped
	// its rank.
	Stopped bool
}

// Steps returns the steps that wait, and the lanes that they wait for.
func (e *StallError) Steps() (list []At) {
	for _, w := range e.Waits {
		list = append(list, At{w.Rank, w.Lane, w.Step}, At{w.OnRank, w.OnLane, -1})
	}
	return list
}

// Error lists the lanes that wait, a line each; if there are many, the first eight and the last.
func (e *StallError) Error() string { return e.named(At.String) }

// named formats the error with other names for steps and lanes.
func (e *StallError) named(name func(At) string) string {
	var b strings.Builder
	if e.Cycle {
		fmt.Fprintf(&b, "%s in a circle", lanes(len(e.Waits)))
	} else {
		fmt.Fprintf(&b, "%s for what never comes", lanes(len(e.Waits)))
	}
	if e.NeedsSlots {
		fmt.Fprintf(&b, "; FIFO depth %d", e.Slots)
		if e.MinSlots > 0 {
			fmt.Fprintf(&b, ", depth %d would do", e.MinSlots)
		}
	}
	for i, w := range e.Waits {
		if i == 8 && len(e.Waits) > 10 {
			fmt.Fprintf(&b, "\n  … %d more …", len(e.Waits)-9)
		}
		if i >= 8 && i < len(e.Waits)-1 && len(e.Waits) > 10 {
			continue
		}
		what := w.Name
		if w.Chunk >= 0 {
			what += fmt.Sprintf(" chunk %d", w.Chunk)
		}
		fmt.Fprintf(&b, "\n  %s  %s  waits for %s from %s", name(At{w.Rank, w.Lane, w.Step}), what,
			w.For, name(At{w.OnRank, w.OnLane, -1}))
		if i == len(e.Waits)-1 && e.Cycle {
			b.WriteString(", above")
		}
		switch {
		case i < len(e.Waits)-1 || e.Cycle:
		case e.Stopped:
			b.WriteString(", which has stopped")
		default:
			b.WriteString(", which has come to its end")
		}
	}
	return b.String()
}

// lanes formats a number of lanes that wait, as in "2 lanes wait".
func lanes(n int) string {
	if n == 1 {
		return "1 lane waits"
	}
	return fmt.Sprintf("%d lanes wait", n)
}

// A waiter is a lane that waits; if folded, on a rank that rank 0 stands for.
type waiter struct{ rank, lane int32 }

// stall follows the waits from the first lane that waits until they close or end.
func (x *executor) stall() error {
	if x.brief {
		return &StallError{Slots: int(x.slots)}
	}
	x.firstMissing()
	at := waiter{}
	for i := range x.lanes {
		if w := x.lanes[i].waits; w != forNothing && w != forRank {
			at.lane = int32(i)
			break
		}
	}
	e := &StallError{Slots: int(x.slots)}
	place := make(map[waiter]int)
	var path []waiter
	for {
		if from, seen := place[at]; seen {
			path, e.Cycle = path[from:], true
			break
		}
		place[at] = len(path)
		path = append(path, at)
		if at = x.waitsOn(at); at.lane < 0 {
			break
		}
	}
	if e.Cycle { // begin with the lowest lane
		lowest := 0
		for i, w := range path {
			if w.rank < path[lowest].rank || w.rank == path[lowest].rank && w.lane < path[lowest].lane {
				lowest = i
			}
		}
		path = append(path[lowest:len(path):len(path)], path[:lowest]...)
	}
	for _, w := range path {
		e.Waits = append(e.Waits, x.describe(w))
		l := &x.lanes[w.lane]
		e.NeedsSlots = e.NeedsSlots || l.waits == forSlot && x.conns[l.on].class == FIFO
	}
	return e
}

// firstMissing makes every lane that waits for events wait for the first missing one.
func (x *executor) firstMissing() {
	for i := range x.lanes {
		l := &x.lanes[i]
		if l.waits != forEvent {
			continue
		}
		x.programs[l.rank].Load(&l.cursor, &x.step)
		for _, e := range x.step.Await {
			if !x.happened(l, e) {
				l.on, l.value = x.first[l.rank]+e.Lane, e.Value
				break
			}
		}
	}
}

// far returns the lane at the other end of a connection.
func (x *executor) far(w waiter, c int32, receives bool) waiter {
	k := &x.conns[c]
	on := waiter{w.rank, k.dst}
	if receives {
		on.lane = k.src
	}
	if x.folded && receives {
		on.rank = x.s.Group.Sub(w.rank, k.far)
	} else if x.folded {
		on.rank = x.s.Group.Add(w.rank, k.far)
	}
	return on
}

// on returns the lane that a lane waits for.
func (x *executor) on(w waiter) waiter {
	l := &x.lanes[w.lane]
	switch l.waits {
	case forMessage:
		return x.far(w, l.on, true)
	case forSlot:
		return x.far(w, l.on, false)
	case forReceive:
		return x.far(w, x.sending(w.lane), false)
	}
	return waiter{w.rank, l.on}
}

// waitsOn returns the lane that a lane waits for, −1 if that has ended.
func (x *executor) waitsOn(w waiter) waiter {
	on := x.on(w)
	if x.lanes[on.lane].waits != forRank {
		return on
	}
	rank := x.lanes[on.lane].rank
	if x.round[rank]+1 >= x.times {
		return waiter{lane: -1}
	}
	for other := x.first[rank]; other < x.first[rank+1]; other++ { // it needs them to begin again
		if x.lanes[other].waits != forRank {
			return waiter{on.rank, other}
		}
	}
	return waiter{lane: -1}
}

// sending returns the connection of an unreceived message that a lane has sent in rendezvous.
func (x *executor) sending(lane int32) int32 {
	for c := range x.conns {
		if k := &x.conns[c]; k.src == lane && k.class == FIFO && k.held > 0 {
			return int32(c)
		}
	}
	panic("schedule: a lane waits for a receive of nothing")
}

// describe returns the description of a waiting lane.
func (x *executor) describe(at waiter) Waiting {
	l, on := &x.lanes[at.lane], x.on(at)
	rank, p := l.rank, x.programs[l.rank]
	if x.folded {
		rank, p = at.rank, x.s.Program(int(at.rank))
	}
	p.Load(&l.cursor, &x.step)
	w := Waiting{Rank: int(rank), Lane: int(l.lane), Step: int(l.cursor.Step),
		Name: x.step.Name(), Chunk: x.step.Chunk()}
	switch l.waits {
	case forMessage:
		w.For = "a message"
	case forSlot:
		w.For = "a slot"
	case forReceive:
		w.For = "a receive"
	case forEvent:
		w.For = "an event"
	}
	w.OnRank, w.OnLane = int(x.lanes[on.lane].rank), int(x.lanes[on.lane].lane)
	if x.folded {
		w.OnRank = int(on.rank)
	}
	return w
}

// Chunk returns the first block of the first region that the step names, −1 if it names none.
func (s *Step) Chunk() int {
	chunk := -1
	s.regions(func(r *Region) {
		if chunk < 0 && r.count() > 0 {
			chunk = int(r.block(0))
		}
	})
	return chunk
}
