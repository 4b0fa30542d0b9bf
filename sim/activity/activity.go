// Package activity reads from the log of a run when messages to and from lanes are in flight. Of
// the times in between it reports which rank a lane waited for. It depends on no engine.
package activity

import (
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// Span is a time in which something of a lane moves.
type Span = model.Moving

func span(from, to unit.Time, peer int32) Span { return Span{From: from, To: to, Peer: peer} }

// Unit is the lanes of a rank that execute one part of a composed schedule, or all lanes of a rank
// for any other schedule.
type Unit struct {
	Rank, Part   int32
	First, Lanes int32 // its first lane in the log, and how many it has
}

// Activity holds when something moves, by lane and by unit.
type Activity struct {
	Lanes [][]Span // by lane of the log, in no order
	Units []Unit   // those of a rank one after the other
	// Aside has, for each unit, the messages that no lane of it sends or receives: what other ranks
	// get from its rank, or put there.
	Aside [][]Span
}

// Of reads the log of a run whose links were shared by a rule.
//
// REQUIRES: all of the log has been read.
func Of(log *model.Log, sharing model.Sharing) *Activity {
	f := finder{log: log, isFIFO: sharing == model.FIFO}
	f.Lanes = make([][]Span, len(log.Lanes))
	for i := range log.Lanes {
		l := &log.Lanes[i]
		n := len(f.Units) - 1
		if n < 0 || f.Units[n].Rank != l.Rank || f.Units[n].Part != l.Part {
			f.Units = append(f.Units, Unit{Rank: l.Rank, Part: l.Part, First: int32(i)})
			n++
		}
		f.Units[n].Lanes++
	}
	f.Aside = make([][]Span, len(f.Units))
	for i := range log.Steps {
		if s := &log.Steps[i]; !s.Computes && s.Done > s.Start {
			model.AddMoving(&f.Lanes[s.Lane], span(s.Start, s.Done, f.cause(s)))
		}
	}
	for i := range log.Messages {
		f.message(&log.Messages[i])
	}
	return &f.Activity
}

// Of returns when something of a unit moves: spans in order, with time between them.
func (a *Activity) Of(unit int) []Span {
	u := &a.Units[unit]
	return Union(append(slices.Clone(a.Lanes[u.First:u.First+u.Lanes]), a.Aside[unit])...)
}

// Union joins spans that overlap or touch. A joined span has the peer of its first.
func Union(lists ...[]Span) []Span {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b Span) int {
		switch {
		case a.Precedes(b):
			return -1
		case b.Precedes(a):
			return 1
		}
		return 0
	})
	joined := all[:0]
	for _, s := range all {
		if n := len(joined); n > 0 && s.From <= joined[n-1].To {
			joined[n-1].To = max(joined[n-1].To, s.To)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// Within returns the parts of spans between two times.
func Within(spans []Span, from, to unit.Time) []Span {
	var inside []Span
	for _, s := range spans {
		if s.From, s.To = max(s.From, from), min(s.To, to); s.From < s.To {
			inside = append(inside, s)
		}
	}
	return inside
}

// Pauses returns the gaps between spans from one time to another. Each has the peer of the span
// that ends it; −1 for the last, which none ends.
//
// REQUIRES: the spans are in order, and none overlaps the next.
func Pauses(spans []Span, from, to unit.Time) []Span {
	var pauses []Span
	for _, s := range spans {
		if until := min(s.From, to); until > from {
			pauses = append(pauses, span(from, until, s.Peer))
		}
		from = max(from, s.To)
	}
	if from < to {
		pauses = append(pauses, span(from, to, -1))
	}
	return pauses
}

// finder builds an Activity from a log.
type finder struct {
	Activity
	log    *model.Log
	isFIFO bool
	unitOf map[[2]int32]int // by rank and part; nil: not needed yet
}

// message adds the flight of a message to the lanes at both ends. A record of a request, or of a
// message that had to wait, is a part of the record that has arrived.
func (f *finder) message(m *model.MessageRecord) {
	log := f.log
	if m.Step < 0 {
		return
	}
	s := &log.Steps[m.Step]
	from, rank := f.begins(m), log.Lanes[s.Lane].Rank
	switch {
	case m.Arrived == 0:
		if (m.Pacer == model.CopyPace || m.Pacer == model.EngineCopy) && !s.Computes {
			model.AddMoving(&f.Lanes[s.Lane], span(m.Since, s.End, f.cause(s))) // over its own memory
		}
	case m.To >= 0:
		if m.By >= 0 && !m.ByLeft {
			switch answer := &log.Messages[m.By]; answer.Kind {
			case model.Answered:
				from = f.begins(&log.Messages[answer.By])
			case model.AnsweredLate: // the receiver's lane had not begun
				from = f.begins(answer)
				model.AddMoving(&f.Lanes[s.Lane], span(from, m.Arrived, f.other(f.rankOf(m.To), s.Lane)))
			}
		}
		model.AddMoving(&f.Lanes[s.Lane], span(from, m.Arrived, f.cause(s)))
		to := log.Steps[m.To].Lane
		model.AddMoving(&f.Lanes[to], span(from, m.Arrived, f.other(rank, to)))
	case m.Peers == 0: // the reply of a get
		from = f.begins(&log.Messages[m.By])
		model.AddMoving(&f.Lanes[s.Lane], span(from, m.Arrived, f.cause(s)))
		f.aside(m, s.Lane, span(from, m.Arrived, rank))
	default: // a silent put
		model.AddMoving(&f.Lanes[s.Lane], span(from, m.Arrived, f.cause(s)))
		f.aside(m, s.Lane, span(from, m.Arrived, rank))
	}
}

// begins returns when the first byte of a message crosses its first link.
func (f *finder) begins(m *model.MessageRecord) unit.Time {
	if f.isFIFO && m.Pacer < model.CopyPace {
		return f.log.Spans[m.Spans]
	}
	return m.Since
}

// rankOf returns the rank of a sub-step.
func (f *finder) rankOf(step int32) int32 { return f.log.Lanes[f.log.Steps[step].Lane].Rank }

// cause returns the rank that a step's start waited for; −1 if it is its own.
func (f *finder) cause(s *model.StepRecord) int32 {
	peer := int32(-1)
	switch {
	case s.By < 0:
	case s.Awaited == model.Arrival:
		if sent := f.log.Messages[s.By].Step; sent >= 0 {
			peer = f.rankOf(sent)
		}
	case s.Awaited == model.FreeSlot:
		peer = f.rankOf(s.By)
	}
	return f.other(peer, s.Lane)
}

// other returns a rank if it is not that of a lane, and else −1.
func (f *finder) other(rank, lane int32) int32 {
	if rank == f.log.Lanes[lane].Rank {
		return -1
	}
	return rank
}

// aside adds the flight of a message that a lane gets or puts to the ranks at its other end. Only
// units of the same part count.
func (f *finder) aside(m *model.MessageRecord, lane int32, s Span) {
	if f.unitOf == nil {
		f.unitOf = map[[2]int32]int{}
		for i, u := range f.Units {
			f.unitOf[[2]int32{u.Rank, u.Part}] = i
		}
	}
	own := &f.log.Lanes[lane]
	for _, rank := range f.log.Network.Others(m.Route, own.Rank) {
		if i, there := f.unitOf[[2]int32{rank, own.Part}]; there {
			model.AddMoving(&f.Aside[i], s)
		}
	}
}
