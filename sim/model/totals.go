package model

import "collsim/unit"

// Totals are what every engine tells of a run. Times are counted from 0, not from the ranks' Start.
type Totals struct {
	Time     unit.Time   // when the last lane ends
	LaneEnd  []unit.Time // when each lane ends, by rank, then lane; its Start if it has no steps
	Steps    int64       // sub-steps: a step that moves data counts once a slice
	Messages int64       // sent, signals and puts among them; gets, silent puts and multimem are none
	// BytesSent counts what the schedule sends: every message, put, get and multimem operation once.
	// LinkBytes counts what the links carry: each of those once a link, of a packet the flags too.
	BytesSent, LinkBytes unit.Bytes
	// LinkBusy is how long each link would have been at work at its full bandwidth, by index. Under
	// FIFO each message is rounded up on its own.
	LinkBusy []unit.Time
	LinkLoad []unit.Bytes // by index

	// Folded, unless nil, tells of classes of ranks and links what is otherwise told of each: then
	// LaneEnd, LinkBusy and LinkLoad are nil.
	Folded *Folded
}

// Folded is what a run tells of ranks and links of which many do the same.
type Folded struct {
	Ends   []unit.Time // when each lane of a class ends, by class, then lane
	Lanes  int         // of each rank
	Orbits []Orbit     // of links that carried something

	ranks, links int
	class        func(rank int) int
	members      func(orbit int, visit func(link int))
}

// Orbit is links that were used alike.
type Orbit struct {
	First int32 // the one with the lowest index
	Links int
	Busy  unit.Time
	Load  unit.Bytes
}

// NewFolded is what there is to tell of so many ranks and links, of which class says the class of
// each rank, and members visits the links of an orbit.
func NewFolded(ranks, links int, class func(rank int) int,
	members func(orbit int, visit func(link int))) *Folded {
	return &Folded{ranks: ranks, links: links, class: class, members: members}
}

// End is when a lane of a rank ends.
func (f *Folded) End(rank, lane int) unit.Time { return f.Ends[f.class(rank)*f.Lanes+lane] }

// Members visits all links of all orbits.
func (f *Folded) Members(visit func(orbit, link int)) {
	for i := range f.Orbits {
		f.members(i, func(link int) { visit(i, link) })
	}
}

// Unfold tells of every rank and link.
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
