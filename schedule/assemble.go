package schedule

import "fmt"

// Assemble makes a schedule of steps that are written out, as readers of other formats have them.
// head gives everything but the programs, with no group. lanes is the number of lanes of each rank;
// write adds the steps of one lane in order, and is asked once for each; From, To and Send of a
// step are copied. Repeated steps are rolled up while they are added, so a loop over tiles costs
// the memory of one. A step that breaks a rule of schedules (wellformed.go) is an error that says
// where.
func Assemble(
	head Schedule, lanes []int, write func(rank, lane int, add func(Step)),
) (*Schedule, error) {
	s := &head
	s.Slices = max(s.Slices, 1)
	if err := s.settle(); err != nil {
		return nil, err
	}
	if s.Group != nil || len(lanes) != s.Spec.Ranks {
		return nil, fmt.Errorf("schedule: programs of %d ranks for %d, or a group", len(lanes),
			s.Spec.Ranks)
	}
	codes := make([]*code, s.Spec.Ranks)
	mods := s.moduli()
	for rank := range codes {
		var b bundler
		for lane := range lanes[rank] {
			keep := keeper{s: s, rank: int32(rank), lane: int32(lane), channels: 1, foreign: true,
				lanes: func(rank int32) int32 { return int32(lanes[rank]) }}
			r := roll{mods: mods, long: true}
			number := 0
			var wrong error
			write(rank, lane, func(step Step) {
				if wrong == nil {
					kept := r.blank()
					step.From, step.To = append(kept.From, step.From...), append(kept.To, step.To...)
					step.Send = append(kept.Send, step.Send...)
					s := r.keep(step)
					if err := keep.step(s); err != nil {
						wrong = fmt.Errorf("schedule: rank %d lane %d step %d: %w", rank, lane, number,
							err)
					} else {
						r.add(s)
					}
				}
				number++
			})
			if wrong != nil {
				return nil, wrong
			}
			b.add(0, r.knots, mods)
		}
		codes[rank] = b.code()
	}
	s.role = func(rank int32) *code { return codes[rank] }
	return s, nil
}
