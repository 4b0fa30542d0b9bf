package sim

import (
	"collsim/schedule"
	"collsim/sim/critical"
	"collsim/sim/fold"
	"collsim/sim/model"
	"collsim/sim/sweep"
)

// Env describes where a schedule runs: the network, the devices, and how messages share links.
type Env = model.Env

// Sharing is the rule by which messages share a link.
type Sharing = model.Sharing

// The rules of sharing.
const (
	Fluid = model.Fluid // all messages of a link flow at once, at max-min fair rates
	FIFO  = model.FIFO  // one message after the other, first come first served
)

// Switching is the rule by which a message goes on to the next link of its route.
type Switching = model.Switching

// The rules of switching.
const (
	CutThrough   = model.CutThrough   // while it is still arriving
	StoreForward = model.StoreForward // when its last byte, or a segment's, has arrived
)

// Engine selects an engine. All give the same results.
type Engine uint8

// The engines.
const (
	// Best is Fold where that can simulate the schedule. Else it is Sweep, for a schedule with a
	// group from SweptFrom ranks on, where that can; else Event. For a trace or a critical path it
	// is Event. Where Fold would simulate so many ranks that a sweep is faster, Sweep is tried
	// first.
	Best  Engine = iota
	Event        // every rank: package event
	Fold         // one rank of each class of equal ones, or a *NotFolded: package fold
	Sweep        // every rank, in a guessed order, or a *NotSwept: package sweep
)

// String returns the value of sim.engine in a scenario.
func (e Engine) String() string { return [...]string{"best", "event", "fold", "sweep"}[e] }

// Folded holds results by class of ranks and links: Options.Folded.
type Folded = model.Folded

// Classes returns how many ranks stand for all when Fold begins: see package fold; on GPUs those of
// a known symmetry.
func Classes(s *schedule.Schedule, env *Env) int {
	if alike := alikeOnGPUs(s, env); alike != nil {
		return len(alike.Reps)
	}
	return fold.Classes(s, env)
}

// MostFolded bounds the sub-steps of a trace of classes.
const MostFolded = fold.MostRecords

// TooLate is the error of a run that takes longer than Env.Until.
type TooLate = model.TooLate

// NotFolded is the error of a schedule whose ranks cannot be proven to do the same.
type NotFolded = fold.NotFolded

// NotSwept is the error of a schedule whose order of requests for links the sweep cannot guess.
type NotSwept = sweep.NotSwept

// StallError is the error of a deadlock: it names which unfinished lanes wait for which.
type StallError = schedule.StallError

// Fault is something that goes wrong on a rank, FaultKind what, and FaultBy how it names its
// moment.
type (
	Fault     = model.Fault
	FaultKind = model.FaultKind
	FaultBy   = model.FaultBy
)

// The kinds of faults, and the ways to name a moment.
const (
	Stops  = model.Stops
	Dies   = model.Dies
	Drops  = model.Drops
	Late   = model.Late
	ByTime = model.ByTime
	ByStep = model.ByStep
	ByPart = model.ByPart
)

// Hang is the error of a run that does not come to its end because of a fault. LaneState says how
// far a lane has come in it.
type (
	Hang      = model.Hang
	LaneState = model.LaneState
)

// Piece is a part of the critical path: what the end of the run waited for between From and To.
type Piece = critical.Piece

// What names the kind of time that a piece of the critical path is spent on.
type What = critical.What

// The kinds of pieces.
const (
	Start          = critical.Start
	Overhead       = critical.Overhead
	Reduction      = critical.Reduction
	Copy           = critical.Copy
	Compute        = critical.Compute
	Transfer       = critical.Transfer
	Contention     = critical.Contention
	Latency        = critical.Latency
	SlotLatency    = critical.SlotLatency
	Launch         = critical.Launch
	MessageLatency = critical.MessageLatency
	SendBuffer     = critical.SendBuffer
	Rendezvous     = critical.Rendezvous
	Memory         = critical.Memory
	EventLatency   = critical.EventLatency
)
