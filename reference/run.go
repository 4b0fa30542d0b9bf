package reference

import (
	"errors"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// Run executes a schedule on given inputs, one for each rank, and returns each rank's output. Every
// operation is rounded to T on its own, in the schedule's order. Output that no step writes is NaN,
// or the bytes 0xA5 in integers. Inputs are not changed. In place, the output is the part of the
// common buffer given by Spec.Place. With teams (schedule.Teams), inputs and means are those of
// each rank's team. A schedule that cannot be executed is a *schedule.Violation or
// *schedule.StallError.
func Run[T dtype.Number](s *schedule.Schedule, inputs [][]T) ([][]T, error) {
	return RunWith(s, inputs, RunOptions{})
}

// RunOptions configure an execution; the zero value is the usual choice.
type RunOptions struct {
	Accumulate Accumulate
}

// RunWith does what Run does, with options.
func RunWith[T dtype.Number](s *schedule.Schedule, inputs [][]T, o RunOptions) ([][]T, error) {
	outputs, _, err := runWith(s, inputs, o)
	return outputs, err
}

// RunAndCompare does what RunWith does, and compares the outputs with the definition, within the
// bound that follows from this schedule's tree of additions.
func RunAndCompare[T dtype.Number](s *schedule.Schedule, inputs [][]T, o RunOptions) ([][]T, Report,
	error) {
	if err := fits(&s.Spec, inputs); err != nil {
		return nil, Report{}, err
	}
	outputs, v, err := runWith(s, inputs, o)
	if err != nil {
		return nil, Report{}, err
	}
	if s.Spec.Kind == collective.Custom {
		return outputs, Report{Numbers: NumbersOff, Why: undefined}, nil
	}
	r := judge(newComparison(newDefinition(&s.Spec, reader(inputs), false), v.rounding()), outputs)
	return outputs, v.doubt(r), nil
}

// runWith executes a schedule, and returns its survey, too.
func runWith[T dtype.Number](s *schedule.Schedule, inputs [][]T, o RunOptions) ([][]T, *survey,
	error) {
	if programmed(s) {
		return nil, nil, errors.New("the schedule works on tensors: RunTensors takes it")
	}
	for rank := range s.Spec.Ranks {
		if err := Computable(*s.SpecOf(rank)); err != nil {
			return nil, nil, err
		}
	}
	length := func(rank int) int64 { return s.Len(schedule.Input, rank) }
	if err := given(&s.Spec, inputs, length); err != nil {
		return nil, nil, err
	}
	v, err := look(s, lookOptions{accumulate: o.Accumulate})
	if err != nil {
		return nil, nil, err
	}
	if v.kernels {
		outputs, err := interpret(s, inputs, o, 0)
		return outputs, v, err
	}
	m := newMachine(v, reader(inputs), 0)
	if err := m.compute(0); err != nil {
		return nil, nil, err
	}
	outputs := make([][]T, s.Spec.Ranks)
	for rank := range outputs {
		home, base := s.Home(schedule.Output, rank)
		end := base + s.Len(schedule.Output, rank)
		outputs[rank] = m.of(home, rank)[base:end:end]
	}
	return outputs, v, nil
}
