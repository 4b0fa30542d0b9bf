package model

import (
	"collsim/schedule"
	"collsim/unit"
)

// Log holds what each sub-step and each message of a run waited for last, and when. Records are
// named by their index. Traces and critical paths are made from it alone, so they do not depend on
// the engine that has written it.
//
// An engine writes a log only on request, and may write part of it later: call Open or Read first.
// A sub-step takes 56 bytes and a message 64; a get is two messages, the request and the reply.
// Each link that a message crosses takes 8, as does each segment after the first; a detail 20.
type Log struct {
	Network  *Network
	Lanes    []LaneRecord // of all ranks
	Steps    []StepRecord // sub-steps; those of a lane in order
	Messages []MessageRecord
	Spans    []unit.Time // of messages, from MessageRecord.Spans on

	// These are for pictures, and nil unless NewLog makes them.
	Details  []Detail        // of the sub-steps
	Counters []Counter       // of the links, then of the ranks' memories if these are shared
	Brackets []BracketRecord // of a device with a GPU model, in the order in which they begin
	Busy     [][]Level       // by rank: the number of its SMs that have a block

	// Alike is for an engine that simulates one rank for many: the number of ranks that each rank
	// here stands for; 0 for itself alone. Repeats are the periods that it has left out. Such a log
	// has no messages, no counters and no causes.
	Alike   int32
	Repeats []RepeatRecord

	// OfParts asks for the times of parts and nothing else. An engine that finds them during the
	// run sets Parts, and writes no records.
	OfParts bool
	Parts   []PartTimes // by rank and lane

	later func() Records // makes index; nil if the log is complete or open
	index Records        // gives records that are not written yet
}

// Records gives the records of a log that an engine has not written out.
type Records interface {
	Step(number int32) StepRecord
	Message(number int32) MessageRecord // without To
	All()                               // writes all to the log
}

// Later has an engine put off writing records until the log is read. Lanes are written by Open, by
// calling index; Details, Counters, Brackets and Busy are not put off.
func (l *Log) Later(index func() Records) { l.later = index }

// Open has the lanes written. Step and Message then give single records.
func (l *Log) Open() {
	if l.later != nil {
		l.index, l.later = l.later(), nil
	}
}

// Read has all records written.
func (l *Log) Read() {
	if l.Open(); l.index != nil {
		l.index.All()
		l.index = nil
	}
}

// Step returns the record of a sub-step.
func (l *Log) Step(number int32) StepRecord {
	if l.index != nil {
		return l.index.Step(number)
	}
	return l.Steps[number]
}

// Message returns the record of a message. Its To is set only after Read.
func (l *Log) Message(number int32) MessageRecord {
	if l.index != nil {
		return l.index.Message(number)
	}
	return l.Messages[number]
}

// RepeatRecord stands for periods that the log leaves out: the period that ends at At follows
// itself Times more times.
type RepeatRecord struct {
	At, Period unit.Time
	Times      int64
}

// BracketRecord is a bracket that has been launched, or a kernel without a launch of its own.
type BracketRecord struct {
	Name         string
	Rank, Stream int32
	Lane         int32 // the first of its lanes, within the rank
	Lanes        int32
	Engine       schedule.Engine
	CopyEngine   int32 // its number; −1: none
	Blocks       int64 // that stay from begin to end; for kernels, those of all their grids
	// Issued is the time at which the host had launched it. From Ready on it waited for nothing but
	// places.
	Issued, Ready, Begin, End unit.Time
}

// Level is a value from a time on, until that of the next one.
type Level struct {
	At    unit.Time
	Value int32
}

// NewLog returns an empty log. Only a log for pictures has details and counters.
func NewLog(env *Env, isForPicture bool) *Log {
	l := &Log{}
	if isForPicture {
		l.Details, l.Counters = []Detail{}, make([]Counter, len(env.Graph.Links()))
		l.Brackets = []BracketRecord{}
	}
	return l
}

