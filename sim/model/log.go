package model

import (
	"collsim/schedule"
	"collsim/unit"
)

// Log is what an engine tells of a run: what each sub-step and each message waited for last, and
// when. Records are named by their place. Traces and critical paths are made from it alone, so they
// are the same whichever engine has written it.
//
// An engine keeps a log only if it is asked to, and may put off writing what follows from what
// it has written: Open or Read comes before all else. A sub-step takes 56 bytes and a message 64
// (a get is two: the request and the reply), and each link that a message crosses 8, as do its
// segments after the first; a detail 20.
type Log struct {
	Network  *Network
	Lanes    []LaneRecord // of all ranks
	Steps    []StepRecord // sub-steps; those of a lane in order
	Messages []MessageRecord
	Spans    []unit.Time // of messages, from MessageRecord.Spans on

	// For pictures, and nil where nobody asks for them: NewLog.
	Details  []Detail        // of the sub-steps
	Counters []Counter       // of the links, then of the ranks' memories if these are shared
	Brackets []BracketRecord // of a device with a GPU model, in the order in which they begin
	Busy     [][]Level       // of each rank, how many of its SMs have a block

	// Of an engine that plays one rank for many: how many each rank here stands for, 0 for none but
	// itself, and what it has left out. Then there are no messages, no counters and no causes.
	Alike   int32
	Repeats []RepeatRecord

	later func() Records // where not all is written
	index Records        // what that has made
}

// Records are what an engine works out of what it has written, where it has not written all.
type Records interface {
	Step(number int32) StepRecord
	Message(number int32) MessageRecord // To is not told
	All()                               // writes all to the log
}

// Later has an engine write all but what a picture is for when the log is read: first that of the
// lanes.
func (l *Log) Later(index func() Records) { l.later = index }

// Open makes sure that all of the lanes is written, and that Step and Message tell the rest.
func (l *Log) Open() {
	if l.later != nil {
		l.index, l.later = l.later(), nil
	}
}

// Read makes sure that all is written.
func (l *Log) Read() {
	if l.Open(); l.index != nil {
		l.index.All()
		l.index = nil
	}
}

// Step is the record of a sub-step.
func (l *Log) Step(number int32) StepRecord {
	if l.index != nil {
		return l.index.Step(number)
	}
	return l.Steps[number]
}

// Message is the record of a message; who receives it is told only by what has been read.
func (l *Log) Message(number int32) MessageRecord {
	if l.index != nil {
		return l.index.Message(number)
	}
	return l.Messages[number]
}

// RepeatRecord is what has been left out since it is what was before: what happened in the period
// before At happens so many times more behind it.
type RepeatRecord struct {
	At, Period unit.Time
	Times      int64
}

// BracketRecord is a bracket that has been launched, or a kernel that was not.
type BracketRecord struct {
	Name         string
	Rank, Stream int32
	Lane         int32 // the first of its lanes, within the rank
	Lanes        int32
	Engine       schedule.Engine
	CopyEngine   int32 // its number; −1: none
	Blocks       int64 // that have stayed from begin to end; of kernels, all their grids
	// Issued is when the host had launched it, Ready when it waited for nothing but places.
	Issued, Ready, Begin, End unit.Time
}

// Level is a number from a time on.
type Level struct {
	At    unit.Time
	Value int32
}

// NewLog is empty. Details and counters are kept only where a picture is to be made.
func NewLog(env *Env, isForPicture bool) *Log {
	l := &Log{}
	if isForPicture {
		l.Details, l.Counters = []Detail{}, make([]Counter, len(env.Graph.Links()))
		l.Brackets = []BracketRecord{}
	}
	return l
}

// LaneRecord is a lane.
type LaneRecord struct {
	Rank, Lane int32     // counts within the rank
	Part       int32     // of a composed schedule; else 0
	Begin, End unit.Time // when it could start, and when its last step has ended
	Last       int32     // its last sub-step; −1 if it has none
}

// StepRecord is a sub-step.
type StepRecord struct {
	Start, Done, End unit.Time // S, D, E
	Bytes            unit.Bytes
	Lane, Step       int32 // Step counts within the lane's program
	By               int32 // what S waited for: a step or a message, as Awaited says; −1: neither
	Held             int32 // the message that held it after D, until E; −1: none did
	Awaited          Awaited
	IsHandover       bool  // Held only had to be handed over
	Computes         bool  // it is a kernel
	Dispatched       bool  // whose blocks have had places of their own: it has no overhead
	Sources          int32 // that it combines
}

// Detail is what a sub-step does: for pictures.
type Detail struct {
	Verb                schedule.Verb // 0 of what moves nothing
	IsEdge              bool          // it is a part's begin or end, and no step of its schedule
	Chunk, Slice, Round int32         // the first block that it moves, −1 for none
	Peer                int32         // the rank that it sends to, or else receives from, −1 for none
}

// Awaited is what a sub-step's start waited for, in the order in which one of several that came at
// the same time is named.
type Awaited uint8

// What a start may wait for.
const (
	RankStart  Awaited = iota // and the launch of the call
	StepBefore                // the end of the lane's step before
	Arrival                   // of a message
	FreeSlot                  // the end of the step that freed it, and λ
	EventPost                 // the end of the step that posted it
	PostLeft                  // the leaving of a message that its lane had posted, or buffered
	HostLaunch                // its bracket's launch by the host
	Places                    // on SMs, which the step had that is named
	CopyEngine                // that the step had which is named
)

// MessageRecord is a message on its way: one that a lane sends, a get's request or its reply, what
// is asked and answered before a large message. A message that had to wait before it asked for its
// first link has a further record from then on.
//
// Under FIFO its Spans are when each segment began to cross the first link, then when the last
// segment began to cross each of the others; under fluid sharing, how much time each of its links
// cost it by being shared.
type MessageRecord struct {
	Since unit.Time // when it asked for its first link
	// Arrived is when its receiver could use it, and of what no lane receives (a get's reply, a silent
	// put) when its last byte was there. 0 is of what carries no data, or has a further record.
	Arrived unit.Time
	Late    unit.Time  // its own latency, on top of that of its links
	Bytes   unit.Bytes // that cross links
	Spans   int64
	Step    int32 // that sends, or gets; or NoStep
	By      int32 // the message that had to come or leave before it, after D; −1: none
	To      int32 // the step that receives it; −1: none
	Route   int32
	Peers   int32 // of its step, which share the lane's pace; 0 for what no lane paces
	Kind    MessageKind
	ByLeft  bool // By did not have to come, only to leave
	Pacer   Pacer
}

// MessageKind says what a record is of.
type MessageKind uint8

// The kinds.
const (
	Ordinary     MessageKind = iota
	AskedFor                 // the request for a large message
	Answered                 // the answer to one that came when its receive was posted
	AnsweredLate             // the answer to one that had to wait for that: until Step's end
)

// NoStep is the Step of an answer whose receive was posted by a lane that had begun no step. LaneOf
// is that lane, −1 for a step.
func NoStep(lane int32) int32 { return -2 - lane }

// LaneOf is the lane that NoStep was made of, −1 if it was not.
func LaneOf(step int32) int32 { return max(-2-step, -1) }
