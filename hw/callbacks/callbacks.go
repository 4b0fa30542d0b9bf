// Package callbacks plays schedules by messages, as TFRT's distributed runtime does its ring
// all-reduce: all ranks in one process, and no thread that waits for anything. What a lane has to
// do next is a callback, which runs when its message has arrived and the lane has reached it,
// whichever comes last; a message that comes early waits in a registry under its key.
//
// It takes every schedule: one- and two-sided steps, teams, any type. Messages may arrive in any
// order that a network may give them (Config.Next), a send may fail (Config.Fail), and every rank
// is reported once how its part has ended (Config.Done). A run that cannot go on is reported at
// once, with who waits for whom: no timeout is needed. Times are of one thread that does the work
// of all ranks, one callback after the other. The bits must be those of the interpreter of package
// reference, with which it shares the schedule and the number formats, and nothing else.
package callbacks

import (
	"context"
	"fmt"
	"time"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// Key names a message: the collective, how often that has been done before, the connection, and the
// number of the message on it.
type Key struct {
	Collective string // Config.Name
	Instance   int
	Connection hw.Connection
	Number     int
}

// String is such as "grads#3 2/0→3/0 message 5".
func (k Key) String() string {
	c := &k.Connection
	return fmt.Sprintf("%s#%d %d/%d→%d/%d message %d", k.Collective, k.Instance, c.From, c.FromLane,
		c.To, c.ToLane, k.Number)
}

// Config says how messages go. In its zero value they arrive in the order in which they were sent.
type Config struct {
	Name string // of the collective, for keys
	// Short says what becomes of a vector with fewer elements than ranks.
	Short Short
	// Next picks which of n messages on their way arrives next, 0 … n−1.
	Next func(n int) int
	// Fail has a send fail if it returns an error.
	Fail func(Key) error
	// Done is called once in every repetition for every rank, when its lanes have ended or the run
	// has failed.
	Done func(rank int, err error)
	// Ran is called for every callback before it does its step: the rank and lane, and how many of
	// them the lane has run before in the repetition.
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
	Key   Key
	Err   error
	Where *hw.Error
}

// Error names the place, the message and the reason.
func (f *Failure) Error() string { return f.Where.Error() }

// Unwrap is the place and the reason.
func (f *Failure) Unwrap() []error { return []error{f.Where, f.Err} }

// Executor plays schedules. It holds nothing from one run to the next but their number.
type Executor struct {
	config   Config
	instance int
}

// New returns an Executor.
func New(c Config) *Executor { return &Executor{config: c} }

// Needs implements hw.Sizer.
func (*Executor) Needs(s *schedule.Schedule) int64 { return hw.Together(s) }

// Close does nothing: there is nothing to end.
func (e *Executor) Close() error { return nil }

// Run plays a job. A job that fails is an *hw.Error or a *Failure; all ranks have then been
// reported, and nothing is left waiting.
func (e *Executor) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.Check()
	if err != nil {
		return nil, err
	}
	spec := &job.Schedule.Spec
	if e.config.Short == Refuse && !spec.Kind.Splits() && spec.Count < int64(spec.Ranks) {
		return nil, hw.Refuse("callbacks: %d elements for %d ranks: some would have none", spec.Count,
			spec.Ranks)
	}
	r := newRun(ctx, e, job, env)
	result := &hw.Result{RanOn: hw.Here("callbacks", "one thread")}
	var kept []hw.Recording
	for i := range env.Warmup + env.Repetitions {
		r.reset()
		err := r.drive()
		r.complete(err)
		e.instance++
		if err != nil {
			return nil, err
		}
		if i < env.Warmup {
			continue
		}
		measured, origin := hw.Measure(r.start, r.end)
		result.Repetitions = append(result.Repetitions, measured)
		if env.Trace && result.Fastest() == len(result.Repetitions)-1 {
			kept = r.recordings(origin)
		}
	}
	var outputs [][]byte
	for rank := range spec.Ranks {
		outputs = append(outputs, r.ranks[rank].Output())
	}
	result.Take(job.Schedule, outputs)
	if env.Trace {
		result.Trace = hw.Timeline(job.Schedule, env.Iterations, kept)
	}
	return result, nil
}

