package hw

import (
	"context"
	"fmt"
	"slices"
	"time"

	"collsim/schedule"
	"collsim/trace"
	"collsim/unit"
)

// Executor executes schedules for real. It may hold processes, sockets and memory from one run to
// the next; Close frees them. An Executor is used by one goroutine at a time.
type Executor interface {
	// Run executes a job, and returns when it has ended and all ranks have, well or not. What fails
	// is an *Error, what is not available here a *Missing, what the executor has no way to a
	// *Refusal. A job that nobody could execute is an error of another type, as is the cause of a
	// context that ended. After an error the executor can be used again.
	Run(ctx context.Context, job *Job) (*Result, error)
	// Close ends what the executor holds. Nothing is left then: no process, no socket, no file.
	Close() error
}

// Job is what is to be executed. REQUIRES: proof.Verify has proven the schedule, with Env.Slots
// slots if it says nothing of them, and for as many iterations. Of others an Executor promises
// less: that a run which can't go on is ended.
type Job struct {
	Schedule *schedule.Schedule
	// Inputs are the elements of every rank's input, little-endian: as many as
	// Schedule.Len(schedule.Input, rank). They are not changed. Of a schedule that has tensors
	// alone they may be nil.
	Inputs [][]byte
	// Tensors are the values of the given tensors of a program or a composed schedule,
	// little-endian, by their number in Schedule.Tensors and by rank; those of other tensors are
	// not looked at.
	Tensors [][][]byte
	Env     Env
}

// DefaultTimeout is the timeout of an environment that gives none.
const DefaultTimeout = 30 * time.Second

// Env is the environment of a run. Its zero value executes the schedule once.
type Env struct {
	Warmup      int // repetitions before those that are measured
	Repetitions int // that are measured; 1 if 0
	// Iterations is how often each rank runs its program in a repetition, without waiting for the
	// other ranks in between; 1 if 0. Between two, a rank's caller writes the input again.
	Iterations int
	Slots      int // of connections where the schedule says nothing; 0 is any number
	// Timeout ends a run that makes no progress for so long, and names a peer that says nothing
	// for so long. It does not bound the run. DefaultTimeout if 0.
	Timeout time.Duration
	// Float32 asks that a step combine all its sources in float32, and round once to the type,
	// where it is narrower: an executor that can says so in its result; others round after each
	// operation.
	Float32 bool
	Trace   bool // ask for a timeline, which costs four readings of the clock a sub-step
}

// Result is what has happened.
type Result struct {
	Outputs [][]byte // of every rank in the last repetition, little-endian
	// Tensors are the results of a program or a composed schedule in the last repetition,
	// little-endian, by their number in Schedule.Tensors and by rank; nil of other tensors.
	Tensors     [][][]byte
	Repetitions []Repetition
	// Trace is the timeline of the fastest repetition; nil unless the environment asks for it, and
	// the executor can tell.
	Trace *trace.Trace
	// Skew bounds how far the clocks of two ranks may be apart in Repetitions and Trace; 0 where
	// all have the same clock.
	Skew  unit.Time
	RanOn RanOn
	// Float32 says that steps were combined in float32, because the environment asked for it.
	Float32 bool
	// Chose is how a library has done it, which chooses by itself, as in "Ring LL, 24 channels"; ""
	// where it does not say.
	Chose string
	// Estimate is what a library predicts by a model of its own that the job takes; 0 where it does
	// not say.
	Estimate unit.Time
	// Executed is what was done, where that is not the job's schedule; nil elsewhere.
	Executed *schedule.Schedule
}

// Repetition is one measured repetition. Times count from the start of the first rank.
type Repetition struct {
	Start, End []unit.Time // of each rank: before its first step, after its last
	Time       unit.Time   // when the last rank ended
}

// Fastest is the index of the repetition that took the least time.
func (r *Result) Fastest() int {
	best := 0
	for i := range r.Repetitions {
		if r.Repetitions[i].Time < r.Repetitions[best].Time {
			best = i
		}
	}
	return best
}

// Median is the median of the repetitions' times, of two middle ones the mean, and the distance
// between their quartiles (the medians of the lower and the upper half).
func (r *Result) Median() (median, spread unit.Time) {
	times := make([]unit.Time, len(r.Repetitions))
	for i := range times {
		times[i] = r.Repetitions[i].Time
	}
	slices.Sort(times)
	half := (len(times) + 1) / 2
	return middle(times), middle(times[len(times)-half:]) - middle(times[:half])
}

func middle(sorted []unit.Time) unit.Time {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Measure is the repetition of which each rank has noted its start and its end, all by one clock.
func Measure(start, end []unit.Time) (r Repetition, origin unit.Time) {
	if len(start) == 0 {
		return r, 0
	}
	origin = slices.Min(start)
	for rank := range start {
		r.Start = append(r.Start, start[rank]-origin)
		r.End = append(r.End, end[rank]-origin)
	}
	r.Time = slices.Max(r.End)
	return r, origin
}

// Check says what is wrong with a job, nil if nothing, and completes its environment.
func (j *Job) Check() (Env, error) {
	env := j.Env
	if j.Schedule == nil {
		return env, fmt.Errorf("hw: no schedule")
	}
	for _, n := range []struct {
		name  string
		value int64
	}{{"repetitions", int64(env.Repetitions)}, {"warm-up repetitions", int64(env.Warmup)},
		{"iterations", int64(env.Iterations)}, {"slots", int64(env.Slots)},
		{"nanoseconds of timeout", int64(env.Timeout)}} {
		if n.value < 0 {
			return env, fmt.Errorf("hw: %d %s: at least 0 is expected", n.value, n.name)
		}
	}
	spec := &j.Schedule.Spec
	if err := j.checkTensors(); err != nil {
		return env, err
	}
	if len(j.Inputs) != spec.Ranks && (j.Inputs != nil || len(j.Tensors) == 0) {
		return env, fmt.Errorf("hw: inputs of %d ranks: %d are expected", len(j.Inputs), spec.Ranks)
	}
	for rank, in := range j.Inputs {
		want := j.Schedule.Len(schedule.Input, rank) * int64(spec.Type.Width())
		if int64(len(in)) != want {
			return env, fmt.Errorf("hw: rank %d has %d bytes of input: %d are expected", rank, len(in),
				want)
		}
	}
	env.Repetitions, env.Iterations = max(env.Repetitions, 1), max(env.Iterations, 1)
	if env.Timeout == 0 {
		env.Timeout = DefaultTimeout
	}
	return env, nil
}
