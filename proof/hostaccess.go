package proof

import (
	"slices"

	"collsim/schedule"
)

// taintCallers marks as tainted the memories in which a rank's caller may race with lanes of other
// ranks or with unflushed puts. The caller is the host program: in each call it writes the given
// buffers before the lanes begin, and reads the results after all have ended.
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

// taintCaller taints the memory of a buffer that a rank's caller writes or, if not writes, reads.
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

// caller returns a position of a rank's caller. Callers are numbered behind all chains of lanes.
func (r *racer) caller(rank int, at int32) known { return known{r.chains + int32(rank), at} }

// beginCalls records that every caller writes the given buffers of the first call before its rank's
// lanes begin.
func (r *racer) beginCalls() {
	for rank := range r.walked() {
		if r.callerWrites(rank, r.caller(rank, 1), nil) {
			r.beginLanes(rank, clock{r.caller(rank, 1)})
		}
	}
}

// callerWrites records that a rank's caller, whose clock is knows, writes the given buffers. It
// reports whether any of them is in tainted memory.
func (r *racer) callerWrites(rank int, caller known, knows clock) (met bool) {
	for _, b := range r.given {
		met = r.callerAccesses(rank, b, access{known: caller, write: true}, knows) || met
	}
	return met
}

// callerAccesses checks an access of a rank's caller, whose clock is knows, to a whole buffer. It
// reports whether the buffer is in tainted memory.
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

// beginLanes merges the clock of a rank's caller into the clocks of all its lanes.
func (r *racer) beginLanes(rank int, caller clock) {
	r.began[rank] = caller
	for lane := r.first[rank]; lane < r.first[rank+1]; lane++ {
		c := caller
		if r.near != nil {
			c = slices.Clone(r.near.of(lane, caller))
		}
		// the caller's clock mostly covers the lane's
		r.clocks[lane] = merge(c, r.clocks[lane])
		r.own[lane] = false
	}
}

// finished records that the caller of a rank reads the results after all the rank's lanes. Unless
// it was the last call, the caller then writes the next input before any lane begins again.
func (r *racer) finished(rank, iteration int) error {
	var all clock
	// the last lanes have the longest clocks
	for lane := r.first[rank+1] - 1; lane >= r.first[rank]; lane-- {
		r.clocks[lane], r.acks[lane] = merge(r.clocks[lane], r.acks[lane]), nil
		r.own[lane] = false
		c := r.clocks[lane]
		if r.near != nil {
			c = slices.Clone(r.near.ofCaller(int32(rank), c))
		}
		all = merge(all, c)
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

// lastAccesses returns a clock that has, for each of a rank's chains, its last access to tainted
// memory.
func (r *racer) lastAccesses(rank int) (c clock) {
	for lane := r.first[rank]; lane < r.first[rank+1]; lane++ {
		if chain := r.chain[lane]; r.touched[chain] > 0 {
			c = append(c, known{chain, r.touched[chain]})
		}
	}
	slices.SortFunc(c, func(a, b known) int { return int(a.lane - b.lane) })
	return slices.Compact(c)
}
