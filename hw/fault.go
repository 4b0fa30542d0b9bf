package hw

import (
	"fmt"
	"time"

	"collsim/collective"
	"collsim/schedule"
)

// FaultKind says what an executor has a rank do wrong.
type FaultKind uint8

// The kinds of faults.
const (
	Stops FaultKind = iota // it begins no step any more, and says nothing
	Dies                   // it ends at once; of a rank in a process of its own that ends
	Drops                  // a message that it sends is lost
	Late                   // each of its lanes pauses
)

// A Fault is something that an executor has a rank do wrong, in every repetition.
type Fault struct {
	Rank int
	Does FaultKind
	// Before holds the number of sub-steps that each lane of the rank carries out before the fault.
	Before []int32
	// Lane and Number are the lane and its sub-step, from 0, whose first message is lost.
	Lane, Number int32
	For          time.Duration // of Late
}

// Strikes reports whether a lane of a rank that has begun so many sub-steps has come to the fault.
func (f *Fault) Strikes(rank, lane int, begun int32) bool {
	return f.Rank == rank && f.Does != Drops && lane < len(f.Before) && begun == f.Before[lane]
}

// Loses reports whether a sub-step of a lane of a rank, of so many before it, loses a message.
func (f *Fault) Loses(rank, lane int, before int32) bool {
	return f.Rank == rank && f.Does == Drops && int(f.Lane) == lane && f.Number == before
}

// Died returns the error of a rank that a fault has ended.
func (f *Fault) Died(lane, step int) *Error {
	return &Error{Call: "step", Code: "died", Rank: f.Rank, Lane: lane, Step: step,
		Text: fmt.Sprintf("rank %d has died", f.Rank)}
}

// EndsAlone reports whether a rank that has ended its part of a collective has succeeded whatever
// becomes of others, as in MPI: in what has a root, and in messages. All others depend on every
// rank, so that none may succeed where one fails.
func EndsAlone(s *schedule.Schedule) bool {
	k := s.Spec.Kind
	return !schedule.Composed(s) && (k.Rooted() || k == collective.SendRecv)
}

// checkFaults returns an error if a fault is of no rank of a schedule.
func checkFaults(list []Fault, s *schedule.Schedule) error {
	for i := range list {
		if f := &list[i]; f.Rank < 0 || f.Rank >= s.Spec.Ranks || f.Does > Late || f.For < 0 {
			return fmt.Errorf("fault %d is of rank %d; the schedule has %d ranks", i, f.Rank, s.Spec.Ranks)
		}
	}
	return nil
}

// CheckSound checks a job as Check does, for an executor that has no faults: it refuses them.
func (j *Job) CheckSound() (Env, error) {
	env, err := j.Check()
	if err == nil && len(env.Faults) > 0 {
		err = Refuse("faults are injected by host and callbacks alone")
	}
	return env, err
}
