package model

import (
	"fmt"

	"collsim/schedule"
	"collsim/unit"
)

// FaultKind says what a fault does to a rank.
type FaultKind uint8

// The kinds of faults. What a rank has begun it ends in any case, and what it has sent arrives.
const (
	Stops FaultKind = iota // it begins no step any more
	Dies                   // so, too: its process is gone, and answers nobody
	Drops                  // the next message that it sends to a lane of another rank is lost
	Late                   // it begins no step for a while
)

// String returns the word of a scenario.
func (k FaultKind) String() string { return [...]string{"stops", "dies", "drops", "late"}[k] }

// FaultBy says how a fault names its moment.
type FaultBy uint8

// The ways.
const (
	ByTime FaultBy = iota
	ByStep
	ByPart
)

// Fault is something that goes wrong on a rank.
type Fault struct {
	Rank int32
	Does FaultKind
	// At is the time from which on it holds. By step it is when the rank begins the step with that
	// number: those of all its lanes are counted, from 0, in the order in which they begin. By part it
	// is when the rank begins the first of Parts of a composed schedule.
	At    unit.Time
	By    FaultBy
	Step  int
	Parts []int32
	For   unit.Time // of Late: how long no step begins
	// Lane and Number are the lane of the rank and its sub-step, from 0, whose message is lost. They
	// are found by simulation.
	Lane, Number int32
	// Before counts, by lane of the rank, the sub-steps that begin before At in the run with all
	// faults. It is found by simulation, too.
	Before []int32
}

// IsEnd reports whether the rank does nothing afterwards.
func (f *Fault) IsEnd() bool { return f.Does == Stops || f.Does == Dies }

// validateFaults returns an error if a fault is of no rank, or at no time.
func (env *Env) validateFaults(ranks int) error {
	for i, f := range env.Faults {
		switch {
		case f.Rank < 0 || int(f.Rank) >= ranks:
			return fmt.Errorf("fault %d is of rank %d; the schedule has %d ranks", i, f.Rank, ranks)
		case f.At < 0 || f.For < 0 || f.At >= unit.Forever || f.For >= unit.Forever || f.Step < 0:
			return fmt.Errorf("fault %d at %v, step %d, for %v: none is negative", i, f.At, f.Step, f.For)
		}
	}
	return nil
}

// Begin is a sub-step of a rank that begins.
type Begin struct {
	At           unit.Time
	Lane, Number int32 // of the rank, and among the lane's sub-steps, from 0
	Part         int32
	Sends        bool // a message that a lane receives
	IsEdge       bool // it moves nothing: the edge of a part
}

// LaneState says how far a lane has come in a run that does not come to its end.
type LaneState struct {
	Rank, Lane, Part int
	Begun            int32     // sub-steps that have begun
	IsOver           bool      // it has come to its end, at Since
	Since            unit.Time // it has begun nothing
	// Stopped says that a fault has ended its rank. Waits says what it waits for where it is not over,
	// and what it waited for when it was stopped; For is empty where that was nothing.
	Stopped bool
	Waits   schedule.Waiting
}

// Hang is the error of a run that does not come to its end because of a fault.
type Hang struct {
	Faults []Fault     // as in Env, with the times found for steps
	Struck []bool      // by fault: whether the rank was not at its end before
	Lanes  []LaneState // of all ranks, in order
}

// Error names the first lane that waits for another rank.
func (h *Hang) Error() string {
	for i := range h.Lanes {
		if w := &h.Lanes[i]; !w.IsOver && !w.Stopped {
			return fmt.Sprintf("rank %d lane %d waits for %s from rank %d lane %d since %v", w.Rank, w.Lane,
				w.Waits.For, w.Waits.OnRank, w.Waits.OnLane, w.Since)
		}
	}
	return "a rank has stopped"
}
