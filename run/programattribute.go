package run

import (
	"cmp"
	"slices"

	"collsim/sim"
	"collsim/unit"
)

// attribution shares the exposed time of a rank out among its calls. A moment belongs to one: to
// one that moves, if any does, else to one that waits. Of several it is the one that the rank's
// next kernel waits for, directly or through others; if that waits for none of them, the one that
// is issued first.
type attribution struct {
	*onRank
	result *ProgramResult
	ops    []int                   // of parts
	of     map[int]*sim.Busy       // by part
	begins map[unit.Time]*sim.Busy // whose kernel begins then: the first that is issued
	last   *sim.Busy               // to end
	waits  map[CallWait]int        // where they are in result.Waits; no map is walked through
	going  []*sim.Busy             // calls that have begun and not ended, in the order of their parts
	needed []*sim.Busy             // calls that the next kernel waits for
}

// attribute notes for each op what belongs to it of the exposed time of a rank, and of each wait.
func (result *ProgramResult) attribute(r *onRank, ops []int) {
	a := attribution{onRank: r, result: result, ops: ops, of: map[int]*sim.Busy{},
		begins: map[unit.Time]*sim.Busy{}, waits: map[CallWait]int{}}
	for _, b := range r.parts {
		a.of[int(b.Part)] = b
		for _, k := range b.Kernels {
			if a.begins[k.From] == nil {
				a.begins[k.From] = b
			}
		}
		if a.last == nil || b.To > a.last.To {
			a.last = b
		}
	}
	calls := slices.Clone(r.calls)
	slices.SortStableFunc(calls, func(a, b *sim.Busy) int { return cmp.Compare(a.Ready, b.Ready) })
	for _, gap := range gaps(r.kernels, result.Time) {
		for ; len(calls) > 0 && calls[0].Ready < gap.To; calls = calls[1:] {
			at, _ := slices.BinarySearchFunc(a.going, calls[0].Part,
				func(b *sim.Busy, part int32) int { return cmp.Compare(b.Part, part) })
			a.going = slices.Insert(a.going, at, calls[0])
		}
		a.going = slices.DeleteFunc(a.going, func(b *sim.Busy) bool { return b.To <= gap.From })
		a.share(gap)
	}
	slices.SortFunc(result.Waits, func(a, b CallWait) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Peer, b.Peer))
	})
}

// share shares out a time in which no kernel runs.
func (a *attribution) share(gap span) {
	if len(a.going) == 0 {
		return
	}
	a.need(gap)
	times := []unit.Time{gap.From, gap.To}
	for _, b := range a.going {
		times = append(times, b.Ready, b.To)
		for i := firstAfter(b.Moves, gap.From); i < len(b.Moves) && b.Moves[i].From < gap.To; i++ {
			times = append(times, b.Moves[i].From, b.Moves[i].To)
		}
	}
	slices.Sort(times)
	for i, to := range times[1:] {
		if from := times[i]; from >= gap.From && from < to && to <= gap.To {
			a.charge(from, to)
		}
	}
}

// charge notes to whom a time belongs in which nothing begins or ends.
func (a *attribution) charge(from, to unit.Time) {
	owner, moves := a.owner(from)
	if owner == nil {
		return
	}
	n := a.ops[owner.Part]
	if moves {
		a.result.Ops[n].Moving += to - from
		return
	}
	a.result.Ops[n].Waiting += to - from
	w := CallWait{Op: n, Peer: -1}
	if i, waits := slices.BinarySearchFunc(owner.Waits, from, func(w sim.Wait, at unit.Time) int {
		switch {
		case w.To <= at:
			return -1
		case w.From > at:
			return 1
		}
		return 0
	}); waits {
		w.Peer = owner.Waits[i].Peer
	}
	at, known := a.waits[w]
	if !known {
		at = len(a.result.Waits)
		a.waits[w] = at
		a.result.Waits = append(a.result.Waits, w)
	}
	a.result.Waits[at].Time += to - from
}

// owner returns the call that a moment is charged to, nil if none has begun, and whether it moves
// then. It prefers calls that move, then those that the next kernel waits for.
func (a *attribution) owner(at unit.Time) (owner *sim.Busy, moves bool) {
	for _, list := range [...][]*sim.Busy{a.needed, a.going} {
		for _, b := range list {
			switch i := firstAfter(b.Moves, at); {
			case at < b.Ready || at >= b.To:
			case i < len(b.Moves) && b.Moves[i].From <= at:
				return b, true
			case owner == nil:
				owner = b
			}
		}
	}
	return owner, false
}

// firstAfter returns the index of the first span that ends after a time. The spans are in order.
func firstAfter(spans []span, at unit.Time) int {
	i, _ := slices.BinarySearchFunc(spans, at, func(s span, at unit.Time) int {
		if s.To <= at {
			return -1
		}
		return 1
	})
	return i
}

// need finds the calls that the kernel at the end of a gap waits for, one after the other: of what
// it waits for what has ended last, of what that waits for likewise, and so on. After the last
// kernel it is what ends last.
func (a *attribution) need(gap span) {
	a.needed = a.needed[:0]
	now := a.last
	if gap.To < a.result.Time {
		now = a.begins[gap.To]
	}
	for now != nil && now.To > gap.From {
		if communicates(&a.result.Lowered.Ops[a.ops[now.Part]]) {
			a.needed = append(a.needed, now)
		}
		now = a.before(int(now.Part))
	}
}

// before returns the part that ends last among those that a part waits for, or nil.
func (a *attribution) before(part int) (last *sim.Busy) {
	for _, w := range a.result.Lowered.Schedule.Waits(part, a.Rank) {
		if b := a.of[w]; b != nil && (last == nil || b.To > last.To) {
			last = b
		}
	}
	return last
}
