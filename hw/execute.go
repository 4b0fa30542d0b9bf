package hw

import (
	"context"

	"collsim/schedule"
)

// ExecuteOn is how an executor plays a schedule of given inputs in an environment, and what comes
// out: what package comm asks of one.
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
