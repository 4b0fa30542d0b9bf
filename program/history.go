package program

import "slices"

// history remembers, element by element, who used a memory last, so that those who use it next know
// whom they come after. Memories go by a name or a number; users go by numbers.
type history[M comparable] map[M][]stretch

// stretch is a run of elements that the same users have used.
type stretch struct {
	from, to int64
	writers  []int // that have written it last
	readers  []int // that have read it since
}

// interval is a run of elements of a memory, and how they are used.
type interval[M comparable] struct {
	memory   M
	from, to int64
	writes   bool
}

// before lists whom a use comes after: those who wrote what it touches, and if it writes, those who
// read that. A number may be listed more than once.
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

// add notes a use. Of earlier users of what is written, those stay that remains lists: nobody who
// comes after the new ones comes after them by that.
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

// split has stretches of a memory begin and end where a use does, and cover it.
func (h history[M]) split(use interval[M]) []stretch {
	var list []stretch
	at := use.from
	for _, s := range h[use.memory] {
		if at < min(s.from, use.to) { // nobody has used what lies before it
			list = append(list, stretch{from: at, to: min(s.from, use.to)})
		}
		for _, cut := range []int64{use.from, use.to} {
			if s.from < cut && cut < s.to {
				head := stretch{s.from, cut, slices.Clone(s.writers), slices.Clone(s.readers)}
				list, s.from = append(list, head), cut
			}
		}
		list, at = append(list, s), max(at, s.to)
	}
	if at < use.to {
		list = append(list, stretch{from: at, to: use.to})
	}
	h[use.memory] = list
	return list
}