// LaneRecord is a lane of a rank.
type LaneRecord struct {
	Rank, Lane int32     // Lane counts within the rank
	Part       int32     // of a composed schedule; else 0
	Begin, End unit.Time // when it could start, and when its last step has ended
	Last       int32     // its last sub-step; −1 if it has none
}

// StepRecord is a sub-step: a slice of a step.
type StepRecord struct {
	Start, Done, End unit.Time // S, D, E
	Bytes            unit.Bytes
	Lane, Step       int32 // Step counts within the lane's program
	By               int32 // the step or message that S waited for, as Awaited says; −1: neither
	Held             int32 // the message that held it from D until E; −1: none
	Awaited          Awaited
	IsHandover       bool  // Held only had to be handed over to the device
	Computes         bool  // it is a kernel
	Dispatched       bool  // it is a kernel whose blocks have places of their own: no overhead
	Sources          int32 // the number of sources that it combines
}

// Detail describes what a sub-step does, for pictures.
type Detail struct {
	Verb                schedule.Verb // 0 for a step that moves nothing
	IsEdge              bool          // it is the begin or end of a part, and no step of a schedule
	Chunk, Slice, Round int32         // Chunk is the first block that it moves; −1 for none
	Peer                int32         // the rank that it sends to, or else receives from; −1 for none
}

// Awaited names the kind of event that a sub-step's start waited for. Of several that came at the
// same time the first in this order is recorded.
type Awaited uint8

// The kinds of events that a start may wait for.
const (
	RankStart  Awaited = iota // the start of the rank, and the launch of the call
	StepBefore                // the end of the lane's previous step
	Arrival                   // the arrival of a message
	FreeSlot                  // a free slot: λ after the end of the step that has freed it
	EventPost                 // an event: the end of the step that has posted it
	PostLeft                  // the leaving of a message that its lane had posted or buffered
	HostLaunch                // the launch of its bracket by the host
	Places                    // places on SMs, which the recorded step had
	CopyEngine                // a copy engine, which the recorded step had
)

// MessageRecord is a message through the network: one that a lane sends, the request or reply of a
// get, or the request or answer before a large message. A message that had to wait before it asked
// for its first link has a further record from then on.
//
// Under FIFO its Spans are first the times at which each segment began to cross the first link.
// Then follow those at which the last segment began to cross each other link. Under fluid sharing
// there is a span for each link: the time that it cost the message to share that link.
type MessageRecord struct {
	Since unit.Time // when it asked for its first link
	// Arrived is the time from which its receiver could use it. For a get's reply or a silent put,
	// which no lane receives, it is the time at which the last byte was there. It is 0 for a
	// message that carries no data or has a further record.
	Arrived unit.Time
	Late    unit.Time  // its own latency, on top of that of its links
	Bytes   unit.Bytes // that cross links
	Spans   int64      // the index of its first span in Log.Spans
	Step    int32      // the sub-step that sends or gets; or NoStep
	By      int32      // the message that had to arrive or leave before it, after D; −1: none
	To      int32      // the sub-step that receives it; −1: none
	Route   int32
	Peers   int32 // of its step, which share the lane's pace; 0 for what no lane paces
	Kind    MessageKind
	ByLeft  bool // By had to leave only, not to arrive
	Pacer   Pacer
}

// MessageKind distinguishes messages with data from those of a rendezvous.
type MessageKind uint8

// The kinds.
const (
	Ordinary     MessageKind = iota
	AskedFor                 // the request for a large message
	Answered                 // the answer to a request that found its receive posted
	AnsweredLate             // the answer to a request that waited for its receive, until Step's end
)

// NoStep returns the value of MessageRecord.Step for an answer whose receive was posted by a lane
// that had begun no step.
func NoStep(lane int32) int32 { return -2 - lane }

// LaneOf returns the lane that NoStep was called with; −1 if step is the number of a step.
func LaneOf(step int32) int32 { return max(-2-step, -1) }
