package extern

import (
	"context"
	"time"

	"collsim/dtype"
	"collsim/hw"
	"collsim/reference"
	"collsim/unit"
)

// InterpreterRow returns the row of a new executor. The program that opens executors (run.OpenWith)
// adds it to its table; scenarios refer to its name.
func InterpreterRow() hw.Row {
	return hw.Row{
		Name:    "interpreter",
		About:   "the reference interpreter, all ranks in one thread",
		Missing: func(context.Context) error { return nil },
		Open: func(context.Context, hw.Settings) (hw.Executor, error) {
			return interpreter{}, nil
		},
	}
}

// interpreter executes schedules of float32.
type interpreter struct{}

// Run implements hw.Executor.
func (interpreter) Run(ctx context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.Check()
	if err != nil {
		return nil, err
	}
	ranks := job.Schedule.Spec.Ranks
	if job.Schedule.Spec.Type != dtype.Float32 {
		return nil, hw.Refuse("%v: only float32", job.Schedule.Spec.Type)
	}
	in, result := make([][]float32, ranks), &hw.Result{RanOn: hw.Here("interpreter", "memory")}
	for rank, bytes := range job.Inputs {
		in[rank] = make([]float32, len(bytes)/4)
		dtype.Get(in[rank], bytes)
	}
	start, end := make([]unit.Time, ranks), make([]unit.Time, ranks)
	var out [][]float32
	for i := range env.Warmup + env.Repetitions {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		began := time.Now()
		if out, err = reference.Run(job.Schedule, in); err != nil {
			return nil, err
		}
		for rank := range end {
			end[rank] = unit.Time(time.Since(began)) * unit.Nanosecond
		}
		if r, _ := hw.Measure(start, end); i >= env.Warmup {
			result.Repetitions = append(result.Repetitions, r)
		}
	}
	for rank := range out {
		result.Outputs = append(result.Outputs, make([]byte, 4*len(out[rank])))
		dtype.Put(result.Outputs[rank], out[rank])
	}
	return result, nil
}

// Close implements hw.Executor.
func (interpreter) Close() error { return nil }
