// Package callbacks executes schedules by messages, like the ring all-reduce of TFRT's distributed
// runtime: all ranks in one process, and no thread that blocks. A lane's next action is a callback.
// It runs once its message has arrived and the lane has reached it. A message that arrives early
// waits in a registry under its key.
//
// It takes every schedule: one- and two-sided steps, teams, any type. Messages may arrive in any
// order that a network allows (Config.Next), a send may fail (Config.Fail), and every rank is
// notified once of its end (Config.Done). A run that cannot go on is reported at once, with the
// wait-for chain: no timeout is needed. One thread does the work of all ranks, one callback after
// the other, so times include that. The bits must be those of the interpreter of package reference.
// The two share only the schedule and the number formats.
package callbacks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// A Key identifies a message: the collective, the instance of its execution, the connection, and
// the message's number on it.
type Key struct {
	Collective string // Config.Name
	Instance   int
	Connection hw.Connection
	Number     int
}

// String formats the key, as in "grads#3 2/0→3/0 message 5".
func (k Key) String() string {
	c := &k.Connection
	return fmt.Sprintf("%s#%d %d/%d→%d/%d message %d", k.Collective, k.Instance, c.From, c.FromLane,
		c.To, c.ToLane, k.Number)
}

// Config controls the delivery of messages. By default they arrive in the order in which they were
// sent.
type Config struct {
	Name string // of the collective, for keys
	// Short selects what happens to a vector with fewer elements than ranks.
	Short Short
	// Next selects which of n messages in flight arrives next, 0 … n−1.
	Next func(n int) int
	// Turn selects which of n lanes whose callback may run has its turn, 0 … n−1.
	Turn func(n int) int
	// Fail makes a send fail if it returns an error.
	Fail func(Key) error
	// Done is called once in every repetition for every rank: when its part of a collective with a
	// root has ended, or when the parts of all ranks of another have, or when the run has failed.
	Done func(rank int, err error)
	// Ran is called before every callback, with its rank and lane, and the number of callbacks that
	// the lane has run in the repetition.
	Ran func(rank, lane, number int)
}

// Shuffled returns a Config in which lanes take their turns, and messages arrive, in an order that
// a seed draws.
func Shuffled(seed int64) Config {
	draw := rand.New(rand.NewPCG(uint64(seed), 0))
	return Config{Next: draw.IntN, Turn: draw.IntN}
}

// Short says what happens to a vector with fewer elements than ranks.
type Short uint8

// Ranks beyond the elements get empty chunks (Pad), or the run is refused, as in TFRT (Refuse).
const (
	Pad Short = iota
	Refuse
)

// A Failure is the error of a run whose send failed: the message, the reason and the place. All
// ranks get the same one.
type Failure struct {
	Key   Key
	Err   error
	Where *hw.Error
}

// Error formats the place, the message and the reason.
func (f *Failure) Error() string { return f.Where.Error() }

// Unwrap returns the place and the reason.
func (f *Failure) Unwrap() []error { return []error{f.Where, f.Err} }

// An Executor executes schedules. It keeps only the number of runs between them.
type Executor struct {
	config   Config
	instance int
}

// New returns an Executor.
func New(c Config) *Executor { return &Executor{config: c} }

// Needs implements hw.Sizer: all ranks are in this process.
func (*Executor) Needs(s *schedule.Schedule) int64 { return hw.Together(s) }

// Close does nothing.
func (e *Executor) Close() error { return nil }

// Run executes a job. A failed job is an *hw.Error or a *Failure; all ranks have then been
// notified, and nothing is left waiting.
func (e *Executor) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.Check()
	if err != nil {
		return nil, err
	}
	spec := &job.Schedule.Spec
	if e.config.Short == Refuse && !spec.Kind.Splits() && spec.Count < int64(spec.Ranks) {
		return nil, hw.Refuse("%d elements for %d ranks: some would have none", spec.Count,
			spec.Ranks)
	}
	r := newRun(ctx, e, job, env)
	r.told = job.Done
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

// A run is the state of a job.
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
	inFlight []message
	early    map[Key][]byte
	waiting  map[Key]*lane           // for that message
	full     map[hw.Connection]*lane // waiting for a slot
	held     map[hw.Connection]int   // messages sent and not yet received

	step       schedule.Step
	start, end []unit.Time // of each rank

	told   func(rank int, err error) // Job.Done
	alone  bool                      // a rank's success does not depend on other ranks
	team   []int                     // by rank
	left   []int                     // by team: ranks that have not ended
	paused []*lane                   // by a fault, until nothing else is left to do
	died   *hw.Error
}

// A participant is the state of a rank.
type participant struct {
	*rank.Memory
	lanes    []*lane
	left     int // lanes that have not ended this iteration
	round    int // completed iterations
	reported bool
}

// newRun prepares a job.
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
	r.alone, r.team = hw.EndsAlone(s), make([]int, s.Spec.Ranks)
	for i, t := range s.Teams() {
		for _, rank := range t.Ranks {
			r.team[rank] = i
		}
	}
	return r
}

// now returns the time since the job began.
func (r *run) now() unit.Time { return unit.Time(time.Since(r.began)) * unit.Nanosecond }

// reset prepares a repetition. All bytes are 0xff before the input is written, a NaN in every
// format that has one.
func (r *run) reset() {
	r.ready, r.inFlight = nil, nil
	r.early, r.waiting = map[Key][]byte{}, map[Key]*lane{}
	r.full, r.held = map[hw.Connection]*lane{}, map[hw.Connection]int{}
	r.paused, r.died = nil, nil
	r.left = make([]int, max(1, len(r.s.Teams())))
	for _, team := range r.team {
		r.left[team]++
	}
	for number, one := range r.ranks {
		for _, memory := range one.Buffers {
			rank.Spoil(memory)
		}
		one.round, one.reported = 0, false
		for _, l := range one.lanes {
			l.ran, l.last, l.struck = 0, 0, map[int]bool{}
			l.sent, l.got = map[hw.Connection]int{}, map[hw.Connection]int{}
			l.stamps, l.outs, l.ins = nil, nil, nil
		}
		r.begin(number)
		r.start[number], r.end[number] = -1, -1
	}
}

// begin starts a rank's next iteration: it writes the input, and all lanes are ready.
func (r *run) begin(number int) {
	one := r.ranks[number]
	one.Load(r.inputs[number])
	one.left = len(one.lanes)
	for _, l := range one.lanes {
		l.cursor, l.posts, l.awaited = l.program.Walk(l.index), 0, nil
		r.ready = append(r.ready, l)
	}
}

// complete notifies the remaining ranks of the end of the run, and empties the registry.
func (r *run) complete(err error) {
	for number := range r.ranks {
		r.finish(number, err)
	}
	r.ready, r.inFlight, r.early, r.waiting, r.full = nil, nil, nil, nil, nil
}

// ends notes that a rank has ended its part. It is notified at once where that says nothing of
// others, else with the last rank of its team.
func (r *run) ends(number int) {
	team := r.team[number]
	if r.left[team]--; r.alone {
		r.finish(number, nil)
		return
	}
	for other := range r.ranks {
		if r.left[team] == 0 && r.team[other] == team {
			r.finish(other, nil)
		}
	}
}

// finish notifies a rank of its end, once.
func (r *run) finish(number int, err error) {
	if one := r.ranks[number]; !one.reported {
		one.reported = true
		if r.config.Done != nil {
			r.config.Done(number, err)
		}
		if r.told != nil {
			r.told(number, err)
		}
	}
}
