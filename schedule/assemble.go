package schedule

import (
	"cmp"
	"fmt"

	"collsim/internal/parallel"
)

// Assemble makes a schedule of steps that are written out, as readers of other formats have them.
// head gives everything except the programs, and no group. lanes is the number of lanes of each
// rank. write adds the steps of one lane in order, and is called once for each lane, for several
// ranks concurrently. It is called again where a step breaks a rule of schedules (wellformed.go),
// to find the place for the error. From, To, Send and Await of a step are
// copied. Repeated steps are
// rolled up while they are added, so a loop over tiles costs the memory of one.
func Assemble(
	head Schedule, lanes []int, write func(rank, lane int, add func(Step)),
) (*Schedule, error) {
	s := &head
	s.Slices = max(s.Slices, 1)
	if err := s.settle(); err != nil {
		return nil, err
	}
	if s.Group != nil || len(lanes) != s.Spec.Ranks {
		return nil, fmt.Errorf("programs of %d ranks for %d, or a group", len(lanes),
			s.Spec.Ranks)
	}
	a := assembly{s: s, lanes: lanes, write: write}
	codes, errs := make([]*code, s.Spec.Ranks), make([]error, s.Spec.Ranks)
	parallel.Each(len(codes), func() func(int) {
		var w assembler
		return func(rank int) {
			codes[rank] = w.code(&a, rank)
			keep := a.checker(rank)
			errs[rank] = codes[rank].each(func(u *bundle, n *node, times []int32) error {
				return keep.bundle(u, codes[rank], n, times)
			})
		}
	})
	for rank, err := range errs {
		if err != nil {
			return nil, cmp.Or(a.wrong(rank), err)
		}
	}
	s.role = func(rank int32) *code { return codes[rank] }
	return s, nil
}

// assembly holds the arguments of Assemble.
type assembly struct {
	s     *Schedule
	lanes []int
	write func(rank, lane int, add func(Step))
}

// assembler makes one program after another in the same memory.
type assembler struct {
	bundler
	roll
}

// code returns the program of a rank.
func (w *assembler) code(a *assembly, rank int) *code {
	w.mods, w.long, w.compact = a.s.moduli(), true, newCompactor()
	for lane := range a.lanes[rank] {
		a.write(rank, lane, func(step Step) {
			kept := w.blank()
			step.From, step.To = append(kept.From, step.From...), append(kept.To, step.To...)
			step.Send, step.Await = append(kept.Send, step.Send...), append(kept.Await, step.Await...)
			w.roll.add(w.keep(step))
		})
		w.restart(w.bundler.add(0, w.knots, w.mods))
	}
	c := w.bundler.code().clone()
	w.restart(w.last.knots)
	w.last, w.written = alike{}, w.written.emptied()
	return c
}

// checker returns the checker of a rank's steps.
func (a *assembly) checker(rank int) checker {
	return checker{s: a.s, rank: int32(rank), channels: 1, foreign: true,
		lanes: func(rank int32) int32 { return int32(a.lanes[rank]) }}
}

// wrong returns the error of the first step of a rank that breaks a rule, with its lane and number.
// It writes the steps again, since rolled-up steps have lost their numbers.
func (a *assembly) wrong(rank int) (err error) {
	for lane := range a.lanes[rank] {
		keep, number := a.checker(rank), 0
		keep.lane = int32(lane)
		a.write(rank, lane, func(step Step) {
			if broken := keep.step(&step); broken != nil && err == nil {
				err = fmt.Errorf("rank %d lane %d step %d: %w", rank, lane, number, broken)
			}
			number++
		})
		if err != nil {
			return err
		}
	}
	return nil
}
