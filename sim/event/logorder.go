package event

import (
	"slices"

	"collsim/unit"
)

// times are those of a compact log in the order of lanes, and of a lane in that of its sub-steps:
// of each when it started, and then those of its messages, in the order in which it gets and sends
// them. Where it has several, each begins with an entry that is no time.
type times struct {
	of    []unit.Time
	kinds []entryKind // of each entry; behind the last that of a start
	lanes []int32     // where those of each lane begin, and the end of all
}

// inOrder puts all times in order and drops the entries. What belongs to an entry was written after
// it, and comes right behind it, in the order in which it was written.
func (t *writer) inOrder() times {
	t.pages = append(t.pages, t.page)
	at := t.before + len(t.page)
	places := make([]int32, at) // that each entry takes with what belongs to it
	lanes := make([]int32, len(t.heads)+1)
	for _, x := range t.evenly {
		places[x.of] += int32(x.n)
	}
	for _, page := range slices.Backward(t.pages) {
		for _, x := range slices.Backward(page) {
			at--
			kind, of := x.belongs()
			if kind != aPlace {
				places[at]++
			}
			if kind == aStart {
				lanes[of+1] += places[at]
			} else {
				places[of] += places[at]
			}
		}
	}
	for i := range t.heads {
		lanes[i+1] += lanes[i]
	}
	ordered := times{of: make([]unit.Time, lanes[len(t.heads)]), lanes: lanes}
	ordered.kinds = make([]entryKind, len(ordered.of)+1)
	t.spread(&ordered, places, slices.Clone(lanes))
	return ordered
}

// spread puts each time in its place, by how many each entry takes and where those of each lane
// begin: these become where the next belongs.
func (t *writer) spread(to *times, places, lanes []int32) {
	bases, base, at := t.bases, unit.Time(0), 0
	for i, page := range t.pages {
		for _, x := range page {
			for len(bases) > 0 && bases[0].from == at {
				base, bases = bases[0].base, bases[1:]
			}
			kind, of := x.belongs()
			nexts := places
			if kind == aStart {
				nexts = lanes
			}
			place := nexts[of]
			nexts[of] += places[at]
			if kind != aPlace {
				to.of[place], to.kinds[place] = base+unit.Time(x.time), kind
				place++
			}
			places[at] = place
			at++
		}
		t.pages[i] = nil
	}
	t.pages, t.page = nil, nil
	for _, x := range t.evenly {
		to.goOn(&x, places[x.of])
	}
	t.evenly = nil
}

// goOn puts sub-steps in their places, from the first on, that have started evenly.
func (t *times) goOn(x *evenly, first int32) {
	for i := range int32(x.n) {
		t.of[first+i], t.kinds[first+i] = t.of[first+i-1]+x.every, aStart
	}
}

// take returns a message's next time and goes past it, if it is of this kind. The time when there
// was room in the send buffer may be anywhere, so it is skipped.
func (t *times) take(next *int32, kind entryKind) (at unit.Time, isThere bool) {
	for t.kinds[*next] == aRoom {
		*next++
	}
	if t.kinds[*next] != kind {
		return 0, false
	}
	*next++
	return t.of[*next-1], true
}

// room returns the time when there was room behind a message whose times begin at an index; since,
// if no such time was written.
func (t *times) room(at int32, since unit.Time) unit.Time {
	for ; t.kinds[at] > aMessage; at++ {
		if t.kinds[at] == aRoom {
			return t.of[at]
		}
	}
	return since
}

// end returns the end of a message's times that begin at an index.
func (t *times) end(at int32) int32 {
	for t.kinds[at] > aMessage {
		at++
	}
	return at
}
