package proof

import (
	"slices"

	"collsim/schedule"
)

// callers taints what the callers of the ranks share with other ranks, or with puts that are not
// flushed: in every call the caller of a rank writes what is given before the lanes begin, and
// reads the results after all of them have ended.
func (v *verifier) taintCallers() {
	for rank := range v.walked() {
		for _, b := range v.given {
			v.taintCaller(b, rank, true)
		}
		for _, b := range v.results {
			v.taintCaller(b, rank, false)
		}
	}
}

// callerShares taints a buffer of a rank that its caller writes, or else reads.
func (v *verifier) taintCaller(b schedule.Buffer, rank int, writes bool) {
	n := v.s.Len(b, rank)
	if n == 0 {
		return
	}
	m, base := v.memory.of(b, rank)
	first, last := m.cover(schedule.Span{Off: base, Len: n})
	for i := first; i < last; i++ {
		flags := m.cells[i].flags
		open := flags&cellOpen != 0 && writes && v.iterations > 1
		if open || flags&cellRemote != 0 && (writes || flags&cellWritten != 0) {
			home, _ := v.s.Home(b, rank)
			v.tainted[memory{rank, home}] = true
			return
		}
	}
}

// caller is the position of a rank's caller, who counts as one chain more.
func (r *racer) caller(rank int, at int32) known { return known{r.chains + int32(rank), at} }

// calls has the caller of every rank write what is given to the first call, before its lanes begin.
func (r *racer) beginCalls() {
	for rank := range r.walked() {
		if r.callerWrites(rank, r.caller(rank, 1), nil) {
			r.beginLanes(rank, clock{r.caller(rank, 1)})
		}
	}
}

// writes has the caller of a rank write what is given, knowing that, and reports whether others
// might meet it there.
func (r *racer) callerWrites(rank int, caller known, knows clock) (met bool) {
	for _, b := range r.given {
		met = r.callerAccesses(rank, b, access{known: caller, write: true}, knows) || met
	}
	return met
}

// touches is what the caller of a rank does to a buffer, knowing that.
func (r *racer) callerAccesses(rank int, b schedule.Buffer, now access, knows clock) bool {
	home, base := r.s.Home(b, rank)
	if !r.tainted[memory{rank, home}] {
		return false
	}
	now.number, now.index = -1, int32(len(r.chain)+rank)
	now.call = int16(r.ended[rank])
	if n := r.s.Len(b, rank); n > 0 {
		r.span(memory{rank, home}, schedule.Span{Off: base, Len: n}, now, knows)
	}
	return true
}

// begins has all lanes of a rank know what its caller knows.
func (r *racer) beginLanes(rank int, caller clock) {
	r.began[rank] = caller
	for lane := r.first[rank]; lane < r.first[rank+1]; lane++ {
		r.clocks[lane] = merge(caller, r.clocks[lane]) // who mostly knows all of it
		r.own[lane] = false
	}
}

// finished has the caller of a rank read the output, after all the rank's lanes, and write the
// input of the next call before any begins again.
func (r *racer) finished(rank, iteration int) error {
	var all clock
	for lane := r.first[rank+1] - 1; lane >= r.first[rank]; lane-- { // the last know most
		r.clocks[lane], r.acks[lane] = merge(r.clocks[lane], r.acks[lane]), nil
		r.own[lane] = false
		all = merge(all, r.clocks[lane])
		r.base[lane] = int32(len(r.posts[lane]))
	}
	all = merge(all, r.lastAccesses(rank))
	caller := r.caller(rank, int32(iteration)+2)
	for _, b := range r.results {
		r.callerAccesses(rank, b, access{known: caller}, all)
	}
	r.ended[rank]++
	if iteration+1 >= r.iterations {
		return nil
	}
	r.callerWrites(rank, caller, all)
	r.beginLanes(rank, merge(all, clock{caller}))
	return nil
}

// touchedBy is what the lanes of a rank have touched, and come to.
func (r *racer) lastAccesses(rank int) (c clock) {
	for lane := r.first[rank]; lane < r.first[rank+1]; lane++ {
		if chain := r.chain[lane]; r.touched[chain] > 0 {
			c = append(c, known{chain, r.touched[chain]})
		}
	}
	slices.SortFunc(c, func(a, b known) int { return int(a.lane - b.lane) })
	return slices.Compact(c)
}
