package proof

import (
	"slices"
	"sort"

	"collsim/schedule"
)

// store is one memory of one rank, divided into cells: the intervals between all the ends of
// accesses so far. Until somebody accesses a part it is one cell.
type store struct {
	divide func() []int64 // where its cuts' parts begin; nil once it is divided there
	size   int64
	starts []int64 // of the cells; shared between ranks until owned
	owned  bool
	cells  []cell
}

// cell is an interval that has always been accessed whole.
type cell struct {
	v     *value
	off   int64 // of its first element in the inputs
	lane  int32 // the first that accessed it, plus 1; 0 for none
	flags uint8
}

// What has happened to a cell.
const (
	cellWritten uint8 = 1 << iota // by a lane
	cellShared                    // several lanes have accessed it
	cellRemote                    // by a lane of another rank
	cellOpen                      // it is the origin of a put
	cellLanding                   // a put with a message has been on its way to it
)

// at is the index of the cell that begins at off, which is made to begin there.
func (m *store) at(off int64) int {
	i := sort.Search(len(m.starts), func(i int) bool { return m.starts[i] >= off })
	if i < len(m.starts) && m.starts[i] == off || off >= m.size {
		return i
	}
	if !m.owned {
		m.starts, m.owned = slices.Clone(m.starts), true
	}
	m.starts = slices.Insert(m.starts, i, off)
	half := m.cells[i-1]
	half.off += off - m.starts[i-1]
	m.cells = slices.Insert(m.cells, i, half)
	return i
}

// end is where cell i ends.
func (m *store) end(i int) int64 {
	if i+1 < len(m.starts) {
		return m.starts[i+1]
	}
	return m.size
}

// cover is the cells from the first to before the last that make up a span.
func (m *store) cover(s schedule.Span) (first, last int) {
	if m.divide != nil && (s.Off != 0 || s.Len != m.size) {
		m.cut()
	}
	first = m.at(s.Off)
	if first < len(m.starts) && m.end(first) == s.Off+s.Len {
		return first, first + 1
	}
	last = m.at(s.Off + s.Len)
	return first, last
}

// cut divides the memory at the ends of its cuts' parts, so that cells need not be split later.
func (m *store) cut() {
	whole := m.cells[0]
	m.starts, m.divide = m.divide(), nil
	m.cells = make([]cell, len(m.starts))
	for i, start := range m.starts {
		m.cells[i] = whole
		m.cells[i].off += start
	}
}

// read appends what a span holds to segs.
func (m *store) read(segs []seg, s schedule.Span) []seg {
	first, last := m.cover(s)
	for i := first; i < last; i++ {
		c := &m.cells[i]
		segs = appendSeg(segs, seg{m.end(i) - m.starts[i], c.v, c.off})
	}
	return segs
}

// write stores segs, from the i-th on, in a span and returns what is left.
func (m *store) write(s schedule.Span, segs []seg) []seg {
	for s.Len > 0 {
		n := min(s.Len, segs[0].n)
		first, last := m.cover(schedule.Span{Off: s.Off, Len: n})
		for i := first; i < last; i++ {
			m.cells[i].v = segs[0].v
			m.cells[i].off = segs[0].off + m.starts[i] - s.Off
		}
		if segs[0].n -= n; segs[0].n == 0 {
			segs = segs[1:]
		} else {
			segs[0].off += n
		}
		s.Off, s.Len = s.Off+n, s.Len-n
	}
	return segs
}

// appendSeg joins a segment to the last one where they are one.
func appendSeg(segs []seg, s seg) []seg {
	if n := len(segs); n > 0 && segs[n-1].v == s.v && segs[n-1].off+segs[n-1].n == s.off {
		segs[n-1].n += s.n
		return segs
	}
	return append(segs, s)
}

// stores are the memories of all ranks.
type stores struct {
	s     *schedule.Schedule
	ranks [][schedule.Scratch + 1]store
}

func newStores(s *schedule.Schedule, scratches int) *stores {
	m := &stores{s: s, ranks: make([][schedule.Scratch + 1]store, s.Spec.Ranks)}
	var shared [schedule.Scratch + 1][]int64
	for rank := range m.ranks {
		for b := schedule.Input; b <= schedule.Scratch; b++ {
			home, base := s.Home(b, rank)
			if n := s.Len(b, rank); n > 0 {
				m.ranks[rank][home].size = max(m.ranks[rank][home].size, base+n)
			}
		}
		m.ranks[rank][schedule.Scratch].size *= int64(max(scratches, 1)) // one behind the other
		for b := range m.ranks[rank] {
			if k := &m.ranks[rank][b]; k.size > 0 {
				k.starts, k.cells = whole, make([]cell, 1)
				k.divide = func() []int64 { return m.begins(rank, schedule.Buffer(b), k.size, &shared[b]) }
			}
		}
	}
	return m
}

// whole is where the cells of a memory begin that is one cell.
var whole = []int64{0}

// begins is where the parts of a memory begin. Ranks whose memories are cut alike share the table.
func (m *stores) begins(rank int, b schedule.Buffer, size int64, shared *[]int64) []int64 {
	s, starts := m.s, []int64{0}
	for other := schedule.Input; other <= schedule.Scratch; other++ {
		if home, base := s.Home(other, rank); home == b && s.Len(other, rank) > 0 {
			starts = append(starts, base)
			starts = s.Ends(starts, other, rank, base)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	if n := len(starts); starts[n-1] == size {
		starts = starts[:n-1]
	}
	if !slices.Equal(starts, *shared) {
		*shared = starts
	}
	return (*shared)[:len(*shared):len(*shared)]
}

// of is the memory that a buffer lies in, and where it begins there.
func (m *stores) of(b schedule.Buffer, rank int) (*store, int64) {
	home, base := m.s.Home(b, rank)
	return &m.ranks[rank][home], base
}
