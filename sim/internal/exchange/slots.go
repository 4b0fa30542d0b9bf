// Package exchange has what the connections of all engines have in common.
package exchange

import (
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// Slots counts the free slots of a connection. Those that were used form a circle of marks, in the
// order in which they are free, from first to last; behind last come marks of slots that are taken.
type Slots struct {
	IsBounded    bool  // else there is a slot for every message
	unused, free int32 // that were never used, and that are free again
	first, last  int32 // −1 for none
}

// Marks holds the moments since when the slots of connections are free.
type Marks struct {
	list   []mark
	unused int32 // the first of those that no connection has any more, −1 for none
	least  int
}

type mark struct {
	at   model.Moment
	next int32
}

// NewMarks returns room for a number of marks at first.
func NewMarks(least int) Marks { return Marks{unused: -1, least: least} }

// Len returns how many marks there are.
func (m *Marks) Len() int { return len(m.list) }

// Shift moves all moments on.
func (m *Marks) Shift(by unit.Time) {
	for i := range m.list {
		m.list[i].at.T += by
	}
}

// NewSlots returns n slots that were never used; any number of them if n is 0.
func NewSlots(n int32) Slots { return Slots{IsBounded: n > 0, unused: n, first: -1, last: -1} }

// Next returns since when there is a slot for the next message; not known where the receiver has
// not got so far.
func (s *Slots) Next(m *Marks) (at model.Moment, known bool) {
	switch {
	case !s.IsBounded || s.unused > 0:
		return model.Moment{}, true
	case s.free == 0:
		return model.Moment{}, false
	}
	return m.list[s.first].at, true
}

// Take uses a free slot; there must be one. A slot that has been free since before a time is as
// good to a lane whose last step ended then as one that was never used. It is taken first, so that
// the circle grows no larger than the number of messages in flight.
func (s *Slots) Take(m *Marks, ended unit.Time) {
	switch {
	case !s.IsBounded:
	case s.unused > 0 && (s.free == 0 || m.list[s.first].at.T >= ended):
		s.unused--
	default:
		s.first = m.list[s.first].next
		s.free--
	}
}

// Free makes one more slot free from a moment on, and returns its mark.
func (s *Slots) Free(m *Marks, at model.Moment) (number int32) {
	i := s.first
	if s.last >= 0 {
		i = m.list[s.last].next
	}
	if s.free > 0 && i == s.first || i < 0 {
		i = s.grow(m)
	}
	m.list[i].at = at
	s.last = i
	s.free++
	return i
}

// grow makes the circle larger by one mark, which is behind last.
func (s *Slots) grow(m *Marks) int32 {
	i := m.unused
	if i < 0 {
		i = int32(len(m.list))
		m.list = flat.Add(m.list, mark{}, m.least)
	} else {
		m.unused = m.list[i].next
	}
	if s.last < 0 {
		s.first, m.list[i].next = i, i
	} else {
		m.list[i].next, m.list[s.last].next = m.list[s.last].next, i
	}
	return i
}

// First returns the mark of the slot that has been free for the longest; −1 if there is one that
// was never used, or none.
func (s *Slots) First() (mark int32) {
	if s.unused > 0 || s.free == 0 {
		return -1
	}
	return s.first
}

// AppendState appends what decides when slots are free, with times as seen from now.
func (s *Slots) AppendState(m *Marks, to []int64, now unit.Time) []int64 {
	to = append(to, int64(s.unused), int64(s.free))
	s.Each(m, func(at model.Moment) { to = at.AppendSince(to, now) })
	return to
}

// Counts returns how many slots were never used, and how many are free again.
func (s *Slots) Counts() (unused, free int32) { return s.unused, s.free }

// Each visits the moments since when slots are free that were used, in order.
func (s *Slots) Each(m *Marks, see func(at model.Moment)) {
	for n, i := s.free, s.first; n > 0; n, i = n-1, m.list[i].next {
		see(m.list[i].at)
	}
}

// Reset leaves so many slots that were never used, and no other that is free.
func (s *Slots) Reset(m *Marks, unused int32) {
	if s.unused, s.free = unused, 0; s.last >= 0 {
		s.first = m.list[s.last].next
	}
}

// AreFreeBefore reports whether all slots that are free have been so before a time.
func (s *Slots) AreFreeBefore(m *Marks, at unit.Time) bool {
	return s.free == 0 || m.list[s.last].at.T < at
}

// Forget gives the marks of slots back.
func (s *Slots) Forget(m *Marks) {
	if s.last >= 0 {
		first := m.list[s.last].next
		m.list[s.last].next, m.unused = m.unused, first
		s.first, s.last, s.free = -1, -1, 0
	}
}
