package sim

import (
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
// steps are left out.
func busyOf(s *schedule.Schedule, log *model.Log) []Busy {
	ranks := s.Spec.Ranks
	all := make([]Busy, len(s.Parts())*ranks)
	for i := range all {
		all[i] = Busy{Part: int32(i / ranks), Rank: int32(i % ranks), From: unit.Forever}
	}
	partOf := make([]int, len(log.Lanes))
	for rank, lane := 0, 0; rank < ranks; rank++ {
		p := s.Program(rank)
		for i := range p.Lanes() {
			partOf[lane] = p.Part(i)
			lane++
		}
	}
	for i := range log.Steps {
		x := &log.Steps[i]
		if log.Details[i].IsEdge {
			continue
		}
		rank := log.Lanes[x.Lane].Rank
		b := &all[partOf[x.Lane]*ranks+int(rank)]
		b.From, b.To = min(b.From, x.Start), max(b.To, x.End)
		if x.Computes {
			b.Kernels = append(b.Kernels, Span{x.Start, x.End})
		}
	}
	return slices.DeleteFunc(all, func(b Busy) bool { return b.From == unit.Forever })
}
