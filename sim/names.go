package sim

import (
	"collsim/schedule"
	"collsim/sim/critical"
	"collsim/sim/event"
	"collsim/sim/model"
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

// StallError is a schedule that cannot go on though lanes are unfinished: who waits for whom.
type StallError = schedule.StallError

// CostError is fluid sharing that would take more than a minute.
type CostError = event.CostError

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
)
