package hw

import (
	"context"

	"collsim/schedule"
)

// ExecuteOn returns the function that executes schedules on an executor in an environment. It takes
// the input of every rank, and returns the outputs. Package comm takes such a function.
func ExecuteOn(
	e Executor, env Env,
) func(context.Context, *schedule.Schedule, [][]byte) ([][]byte, error) {
	return func(ctx context.Context, s *schedule.Schedule, inputs [][]byte) ([][]byte, error) {
		result, err := e.Run(ctx, &Job{Schedule: s, Inputs: inputs, Env: env})
		if err != nil {
			return nil, err
		}
		return result.Outputs, nil
	}
}
