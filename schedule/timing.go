package schedule

import (
	"fmt"
	"iter"
	"slices"

	"collsim/symmetry"
)

// Translations are those of a group by multiples of Steps, digit by digit.
type Translations struct {
	Group Group
	Steps []int32
}

// AllOf returns all translations of a group.
func AllOf(g Group) *Translations {
	t := &Translations{Group: g}
	for range g {
		t.Steps = append(t.Steps, 1)
	}
	return t
}

// TimingOf returns translations that make no difference to time, nil where none are known. Each
// takes what one rank does to what another does: in the same lanes, with steps of equal sizes and
// rounds, and with peers translated. They are those of the group if all blocks are of one size, and
// without a group what Plan.Timing declares.
func TimingOf(s *Schedule) *Translations {
	switch {
	case s.Group == nil:
		return s.timing
	case s.SameSizes():
		return AllOf(s.Group)
	}
	return nil
}

// unlike lists ranks whose kinds of steps are those of all: one of each set that translations take
// to each other, or all.
func unlike(s *Schedule) []int32 {
	switch {
	case s.Group != nil, s.straight != nil:
		return []int32{0}
	case s.timing != nil:
		return symmetry.NewSubgroup(s.timing.Group, s.timing.Steps).Reps
	}
	return allRanks(s)
}

// allRanks lists the ranks of a schedule.
func allRanks(s *Schedule) []int32 {
	all := make([]int32, s.Spec.Ranks)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// codesOf visits the code of each role, or of ranks that differ.
//
// REQUIRES: no teams, no parts.
func codesOf(s *Schedule) iter.Seq[*code] {
	if s.cast != nil {
		return slices.Values(s.cast.codes)
	}
	return func(yield func(*code) bool) {
		for _, rank := range unlike(s) {
			if !yield(s.role(rank)) {
				return
			}
		}
	}
}

// timingOf returns declared translations of a schedule, nil where blocks differ in size.
func timingOf(t *Translations, s *Schedule) (*Translations, error) {
	if t == nil || s.Group != nil || s.Spec.Ranks < 2 {
		return nil, nil
	}
	if err := t.Group.Validate(s.Spec.Ranks); err != nil {
		return nil, err
	}
	for i, step := range t.Steps {
		if len(t.Steps) != len(t.Group) || step < 1 || t.Group[i]%step != 0 {
			return nil, fmt.Errorf("translations by %v are none of group %v", t.Steps, []int32(t.Group))
		}
	}
	for b := range Buffer(s.Buffers()) {
		if !s.EvenBlocks(b) {
			return nil, nil
		}
	}
	return t, nil
}
