// Package trace is a timeline as plain data: what each lane of each rank did, and when.
//
// An executor (the simulator in virtual time, hardware in real time) writes a Trace; pictures and
// comparisons read it. A lane does one thing at a time, so its intervals never overlap; the gaps
// between them are waiting and are not stored. The package knows nothing about schedules, networks
// or pictures: a trace says what happened, not why.
package trace

import (
	"cmp"
	"slices"

	"collsim/unit"
)

// Trace is one run. Tracks are ordered by rank, then lane; Intervals by track, then start; Messages
// by the time at which they were sent; Counters as pictures shall show them. Sort brings about the
// second and third, Validate checks the first three. The zero value is the run of a schedule
// without any lane.
type Trace struct {
	Tracks    []Track
	Intervals []Interval
	Messages  []Message
	Counters  []Counter // of the links; none where nobody counted
	End       unit.Time // when the last lane finished; nothing lies beyond it

	// Of devices with a model of a GPU, and else nil: rows by rank, kind and number; brackets by row,
	// then start; of each rank its SMs, and what has crossed its memory.
	Rows     []Row
	Brackets []Bracket
	SMs      [][]Level
	Memories []Counter

	Repeats []Repeat // what is left out, in order; nil: nothing
}

// Track is a row of the timeline: one in-order lane of one rank. Name is how the lane is called
// in a picture ("channel 0"); empty means "lane" and its number. Alike is how many ranks do on
// their lanes of that number what this one does, with it; 0 or 1: it stands for no other.
type Track struct {
	Rank, Lane int32
	Name       string
	Alike      int32
}

// Interval is one step (or one slice of a step) of a lane, from its start S over its dispatch D to
// its end E. Ready is when the lane's previous step ended: the lane waited from Ready to Start.
type Interval struct {
	Track int32 // index into Trace.Tracks
	Kind  Kind  // what a picture shows: for a data step, Verb.Kind()
	Verb  Verb  // all that a data step does; 0 for a signal or a kernel
	Chunk int32 // first block that the step moves; -1: none
	Slice int32 // part of the chunk, from 0
	Round int32 // the number that the algorithm's author gave the step
	Peer  int32 // the rank that it sends to, else receives from; -1: none
	Bytes unit.Bytes

	Ready, Start, Done, End unit.Time // Ready <= Start (S) <= Done (D) <= End (E)
}

// Name is what the step does: its verb ("recvReduceSend"), or its kind where it has none.
func (i Interval) Name() string {
	if i.Verb != 0 {
		return i.Verb.String()
	}
	return i.Kind.String()
}

// Message is one message between two lanes. Sent is when its first byte left, Arrived when its last
// byte could be used.
type Message struct {
	From, To      int32 // indices into Trace.Tracks
	Sent, Arrived unit.Time
	Bytes         unit.Bytes

	// Which steps sent and took it: the n-th interval of From and of To, counted from 1 in the
	// track's order. 0: not told.
	FromStep, ToStep int32
}

// Sort puts intervals and messages in the order that a Trace promises, whatever order an executor
// found them in. What compares equal keeps its order.
func (t *Trace) Sort() {
	slices.SortStableFunc(t.Intervals, compareIntervals)
	slices.SortStableFunc(t.Messages, compareMessages)
	slices.SortStableFunc(t.Brackets, compareBrackets)
}

// On returns the intervals of a track, in order, without copying them.
//
// REQUIRES: t.Intervals is sorted.
func (t *Trace) On(track int32) []Interval {
	byTrack := func(i Interval, track int32) int { return cmp.Compare(i.Track, track) }
	first, _ := slices.BinarySearchFunc(t.Intervals, track, byTrack)
	last, _ := slices.BinarySearchFunc(t.Intervals, track+1, byTrack)
	return t.Intervals[first:last]
}

// Busy returns for how long the track was at work: the sum of its intervals.
//
// REQUIRES: t.Intervals is sorted.
func (t *Trace) Busy(track int32) unit.Time {
	var sum unit.Time
	for _, i := range t.On(track) {
		sum += i.End - i.Start
	}
	return sum
}

// Finish returns when the track ended its last step, 0 if it had none.
//
// REQUIRES: t.Intervals is sorted.
func (t *Trace) Finish(track int32) unit.Time {
	on := t.On(track)
	if len(on) == 0 {
		return 0
	}
	return on[len(on)-1].End
}

// compareIntervals orders steps of no length that start together with a longer one before it.
func compareIntervals(a, b Interval) int {
	return cmp.Or(cmp.Compare(a.Track, b.Track), cmp.Compare(a.Start, b.Start),
		cmp.Compare(a.End, b.End))
}

func compareMessages(a, b Message) int {
	return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.From, b.From),
		cmp.Compare(a.To, b.To), cmp.Compare(a.Arrived, b.Arrived))
}

func compareTracks(a, b Track) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Lane, b.Lane))
}
