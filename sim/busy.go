package sim

import (
	"cmp"
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// Busy is when a rank carries out a part of a composed schedule: from its first step to its last,
// and when kernels of it compute.
type Busy struct {
	Part, Rank int32
	From, To   unit.Time
	Kernels    []Span
}

// Span is from a time to another.
type Span struct{ From, To unit.Time }

// after is the same in a whole, in which its run begins at a time, and its parts with a number.
func (b Busy) after(at unit.Time, first int) Busy {
	b.Part, b.From, b.To = b.Part+int32(first), b.From+at, b.To+at
	b.Kernels = slices.Clone(b.Kernels)
	for i := range b.Kernels {
		b.Kernels[i].From += at
		b.Kernels[i].To += at
	}
	return b
}

// busyOf is when parts are carried out, by part and rank, from the log of a run. Those without
// steps are left out; the list is never nil.
func busyOf(s *schedule.Schedule, log *model.Log) []Busy {
	all := []Busy{} // of each part on its ranks
	at := make([]int, len(log.Lanes))
	of := map[int]int{} // where a part is in all, of a rank
	for rank, lane := 0, 0; rank < s.Spec.Ranks; rank++ {
		clear(of)
		p := s.Program(rank)
		for i := range p.Lanes() {
			part := p.Part(i)
			if _, known := of[part]; !known {
				of[part] = len(all)
				all = append(all, Busy{Part: int32(part), Rank: int32(rank), From: unit.Forever})
			}
			at[lane] = of[part]
			lane++
		}
	}
	for i := range log.Steps {
		x := &log.Steps[i]
		if log.Details[i].IsEdge {
			continue
		}
		b := &all[at[x.Lane]]
		b.From, b.To = min(b.From, x.Start), max(b.To, x.End)
		if x.Computes {
			b.Kernels = append(b.Kernels, Span{x.Start, x.End})
		}
	}
	slices.SortFunc(all, func(a, b Busy) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Rank, b.Rank))
	})
	return slices.DeleteFunc(all, func(b Busy) bool { return b.From == unit.Forever })
}
