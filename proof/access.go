package proof

import (
	"fmt"
	"slices"
	"sort"

	"collsim/schedule"
)

// An access is an access to a memory that the race walk remembers.
type access struct {
	known
	index  int32 // of the lane among all lanes; callers follow
	number int32 // of the step
	put    int32 // number of the put that it belongs to, plus 1; 0 for none
	call   int16
	write  bool
}

// A track remembers a cell's last write, and the reads since then that no later read is ordered
// after.
type track struct {
	write access
	reads []access
}

// putState is the state of a put: when its target and its origin are no longer accessed; zero until
// then.
type putState struct {
	target, origin known
	packet         bool
}

// region checks an access of a sub-step to a region of a rank for races, if the region's memory is
// tainted.
func (r *racer) region(at *schedule.Visit, rank int, g *schedule.Region, write bool, put int32) {
	where := at.Spot()
	where.Rank = rank
	home, base := r.s.Locate(where, g.Buffer)
	if !r.tainted[memory{rank, home}] {
		return
	}
	base += r.turn(g.Buffer, at.Rank)
	chain := r.chain[at.Index]
	now := access{known{chain, r.position[chain]}, at.Index, at.Number, put,
		int16(r.ended[at.Rank]), write}
	if !write && r.meeting > 0 {
		now.at++
	}
	r.touched[chain] = r.position[chain]
	r.spans = r.s.Spans(r.spans[:0], where, g)
	for _, span := range r.spans {
		span.Off += base
		r.span(memory{rank, home}, span, now, r.clocks[at.Index])
	}
}

// span checks an access to elements of a memory by a lane whose clock is knows.
func (r *racer) span(where memory, s schedule.Span, now access, knows clock) {
	m := r.memory.in(where)
	first, last := m.cover(s) // may divide cells
	tracks := r.tracks[where]
	if tracks == nil {
		tracks = make([]track, len(m.starts))
		r.bytes += trackBytes * int64(len(tracks))
		r.tracks[where], r.starts[where] = tracks, slices.Clone(m.starts)
	} else if len(tracks) < len(m.starts) { // cells have been divided since
		tracks = divided(tracks, r.starts[where], m.starts)
		r.tracks[where], r.starts[where] = tracks, slices.Clone(m.starts)
	}
	r.spend(int64(last-first), accessBytes*int64(last-first))
	for i := first; i < last; i++ {
		t := &tracks[i]
		if t.write.at > 0 && !r.precedes(t.write, now, knows) {
			r.race(where, m.starts[i], t.write, now, knows)
		}
		if now.write {
			for _, read := range t.reads {
				if !r.precedes(read, now, knows) {
					r.race(where, m.starts[i], read, now, knows)
				}
			}
			t.write = now
			t.reads = slices.DeleteFunc(t.reads, func(read access) bool { return !r.lasts(read) })
			continue
		}
		t.reads = slices.DeleteFunc(t.reads, func(read access) bool {
			return read.put == 0 && r.precedes(read, now, knows)
		})
		t.reads = append(t.reads, now)
	}
}

// divided returns the tracks of cells that begin at now. Each copies the track of the old cell, of
// those that began at was, that contains it.
func divided(tracks []track, was, now []int64) []track {
	list, at := make([]track, len(now)), 0
	for i, start := range now {
		for at+1 < len(was) && was[at+1] <= start {
			at++
		}
		list[i] = tracks[at]
		list[i].reads = slices.Clone(tracks[at].reads)
	}
	return list
}

// lasts reports whether a read is of the origin of a put that has not been flushed.
func (r *racer) lasts(read access) bool {
	return read.put > 0 && r.puts[read.put-1].origin.at == 0
}

// precedes reports whether an access has ended before now, by a lane whose clock is knows.
func (r *racer) precedes(then, now access, knows clock) bool {
	rest := then.known
	if then.put > 0 {
		if then.lane == now.lane && then.at|1 == now.at|1 {
			return true // accesses of one step do not race
		}
		if then.write && now.write && now.put > 0 && then.index == now.index &&
			r.puts[then.put-1].packet == r.puts[now.put-1].packet {
			return true // puts of one lane and kind land in order
		}
		if rest = r.puts[then.put-1].origin; then.write {
			rest = r.puts[then.put-1].target
		}
		if rest.at == 0 {
			return false
		}
	}
	return rest.lane == now.lane || knows.knows(rest) ||
		r.near != nil && r.near.knowsCaller(rest, knows)
}

// race reports two unordered accesses, once per pair of lanes.
func (r *racer) race(where memory, off int64, then, now access, knows clock) {
	lanes := [2]int32{then.index, now.index}
	if r.reported[lanes] || len(r.found) >= maxViolations {
		return
	}
	r.reported[lanes] = true
	r.pairs = append(r.pairs, pair{then: then, now: now})
	buffer := where.home
	if buffer == schedule.Scratch {
		off %= r.s.Memory
	}
	if r.s.Spec.InPlace && buffer == schedule.Input {
		if _, base := r.s.Home(schedule.Output, where.rank); off >= base &&
			off < base+r.s.Len(schedule.Output, where.rank) {
			buffer, off = schedule.Output, off-base
		}
	}
	x := &schedule.Violation{Kind: schedule.Race, Chunk: r.s.BlockAt(buffer, where.rank, off)}
	var who [2]any // each is a step or a caller
	var more, verbs [2]string
	for i, t := range []access{then, now} {
		if verbs[i] = "reads"; t.write {
			verbs[i] = "writes"
		}
		rank, lane := r.whose(t.index)
		if then.call != now.call {
			more[i] = fmt.Sprintf(" in call %d", t.call+1)
		}
		if lane < 0 {
			who[i] = fmt.Sprintf("the caller of rank %d", r.names.of(rank))
			continue
		}
		more[i] = r.partName(rank, lane) + more[i]
		rank = r.names.of(rank)
		x.Rank, x.Lane, x.Step = rank, lane, int(t.number)
		who[i] = schedule.At{Rank: rank, Lane: lane, Step: int(t.number)}
	}
	args := []any{who[0], more[0], verbs[0], who[1], more[1], verbs[1], r.s.BufferName(buffer), off,
		r.names.of(where.rank)}
	text := "%v%s %s and %v%s %s %s element %d of rank %d; nothing orders them"
	if r.near != nil {
		text += ", as far as lanes know that exchange data"
	}
	if signal := r.wouldOrder(then, now, knows); signal != nil {
		text, args = text+", but the signal of %v would if it were not relaxed", append(args, *signal)
	}
	r.found = append(r.found, x.Say(text, args...))
}

// partName formats the part of a lane in a composed schedule, such as " of part 0 (rows)".
func (v *verifier) partName(rank, lane int) string {
	if v.memory.parts == nil {
		return ""
	}
	i := v.s.Program(rank).Part(lane)
	name := v.memory.parts[i].Name
	if name == "" {
		name = v.memory.parts[i].Schedule.Name
	}
	return fmt.Sprintf(" of part %d (%s)", i, name)
}

// whose returns the rank of a lane and the lane's number on it; −1 is the rank's caller.
func (r *racer) whose(lane int32) (rank, number int) {
	last := r.first[len(r.first)-1]
	if lane >= last {
		return int(lane - last), -1
	}
	rank = sort.Search(len(r.first), func(i int) bool { return r.first[i] > lane }) - 1
	return rank, int(lane - r.first[rank])
}
