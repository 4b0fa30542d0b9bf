package sim

import (
	"cmp"
	"slices"

	"collsim/sim/activity"
	"collsim/sim/model"
	"collsim/unit"
)

// Busy is the time in which a rank executes a part of a composed schedule, and its division into
// moves and waits.
type Busy struct {
	Part, Rank int32
	// From is the start of the part's first step on the rank, and To the end of its last. Ready is
	// when everything that the part waits for on its rank had ended. Where brackets are launched it
	// is when the first of them began.
	Ready, From, To unit.Time
	Kernels         []Span // in which kernels of the part compute
	// Moves and Waits divide the time between Ready and To. In Moves messages of the part are in
	// flight to the rank or from it, or the rank works on their bytes. In Waits neither is so.
	Moves []Span
	Waits []Wait
}

// Span is the time between two moments.
type Span struct{ From, To unit.Time }

// Wait is a time in which nothing moves.
type Wait struct {
	From, To unit.Time
	// Peer is the rank that ends the wait: it sends a message, or frees the slot of an earlier one.
	// −1 is the rank itself, whose next step begins no sooner.
	Peer int32
}

// after returns b as a part of a longer run: all its times are later by at, and its part number
// counts from first.
func (b Busy) after(at unit.Time, first int) Busy {
	b.Part, b.Ready, b.From, b.To = b.Part+int32(first), b.Ready+at, b.From+at, b.To+at
	b.Kernels, b.Moves, b.Waits = later(b.Kernels, at), later(b.Moves, at), slices.Clone(b.Waits)
	for i := range b.Waits {
		b.Waits[i].From += at
		b.Waits[i].To += at
	}
	return b
}

// later returns spans moved to a later time.
func later(spans []Span, by unit.Time) []Span {
	spans = slices.Clone(spans)
	for i := range spans {
		spans[i].From += by
		spans[i].To += by
	}
	return spans
}

// newPartsLog returns a log for busyOf, which needs no counters.
func newPartsLog(env *model.Env) *model.Log {
	log := model.NewLog(env, false)
	log.Details, log.Brackets = []model.Detail{}, []model.BracketRecord{}
	return log
}

// busyOf returns when parts are executed, by part and rank, from the log of a run. Parts without
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
