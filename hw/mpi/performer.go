package mpi

import (
	"context"

	"collsim/algos/openmpi"
	"collsim/hw"
)

// Library returns an executor that has the library execute a job's collective. It uses the
// library's algorithm of the schedule's name (Counterpart) instead of the schedule's steps, and
// trusts the name. Result.Executed is the library's algorithm as openmpi.Build has it: compare its
// bits and its time with that schedule.
//
// Slots and Trace of the environment are ignored: the library's collectives have neither slots nor
// a timeline. Both executors use the same processes; closing either ends them.
func (e *Executor) Library() hw.Executor { return performer{e} }

// A performer is an Executor in that mode.
type performer struct{ *Executor }

// Run has the library execute a job. The error is a *NoCounterpart if the library lacks the
// algorithm.
func (p performer) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.CheckSound()
	if err != nil {
		return nil, err
	}
	if job.Schedule.Teams() != nil {
		return nil, hw.Refuse("%s: several teams: the library is asked for one collective at a time",
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