// run is the state of a job.
type run struct {
	ctx      context.Context
	config   *Config
	instance *int
	s        *schedule.Schedule
	inputs   [][]byte
	env      hw.Env
	began    time.Time

	lanes []*lane
	ranks []*participant

	ready    []*lane // whose callback may run
	flying   []message
	early    map[Key][]byte
	waiting  map[Key]*lane           // for that message
	full     map[hw.Connection]*lane // waits for a slot
	held     map[hw.Connection]int   // messages that were sent and not taken
	awaiting map[*lane]bool          // an event

	step       schedule.Step
	start, end []unit.Time // of each rank
}

// participant is a rank at work.
type participant struct {
	*rank.Memory
	lanes    []*lane
	left     int // lanes that have not ended this iteration
	round    int // iterations that have ended
	reported bool
}

func newRun(ctx context.Context, e *Executor, job *hw.Job, env hw.Env) *run {
	s := job.Schedule
	r := &run{ctx: ctx, config: &e.config, instance: &e.instance, s: s, inputs: job.Given(), env: env,
		began: time.Now(), start: make([]unit.Time, s.Spec.Ranks), end: make([]unit.Time, s.Spec.Ranks)}
	for number := range s.Spec.Ranks {
		one := &participant{Memory: rank.NewMemory(s, number)}
		p := s.Program(number)
		for i := range p.Lanes() {
			l := &lane{program: p, rank: number, index: i, slices: int32(p.Slices(i))}
			one.lanes, r.lanes = append(one.lanes, l), append(r.lanes, l)
		}
		r.ranks = append(r.ranks, one)
	}
	return r
}

// now is the time since the job began.
func (r *run) now() unit.Time { return unit.Time(time.Since(r.began)) * unit.Nanosecond }

// reset makes all ready for a repetition. What no step writes is all ones, a NaN in every format
// that has one.
func (r *run) reset() {
	r.ready, r.flying = nil, nil
	r.early, r.waiting = map[Key][]byte{}, map[Key]*lane{}
	r.full, r.held = map[hw.Connection]*lane{}, map[hw.Connection]int{}
	r.awaiting = map[*lane]bool{}
	for number, one := range r.ranks {
		for _, memory := range one.Buffers {
			rank.Spoil(memory)
		}
		one.round, one.reported = 0, false
		for _, l := range one.lanes {
			l.ran, l.last = 0, 0
			l.sent, l.got = map[hw.Connection]int{}, map[hw.Connection]int{}
			l.stamps, l.outs, l.ins = nil, nil, nil
		}
		r.begin(number)
		r.start[number], r.end[number] = -1, -1
	}
}

// begin has a rank begin an iteration: its caller writes the input, and all its lanes are ready.
func (r *run) begin(number int) {
	one := r.ranks[number]
	one.Load(r.inputs[number])
	one.left = len(one.lanes)
	for _, l := range one.lanes {
		l.cursor, l.posts = l.program.Walk(l.index), 0
		r.ready = append(r.ready, l)
	}
}

// complete tells the ranks that have not heard it how the run has ended, and empties the registry.
func (r *run) complete(err error) {
	for number := range r.ranks {
		r.finish(number, err)
	}
	r.ready, r.flying, r.early, r.waiting, r.full, r.awaiting = nil, nil, nil, nil, nil, nil
}

// finish tells a rank, once.
func (r *run) finish(number int, err error) {
	if one := r.ranks[number]; !one.reported {
		one.reported = true
		if r.config.Done != nil {
			r.config.Done(number, err)
		}
	}
}
