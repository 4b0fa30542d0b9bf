package rank

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/schedule"
	"collsim/unit"
)

// A Config says how a coordinator gets workers. Here makes one in this process, which holds all
// ranks; otherwise Launch starts them as processes.
type Config struct {
	Here   func(Clock) Backend
	Launch Launcher
	// Workers returns the number of workers for so many ranks; nil is one per rank. Ranks are
	// distributed over them in order and evenly: see WorkerOf.
	Workers func(ranks int) int
	// Network is the coordinator's network: "unix" or "tcp".
	Network string
	// Listen is the TCP address at which other machines reach the coordinator: "10.0.0.1:7000". If
	// it is empty, any free port of 127.0.0.1 is taken.
	Listen string
	// Secret authenticates workers; if there is none, each session makes one of its own.
	Secret gate.Secret
	// Startup bounds the time until workers are ready, if it is more than a job's timeout.
	Startup time.Duration
	// Within calls start in a thread whose network namespace is that of the run; nil is this
	// process's. The function start opens the socket and starts the processes.
	Within func(workers int, start func() error) error
	RanOn  hw.RanOn // of the worker in this process
}

// A Launcher starts workers as processes, and ends them.
type Launcher interface {
	// Start starts so many workers, which connect to the rendezvous. It reports the end of each
	// until Stop is called.
	Start(at Rendezvous, workers int, ended func(Ended)) error
	// Patience bounds the delay until the end of a lost worker is reported.
	Patience() time.Duration
	// Stop ends the workers on this machine and returns when none is left. Workers that have
	// connected are given by process number; they were asked to end, and get the grace to do so.
	// The worker lost will not end by itself; −1 if there is none.
	Stop(come []int, lost int, grace time.Duration)
}

// An Ended event reports the end of a worker, as seen by its launcher.
type Ended struct {
	Worker int    // −1 if unknown
	Host   string // machine of the worker; empty: the launcher itself has ended
	// How is the cause. An *hw.Error is a full explanation. Its rank is not known yet; its text
	// says what the process has done, as in "ended: exit status 1".
	How error
}

// A Rendezvous holds what a worker needs to find its coordinator.
type Rendezvous struct {
	Network string // "tcp" or "unix"
	Address string
	Worker  int
	Secret  gate.Secret // shared with the coordinator
	// Timeout bounds the wait for a coordinator that does not listen yet; hw.DefaultTimeout if 0.
	Timeout time.Duration
}

// A Job is the work of all ranks.
type Job struct {
	Schedule *schedule.Schedule // nil if Detail describes the work
	Detail   []byte             // for backends, which know its format
	Inputs   [][]byte           // of every rank
	// Outputs is the size of every rank's output in bytes, if there is no schedule.
	Outputs []int64
	Env     hw.Env // completed, as hw.Job.Check does it
	// Done, unless nil, gets the outcome of every repetition for every rank: hw.Job.Done.
	Done func(rank int, err error)
}

// A Coordinator has workers execute jobs. It keeps them from one job to the next. Only one
// goroutine at a time may use it.
type Coordinator struct {
	config  Config
	session *session // nil if there are no workers
}

// New returns a coordinator. Nothing is started before the first job.
func New(c Config) *Coordinator {
	if c.Workers == nil {
		c.Workers = func(ranks int) int { return ranks }
	}
	return &Coordinator{config: c}
}

// Reachable reports whether other machines can dial an address: its host is neither empty nor a
// wildcard.
func Reachable(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && host != "" && !net.ParseIP(host).IsUnspecified()
}

