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

// Config says what to start. Its zero value is mpirun and libmpi as they are installed here.
type Config struct {
	// Library is the file of the MPI library; "" is what COLLSIM_LIBMPI names, else libmpi.so.40
	// or libmpi.so, wherever the system's loader finds them.
	Library string
	// Launcher is the program that starts ranks; "" is mpirun.
	Launcher string
	// Arguments are further ones for mpirun: hosts ("--host", "a,b"), variables ("--mca", "btl",
	// "self,tcp"). They win over ours.
	Arguments []string
	// Listen is the TCP address at which ranks of other machines reach this process. Without it
	// all are on this machine, and use a Unix socket.
	Listen string
	// Start, where it is not nil, is asked to start so many ranks: it calls start, which opens the
	// socket that they come to and runs mpirun, in a thread that is where both are to be.
	Start func(ranks int, start func() error) error
}

// here reports whether all ranks are processes of this machine.
func (c *Config) here() bool { return c.Listen == "" || c.Start != nil }

// Call is a collective for the library to do by one of its own algorithms.
type Call struct {
	Spec   collective.Spec
	Choice openmpi.Choice
	// Inputs are the elements of every rank's input, little-endian: as many as Spec.In(rank).
	Inputs [][]byte
	// Env is as for a schedule. The library's collectives have no slots, and no timeline can be
	// asked of them: Slots and Trace must be zero.
	Env hw.Env
}

// Executor is the executor. It keeps the processes of its ranks from one run to the next.
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

// Run executes a schedule by messages. One-sided steps (gets, puts, multimem) are refused by name:
// they are no messages, and MPI's windows complete them in other places than a schedule does.
func (e *Executor) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.Check()
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

// counted refuses buffers, and so messages, of more bytes than MPI counts.
func counted(s *schedule.Schedule) error {
	for rank := range s.Spec.Ranks {
		for b := range schedule.Buffer(s.Buffers()) {
			if hw.BufferBytes(s, b, rank) > math.MaxInt32 {
				return hw.Refuse("mpi: %s of %d elements: MPI counts bytes in 31 bits", s.BufferName(b),
					s.Len(b, rank))
			}
		}
	}
	return nil
}

// Perform has the library do a collective. The result has no timeline. Its bits are those of
// openmpi.Build, but for sums of integers of 8 and 16 bits that overflow: those of Open MPI 4.1
// saturate in vector instructions (its component op/avx) and wrap elsewhere, even within one
// buffer.
func (e *Executor) Perform(ctx context.Context, c *Call) (*hw.Result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return e.perform(ctx, c)
}

// perform is Perform without a check.
func (e *Executor) perform(ctx context.Context, c *Call) (*hw.Result, error) {
	env := c.Env
	env.Repetitions, env.Iterations = max(env.Repetitions, 1), max(env.Iterations, 1)
	if env.Timeout == 0 {
		env.Timeout = hw.DefaultTimeout
	}
	asked, err := (&request{Spec: c.Spec, Choice: c.Choice}).encode()
	if err != nil {
		return nil, fmt.Errorf("mpi: %w", err)
	}
	job := &rank.Job{Detail: asked, Inputs: c.Inputs, Env: env}
	for number := range c.Inputs {
		job.Outputs = append(job.Outputs, c.Spec.Out(number)*int64(c.Spec.Type.Width()))
	}
	return e.coordinator.Run(ctx, job)
}

// check says what is wrong with a call, nil if nothing.
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
	switch _, err := l.operator(s.Op); {
	case s.Kind.Reduces() && err != nil:
		return err
	case s.Count*int64(max(s.Type.Width(), 1))*int64(s.Ranks) > math.MaxInt32:
		return hw.Refuse("mpi: %d elements on %d ranks: MPI counts them in 31 bits", s.Count, s.Ranks)
	case s.Kind == collective.ReduceScatter && s.InPlace:
		return hw.Refuse("mpi: reduce_scatter in place: MPI leaves the result at the beginning of " +
			"the buffer, not in this rank's block")
	case e.Slots != 0 || e.Trace:
		return fmt.Errorf("mpi: slots and a timeline are not the library's to give")
	case e.Warmup < 0 || e.Repetitions < 0 || e.Iterations < 0 || e.Timeout < 0:
		return fmt.Errorf("mpi: an environment with numbers below 0: %+v", *e)
	case len(c.Inputs) != s.Ranks:
		return fmt.Errorf("mpi: inputs of %d ranks: %d are expected", len(c.Inputs), s.Ranks)
	}
	for rank, in := range c.Inputs {
		if want := s.In(rank) * int64(s.Type.Width()); int64(len(in)) != want {
			return fmt.Errorf("mpi: rank %d has %d bytes of input: %d are expected", rank, len(in), want)
		}
	}
	return nil
}

// Needs implements hw.Sizer. Of ranks that mpirun starts elsewhere it cannot know.
func (e *Executor) Needs(s *schedule.Schedule) int64 {
	return hw.Apart(s, func(int) bool { return e.launcher.config.Listen == "" })
}

// Close ends the processes of the ranks.
func (e *Executor) Close() error { return e.coordinator.Close() }
