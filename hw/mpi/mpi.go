package mpi

import (
	"context"
	"fmt"
	"math"

	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
)

// Config says what to start. By default that is mpirun and libmpi as installed here.
type Config struct {
	// Library is the file of the MPI library. "" is COLLSIM_LIBMPI, else libmpi.so.40 or libmpi.so,
	// wherever the system's loader finds them.
	Library string
	// Launcher is the program that starts ranks; "" is mpirun.
	Launcher string
	// Arguments are added to mpirun's, and take precedence: hosts ("--host", "a,b"), variables
	// ("--mca", "btl", "self,tcp").
	Arguments []string
	// Listen is the TCP address at which ranks of other machines reach this process. If it is
	// empty, all ranks are on this machine and use a Unix socket.
	Listen string
	// Start, if not nil, starts so many ranks. It must call start, which opens the socket and runs
	// mpirun, in a thread whose network namespace is that of the run.
	Start func(ranks int, start func() error) error
}

// here reports whether all ranks are processes of this machine.
func (c *Config) here() bool { return c.Listen == "" || c.Start != nil }

// A Call is a collective for the library to execute by one of its own algorithms.
type Call struct {
	Spec   collective.Spec
	Choice openmpi.Choice
	// Inputs holds the elements of every rank's input, little-endian: Spec.In(rank) of them.
	Inputs [][]byte
	// Env is as for a schedule, but Slots and Trace must be zero: the library's collectives have
	// neither slots nor a timeline.
	Env hw.Env
}

// An Executor executes jobs with Open MPI. It keeps the processes of its ranks between runs.
type Executor struct {
	launcher    launcher
	coordinator *rank.Coordinator
}

// New returns an Executor. Nothing is started before the first run.
func New(c Config) *Executor {
	e := &Executor{launcher: launcher{config: c}}
	network := "unix"
	if c.Listen != "" {
		network = "tcp"
	}
	e.coordinator = rank.New(rank.Config{Launch: &e.launcher, Network: network, Listen: c.Listen,
		Startup: hw.DefaultTimeout, Within: c.Start})
	return e
}

// Run executes a schedule by messages. It refuses one-sided steps (gets, puts, multimem): MPI's
// windows complete them at other points than a schedule does.
func (e *Executor) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.CheckSound()
	if err != nil {
		return nil, err
	}
	if err := onlyMessages(job.Schedule); err != nil {
		return nil, err
	}
	if err := counted(job.Schedule); err != nil {
		return nil, err
	}
	result, err := e.coordinator.Run(ctx, &rank.Job{Schedule: job.Schedule, Inputs: job.Given(),
		Env: env})
	if err != nil {
		return nil, err
	}
	result.Take(job.Schedule, result.Outputs)
	return result, nil
}

// counted refuses buffers of more bytes than MPI can count, and so all longer messages.
func counted(s *schedule.Schedule) error {
	for rank := range s.Spec.Ranks {
		for b := range schedule.Buffer(s.Buffers()) {
			if hw.BufferBytes(s, b, rank) > math.MaxInt32 {
				return hw.Refuse("%s of %d elements: MPI counts bytes in 31 bits", s.BufferName(b),
					s.Len(b, rank))
			}
		}
	}
	return nil
}

// Perform has the library execute a collective. The result has no timeline. Its bits are those of
// openmpi.Build, except for sums of 8- and 16-bit integers that overflow. There Open MPI 4.1
// saturates in vector instructions (component op/avx) and wraps elsewhere, even within one buffer.
func (e *Executor) Perform(ctx context.Context, c *Call) (*hw.Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return e.perform(ctx, c)
}

// perform does the work of Perform without a check.
func (e *Executor) perform(ctx context.Context, c *Call) (*hw.Result, error) {
	env := c.Env
	env.Repetitions, env.Iterations = max(env.Repetitions, 1), max(env.Iterations, 1)
	if env.Timeout == 0 {
		env.Timeout = hw.DefaultTimeout
	}
	asked, err := (&request{Spec: c.Spec, Choice: c.Choice}).encode()
	if err != nil {
		return nil, err
	}
	job := &rank.Job{Detail: asked, Inputs: c.Inputs, Env: env}
	for number := range c.Inputs {
		job.Outputs = append(job.Outputs, c.Spec.Out(number)*int64(c.Spec.Type.Width()))
	}
	return e.coordinator.Run(ctx, job)
}

// check validates a call.
func (c *Call) check() error {
	s, e := &c.Spec, &c.Env
	if err := s.Validate(); err != nil {
		return err
	}
	if err := c.Choice.Check(s); err != nil {
		return err
	}
	var l library
	if _, _, err := l.datatype(s); s.Kind != collective.Barrier && err != nil {
		return err
	}
	switch _, err := l.operator(s.Op, s.Type); {
	case s.Kind.Reduces() && err != nil:
		return err
	case s.Count*int64(max(s.Type.Width(), 1))*int64(s.Ranks) > math.MaxInt32:
		return hw.Refuse("%d elements on %d ranks: MPI counts them in 31 bits", s.Count, s.Ranks)
	case s.Kind == collective.ReduceScatter && s.InPlace:
		return hw.Refuse("reduce_scatter in place: MPI leaves the result at the beginning of " +
			"the buffer, not in this rank's block")
	case e.Slots != 0 || e.Trace:
		return fmt.Errorf("slots and a timeline are not the library's to give")
	case e.Warmup < 0 || e.Repetitions < 0 || e.Iterations < 0 || e.Timeout < 0:
		return fmt.Errorf("an environment with numbers below 0: %+v", *e)
	case len(c.Inputs) != s.Ranks:
		return fmt.Errorf("inputs of %d ranks: %d are expected", len(c.Inputs), s.Ranks)
	}
	for rank, in := range c.Inputs {
		if want := s.In(rank) * int64(s.Type.Width()); int64(len(in)) != want {
			return fmt.Errorf("rank %d has %d bytes of input: %d are expected", rank, len(in), want)
		}
	}
	return nil
}

// Needs implements hw.Sizer. It does not count ranks that mpirun starts on other machines.
func (e *Executor) Needs(s *schedule.Schedule) int64 {
	return hw.Apart(s, func(int) bool { return e.launcher.config.Listen == "" })
}

// Close ends the processes of the ranks.
func (e *Executor) Close() error { return e.coordinator.Close() }