// Run executes a job on as many workers as it needs. After a failure all workers end; the next job
// starts new ones.
func (c *Coordinator) Run(ctx context.Context, job *Job) (*hw.Result, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	var v *survey
	if job.Schedule != nil {
		var err error
		if v, err = look(job.Schedule); err != nil {
			return nil, err
		}
	}
	workers := c.config.Workers(len(job.Inputs))
	if s := c.session; s != nil && (len(s.members) < workers || s.broken()) {
		c.Close()
	}
	if c.session == nil {
		s, err := open(ctx, &c.config, workers, job.Env.Timeout)
		if err != nil {
			return nil, err
		}
		c.session = s
	}
	c.session.setTimeout(job.Env.Timeout)
	result, err := c.session.run(ctx, job, v)
	if err != nil {
		c.session.close(fault(err))
		c.session = nil
		return nil, err
	}
	return result, nil
}

// ended returns the error of a context that has ended, else nil.
func ended(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return nil
}

// Close ends the workers, and removes their files and the coordinator's.
func (c *Coordinator) Close() error {
	if c.session != nil {
		c.session.close(nil)
		c.session = nil
	}
	return nil
}

// run has the session's workers execute a job.
func (s *session) run(ctx context.Context, job *Job, v *survey) (*hw.Result, error) {
	if s.slots = job.Env.Slots; job.Schedule != nil && job.Schedule.Slots > 0 {
		s.slots = job.Schedule.Slots
	}
	outputs, err := job.outputs()
	if err != nil {
		return nil, err
	}
	if err := s.handOut(ctx, job, v, outputs); err != nil {
		return nil, err
	}
	result, best, origin, skew := &hw.Result{}, []hw.Recording(nil), unit.Time(0), unit.Time(0)
	for i := range job.Env.Warmup + job.Env.Repetitions {
		if i > 0 {
			s.epoch++
			if _, err := s.order(ctx, order{Kind: orderReset}, reportPrepared, s.busy()); err != nil {
				return nil, err
			}
		}
		measured, err := s.repeat(ctx, job)
		if err != nil {
			return nil, err
		}
		if i < job.Env.Warmup {
			continue
		}
		var start, end []unit.Time
		for _, p := range measured {
			start, end = append(start, p.Start), append(end, p.End)
			skew = max(skew, p.Skew)
			result.Estimate = max(result.Estimate, p.Estimate)
		}
		r, zero := hw.Measure(start, end)
		result.Repetitions = append(result.Repetitions, r)
		if job.Env.Trace && result.Fastest() == len(result.Repetitions)-1 {
			best, origin = recordings(measured), zero
		}
	}
	reports, err := s.order(ctx, order{Kind: orderFinish}, reportResult, s.members)
	if err != nil {
		return nil, err
	}
	for _, m := range s.members {
		if err := m.fits(reports[m.worker].Outputs, outputs); err != nil {
			return nil, err
		}
		result.Outputs = append(result.Outputs, reports[m.worker].Outputs...)
		if len(m.mine) > 0 {
			result.Skew = max(result.Skew, 2*(m.skew+skew))
		}
	}
	if best != nil && job.Schedule != nil {
		for rank := range best {
			best[rank].Shift(-origin)
		}
		result.Trace = hw.Timeline(job.Schedule, job.Env.Iterations, best)
	}
	result.RanOn = s.ranOn()
	return result, nil
}

// recordings extracts the recording of each rank.
func recordings(measured []Measurement) []hw.Recording {
	all := make([]hw.Recording, len(measured))
	for rank := range measured {
		all[rank] = measured[rank].Recording
	}
	return all
}

