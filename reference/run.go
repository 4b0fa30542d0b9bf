package reference

import "collsim/schedule"

// Run carries a schedule out on given inputs, one for each rank, and returns each rank's output.
// Every operation is rounded to T on its own, in the schedule's order. Output that no step writes
// is NaN, or an odd negative integer. Inputs are not changed; in place, the output is the part of
// the common buffer that Spec.Place says. A schedule that cannot be carried out is a
// *schedule.Violation or *schedule.StallError.
func Run[T Number](s *schedule.Schedule, inputs [][]T) ([][]T, error) {
	if err := fits[T](&s.Spec, inputs); err != nil {
		return nil, err
	}
	v, err := look(s, 0, 0)
	if err != nil {
		return nil, err
	}
	m := newMachine(v, reader(inputs), 0)
	if err := m.compute(0); err != nil {
		return nil, err
	}
	outputs := make([][]T, s.Spec.Ranks)
	for rank := range outputs {
		home, base := s.Home(schedule.Output, rank)
		out := make([]T, s.Len(schedule.Output, rank))
		copy(out, m.of(home, rank)[base:])
		outputs[rank] = out
	}
	return outputs, nil
}
