package sim

import (
	"fmt"
	"slices"

	"collsim/unit"
)

// Piece is a part of the critical path: what the end of the run waited for from From to To.
type Piece struct {
	What What
	Link int32 // that transfers, or is waited for, or whose latency it is; −1: none, the rank itself
	// Whose step it is. A message is of the step that sends it, a get of the step that gets, a slot
	// of the step that frees it. Lane counts within the rank, Step within the lane's program; −1
	// where no step has begun.
	Rank, Lane, Step int32
	From, To         unit.Time
}

// What a piece of the critical path is spent on.
type What uint8

// The kinds of pieces.
const (
	Start          What = iota // until the rank began
	Overhead                   // what a step costs before any byte moves
	Reduction                  // adding
	Copy                       // copying, by a step without message and peer
	Compute                    // a kernel
	Transfer                   // bytes over the link that is slowest for them, or out of a lane
	Contention                 // a link busy with others, or the time lost by sharing it
	Latency                    // of a link
	SlotLatency                // until the sender sees a freed slot
	Launch                     // of the call
	MessageLatency             // of a message, on top of its links'
	SendBuffer                 // bytes that must leave until a connection's buffer has room for more
	Rendezvous                 // the request for a large message, and the answer
)

// String is the name of the kind, as output spells it.
func (w What) String() string {
	switch w {
	case Start:
		return "start"
	case Overhead:
		return "overhead"
	case Reduction:
		return "reduction"
	case Copy:
		return "copy"
	case Compute:
		return "compute"
	case Transfer:
		return "transfer"
	case Contention:
		return "contention"
	case Latency:
		return "latency"
	case SlotLatency:
		return "slot-latency"
	case Launch:
		return "launch"
	case MessageLatency:
		return "message-latency"
	case SendBuffer:
		return "send-buffer"
	case Rendezvous:
		return "rendezvous"
	}
	return fmt.Sprintf("what(%d)", uint8(w))
}

// walk goes back from the end of a run. Each piece that it takes ends where the one taken before
// begins.
type walk struct {
	*engine
	at     unit.Time
	whose  Piece   // whose step the pieces are, but for that empty
	pieces []Piece // the last first
	tails  []tailTimes
}

// critical is the path that leads to the end of the run: from the first lane that ends last, back
// to what each step, and each message, waited for last.
func (e *engine) critical(end unit.Time) []Piece {
	last := int32(0)
	for int(last) < len(e.lanes)-1 && e.lanes[last].end.t < end {
		last++
	}
	w := walk{engine: e, at: end}
	step, atEnd := e.why.lanes[last].step, true
	w.of(last, -1)
	for step >= 0 {
		s := &e.why.steps[step]
		w.of(s.lane, s.step)
		if atEnd && s.ends != -1 {
			step, atEnd = w.toDispatch(s.ends)
			continue
		}
		w.toStart(step)
		step, atEnd = w.before(step)
	}
	w.whose.Step = -1
	w.back(Launch, -1, min(w.at, w.started(w.whose.Rank)))
	w.back(Start, -1, 0)
	slices.Reverse(w.pieces)
	return w.pieces
}

// started is when a rank began.
func (w *walk) started(rank int32) unit.Time {
	if w.env.Start == nil {
		return 0
	}
	return w.env.Start[rank]
}

// of says whose step the next pieces are.
func (w *walk) of(lane, step int32) {
	rank := w.lanes[lane].rank
	w.whose = Piece{Rank: rank, Lane: lane - w.first[rank], Step: step}
}

// back takes the piece from a time to where the walk is.
func (w *walk) back(what What, link int32, from unit.Time) {
	if from > w.at {
		panic(fmt.Sprintf("sim: the critical path goes from %d ps back to %d ps", w.at, from))
	}
	if from == w.at {
		return
	}
	p := w.whose
	p.What, p.Link, p.From, p.To = what, link, from, w.at
	w.at = from
	if n := len(w.pieces); n > 0 {
		after := &w.pieces[n-1]
		if p.To = after.To; p == (Piece{after.What, after.Link, after.Rank, after.Lane, after.Step,
			from, after.To}) {
			after.From = from
			return
		}
		p.To = after.From
	}
	w.pieces = append(w.pieces, p)
}

// toDispatch goes from the end of a step, which a message held, to D of the step that sends that,
// or to what else that message waited for, as before does.
func (w *walk) toDispatch(ends int32) (next int32, atEnd bool) {
	over := w.env.Device.Offload
	if ends <= handed {
		ends, over = handed-ends, true
	}
	switch m := &w.why.messages[ends]; {
	case m.peers == 0:
		w.arrival(ends)
	case over: // it is the lane that takes the time to hand it over
		w.sender(m)
		w.back(Transfer, -1, m.since)
		w.origin(m)
	case w.env.Device.SendBuffer > 0 && w.routes[m.route].fan < 0:
		w.departure(ends, SendBuffer)
	default:
		w.departure(ends, Transfer)
	}
	return w.sentBy(ends)
}

// toStart goes from D of a step to its start: overhead, additions, copying or computing, in this
// order.
func (w *walk) toStart(step int32) {
	start := w.why.steps[step].start
	fixed := min(start+w.slowed(w.whose.Rank, w.env.Device.Overhead), w.at)
	adds := fixed
	if w.why.adds != nil {
		adds = min(fixed+w.why.adds[step], w.at)
	}
	if w.why.awaited[step]&computes > 0 {
		w.back(Compute, -1, adds)
	}
	w.back(Copy, -1, adds)
	w.back(Reduction, -1, fixed)
	w.back(Overhead, -1, start)
}

// before is the step that the start of another waited for, and whether until its end or only until
// the D at which it sent a message.
func (w *walk) before(step int32) (next int32, atEnd bool) {
	s := &w.why.steps[step]
	switch w.why.awaited[step] &^ computes {
	case aMessage:
		w.arrival(s.by)
		return w.sentBy(s.by)
	case aPost:
		w.departure(s.by, Transfer)
		return w.sentBy(s.by)
	case aSlot:
		freed := &w.why.steps[s.by]
		w.of(freed.lane, freed.step)
		w.back(SlotLatency, -1, w.at-w.env.Device.SlotLatency)
	}
	return s.by, true
}
