package proof

import (
	"slices"
	"sort"

	"collsim/schedule"
)

// A store is one memory of one rank, divided into cells. Cells are the intervals between the ends
// of accesses so far. A part that nobody has accessed is one cell.
type store struct {
	joins bool // cells that continue the one before are joined, while there are few
	// returns where its cuts' parts begin; nil once it is divided at all of these
	divide func() []int64
	table  []int64 // the result of divide, once it was called
	parts  int     // of table: the first ones are cells, the rest is one cell
	size   int64
	starts []int64 // of the cells; shared between ranks unless owned
	owned  bool
	cells  []cell
}

// A cell is an interval that has always been accessed whole, or a join of such cells.
type cell struct {
	v     *value
	off   int64 // element of the inputs that its first element is
	lane  int32 // first lane that accessed it, plus 1; 0 for none
	flags uint8
}

// The history of a cell, in flags.
const (
	cellWritten uint8 = 1 << iota // a lane has written it
	cellShared                    // several lanes have accessed it
	cellRemote                    // a lane of another rank has accessed it
	cellOpen                      // it has been the origin of a put
	cellLanding                   // it has been the target of a put with a message
)

// find returns the index of the first cell that begins at off or later, and whether it begins at
// off. The end of the memory counts as a beginning.
func (m *store) find(off int64) (i int, known bool) {
	parts := int64(max(len(m.starts), len(m.table)))
	i = int(off / (m.size / parts)) // exact if all cells are of one size
	if i >= len(m.starts) || m.starts[i] != off {
		i = sort.Search(len(m.starts), func(i int) bool { return m.starts[i] >= off })
	}
	return i, i < len(m.starts) && m.starts[i] == off || off >= m.size
}

