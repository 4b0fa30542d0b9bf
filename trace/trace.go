// Package trace represents a timeline as plain data: what each lane of each rank did, and when.
//
// An executor (the simulator in virtual time, hardware in real time) writes a Trace; pictures and
// comparisons read it. A lane does one thing at a time, so its intervals never overlap. The gaps
// between them are waiting and are not stored. The package knows nothing about schedules, networks
// or pictures: a trace says what happened, not why.
package trace

import (
	"cmp"
	"slices"

	"collsim/unit"
)

// Trace is one run. Tracks are ordered by rank, then lane; Intervals by track, then start; Messages
// by the time at which they were sent; Counters as pictures are to show them. Sort establishes the
// second and the third, Validate checks the first three. The zero value is the run of a schedule
// without any lane.
type Trace struct {
	Tracks    []Track
	Intervals []Interval
	Messages  []Message
	Counters  []Counter // of the links; none where they were not counted
	End       unit.Time // when the last lane finished; no time is after it

	// Of devices with a model of a GPU, else nil. Rows are ordered by rank, kind and number;
	// Brackets by row, then start. SMs and Memories are by rank: its occupied SMs, and the bytes
	// through its memory.
	Rows     []Row
	Brackets []Bracket
	SMs      [][]Level
	Memories []Counter

	Repeats []Repeat // omitted repetitions, in order; nil: none
}

// Track is a row of the timeline: one in-order lane of one rank. Name is its name in a picture
// ("channel 0"); empty stands for "lane" and its number. Alike counts the ranks, this one included,
// that do the same on their lane of that number; 0 and 1 both mean this rank alone.
type Track struct {
	Rank, Lane int32
	Name       string
	Alike      int32
}

// Interval is one step of a lane, or a slice of one, from its start S over its dispatch D to its
// end E. Ready is the end of the lane's previous step: the lane waited from Ready to Start.
type Interval struct {
	Track int32 // the kind in a picture; of a data step, Verb.Kind()
	Kind  Kind  // what a picture shows: for a data step, Verb.Kind()
	Verb  Verb  // all that a data step does; 0 for a signal or a kernel
	Chunk int32 // first block that the step moves; -1: none
	Slice int32 // part of the chunk, from 0
	Round int32 // the number that the algorithm's author gave the step
	Peer  int32 // the rank that it sends to, else receives from; -1: none
	Bytes unit.Bytes

	Ready, Start, Done, End unit.Time // Ready <= Start (S) <= Done (D) <= End (E)
}

// Name returns the verb of the step ("recvReduceSend"), or its kind where it has none.
func (i Interval) Name() string {
	if i.Verb != 0 {
		return i.Verb.String()
	}
	return i.Kind.String()
}

// Message is one message between two lanes. Sent is the time at which its first byte left, Arrived
// the time at which its last byte could be used.
type Message struct {
	From, To      int32 // indices into Trace.Tracks
	Sent, Arrived unit.Time
	Bytes         unit.Bytes

	// The steps that sent and received it: the n-th interval of From and of To, counted from 1 in
	// the track's order. 0: unknown.
	FromStep, ToStep int32
}

// Sort brings intervals and messages into the order that a Trace requires. The sort is stable.
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

// Busy returns the busy time of a track: the sum of its intervals.
//
// REQUIRES: t.Intervals is sorted.
func (t *Trace) Busy(track int32) unit.Time {
	var sum unit.Time
	for _, i := range t.On(track) {
		sum += i.End - i.Start
	}
	return sum
}

// Finish returns the end of the track's last step, 0 if it had none.
//
// REQUIRES: t.Intervals is sorted.
func (t *Trace) Finish(track int32) unit.Time {
	on := t.On(track)
	if len(on) == 0 {
		return 0
	}
	return on[len(on)-1].End
}

// compareIntervals orders intervals by track, then start. A step without length precedes a longer
// one that starts with it.
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
