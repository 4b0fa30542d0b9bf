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

// newPartsLog returns a log for busyOf.
func newPartsLog(env *model.Env) *model.Log {
	log := model.NewLog(env, false)
	log.Details, log.Brackets, log.OfParts = []model.Detail{}, []model.BracketRecord{}, true
	return log
}

// busyOf returns when parts are executed, by part and rank, from the log of a run. Parts without
// steps are left out; the list is never nil.
func busyOf(log *model.Log, sharing model.Sharing) []Busy {
	times := log.Parts
	if times == nil {
		times = timesOf(log, sharing)
	}
	all := make([]Busy, 0, len(times))
	for i := range times {
		if t := &times[i]; t.From < unit.Forever {
			all = append(all, busy(t))
		}
	}
	slices.SortFunc(all, func(a, b Busy) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Rank, b.Rank))
	})
	return all
}

// busy divides the time of a part on a rank into moves and waits. It takes the lists of t over.
func busy(t *model.PartTimes) Busy {
	b := Busy{Part: t.Part, Rank: t.Rank, Ready: t.Ready, From: t.From, To: t.To}
	for _, k := range t.Kernels {
		b.Kernels = append(b.Kernels, Span(k))
	}
	slices.SortFunc(b.Kernels, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	within := activity.Within(activity.Union(t.Moves), b.Ready, b.To)
	for _, s := range within {
		b.Moves = append(b.Moves, Span{From: s.From, To: s.To})
	}
	for _, s := range activity.Pauses(within, b.Ready, b.To) {
		b.Waits = append(b.Waits, Wait(s))
	}
	t.Kernels, t.Moves = nil, nil
	return b
}

// timesOf finds the times of parts in the records of a log.
func timesOf(log *model.Log, sharing model.Sharing) []model.PartTimes {
	moves := activity.Of(log, sharing)
	all := make([]model.PartTimes, len(moves.Units))
	of := make([]int32, len(log.Lanes)) // the unit of each lane
	for i, u := range moves.Units {
		all[i] = model.PartTimes{Part: u.Part, Rank: u.Rank, Ready: unit.Forever, From: unit.Forever,
			Moves: moves.Of(i)}
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
			b.Kernels = append(b.Kernels, model.Interval{From: x.Start, To: x.End})
		}
	}
	return all
}