// at returns the index of the cell that begins at off. It splits a cell there if necessary.
func (m *store) at(off int64) int {
	i, known := m.find(off)
	if known {
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

// end returns the end of cell i.
func (m *store) end(i int) int64 {
	if i+1 < len(m.starts) {
		return m.starts[i+1]
	}
	return m.size
}

// cover returns the range of cells, first to last−1, that make up a span. It divides cells at the
// span's ends.
func (m *store) cover(s schedule.Span) (first, last int) {
	if !m.joins && (s.Off != 0 || s.Len != m.size) {
		m.cut(s.Off + s.Len)
	}
	first = m.at(s.Off)
	if first < len(m.starts) && m.end(first) == s.Off+s.Len {
		return first, first + 1
	}
	last = m.at(s.Off + s.Len)
	return first, last
}

// read appends the contents of a span to segs.
func (m *store) read(segs []seg, s schedule.Span) []seg {
	if s.Len == 0 {
		return segs
	}
	i, known := 0, true
	if m.joins { // reading divides no cells
		i, known = m.find(s.Off)
	} else {
		i, _ = m.cover(s)
	}
	if !known {
		i--
	}
	for ; s.Len > 0; i++ {
		c, n := &m.cells[i], min(m.end(i)-s.Off, s.Len)
		segs = appendSeg(segs, seg{n, c.v, c.off + s.Off - m.starts[i]})
		s.Off, s.Len = s.Off+n, s.Len-n
	}
	return segs
}

// write stores segs, the first of them from its element from on, in a span. It returns the rest of
// segs in the same form.
func (m *store) write(s schedule.Span, segs []seg, from int64) ([]seg, int64) {
	for s.Len > 0 {
		n := min(s.Len, segs[0].n-from)
		first, last := m.cover(schedule.Span{Off: s.Off, Len: n})
		for i := first; i < last; i++ {
			m.cells[i].v = segs[0].v
			m.cells[i].off = segs[0].off + from + m.starts[i] - s.Off
		}
		m.join(first, last)
		if from += n; from == segs[0].n {
			segs, from = segs[1:], 0
		}
		s.Off, s.Len = s.Off+n, s.Len-n
	}
	return segs, from
}

// appendSeg appends a segment, or joins it to the last one if it continues that.
func appendSeg(segs []seg, s seg) []seg {
	if n := len(segs); n > 0 && segs[n-1].v == s.v && segs[n-1].off+segs[n-1].n == s.off {
		segs[n-1].n += s.n
		return segs
	}
	return append(segs, s)
}

// mostParts bounds the parts of a buffer's cuts at whose ends a memory is divided as far as it is
// accessed. The ends of more parts would be too large a table. Cells are then split one by one, and
// each split moves the cells behind it.
const mostParts = 16 * schedule.MaxEnds

// stores holds the memories of all ranks.
type stores struct {
	s       *schedule.Schedule
	buffers int     // of each rank
	most    int     // bounds the parts that a memory is divided into at once
	all     []store // of rank 0, of rank 1, …
	storeOf []int32 // of each rank: whose memories it has (its class); nil: its own
	parts   []schedule.Part
	places  [][]int32 // of each part: each rank's index in the part, −1 if it has none
	users   [][]int32 // of each buffer: the parts with memory in it
	// results of begins, by shape
	begun map[memoryShape][]int64
	// few, unless nil, has in place of all those that were asked for
	few    map[memory]*store
	shared map[[2]int64][]int64 // tables of starts, by length and end
}

// newFewStores returns memories of all ranks of a schedule. Each is made when it is first asked
// for: of a large program, ranks use a small part of its tensors.
func newFewStores(s *schedule.Schedule) *stores {
	m := newStoresOf(s, 1, 0, nil)
	m.most, m.few = schedule.MaxEnds, map[memory]*store{}
	return m
}

// ask returns one of few memories.
func (m *stores) ask(of memory) *store {
	k := m.few[of]
	if k == nil {
		k = &store{}
		for b := range min(schedule.FirstTensor, schedule.Buffer(m.buffers)) {
			if home, base := m.s.Home(b, of.rank); home == of.home {
				k.size = max(k.size, base+m.s.Len(b, of.rank))
			}
		}
		if t := m.s.Tensor(of.home); t != nil && t.Role != schedule.Defined {
			k.size = m.s.Len(of.home, of.rank)
		}
		m.begin(k, of.rank, of.home)
		m.few[of] = k
	}
	return k
}

// begin makes a memory one cell, which is divided when a part of it is accessed.
func (m *stores) begin(k *store, rank int, b schedule.Buffer) {
	if k.size > 0 {
		k.starts, k.cells = whole, make([]cell, 1)
		k.divide = func() []int64 { return m.begins(rank, b, k.size) }
	}
}

// newStores returns memories of the first ranks of a schedule, each with so many scratch buffers.
func newStores(s *schedule.Schedule, scratches, ranks int) *stores {
	return newStoresOf(s, scratches, ranks, func(i int) int { return i })
}

// newStores returns memories of the ranks that are walked.
func (v *verifier) newStores() *stores {
	if v.treeClasses == nil {
		m := newStores(v.s, v.scratches, v.walked())
		for i := range m.all {
			m.all[i].joins = v.fold != nil && !v.keepsApart
		}
		return m
	}
	c := v.treeClasses.classes
	m := newStoresOf(v.s, v.scratches, c.Len(), func(i int) int { return int(c.Rep(int32(i))) })
	m.storeOf = c.Of
	return m
}

// newStoresOf returns memories for so many ranks: the i-th has the sizes of rank rankOf(i).
func newStoresOf(s *schedule.Schedule, scratches, ranks int, rankOf func(i int) int) *stores {
	n := s.Buffers()
	m := &stores{s: s, buffers: n, most: mostParts, all: make([]store, n*ranks),
		parts: s.Parts(), begun: map[memoryShape][]int64{}, shared: map[[2]int64][]int64{}}
	if ranks < s.Spec.Ranks { // one rank's memory: it may have some parts for each rank
		m.most += 16 * s.Spec.Ranks
	}
	for i := range m.parts {
		m.places = append(m.places, placesOf(&m.parts[i], s.Spec.Ranks))
	}
	m.users = usersOf(m.parts, n)
	for i := range ranks {
		rank, own := rankOf(i), m.all[i*n:][:n]
		for b := range schedule.Buffer(n) {
			home, base := s.Home(b, rank)
			if t := s.Tensor(b); t != nil && t.Role == schedule.Defined {
				continue
			}
			if n := s.Len(b, rank); n > 0 {
				own[home].size = max(own[home].size, base+n)
			}
		}
		own[schedule.Scratch].size *= int64(max(scratches, 1)) // one after the other
		for b := range own {
			m.begin(&own[b], rank, schedule.Buffer(b))
		}
	}
	return m
}

// in returns the memory of that name.
func (m *stores) in(of memory) *store {
	if m.few != nil {
		return m.ask(of)
	}
	if m.storeOf != nil {
		of.rank = int(m.storeOf[of.rank])
	}
	return &m.all[of.rank*m.buffers+int(of.home)]
}

// whole is the table of cell starts of a memory that is one cell.
var whole = []int64{0}

// begins returns where the parts of a memory begin. Memories that are cut alike share the table:
// shared has the last one by length and end.
func (m *stores) begins(rank int, b schedule.Buffer, size int64) []int64 {
	s, starts := m.s, []int64{0}
	shape, isPlain := m.shapeOf(rank, b)
	if known := m.begun[shape]; isPlain && known != nil {
		return known
	}
	if isPlain {
		defer func() { m.begun[shape] = starts }()
	}
	// output may be stored in the input's memory
	for other := b; other <= max(b, schedule.Output); other++ {
		if home, base := s.Home(other, rank); home == b && s.Len(other, rank) > 0 {
			starts = append(starts, base)
			starts = s.EndsUpTo(m.most, starts, other, rank, base)
		}
	}
	for _, i := range m.users[b] {
		if place := m.places[i][rank]; place >= 0 {
			starts = partBegins(starts, &m.parts[i], int(place), b)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	for starts[len(starts)-1] >= size {
		starts = starts[:len(starts)-1]
	}
	key := [2]int64{int64(len(starts)), starts[len(starts)-1]}
	if other := m.shared[key]; slices.Equal(starts, other) {
		starts = other
		return starts
	}
	starts = starts[:len(starts):len(starts)]
	m.shared[key] = starts
	return starts
}

// A memoryShape determines where the parts of a memory begin: its buffer and length, and the output
// inside it.
type memoryShape struct {
	b                      schedule.Buffer
	length, output, offset int64
}

// shapeOf returns the shape of a rank's memory, and whether memories of that shape are cut alike.
func (m *stores) shapeOf(rank int, b schedule.Buffer) (shape memoryShape, isPlain bool) {
	if b >= schedule.FirstTensor || m.s.Teams() != nil || len(m.users[b]) > 0 {
		return shape, false
	}
	for _, cut := range m.s.Cuts {
		for i := range cut {
			if cut[i].Split == schedule.Table {
				return shape, false
			}
		}
	}
	shape = memoryShape{b: b, length: m.s.Len(b, rank)}
	if home, base := m.s.Home(schedule.Output, rank); home == b {
		shape.output, shape.offset = m.s.Len(schedule.Output, rank), base
	}
	return shape, true
}

// usersOf lists, for each of so many buffers, the parts with memory in it.
func usersOf(parts []schedule.Part, buffers int) [][]int32 {
	users := make([][]int32, buffers)
	for i := range parts {
		for _, at := range parts[i].Memory {
			list := users[at.Tensor]
			if n := len(list); n == 0 || list[n-1] != int32(i) {
				users[at.Tensor] = append(list, int32(i))
			}
		}
	}
	return users
}

// placesOf returns each rank's index in a part, −1 if it has none.
func placesOf(p *schedule.Part, ranks int) []int32 {
	places := make([]int32, ranks)
	for rank := range places {
		places[rank] = -1
	}
	for place, rank := range p.Ranks {
		places[rank] = int32(place)
	}
	return places
}

// partBegins appends where the buffers of a part's rank, and their parts, begin in a memory.
func partBegins(starts []int64, p *schedule.Part, place int, b schedule.Buffer) []int64 {
	for own := range schedule.Buffer(p.Schedule.Buffers()) {
		home, base := p.Schedule.Home(own, place)
		if at := p.Memory[home]; at.Tensor == b && p.Schedule.Len(own, place) > 0 {
			base += at.Offset(place)
			starts = append(starts, base)
			starts = p.Schedule.Ends(starts, own, place, base)
		}
	}
	return starts
}

// of returns the memory that stores a buffer, and the buffer's offset in it, for a schedule without
// parts.
func (m *stores) of(b schedule.Buffer, rank int) (*store, int64) {
	home, base := m.s.Home(b, rank)
	return m.in(memory{rank, home}), base
}

// at returns the memory that stores a buffer of a step, its name, and the buffer's offset in it.
func (m *stores) at(where schedule.Spot, b schedule.Buffer) (*store, memory, int64) {
	home, base := m.s.Locate(where, b)
	of := memory{where.Rank, home}
	return m.in(of), of, base
}