// handOut sends every worker its part of a job, and returns when all are prepared.
func (s *session) handOut(
	ctx context.Context, job *Job, v *survey, outputs []int64,
) error {
	s.epoch++
	text, ranks := "", len(job.Inputs)
	workers := min(len(s.members), ranks)
	at := make([]int, ranks) // the worker of each
	for _, m := range s.members {
		m.heard.Store(time.Now().UnixNano()) // its beats may follow an earlier, longer timeout
		m.mine = nil
	}
	for rank := range ranks {
		at[rank] = WorkerOf(rank, ranks, workers)
		m := s.members[at[rank]]
		m.mine = append(m.mine, rank)
	}
	if job.Schedule != nil && !s.members[0].here {
		text = job.Schedule.String()
	}
	for _, m := range s.members {
		p := &Part{Epoch: s.epoch, Ranks: ranks, Workers: workers, Mine: m.mine, Env: job.Env,
			Detail: job.Detail}
		if len(m.mine) > 0 {
			if m.hello.Order != s.members[0].hello.Order {
				return &hw.Error{Call: "hello", Code: "byte order", Rank: m.rank(), Lane: -1, Step: -1,
					Text: fmt.Sprintf("is %s, rank 0 %s: machines of one byte order are expected",
						m.hello.Order, s.members[0].hello.Order)}
			}
			p.Text, p.schedule = text, job.Schedule
			p.Inputs = job.Inputs[m.mine[0]:][:len(m.mine)]
		}
		m.channel.allow(m.longest(job, v, outputs))
		if v != nil {
			p.Reload = v.reload
			p.Peers = s.peers(m, v, at)
		}
		if err := s.send(m, order{Kind: orderJob, Part: p}); err != nil {
			return err
		}
	}
	_, err := s.await(ctx, reportPrepared, s.members)
	return err
}

// peers lists the ranks of other workers that communicate with those of a worker.
func (s *session) peers(m *member, v *survey, at []int) (all []Peer) {
	talks := map[int32]bool{}
	for _, rank := range m.mine {
		for _, other := range v.peers[rank] {
			talks[other] = at[other] != m.worker
		}
	}
	for rank := range int32(len(at)) {
		if talks[rank] {
			all = append(all, Peer{rank, s.members[at[rank]].ready.Address})
		}
	}
	return all
}

// repeat has all ranks execute one repetition. Times are converted to the coordinator's clock.
func (s *session) repeat(ctx context.Context, job *Job) ([]Measurement, error) {
	reports, err := s.order(ctx, order{Kind: orderGo}, reportDone, s.busy())
	s.notify(job, reports, err)
	if err != nil {
		return nil, err
	}
	all := make([]Measurement, 0, len(job.Inputs))
	for _, m := range s.busy() {
		measured := reports[m.worker].Measured
		if len(measured) != len(m.mine) {
			return nil, m.malformed("done", "times of %d ranks instead of %d", len(measured), len(m.mine))
		}
		for i, p := range measured {
			if job.Schedule != nil && !shaped(&p.Recording, job.Schedule, m.mine[i]) {
				return nil, m.malformed("done", "a recording of other steps than rank %d has", m.mine[i])
			}
			p.Start, p.End = p.Start+m.offset, p.End+m.offset
			p.Recording.Shift(m.offset)
			all = append(all, p)
		}
	}
	return all, nil
}

// notify reports the outcome of a repetition for every rank. Where one has failed, a rank that had
// ended before has succeeded, if that says nothing of others.
func (s *session) notify(job *Job, reports []report, err error) {
	if job.Done == nil {
		return
	}
	for _, m := range s.busy() {
		ended := reports != nil && reports[m.worker].Kind == reportDone && job.Schedule != nil &&
			hw.EndsAlone(job.Schedule)
		for _, rank := range m.mine {
			if ended {
				job.Done(rank, nil)
			} else {
				job.Done(rank, err)
			}
		}
	}
}

// busy lists the workers that have ranks of the job.
func (s *session) busy() []*member {
	n := 0
	for n < len(s.members) && len(s.members[n].mine) > 0 {
		n++
	}
	return s.members[:n]
}

// ranOn describes what the job runs on: the machine of rank 0, and the names of all hosts if there
// are several.
func (s *session) ranOn() hw.RanOn {
	on := s.members[0].ready.RanOn
	var hosts []string
	for _, m := range s.busy() {
		if !slices.Contains(hosts, m.hello.Host) {
			hosts = append(hosts, m.hello.Host)
		}
	}
	if len(hosts) > 1 {
		on.Hosts = hosts
	}
	return on
}
