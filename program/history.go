package program

import "slices"

// A history remembers, element by element, the last users of memories, so that later users know
// which they must follow. Memories have names or numbers; users are numbers.
type history[M comparable] map[M][]usedRange

// A usedRange is a range of elements with the same users.
type usedRange struct {
	from, to int64
	writers  []int // last writers
	readers  []int // readers since then
}

// An interval is a range of elements of a memory, and whether it is written.
type interval[M comparable] struct {
	memory   M
	from, to int64
	writes   bool
}

// before lists the users that a use must follow: the writers of its elements and, if it writes, the
// readers of these. A number may be listed more than once.
func (h history[M]) before(use interval[M]) (list []int) {
	for i := range h[use.memory] {
		if s := &h[use.memory][i]; max(s.from, use.from) < min(s.to, use.to) {
			list = append(list, s.writers...)
			if use.writes {
				list = append(list, s.readers...)
			}
		}
	}
	return list
}

// add records a use. Of earlier users of written elements, those that remains lists stay, since
// users that follow the new ones do not thereby follow them.
func (h history[M]) add(use interval[M], users []int, remains func([]int) []int) {
	if use.from >= use.to {
		return
	}
	list := h.split(use)
	for i := range list {
		s := &list[i]
		switch {
		case s.from < use.from || s.to > use.to:
		case use.writes:
			s.writers = append(remains(s.writers), users...)
			s.readers = remains(s.readers)
		default:
			s.readers = append(s.readers, users...)
		}
	}
}

// split makes ranges of a memory begin and end where a use does, and cover it.
func (h history[M]) split(use interval[M]) []usedRange {
	var list []usedRange
	at := use.from
	for _, s := range h[use.memory] {
		if at < min(s.from, use.to) { // elements before it are unused
			list = append(list, usedRange{from: at, to: min(s.from, use.to)})
		}
		for _, cut := range []int64{use.from, use.to} {
			if s.from < cut && cut < s.to {
				head := usedRange{s.from, cut, slices.Clone(s.writers), slices.Clone(s.readers)}
				list, s.from = append(list, head), cut
			}
		}
		list, at = append(list, s), max(at, s.to)
	}
	if at < use.to {
		list = append(list, usedRange{from: at, to: use.to})
	}
	h[use.memory] = list
	return list
}
