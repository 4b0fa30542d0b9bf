package sim

import (
	"cmp"
	"slices"

	"collsim/sim/activity"
	"collsim/sim/model"
	"collsim/unit"
)

// Busy is when a rank carries out a part of a composed schedule: from its first step to its last,
// and when kernels of it compute. It was Ready when all that it waits for on its rank had ended;
// where brackets are launched when its first had begun. Between Ready and To messages of it are
// under way to the rank or from it, or the rank works on their bytes, in Moves; in Waits none is.
type Busy struct {
	Part, Rank      int32
	Ready, From, To unit.Time
	Kernels         []Span
	Moves           []Span
	Waits           []Wait
}

// Span is from a time to another.
type Span struct{ From, To unit.Time }

// Wait is a time in which nothing moves: until the Peer, a rank, has sent something, or has taken
// what it was sent before; −1 is the rank itself, which has its steps begin no sooner.
type Wait struct {
	From, To unit.Time
	Peer     int32
}

// after is the same in a whole, in which its run begins at a time, and its parts with a number.
func (b Busy) after(at unit.Time, first int) Busy {
	b.Part, b.Ready, b.From, b.To = b.Part+int32(first), b.Ready+at, b.From+at, b.To+at
	b.Kernels, b.Moves, b.Waits = later(b.Kernels, at), later(b.Moves, at), slices.Clone(b.Waits)
	for i := range b.Waits {
		b.Waits[i].From += at
		b.Waits[i].To += at
	}
	return b
}

// later is spans so much later.
func later(spans []Span, by unit.Time) []Span {
	spans = slices.Clone(spans)
	for i := range spans {
		spans[i].From += by
		spans[i].To += by
	}
	return spans
}

// newPartsLog is a log for busyOf, which needs no counters.
func newPartsLog(env *model.Env) *model.Log {
	log := model.NewLog(env, false)
	log.Details, log.Brackets = []model.Detail{}, []model.BracketRecord{}
	return log
}

// busyOf is when parts are carried out, by part and rank, from the log of a run. Those without
// steps are left out; the list is never nil.
func busyOf(log *model.Log, sharing model.Sharing) []Busy {
	moves := activity.Of(log, sharing)
	all := make([]Busy, len(moves.Units))
	of := make([]int32, len(log.Lanes)) // the unit of each lane
	for i, u := range moves.Units {
		all[i] = Busy{Part: u.Part, Rank: u.Rank, Ready: unit.Forever, From: unit.Forever}
		for lane := range u.Lanes {
			of[u.First+lane] = int32(i)
		}
	}
	launched := make([]bool, len(all))
	for i := range log.Brackets {
		b := &log.Brackets[i]
		lane, _ := slices.BinarySearchFunc(log.Lanes, b, func(l model.LaneRecord,
			b *model.BracketRecord) int {
			return cmp.Or(cmp.Compare(l.Rank, b.Rank), cmp.Compare(l.Lane, b.Lane))
		})
		u := of[lane]
		all[u].Ready, launched[u] = min(all[u].Ready, b.Begin), true
	}
	for i := range log.Steps {
		x := &log.Steps[i]
		b := &all[of[x.Lane]]
		if !launched[of[x.Lane]] {
			b.Ready = min(b.Ready, x.Start)
		}
		if log.Details[i].IsEdge {
			continue
		}
		b.From, b.To = min(b.From, x.Start), max(b.To, x.End)
		if x.Computes {
			b.Kernels = append(b.Kernels, Span{x.Start, x.End})
		}
	}
	for i := range all {
		b := &all[i]
		within := activity.Within(moves.Of(i), b.Ready, b.To)
		for _, s := range within {
			b.Moves = append(b.Moves, Span{s.From, s.To})
		}
		for _, s := range activity.Pauses(within, b.Ready, b.To) {
			b.Waits = append(b.Waits, Wait(s))
		}
	}
	slices.SortFunc(all, func(a, b Busy) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Rank, b.Rank))
	})
	return slices.DeleteFunc(all, func(b Busy) bool { return b.From == unit.Forever })
}
