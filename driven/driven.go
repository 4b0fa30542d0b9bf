// Package driven carries a schedule out by messages, as TFRT's distributed runtime does its ring
// all-reduce: no thread waits for anything. What a lane has to do next is a callback that runs when
// its message has arrived and the lane has reached it, whichever comes last; a message that comes
// early waits in a registry under its key. It is an executor of the same schedules as the
// interpreter of package reference and shares nothing with it but the schedule and the number
// formats, so that their agreement, bit for bit, means something. It knows no time.
package driven

import (
	"errors"
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// Key names a message: the group and the instance of the collective, the connection, and the
// number of the message on it.
type Key struct {
	Group          string
	Instance       int
	From, FromLane int
	To, ToLane     int
	Class          schedule.Class
	Tag            int
	Number         int
}

// String is such as "grads#3 2/0→3/0 message 5".
func (k Key) String() string {
	return fmt.Sprintf("%s#%d %d/%d→%d/%d message %d", k.Group, k.Instance, k.From, k.FromLane, k.To,
		k.ToLane, k.Number)
}

// Options are the environment of a run. Its zero value has messages arrive in the order in which
// they were sent.
type Options struct {
	Group    string
	Instance int
	// Short says what becomes of a vector with fewer elements than ranks.
	Short Short
	// Next picks which of n messages on their way arrives next, 0 … n−1.
	Next func(n int) int
	// Fail has a send fail if it returns an error.
	Fail func(Key) error
	// Done is called once for every rank, when its lanes have ended or the run has failed.
	Done func(rank int, err error)
	// Ran is called for every callback that has run: the rank and lane, and how many before it.
	Ran func(rank, lane, number int)
}

// Short is what becomes of a vector with fewer elements than ranks.
type Short uint8

// The ways: ranks beyond the elements get chunks without any, or the run is refused, as TFRT does.
const (
	Pad Short = iota
	Refuse
)

// Failure is a run that has failed: the first send that did, and why. All ranks get the same one.
type Failure struct {
	Key Key
	Err error
}

// Error names the message and the reason.
func (f *Failure) Error() string { return fmt.Sprintf("driven: send of %v: %v", f.Key, f.Err) }

// Unwrap is the reason.
func (f *Failure) Unwrap() error { return f.Err }

// Run carries a schedule out on the inputs of all ranks and returns their outputs. REQUIRES: Verify
// has proven it; of one that deadlocks an error tells who waits, of one that races nothing does. A
// run that cannot go on, or whose sends fail, is an error; every rank has then completed with it,
// and nothing is left waiting.
func Run[T dtype.Number](s *schedule.Schedule, inputs [][]T, o Options) ([][]T, error) {
	spec := &s.Spec
	if spec.Kind != collective.Barrier && dtype.Of[T]() != spec.Type {
		return nil, fmt.Errorf("driven: elements of %v for a collective of %v", dtype.Of[T](), spec.Type)
	}
	if len(inputs) != spec.Ranks {
		return nil, fmt.Errorf("driven: inputs of %d ranks for %d", len(inputs), spec.Ranks)
	}
	if o.Short == Refuse && !spec.Kind.Splits() && spec.Count < int64(spec.Ranks) {
		return nil, fmt.Errorf("driven: %d elements for %d ranks: some would have none", spec.Count,
			spec.Ranks)
	}
	r := newRun[T](s, o)
	for rank, in := range inputs {
		if int64(len(in)) != s.Len(schedule.Input, rank) {
			return nil, fmt.Errorf("driven: rank %d has %d elements of input, %d are needed", rank,
				len(in), s.Len(schedule.Input, rank))
		}
		memory, base := r.buffer(schedule.Input, rank)
		copy(memory[base:], in)
	}
	err := r.drive()
	r.complete(err)
	if err != nil {
		return nil, err
	}
	outputs := make([][]T, spec.Ranks)
	for rank := range outputs {
		memory, base := r.buffer(schedule.Output, rank)
		outputs[rank] = append([]T{}, memory[base:base+s.Len(schedule.Output, rank)]...)
	}
	return outputs, nil
}

// complete tells the ranks that have not completed how the run has ended, and empties the registry.
func (r *run[T]) complete(err error) {
	for rank := range r.left {
		r.finish(rank, err)
	}
	r.early, r.waiting, r.flying = nil, nil, nil
}

// finish tells a rank, once.
func (r *run[T]) finish(rank int, err error) {
	if !r.told[rank] {
		r.told[rank] = true
		if r.o.Done != nil {
			r.o.Done(rank, err)
		}
	}
}

// drive starts every lane and delivers messages until none is left.
func (r *run[T]) drive() error {
	for lane := range r.lanes {
		r.ready = append(r.ready, lane)
	}
	for len(r.ready) > 0 || len(r.flying) > 0 {
		if len(r.ready) == 0 {
			r.deliver()
			continue
		}
		lane := r.ready[0]
		r.ready = r.ready[1:]
		if err := r.advance(lane); err != nil {
			return err
		}
	}
	if len(r.early) > 0 || len(r.waiting) > 0 || len(r.awaiting) > 0 {
		return r.stuck()
	}
	return nil
}

// stuck says what a run that cannot go on waits for.
func (r *run[T]) stuck() error {
	for i := range r.lanes {
		if l := &r.lanes[i]; l.wants != nil {
			return fmt.Errorf("driven: rank %d lane %d waits for %v, which never comes", l.rank, l.lane,
				*l.wants)
		}
	}
	if len(r.awaiting) > 0 {
		return errors.New("driven: lanes await events that are never posted")
	}
	return fmt.Errorf("driven: %d messages are never received", len(r.early))
}
