package event

import (
	"cmp"
	"errors"
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
)

// hang returns the error of a run that a fault keeps from its end.
func (f *faults) hang() error {
	h := &model.Hang{Faults: f.list, Struck: f.struck}
	s := stalled{f.e}
	for i := range f.e.lanes.len() {
		l := f.e.lanes.at(i)
		x := model.LaneState{Rank: int(l.rank), Lane: int(i - f.e.first[l.rank]),
			Part: int(l.part), Begun: f.begun[i], IsOver: l.waits == forEver, Since: l.end.T}
		x.Stopped = !x.IsOver && f.ended(l.rank)
		if !x.IsOver && l.waits != forNothing {
			x.Waits = s.describe(i)
		}
		h.Lanes = append(h.Lanes, x)
	}
	return h
}

// Begins returns the sub-steps of a rank in the order in which they begin, of one time by lane. A
// fault of the environment may keep the run from its end.
func Begins(s *schedule.Schedule, env *model.Env, rank int32) (list []model.Begin, err error) {
	e := newEngine(s, env)
	e.faults.start()
	e.faults.begins, e.faults.watch = &list, rank
	e.repeats.isOff = true
	if err := e.run(); err != nil {
		if hang := (*model.Hang)(nil); !errors.As(err, &hang) {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b model.Begin) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Lane, b.Lane),
			cmp.Compare(a.Number, b.Number))
	})
	return list, nil
}
