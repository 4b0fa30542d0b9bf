// Package critical finds the critical path of a run: why it took so long. From the end of the run
// it goes back to what each step and each message waited for last, as the log has it. It cuts that
// path into pieces that sum to the time. It depends on no engine, and recomputes nothing that is in
// the log.
package critical

import (
	"fmt"
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// Piece is a part of the critical path: what the end of the run waited for between From and To.
type Piece struct {
	What What
	// Link is the link that transfers, is waited for, or has the latency; −1: none, the rank itself.
	Link int32
	// Rank, Lane and Step name the step that the time was spent on. For a message it is the step that
	// sends it, for a get the step that gets, for a slot the step that frees it. Lane counts within
	// the rank, Step within the lane's program. Step is −1 where no step has begun.
	Rank, Lane, Step int32
	From, To         unit.Time
}

// What names the kind of time that a piece of the critical path is spent on.
type What uint8

// The kinds of pieces.
const (
	Start          What = iota // before the rank begins
	Overhead                   // the cost of a step before any byte moves
	Reduction                  // adding sources
	Copy                       // copying, by a step without messages
	Compute                    // a kernel
	Transfer                   // bytes over the slowest link of their route, or out of a lane
	Contention                 // a link busy with other messages, or the time lost by sharing it
	Latency                    // of a link
	SlotLatency                // until the sender sees a freed slot
	Launch                     // of the call, or of a bracket, and the gap between nodes of a graph
	MessageLatency             // of a message's size, on top of its links'
	SendBuffer                 // bytes that leave until a connection's buffer has room for more
	Rendezvous                 // the request for a large message, and its answer
	Memory                     // bytes over a rank's memory, or waiting for it
	EventLatency               // until a bracket sees the event that another stream has posted
)

// String returns the name of the kind in output.
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

// walk goes back in time from the end of a run. It has found the pieces from at on. Each of its
// methods "goes from" a later time "to" an earlier one, and adds the pieces between them.
type walk struct {
	rules   model.Rules
	network *model.Network
	log     *model.Log
	at      unit.Time
	whose   Piece       // Rank, Lane and Step of the next pieces; the rest is zero
	pieces  []Piece     // the last one first
	tails   []tailTimes // by link of the message at hand, set by follow
}

// Path returns the critical path of a run, from 0 to its end, in order of time. It goes back from
// the first lane that ends last to what each step and message waited for last. Of several things
// that came at the same time the log names the lane's own step first, then messages, slots, events.
// A run without lanes has no path.
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

// of sets the step that the next pieces belong to.
func (w *walk) of(lane, step int32) {
	l := &w.log.Lanes[lane]
	w.whose = Piece{Rank: l.Rank, Lane: l.Lane, Step: step}
}

// back adds the piece from a time to where the walk is. A piece of the same kind, link and step as
// the one after it prolongs that.
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

// toDispatch goes from the end of a step that a message held to D of the step that sends the
// message. If the message itself waited for another one, it goes to D of that one's step. It
// returns the next step, as before does.
func (w *walk) toDispatch(s *model.StepRecord) (next int32, atEnd bool) {
	held := w.log.Message(s.Held)
	switch m := &held; {
	case m.Pacer == model.BlockPace:
		w.departure(s.Held, Compute)
	case m.Pacer == model.CopyPace || m.Pacer == model.EngineCopy:
		w.departure(s.Held, Copy)
	case m.Peers == 0:
		w.arrival(s.Held)
	case s.IsHandover: // the time is that of the lane, which hands it over
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

// toStart goes from D of a step to its start: computing or copying, additions, overhead.
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

// before goes from the start S of a step to what S waited for last, and returns the step that did
// it. The walk continues at that step's end E if atEnd, else at D, when its messages asked for
// links. Where S is the end of that step, no piece is added.
func (w *walk) before(s *model.StepRecord) (next int32, atEnd bool) {
	switch s.Awaited {
	case model.Arrival:
		w.arrival(s.By)
		return w.sentBy(s.By)
	case model.PostLeft:
		w.departure(s.By, Transfer)
		return w.sentBy(s.By)
	case model.Places:
		// The kernel freed places when its first blocks ended, maybe before its own end.
		return s.By, w.log.Step(s.By).End <= w.at
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
