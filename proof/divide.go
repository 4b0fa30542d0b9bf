package proof

import (
	"slices"

	"collsim/schedule"
)

// How a memory is divided into cells. Elements whose state is equal are one cell. Most of what a
// rank of a folded schedule holds is one cell: its input, or its share of one sum in block after
// block. So equal neighbours are joined, until there are many cells. Then the memory is divided at
// the ends of all parts of its cuts at once. Nothing is joined where single cells must be reported,
// such as wrong elements or meeting lanes (verifier.keepsApart).

// cut divides the memory at the ends of its cuts' parts, so that cells need not be split one by one
// later. It goes up to an element, or twice as far as before. A buffer is as long as some rank
// needs it, and most ranks use its beginning alone.
func (m *store) cut(to int64) {
	if m.divide == nil {
		return
	}
	if m.table == nil {
		m.table, m.parts = m.divide(), 1
	}
	parts, _ := slices.BinarySearch(m.table, to+1)
	if parts <= m.parts && parts < len(m.table) {
		return
	}
	parts = min(max(parts, 2*m.parts), len(m.table))
	last := m.cells[len(m.cells)-1]
	begin := m.starts[len(m.starts)-1]
	if m.cells = slices.Grow(m.cells, parts-m.parts); m.owned {
		m.starts = append(m.starts, m.table[m.parts:parts]...)
	} else {
		m.starts = m.table[:parts:parts]
	}
	for _, start := range m.table[m.parts:parts] {
		next := last
		next.off += start - begin
		m.cells = append(m.cells, next)
	}
	if m.parts = parts; parts == len(m.table) {
		m.divide, m.table = nil, nil
	}
}

// manySpans is the number of spans from which a region's memory is divided at all their ends at
// once. One by one, each division would move all cells behind it.
const manySpans = 64

// divideAt makes cells begin and end where spans do.
func (m *store) divideAt(spans []schedule.Span, base int64) {
	if len(spans) < manySpans {
		return
	}
	m.divideAll()
	for _, s := range spans {
		m.cut(base + s.Off + s.Len)
	}
	var ends []int64
	for _, s := range spans {
		for _, end := range [2]int64{base + s.Off, base + s.Off + s.Len} {
			if _, known := m.find(end); !known {
				ends = append(ends, end)
			}
		}
	}
	if len(ends) > 0 {
		slices.Sort(ends)
		m.refine(merged(m.starts, ends))
		m.owned = true
	}
}

// mostJoined bounds the cells of a memory that still joins them.
const mostJoined = 64

// join merges neighbours from cell first-1 to cell last where a cell continues the one before.
func (m *store) join(first, last int) {
	if !m.joins {
		return
	}
	kept, end := max(first-1, 0), min(last+1, len(m.cells))
	for i := kept + 1; i < end; i++ {
		next := m.cells[kept]
		if next.off += m.starts[i] - m.starts[kept]; next != m.cells[i] {
			kept++
			m.starts[kept], m.cells[kept] = m.starts[i], m.cells[i]
		}
	}
	m.starts = slices.Delete(m.starts, kept+1, max(end, kept+1))
	m.cells = slices.Delete(m.cells, kept+1, max(end, kept+1))
	if len(m.cells) > mostJoined {
		m.divideAll()
	}
}

// divideAll stops a memory from joining cells, and divides it at the ends of all its cuts' parts.
func (m *store) divideAll() {
	if !m.joins {
		return
	}
	table := m.divide()
	m.joins, m.divide = false, nil
	m.owned = slices.ContainsFunc(m.starts, func(start int64) bool {
		_, known := slices.BinarySearch(table, start)
		return !known
	})
	if m.owned {
		table = merged(table, m.starts)
	}
	m.refine(table)
}

// refine divides cells so that they begin at starts. REQUIRES: starts include those of all cells.
func (m *store) refine(starts []int64) {
	cells, at := make([]cell, len(starts)), 0
	for i, start := range starts {
		if at+1 < len(m.starts) && m.starts[at+1] == start {
			at++
		}
		cells[i] = m.cells[at]
		cells[i].off += start - m.starts[at]
	}
	m.starts, m.cells = starts, cells
}

// merged returns the union of two sorted lists.
func merged(a, b []int64) []int64 {
	all := make([]int64, 0, len(a)+len(b))
	for len(a)+len(b) > 0 {
		from := &a
		if len(a) == 0 || len(b) > 0 && b[0] < a[0] {
			from = &b
		}
		if n := len(all); n == 0 || all[n-1] != (*from)[0] {
			all = append(all, (*from)[0])
		}
		*from = (*from)[1:]
	}
	return all
}
