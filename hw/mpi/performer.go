package mpi

import (
	"context"

	"collsim/hw"
)

// Library returns a device that has the library do what a job's schedule computes, by its own
// algorithm of that name (Counterpart) instead of the schedule's steps. A schedule's name is taken
// at its word. What the library does is the result's Played, as Like writes it down: its bits are
// to be compared with that schedule's, and its time.
//
// Of the environment, Slots and Trace say nothing to the library: its collectives have no slots,
// and no timeline can be asked of them, so that the result has none. Both devices use the same
// processes, and either's Close ends them.
func (d *Device) Library() hw.Device { return performer{d} }

// performer is the device in that mode.
type performer struct{ *Device }

// Run performs a job. An algorithm that the library does not have is a *NoCounterpart.
func (p performer) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.Check()
	if err != nil {
		return nil, err
	}
	if _, err := textOf(job.Schedule); err != nil {
		return nil, err
	}
	choice, err := Counterpart(job.Schedule)
	if err != nil {
		return nil, err
	}
	played, err := Like(choice, job.Schedule.Spec)
	if err != nil {
		return nil, err
	}
	env.Slots, env.Trace = 0, false
	result, err := p.Perform(ctx, &Call{Spec: job.Schedule.Spec, Choice: choice,
		Inputs: job.Inputs, Env: env})
	if err != nil {
		return nil, err
	}
	result.Played = played
	return result, nil
}
