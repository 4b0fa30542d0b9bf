package cuda

import (
	"context"
	"fmt"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/rank"
	"collsim/schedule"
)

// Config lists the machines whose GPUs hold ranks.
type Config struct {
	// Hosts lists the machines: consecutive ranks, evenly distributed. "" and "localhost" are this
	// machine, where a process is started. Those on other machines are announced and awaited. A
	// machine that is named twice has two processes.
	Hosts []string
	// Listen is the TCP address at which other machines reach the coordinator: "10.0.0.1:7000". It
	// is required if there are any; otherwise any free port of 127.0.0.1 is taken.
	Listen string
	// Secret authenticates machines; if there is none, one is generated.
	Secret gate.Secret
	// Announce is called with the workers to start by hand, before the coordinator waits for them.
	Announce func([]rank.Placed)
}

// Machines executes schedules on the GPUs of several machines. A process on each executes its ranks
// as an Executor does, and exchanges messages with the others through host memory. Processes are
// kept between runs.
type Machines struct {
	config      Config
	launcher    *rank.Processes
	coordinator *rank.Coordinator
}

// NewMachines returns a Machines. Nothing is started before its first run.
func NewMachines(c Config) (*Machines, error) {
	if len(c.Hosts) == 0 {
		return nil, fmt.Errorf("no machine")
	}
	for _, name := range c.Hosts {
		switch {
		case rank.Local(name):
		case !rank.Reachable(c.Listen):
			return nil, fmt.Errorf("hosts %v: an address to listen at is needed that they can reach",
				c.Hosts)
		case c.Announce == nil:
			return nil, fmt.Errorf("hosts %v: somebody must be told what to start there", c.Hosts)
		}
	}
	m := &Machines{config: c, launcher: &rank.Processes{Environ: environ, Announce: c.Announce,
		Host: func(worker, _ int) string { return c.Hosts[worker] }}}
	m.coordinator = rank.New(rank.Config{Launch: m.launcher, Network: "tcp", Listen: c.Listen,
		Secret: c.Secret, Startup: hw.DefaultTimeout, Workers: func(int) int { return len(c.Hosts) }})
	return m, nil
}

// Run executes a job. It refuses steps that read or write the memory of a rank on another machine.
func (m *Machines) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.CheckSound()
	if err != nil {
		return nil, err
	}
	if err := refusal(job.Schedule, len(m.config.Hosts)); err != nil {
		return nil, err
	}
	result, err := m.coordinator.Run(ctx, &rank.Job{Schedule: job.Schedule, Inputs: job.Given(),
		Env: env})
	if err != nil {
		return nil, err
	}
	result.Float32 = env.Float32
	result.Take(job.Schedule, result.Outputs)
	return result, nil
}

// Needs implements hw.Sizer: the host has copies of the buffers on the devices.
func (m *Machines) Needs(s *schedule.Schedule) int64 {
	return hw.Apart(s, func(number int) bool {
		hosts := m.config.Hosts
		at := rank.WorkerOf(number, s.Spec.Ranks, min(len(hosts), s.Spec.Ranks))
		return rank.Local(hosts[at])
	})
}

// Close ends the processes.
func (m *Machines) Close() error { return m.coordinator.Close() }

// oneSided refuses a schedule with gets, puts or multimem operations between so many machines.
func oneSided(s *schedule.Schedule, count int) error {
	places := machines{count: min(count, s.Spec.Ranks), ranks: s.Spec.Ranks}
	var step schedule.Step
	for number := range s.Spec.Ranks {
		p := s.Program(number)
		for lane := range p.Lanes() {
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				p.Load(&c, &step)
				for _, touched := range touches(&step) {
					if places.of(int(touched.rank)) != places.of(number) {
						return hw.Refuse("rank %d lane %d step %d: a %s with rank %d, which is on another "+
							"machine: between machines there are messages", number, lane, c.Step, touched.how,
							touched.rank)
					}
				}
			}
		}
	}
	return nil
}

// A touched names a rank whose memory a step reads or writes, and the operation.
type touched struct {
	how  string
	rank int32
}

// touches lists the one-sided operations of a step.
func touches(step *schedule.Step) (list []touched) {
	team := func(ranks []int32) {
		for _, number := range ranks {
			list = append(list, touched{"multimem", number})
		}
	}
	for i := range step.From {
		f := &step.From[i]
		if team(f.Team); f.Kind == schedule.Get {
			list = append(list, touched{"get", f.Peer.Rank})
		}
	}
	for i := range step.Send {
		d := &step.Send[i]
		if team(d.Team); d.Put {
			list = append(list, touched{"put", d.Peer.Rank})
		}
	}
	return list
}
