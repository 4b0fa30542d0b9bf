// Package critical says why a run took so long. It goes back over the log of a run, from its end to
// what each step and each message waited for last, and cuts the way into pieces that sum to the
// time. It knows no engine, and what the log says it does not work out again.
package critical

import (
	"fmt"
	"slices"

	"collsim/sim/model"
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
	Launch                     // of the call, or of a bracket, and the gap between nodes of a graph
	MessageLatency             // of a message, on top of its links'
	SendBuffer                 // bytes that must leave until a connection's buffer has room for more
	Rendezvous                 // the request for a large message, and the answer
	Memory                     // bytes over a rank's memory, or that is busy with others
	EventLatency               // until a bracket sees what another stream has posted
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
	case Memory:
		return "memory"
	case EventLatency:
		return "event-latency"
	}
	return fmt.Sprintf("what(%d)", uint8(w))
}

// walk goes back from the end of a run. Each piece that it takes ends where the one taken before
// begins.
type walk struct {
	rules   model.Rules
	network *model.Network
	log     *model.Log
	at      unit.Time
	whose   Piece   // whose step the pieces are, but for that empty
	pieces  []Piece // the last first
	tails   []tailTimes
}

// Path is what the last lane's end waited for, from 0 to the end of the run: back from the first
// lane that ends last, to what each step, and each message, waited for last. Where several things
// came at the same time, the lane's own step before goes first, then messages, slots, events. A
// run of no lanes, whose buffers are empty, has waited for nothing.
func Path(env *model.Env, log *model.Log) []Piece {
	if log.Open(); len(log.Lanes) == 0 {
		return nil
	}
	last := int32(0)
	for i := range log.Lanes {
		if log.Lanes[i].End > log.Lanes[last].End {
			last = int32(i)
		}
	}
	w := walk{rules: model.Rules{Env: *env}, network: log.Network, log: log, at: log.Lanes[last].End}
	step, atEnd := log.Lanes[last].Last, true
	w.of(last, -1)
	for step >= 0 {
		record := log.Step(step)
		s := &record
		w.of(s.Lane, s.Step)
		if atEnd && s.Held >= 0 {
			step, atEnd = w.toDispatch(s)
			continue
		}
		w.toStart(s)
		step, atEnd = w.before(s)
	}
	w.whose.Step = -1
	w.back(Launch, -1, min(w.at, w.rules.Begin(w.whose.Rank, false).T))
	w.back(Start, -1, 0)
	slices.Reverse(w.pieces)
	return w.pieces
}

// of says whose step the next pieces are.
func (w *walk) of(lane, step int32) {
	l := &w.log.Lanes[lane]
	w.whose = Piece{Rank: l.Rank, Lane: l.Lane, Step: step}
}

// back takes the piece from a time to where the walk is.
func (w *walk) back(what What, link int32, from unit.Time) {
	if from > w.at {
		panic(fmt.Sprintf("critical: the path goes from %d ps back to %d ps", w.at, from))
	}
	if from == w.at {
		return
	}
	if link >= w.network.Wires { // the rank itself
		if link = -1; what == Contention || what == Transfer {
			what = Memory
		}
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
func (w *walk) toDispatch(s *model.StepRecord) (next int32, atEnd bool) {
	held := w.log.Message(s.Held)
	switch m := &held; {
	case m.Pacer == model.BlockPace:
		w.departure(s.Held, Compute)
	case m.Pacer == model.CopyPace || m.Pacer == model.EngineCopy:
		w.departure(s.Held, Copy)
	case m.Peers == 0:
		w.arrival(s.Held)
	case s.IsHandover: // it is the lane that takes the time to hand it over
		w.sender(m)
		w.back(Transfer, -1, m.Since)
		w.origin(m)
	case w.rules.Device.SendBuffer > 0 && w.network.Routes[m.Route].Tree < 0:
		w.departure(s.Held, SendBuffer)
	default:
		w.departure(s.Held, Transfer)
	}
	return w.sentBy(s.Held)
}

// toStart goes from D of a step to its start: overhead, additions, copying or computing, in this
// order.
func (w *walk) toStart(s *model.StepRecord) {
	rank := w.whose.Rank
	if s.Dispatched {
		w.back(Compute, -1, s.Start)
		return
	}
	fixed := min(s.Start+w.rules.Slowed(rank, w.rules.Device.Overhead), w.at)
	adds := min(fixed+w.rules.Additions(rank, int(s.Sources), s.Bytes), w.at)
	if s.Computes {
		w.back(Compute, -1, adds)
	}
	w.back(Copy, -1, adds)
	w.back(Reduction, -1, fixed)
	w.back(Overhead, -1, s.Start)
}

// before is the step that the start of another waited for, and whether until its end or only until
// the D at which it sent a message.
func (w *walk) before(s *model.StepRecord) (next int32, atEnd bool) {
	switch s.Awaited {
	case model.Arrival:
		w.arrival(s.By)
		return w.sentBy(s.By)
	case model.PostLeft:
		w.departure(s.By, Transfer)
		return w.sentBy(s.By)
	case model.Places:
		return s.By, w.log.Step(s.By).End <= w.at // else it is blocks of it that have ended
	case model.CopyEngine:
		return s.By, true
	case model.EventPost:
		w.back(EventLatency, -1, min(w.at, w.log.Step(s.By).End))
	case model.StepBefore:
		w.back(Launch, -1, min(w.at, w.log.Step(s.By).End)) // the next node of a graph
	case model.FreeSlot:
		freed := w.log.Step(s.By)
		w.of(freed.Lane, freed.Step)
		w.back(SlotLatency, -1, w.at-w.rules.Device.SlotLatency)
	}
	return s.By, true
}
