// Package host executes schedules on the processors of ordinary machines: no GPU is needed.
//
// Every lane is a goroutine that carries out its steps one after the other and waits where the
// schedule has it wait; bytes move, and are added by package dtype. Ranks share the memory of this
// process (goroutines), or are processes of their own that talk over Unix sockets or TCP, on this
// machine or on several. Whatever the transport, results are the same, bit for bit.
//
// A process of a rank is this very program, started again: the program's main must call Child
// before anything else. Other machines' ranks are started by hand, with what Config.Announce is
// told, which ends in Worker. Ranks find each other at the address of the process that holds the
// Host (rank.Coordinator), and connect in pairs where the schedule has them talk.
//
// Whoever does not know the secret of a run is turned away, wherever it comes (package gate). What
// is said after that is neither encrypted nor signed.
package host

import (
	"context"
	"fmt"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/rank"
	"collsim/schedule"
)

// Transport is how ranks talk.
type Transport uint8

// The transports.
const (
	Goroutines Transport = iota // ranks are goroutines that share memory
	Unix                        // ranks are processes; Unix sockets
	TCP                         // ranks are processes; TCP
)

// String is the transport's name in scenarios and reports.
func (t Transport) String() string {
	switch t {
	case Goroutines:
		return "goroutines"
	case Unix:
		return "unix"
	case TCP:
		return "tcp"
	}
	return fmt.Sprintf("Transport(%d)", uint8(t))
}

// ParseTransport reads a transport's name.
func ParseTransport(name string) (Transport, error) {
	for _, t := range []Transport{Goroutines, Unix, TCP} {
		if t.String() == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf(`host: transport %q: "goroutines", "unix" or "tcp" is expected`, name)
}

// Config says how a Host's ranks run. Its zero value has them share memory.
type Config struct {
	Transport Transport
	// Hosts are the machines that the ranks are on, the first ranks on the first: as many on each
	// as comes out even. "" and "localhost" are this one, whose ranks are started; those of others
	// are announced and awaited. None stands for this one alone. TCP only.
	Hosts []string
	// Listen is the TCP address at which the coordinator awaits the ranks, as they can reach it:
	// "10.0.0.1:7000". It is needed where there are other machines; else any free port of
	// 127.0.0.1 does.
	Listen string
	// Secret is what ranks must know to take part; if there is none, the Host makes one up and
	// tells Announce.
	Secret gate.Secret
	// Announce is told what has to be started by hand, before that is awaited: in the first run, in
	// one that needs more ranks, and in the one after a failure.
	Announce func([]Rendezvous)
}

// Host is the executor. It keeps the processes of its ranks from one run to the next.
type Host struct {
	config      Config
	launcher    *rank.Processes // nil if ranks share memory
	coordinator *rank.Coordinator
}

// New returns a Host. Nothing is started before the first run.
func New(c Config) (*Host, error) {
	switch {
	case c.Transport > TCP:
		return nil, fmt.Errorf("host: %v is none of the transports", c.Transport)
	case len(c.Hosts) > 0 && c.Transport != TCP:
		return nil, fmt.Errorf("host: transport %v: several machines need tcp", c.Transport)
	case c.Listen != "" && c.Transport != TCP:
		return nil, fmt.Errorf("host: transport %v does not listen at %q: only tcp does", c.Transport,
			c.Listen)
	case c.remote() && !rank.Reachable(c.Listen):
		return nil, fmt.Errorf("host: hosts %v: an address to listen at is needed that they can reach",
			c.Hosts)
	case c.remote() && c.Announce == nil:
		return nil, fmt.Errorf("host: hosts %v: somebody must be told what to start there", c.Hosts)
	}
	h := &Host{config: c}
	coordination := rank.Config{Network: c.Transport.String(), Listen: c.Listen,
		Secret: c.Secret}
	if c.Transport == Goroutines {
		parcels := &stock{}
		coordination.Workers = func(int) int { return 1 }
		coordination.RanOn = hw.Here("host", c.Transport.String())
		coordination.Here = func(clock rank.Clock) rank.Backend { return newBackend(clock, parcels) }
	} else {
		h.launcher = h.config.processes()
		coordination.Launch = h.launcher
	}
	h.coordinator = rank.New(coordination)
	return h, nil
}

// remote reports whether there are ranks on other machines.
func (c *Config) remote() bool {
	for _, name := range c.Hosts {
		if !rank.Local(name) {
			return true
		}
	}
	return false
}

// hostOf is the machine of a rank.
func (c *Config) hostOf(rank, ranks int) string {
	if len(c.Hosts) == 0 {
		return ""
	}
	return c.Hosts[rank*len(c.Hosts)/ranks]
}

// Run executes a job.
func (h *Host) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.Check()
	if err != nil {
		return nil, err
	}
	result, err := h.coordinator.Run(ctx, &rank.Job{Schedule: job.Schedule, Inputs: job.Given(),
		Env: env})
	if err != nil {
		return nil, err
	}
	result.Take(job.Schedule, result.Outputs)
	result.RanOn.Transport = h.config.Transport.String()
	return result, nil
}

// Needs implements hw.Sizer.
func (h *Host) Needs(s *schedule.Schedule) int64 {
	if h.config.Transport == Goroutines {
		return hw.Together(s)
	}
	return hw.Apart(s, func(number int) bool {
		return rank.Local(h.config.hostOf(number, s.Spec.Ranks))
	})
}

// Close ends the processes of the ranks and removes what they listened at.
func (h *Host) Close() error { return h.coordinator.Close() }
