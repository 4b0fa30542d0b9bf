package mpi

import (
	"context"

	"collsim/algos/openmpi"
	"collsim/hw"
)

// Library returns an executor that has the library do what a job's schedule computes, by its own
// algorithm of that name (Counterpart) instead of the schedule's steps. A schedule's name is taken
// at its word. What the library does is the result's Executed, as openmpi.Build writes it
// down: its bits are to be compared with that schedule's, and its time.
//
// Of the environment, Slots and Trace say nothing to the library: its collectives have no slots,
// and no timeline can be asked of them, so that the result has none. Both executors use the same
// processes, and either's Close ends them.
func (e *Executor) Library() hw.Executor { return performer{e} }

// performer is the executor in that mode.
type performer struct{ *Executor }

// Run has the library do a job. An algorithm that the library does not have is a *NoCounterpart.
func (p performer) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.Check()
	if err != nil {
		return nil, err
	}
	if job.Schedule.Teams() != nil {
		return nil, hw.Refuse("mpi: %s: several teams: the library is asked for one collective at a time",
			job.Schedule.Name)
	}
	choice, err := Counterpart(job.Schedule)
	if err != nil {
		return nil, err
	}
	env.Slots, env.Trace = 0, false
	call := &Call{Spec: job.Schedule.Spec, Choice: choice, Inputs: job.Inputs, Env: env}
	if err := call.check(); err != nil {
		return nil, err
	}
	executed, err := openmpi.Build(choice, job.Schedule.Spec)
	if err != nil {
		return nil, err
	}
	result, err := p.perform(ctx, call)
	if err != nil {
		return nil, err
	}
	result.Executed = executed
	return result, nil
}
