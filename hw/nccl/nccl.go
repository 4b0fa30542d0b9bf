package nccl

import (
	"context"
	"errors"
	"fmt"

	"collsim/collective"
	"collsim/hw"
	"collsim/hw/rank"
	"collsim/internal/prose"
	"collsim/schedule"
)

// Config says what to load, and where ranks run. By default all ranks are in one process, with the
// libraries as installed here.
type Config struct {
	// Library and Driver are the files of NCCL and of CUDA's driver. "" is COLLSIM_LIBNCCL and
	// COLLSIM_LIBCUDA, else libnccl.so.2 and libcuda.so.1, wherever the system's loader finds them.
	Library, Driver string
	// Apart gives each rank a process of its own. More ranks than GPUs then share them: NCCL sees a
	// node for every so many ranks as there are GPUs.
	Apart bool

	environ []string // additions to the environment of processes
}

// An Executor executes jobs with NCCL. It keeps its processes between runs.
type Executor struct {
	config      Config
	nccl        *library // in this process, to create ids; nil before the first run
	devices     int
	coordinator *rank.Coordinator
	journal     journal
}

// New returns an Executor. Nothing is loaded or started before the first run.
func New(c Config) *Executor {
	e := &Executor{config: c}
	workers := func(int) int { return 1 }
	if c.Apart {
		workers = nil
	}
	e.coordinator = rank.New(rank.Config{Launch: e.processes(), Network: "unix",
		Startup: hw.DefaultTimeout, Workers: workers})
	return e
}

// Available describes what Run would use, as in "NCCL 2.30.7, CUDA 13.0, 8 of NVIDIA H200". It
// returns a *hw.Missing if something is missing.
func Available(c Config) (string, error) {
	l, d, _, err := loadBoth(&c)
	if err != nil {
		return "", err
	}
	return describe(l, d)
}

// loadBoth loads NCCL and the driver, and counts the GPUs.
func loadBoth(c *Config) (l *library, d *driver, devices int, err error) {
	if l, err = loadLibrary(c.Library); err != nil {
		return nil, nil, 0, err
	}
	d, devices, err = loadDriver(c.Driver)
	return l, d, devices, err
}

// describe returns the versions of both libraries, and the GPUs.
func describe(l *library, d *driver) (string, error) {
	library, err := l.version()
	if err != nil {
		return "", err
	}
	cuda, err := d.version()
	if err != nil {
		return "", err
	}
	if err := d.call(-1, "cuDeviceGetCount", address(&d.out.number)); err != nil {
		return "", err
	}
	devices := int(d.out.number)
	if devices == 0 {
		return fmt.Sprintf("%s, CUDA %s, no GPU", library, cuda), nil
	}
	name, err := d.name(0)
	return fmt.Sprintf("%s, CUDA %s, %d of %s", library, cuda, devices, name), err
}

// Run has NCCL execute a job's collective, whatever the schedule's steps. NCCL chooses the
// algorithm, unless its variables do (NCCL_ALGO, NCCL_PROTO, …). The result has no timeline. Every
// job has its own communicator, created before anything is measured. The result has NCCL's choice
// from its log, unless the user has set NCCL_DEBUG.
//
// Slots and Trace of the environment are ignored.
func (e *Executor) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.CheckSound()
	if err != nil {
		return nil, err
	}
	s := job.Schedule
	if err := refusal(s); err != nil {
		return nil, err
	}
	if e.nccl == nil {
		if e.nccl, _, e.devices, err = loadBoth(&e.config); err != nil {
			return nil, err
		}
	}
	if s.Spec.Ranks > e.devices && !e.config.Apart {
		return nil, hw.Refuse("%d ranks: this machine has %s, and NCCL wants one for each; "+
			`processes share them (transport = "unix")`, s.Spec.Ranks, prose.Plural(e.devices, "GPU"))
	}
	id, err := e.nccl.newID()
	if err != nil {
		return nil, err
	}
	detail, err := (&request{Spec: s.Spec, ID: *id}).encode()
	if err != nil {
		return nil, err
	}
	asked := &rank.Job{Detail: detail, Inputs: job.Inputs, Env: env}
	for number := range s.Spec.Ranks {
		asked.Outputs = append(asked.Outputs, s.Spec.Out(number)*int64(s.Spec.Type.Width()))
	}
	if err := e.journal.begin(); err != nil {
		return nil, fmt.Errorf("a place for its log: %w", err)
	}
	done, err := e.coordinator.Run(ctx, asked)
	if err != nil {
		return nil, err
	}
	if s.Spec.Ranks > e.devices {
		done.RanOn.Transport += fmt.Sprintf(", shared by %d ranks", s.Spec.Ranks)
	}
	name, err := functionOf(&s.Spec)
	if err == nil {
		done.Chose, err = e.journal.chose(name)
	}
	return done, err
}

// refusal returns the reason why NCCL cannot execute a schedule's collective, nil if it can.
func refusal(s *schedule.Schedule) error {
	switch {
	case s.Teams() != nil:
		return hw.Refuse("%s: several teams: NCCL is asked for one collective at a time", s.Name)
	case len(s.Tensors) > 0:
		return hw.Refuse("%s: tensors and kernels: NCCL computes collectives alone", s.Name)
	case s.Spec.Kind == collective.Barrier:
		return hw.Refuse("NCCL has no barrier")
	}
	_, err := functionOf(&s.Spec)
	return err
}

// Needs implements hw.Sizer. The ranks' buffers are on the GPUs.
func (e *Executor) Needs(s *schedule.Schedule) int64 {
	return hw.Apart(s, func(int) bool { return true })
}

// Close ends the processes of the ranks.
func (e *Executor) Close() error { return errors.Join(e.coordinator.Close(), e.journal.end()) }
