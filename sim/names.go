package sim

import (
	"collsim/schedule"
	"collsim/sim/critical"
	"collsim/sim/event"
	"collsim/sim/fold"
	"collsim/sim/model"
	"collsim/sim/sweep"
	"collsim/unit"
)

// Env is where a schedule runs: the network, the devices, and how links are shared.
type Env = model.Env

// Sharing is how messages share a link.
type Sharing = model.Sharing

// The ways of sharing.
const (
	Fluid = model.Fluid // all messages of a link flow at once, at max-min fair rates
	FIFO  = model.FIFO  // one message after the other, first come first served
)

// Switching is when a message goes on to the next link of its route.
type Switching = model.Switching

// The ways of switching.
const (
	CutThrough   = model.CutThrough   // while it is still coming in
	StoreForward = model.StoreForward // when its last byte, or a segment's, has come in
)

// Engine is what plays a schedule. The numbers are the same.
type Engine uint8

// The engines.
const (
	// Best is Fold where that does, or else Sweep where a schedule with a group has 1,024 ranks and
	// that does, or else Event; where a trace or a critical path is asked for, it is Event. Where Fold
	// plays so many ranks that a sweep is soon quicker, it is Sweep, or Fold after all.
	Best  Engine = iota
	Event        // every rank: package event
	Fold         // one rank of each class of equal ones, or a *NotFolded: package fold
	Sweep        // every rank, in a guessed order, or a *NotSwept: package sweep
)

// String is the value of sim.engine in a scenario.
func (e Engine) String() string { return [...]string{"best", "event", "fold", "sweep"}[e] }

// Folded is what a run tells of classes of ranks and links: Options.Folded.
type Folded = model.Folded

// Classes is how many ranks stand for all where Fold is sure to begin: see package fold.
func Classes(s *schedule.Schedule, env *Env) int { return fold.Classes(s, env) }

// MostFolded is how many sub-steps a trace of classes has at most.
const MostFolded = fold.MostRecords

// Played is the same, after a look at all routes; no ranks are played unevenly.
func Played(s *schedule.Schedule, env *Env) (ranks int, isUneven bool) {
	return fold.Played(s, env), false
}

// PlayedEither is the same where ranks that do the same at different times are played for all, too,
// and whether they are: see package fold.
func PlayedEither(s *schedule.Schedule, env *Env) (ranks int, isUneven bool) {
	return fold.PlayedEither(s, env)
}

// Brief is how many sub-steps of a schedule Best lets Fold play where ranks can be swept as well.
func Brief(s *schedule.Schedule) int64 { return fold.Brief(s) }

// NotFolded is a schedule whose ranks cannot be proven to do the same.
type NotFolded = fold.NotFolded

// NotSwept is a schedule of which the order in which links are asked cannot be guessed.
type NotSwept = sweep.NotSwept

// StallError is a schedule that cannot go on though lanes are unfinished: who waits for whom.
type StallError = schedule.StallError

// CostError is fluid sharing that would take more than a minute.
type CostError = event.CostError

// Forecast is about how many seconds fluid sharing takes: see package event.
func Forecast(together, ends int64) float64 { return event.Forecast(together, ends) }

// Unaffordable is a *CostError if fluid sharing will be refused by that: see package event.
func Unaffordable(together, ends, messages int64, largest unit.Bytes) error {
	return event.Unaffordable(together, ends, messages, largest)
}

// Piece is a part of the critical path: what the end of the run waited for from From to To.
type Piece = critical.Piece

// What a piece of the critical path is spent on.
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
