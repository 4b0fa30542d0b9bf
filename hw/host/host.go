// Package host executes schedules on the processors of ordinary machines: no GPU is needed.
//
// Every lane is a goroutine that carries out its steps in order, and waits where the schedule does.
// Bytes are moved, and added by package dtype. Ranks share the memory of this process (goroutines).
// Or they are processes that communicate over Unix sockets or TCP, on one machine or several.
// Results are bit for bit the same with every transport.
//
// The process of a rank is this program, started again: the program's main must call Child first.
// Ranks of other machines are started by hand, with the rendezvous that Config.Announce receives,
// and run Worker. Ranks connect to the coordinator of the Host (rank.Coordinator), which gives them
// the addresses of their peers. Two ranks connect if the schedule has them communicate.
//
// A connection without the secret of the run is refused (package gate). Traffic is neither
// encrypted nor signed.
package host

import (
	"context"
	"fmt"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/rank"
	"collsim/schedule"
)

// A Transport carries messages between ranks.
type Transport uint8

// The transports.
const (
	Goroutines Transport = iota // ranks are goroutines that share memory
	Unix                        // ranks are processes; Unix sockets
	TCP                         // ranks are processes; TCP
)

// String returns the transport's name in scenarios and reports.
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

// ParseTransport parses a transport's name.
func ParseTransport(name string) (Transport, error) {
	for _, t := range []Transport{Goroutines, Unix, TCP} {
		if t.String() == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf(`transport %q: "goroutines", "unix" or "tcp" is expected`, name)
}

// Config says where and how a Host's ranks run. By default they share memory.
type Config struct {
	Transport Transport
	// Hosts lists the machines of the ranks: consecutive ranks, evenly distributed. "" and
	// "localhost" are this machine, whose ranks are started. Those of others are announced and
	// awaited. An empty list is this machine alone. TCP only.
	Hosts []string
	// Listen is the TCP address at which other machines reach the coordinator: "10.0.0.1:7000". It
	// is required if there are any; otherwise any free port of 127.0.0.1 is taken.
	Listen string
	// Secret authenticates ranks; if there is none, the Host generates one and passes it to
	// Announce.
	Secret gate.Secret
	// Announce is called with the ranks to start by hand, before the Host waits for them. That is
	// in the first run, in one that needs more ranks, and after a failure.
	Announce func([]Rendezvous)
}

// A Host is the executor. It keeps the processes of its ranks between runs.
type Host struct {
	config      Config
	launcher    *rank.Processes // nil if ranks share memory
	coordinator *rank.Coordinator
}

// New returns a Host. Nothing is started before the first run.
func New(c Config) (*Host, error) {
	switch {
	case c.Transport > TCP:
		return nil, fmt.Errorf("%v is none of the transports", c.Transport)
	case len(c.Hosts) > 0 && c.Transport != TCP:
		return nil, fmt.Errorf("transport %v: several machines need tcp", c.Transport)
	case c.Listen != "" && c.Transport != TCP:
		return nil, fmt.Errorf("transport %v does not listen at %q: only tcp does", c.Transport,
			c.Listen)
	case c.remote() && !rank.Reachable(c.Listen):
		return nil, fmt.Errorf("hosts %v: an address to listen at is needed that they can reach",
			c.Hosts)
	case c.remote() && c.Announce == nil:
		return nil, fmt.Errorf("hosts %v: somebody must be told what to start there", c.Hosts)
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

// remote reports whether ranks are on other machines.
func (c *Config) remote() bool {
	for _, name := range c.Hosts {
		if !rank.Local(name) {
			return true
		}
	}
	return false
}

// hostOf returns the machine of a rank.
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
	asked, told := &rank.Job{Schedule: job.Schedule, Inputs: job.Given(), Env: env}, false
	if job.Done != nil {
		asked.Done = func(rank int, err error) {
			told = true
			job.Done(rank, err)
		}
	}
	result, err := h.coordinator.Run(ctx, asked)
	if err != nil && job.Done != nil && !told { // it has failed before the first repetition
		for rank := range job.Schedule.Spec.Ranks {
			job.Done(rank, err)
		}
	}
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

// Close ends the processes of the ranks and removes their sockets.
func (h *Host) Close() error { return h.coordinator.Close() }
