package model

import "collsim/unit"

// Totals holds the results that every engine gives for a run. Times are counted from 0, not from
// the ranks' Start.
type Totals struct {
	Time    unit.Time   // when the last lane ends
	LaneEnd []unit.Time // when each lane ends, by rank, then lane; its Start if it has no steps
	// Steps counts sub-steps: a step that moves data counts once a slice.
	Steps int64
	// Messages counts those sent, with signals and puts; not gets, silent puts and multimem.
	Messages int64
	// BytesSent counts what the schedule sends: every message, put, get and multimem operation once.
	// LinkBytes counts what the links carry: each of those once a link, with the flags of packets.
	BytesSent, LinkBytes unit.Bytes
	// LinkBusy holds the time for which each link would have been busy at its full bandwidth, by
	// index. Under FIFO each message is rounded up on its own.
	LinkBusy []unit.Time
	LinkLoad []unit.Bytes // the bytes that each link has carried, by index

	// Struck says, by fault of the environment, whether its rank was not at its end before.
	Struck []bool

	// Folded, unless nil, has the results of ranks and links by class. Then LaneEnd, LinkBusy and
	// LinkLoad are nil.
	Folded *Folded
}

// Repeat adds what has been counted since an earlier time so many times more.
func (t *Totals) Repeat(since *Totals, times int64) {
	t.Steps += times * (t.Steps - since.Steps)
	t.Messages += times * (t.Messages - since.Messages)
	t.BytesSent += unit.Bytes(times) * (t.BytesSent - since.BytesSent)
}

// Folded holds the results of a run in which many ranks and links do the same, by class.
type Folded struct {
	Ends   []unit.Time // when each lane of a class ends, by class, then lane
	Lanes  int         // of each rank
	Orbits []Orbit     // of links that carried something

	ranks, links int
	class        func(rank int) int                    // the class of a rank
	members      func(orbit int, visit func(link int)) // visits the links of an orbit
}

// Orbit is a set of links that were used in the same way: symmetries of the schedule map them to
// each other.
type Orbit struct {
	First int32 // the one with the lowest index
	Links int
	Busy  unit.Time
	Load  unit.Bytes
}

// NewFolded returns results for a number of ranks and links, still without Ends and Orbits. class
// returns the class of a rank, and members visits the links of an orbit.
func NewFolded(ranks, links int, class func(rank int) int,
	members func(orbit int, visit func(link int))) *Folded {
	return &Folded{ranks: ranks, links: links, class: class, members: members}
}

// Members visits all links of all orbits.
func (f *Folded) Members(visit func(orbit, link int)) {
	for i := range f.Orbits {
		f.members(i, func(link int) { visit(i, link) })
	}
}

// Unfold replaces Folded by the results of every rank and link.
func (t *Totals) Unfold() {
	f := t.Folded
	if f == nil {
		return
	}
	t.Folded = nil
	t.LaneEnd = make([]unit.Time, 0, f.ranks*f.Lanes)
	for rank := range f.ranks {
		from := f.class(rank) * f.Lanes
		t.LaneEnd = append(t.LaneEnd, f.Ends[from:from+f.Lanes]...)
	}
	t.LinkBusy, t.LinkLoad = make([]unit.Time, f.links), make([]unit.Bytes, f.links)
	f.Members(func(orbit, link int) {
		o := &f.Orbits[orbit]
		t.LinkBusy[link], t.LinkLoad[link] = o.Busy, o.Load
	})
}
