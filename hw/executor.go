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

// An Executor executes schedules for real. It may keep processes, sockets and memory between runs;
// Close frees them. Only one goroutine at a time may use it.
type Executor interface {
	// Run executes a job. It returns when the job and all ranks have ended, also after a failure. A
	// failure is an *Error, a missing requirement a *Missing, an unsupported job a *Refusal. A job
	// that no executor could execute has an error of another type. If the context ended, the error
	// is its cause. The executor can be used again after an error.
	Run(ctx context.Context, job *Job) (*Result, error)
	// Close frees what the executor holds: no process, no socket and no file is left.
	Close() error
}

// A Job is a schedule to execute. REQUIRES: proof.Verify has proven the schedule for as many
// iterations, with Env.Slots slots unless the schedule has its own. For other schedules an Executor
// only promises to end a run that cannot go on.
type Job struct {
	Schedule *schedule.Schedule
	// Inputs holds the elements of every rank's input, little-endian: Schedule.Len(schedule.Input,
	// rank) elements of a rank. An executor does not change them. They may be nil if the schedule
	// has tensors only.
	Inputs [][]byte
	// Tensors holds the values of the given tensors of a program or a composed schedule,
	// little-endian. It is indexed by the tensor's number in Schedule.Tensors, then by rank.
	// Entries of other tensors are ignored.
	Tensors [][][]byte
	Env     Env
	// Done, unless nil, gets the outcome of every repetition for every rank, once: success, or the
	// error that has ended the run. callbacks and host call it.
	Done func(rank int, err error)
}

// DefaultTimeout is the timeout where the environment has none.
const DefaultTimeout = 30 * time.Second

// Env configures a run. Its zero value executes the schedule once.
type Env struct {
	Warmup      int // repetitions before the measured ones
	Repetitions int // measured ones; 1 if 0
	// Iterations counts the runs of each rank's program in a repetition, without a barrier in
	// between; 1 if 0. Before each run, a rank's caller writes the input again.
	Iterations int
	Slots      int // of connections, unless the schedule has its own; 0 is any number
	// Timeout ends a run that makes no progress for so long, and reports a peer that is silent for
	// so long. It does not bound the run. DefaultTimeout if 0.
	Timeout time.Duration
	// Float32 asks that a step combine all its sources in float32 and round once, if the type is
	// narrower. An executor that does so sets Result.Float32; others round after each operation.
	Float32 bool
	Trace   bool // record a timeline, at the cost of four clock readings a sub-step
	// Faults go wrong in every repetition. callbacks and host have them; others refuse such a job.
	Faults []Fault
}

// A Result holds what a run returned and measured.
type Result struct {
	Outputs [][]byte // of every rank in the last repetition, little-endian
	// Tensors holds the results of a program or a composed schedule in the last repetition,
	// little-endian. It is indexed by the tensor's number in Schedule.Tensors, then by rank; nil
	// for other tensors.
	Tensors     [][][]byte
	Repetitions []Repetition
	// Trace is the timeline of the fastest repetition; nil unless the environment asks for it and
	// the executor records one.
	Trace *trace.Trace
	// Skew bounds the error between the clocks of two ranks in Repetitions and Trace; 0 if all have
	// the same clock.
	Skew  unit.Time
	RanOn RanOn
	// Float32 reports that steps were combined in float32, as the environment asked.
	Float32 bool
	// Chose describes the algorithm that a library chose, as in "Ring LL, 24 channels"; "" if it
	// does not report it.
	Chose string
	// Estimate is the time that a library's own model predicts for the job; 0 if it has none.
	Estimate unit.Time
	// Executed is the schedule that was executed, if it is not the job's; else nil.
	Executed *schedule.Schedule
}

// A Repetition holds the times of one measured repetition, counted from the start of the first
// rank.
type Repetition struct {
	Start, End []unit.Time // of each rank: before its first step, after its last
	Time       unit.Time   // end of the last rank
}

// Fastest returns the index of the repetition that took the least time.
func (r *Result) Fastest() int {
	best := 0
	for i := range r.Repetitions {
		if r.Repetitions[i].Time < r.Repetitions[best].Time {
			best = i
		}
	}
	return best
}

// Median returns the median of the repetitions' times, and the distance between their quartiles.
// The median of an even number is the mean of the two middle ones. The quartiles are the medians of
// the lower and the upper half.
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

// Measure returns a repetition, given the start and the end of each rank by one clock. It also
// returns the earliest start, from which the repetition counts.
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

// Check checks a job and returns its environment with defaults filled in.
func (j *Job) Check() (Env, error) {
	env := j.Env
	if j.Schedule == nil {
		return env, fmt.Errorf("no schedule")
	}
	for _, n := range []struct {
		name  string
		value int64
	}{{"repetitions", int64(env.Repetitions)}, {"warm-up repetitions", int64(env.Warmup)},
		{"iterations", int64(env.Iterations)}, {"slots", int64(env.Slots)},
		{"nanoseconds of timeout", int64(env.Timeout)}} {
		if n.value < 0 {
			return env, fmt.Errorf("%d %s: at least 0 is expected", n.value, n.name)
		}
	}
	spec := &j.Schedule.Spec
	if err := checkFaults(env.Faults, j.Schedule); err != nil {
		return env, err
	}
	if err := j.checkTensors(); err != nil {
		return env, err
	}
	if len(j.Inputs) != spec.Ranks && (j.Inputs != nil || len(j.Tensors) == 0) {
		return env, fmt.Errorf("inputs of %d ranks: %d are expected", len(j.Inputs), spec.Ranks)
	}
	for rank, in := range j.Inputs {
		want := j.Schedule.Len(schedule.Input, rank) * int64(spec.Type.Width())
		if int64(len(in)) != want {
			return env, fmt.Errorf("rank %d has %d bytes of input: %d are expected", rank, len(in),
				want)
		}
	}
	env.Repetitions, env.Iterations = max(env.Repetitions, 1), max(env.Iterations, 1)
	if env.Timeout == 0 {
		env.Timeout = DefaultTimeout
	}
	return env, nil
}
