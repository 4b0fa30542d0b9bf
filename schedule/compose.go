package schedule

import (
	"fmt"
	"slices"
	"sort"

	"collsim/collective"
	"collsim/dtype"
)

// A Part is a schedule inside a composed one. Ranks of the whole run it, on memory of the whole, on
// a stream of each of its ranks.
type Part struct {
	Name     string // for pictures and errors; empty means the schedule's own
	Schedule *Schedule
	Ranks    []int // Ranks[i] runs rank i of Schedule; nil: all, in order
	// Memory gives the storage of each buffer of Schedule: input, output, scratch, tensors. A
	// buffer that is not listed, or has no tensor, must have no elements.
	Memory []Place
	// Stream is the stream of its lanes. If the schedule's lanes are streams themselves, they are
	// on Stream, Stream+1, …. A part begins on a rank when the part before it on its stream has
	// ended there.
	Stream int32
	// Launch, unless nil, begins a bracket of all lanes on a rank: one launch, with a block of SMs
	// for each channel. Nil means that lanes launch their own brackets, or that nothing is
	// launched.
	Launch *Launch
	// After lists earlier parts that must have ended on a rank before this one begins there.
	After []int
	// Fold, in a folded whole, joins Ranks to those of Schedule; nil: Ranks has all of them.
	Fold *Fold
}

// A Place is the storage of a buffer: a tensor of the whole, and an offset in elements. Offsets has
// one offset for all ranks of the part, or one for each.
type Place struct {
	Tensor  Buffer // 0: none
	Offsets []int64
}

// part is a Part with its lanes among those of the whole.
type part struct {
	Part
	launch *Launch   // Launch, with Whole set
	place  []int32   // of every rank of the whole: its index in Ranks, −1 for none; nil: the same
	first  []int32   // of each rank of the part: its first lane in the whole
	lanes  []int32   // of each rank of the part: number of lanes
	waits  [][]int   // of each rank of the part: parts that it waits for
	ends   [][]Event // of each rank of the part: events at the ends of all its lanes
}

// Compose returns the schedule of several parts on a number of ranks, with the tensors that they
// work on. Its Spec is of kind Custom. On a rank, parts are ordered by their streams and by After.
// Across ranks, only messages inside parts order them. The definition of the whole is that of its
// parts, one after the other.
//
// Without tensors the parts are teams (see Teams): of one kind, type and operator, slots and
// slices, each on ranks of its own and unordered. They work on the input, output and scratch of
// their ranks.
func Compose(name string, ranks int, tensors []Tensor, parts []Part) (*Schedule, error) {
	c, err := startComposing(name, ranks, tensors)
	if err != nil {
		return nil, err
	}
	c.startTeams(parts)
	return c.composed(parts)
}

// composed adds all parts and returns the whole.
func (c *composer) composed(parts []Part) (*Schedule, error) {
	for i := range parts {
		if err := c.add(&parts[i]); err != nil {
			return nil, fmt.Errorf("part %d (%s): %w", i, parts[i].called(), err)
		}
	}
	return c.s, nil
}

// startComposing returns a composer without parts.
func startComposing(name string, ranks int, tensors []Tensor) (*composer, error) {
	zeros := make([]int64, max(ranks, 0))
	s := &Schedule{Name: name, Slices: 1, Tensors: tensors, parts: []part{}, Spec: collective.Spec{
		Kind: collective.Custom, Type: typeOfFirst(tensors), Ranks: ranks,
		Splits: [][]int64{zeros, zeros}}}
	if err := s.settle(); err != nil {
		return nil, err
	}
	all := make([]int, ranks)
	for i := range all {
		all[i] = i
	}
	return &composer{s: s, all: all, lanes: make([]int32, ranks),
		last: make([]map[int32]int, ranks)}, nil
}

// typeOfFirst returns a type for the whole's Spec, where nothing uses it.
func typeOfFirst(tensors []Tensor) dtype.Type {
	if len(tensors) > 0 {
		return tensors[0].Type
	}
	return dtype.Uint8
}

// called returns the part's name, or its schedule's.
func (p *Part) called() string {
	if p.Name == "" && p.Schedule != nil {
		return p.Schedule.Name
	}
	return p.Name
}

// A composer adds parts to a schedule.
type composer struct {
	s     *Schedule
	all   []int           // ranks
	lanes []int32         // of each rank: number of lanes so far
	last  []map[int32]int // of each rank and stream: the last part
	// known has for each part the number of the last part and rank that await was asked for it.
	known []int
	asked int
}

// add checks a part and adds it.
func (c *composer) add(given *Part) error {
	p := part{Part: *given}
	if p.Schedule == nil || p.Schedule.parts != nil || p.Schedule.teams != nil {
		return fmt.Errorf("a schedule of one part is expected")
	}
	if Word(p.Name) != p.Name {
		return fmt.Errorf("name %q: one word of at most %d bytes is expected", p.Name, maxWord)
	}
	if p.Ranks == nil || isOrdered(p.Ranks, c.s.Spec.Ranks) {
		p.Ranks = c.all
	} else if c.s.teams == nil {
		p.place = make([]int32, c.s.Spec.Ranks)
		for i := range p.place {
			p.place[i] = -1
		}
	}
	if len(p.Ranks) != p.executing() {
		return fmt.Errorf("%d ranks are to execute a schedule of %d", len(p.Ranks), p.executing())
	}
	if c.s.teams != nil {
		return c.addTeam(p.Part)
	}
	if err := c.memory(&p); err != nil {
		return err
	}
	if p.Launch != nil {
		if err := p.Launch.validate(); err != nil {
			return err
		}
		whole := *p.Launch
		whole.Whole = true
		p.launch = &whole
	}
	for _, before := range p.After {
		if before < 0 || before >= len(c.s.parts) {
			return fmt.Errorf("it is after part %d, which is none of the %d before it", before,
				len(c.s.parts))
		}
	}
	for i, rank := range p.Ranks {
		if rank < 0 || rank >= c.s.Spec.Ranks || p.place != nil && p.place[rank] >= 0 {
			return fmt.Errorf("rank %d is none of the %d, or executes twice", rank, c.s.Spec.Ranks)
		}
		if p.place != nil {
			p.place[rank] = int32(i)
		}
		c.enter(&p, i, rank)
	}
	c.s.parts, c.known = append(c.s.parts, p), append(c.known, 0)
	return nil
}

// enter gives the part its lanes on a rank, and collects the parts that it waits for there.
func (c *composer) enter(p *part, place, rank int) {
	own := p.Schedule.Program(p.Fold.seat(place))
	n := own.Lanes()
	p.first, p.lanes = append(p.first, c.lanes[rank]), append(p.lanes, int32(n))
	p.ends = append(p.ends, own.code.ends(p.first[place]))
	c.lanes[rank] += int32(n)
	c.asked++
	var waits []int
	for _, before := range p.After {
		waits = c.await(waits, before, rank)
	}
	if c.last[rank] == nil {
		c.last[rank] = map[int32]int{}
	}
	streams := 1
	if p.Launch == nil {
		streams = max(n, 1)
	}
	for i := range streams {
		stream := p.Stream + int32(i)
		if before, ok := c.last[rank][stream]; ok {
			waits = c.await(waits, before, rank)
		}
		c.last[rank][stream] = len(c.s.parts)
	}
	sort.Ints(waits)
	p.waits = append(p.waits, waits)
}

// await adds a part to those that are waited for on a rank. In place of a part without lanes it
// adds those that this one waits for.
func (c *composer) await(waits []int, before, rank int) []int {
	p := &c.s.parts[before]
	place := p.placeOf(rank)
	if place < 0 || c.known[before] == c.asked {
		return waits
	}
	c.known[before] = c.asked
	if p.lanes[place] > 0 {
		return append(waits, before)
	}
	for _, further := range p.waits[place] {
		waits = c.await(waits, further, rank)
	}
	return waits
}

// memory checks that the part's buffers fit into their tensors.
func (c *composer) memory(p *part) error {
	s := p.Schedule
	p.Memory = append(slices.Clone(p.Memory), // one for every buffer
		make([]Place, max(0, s.Buffers()-len(p.Memory)))...)
	for b := range Buffer(s.Buffers()) {
		if n := len(p.Memory[b].Offsets); n > 1 && n != len(p.Ranks) {
			return fmt.Errorf("%s has %d offsets for %d ranks", s.BufferName(b), n, len(p.Ranks))
		}
		for place := range p.Ranks {
			seat := p.Fold.seat(place)
			n := s.Len(b, seat)
			if own := s.Tensor(b); n == 0 || own != nil && own.Role == Defined {
				continue
			}
			home, off := s.Home(b, seat) // in place, output is stored in the input's memory
			at := p.Memory[home]
			t := c.s.Tensor(at.Tensor)
			switch off += at.Offset(place); {
			case t == nil:
				return fmt.Errorf("%s, of %d elements, lies in no tensor%s", s.BufferName(b), n,
					c.teamsRule())
			case t.Type != s.TypeOf(b):
				return fmt.Errorf("%s is of %v, and lies in %s, of %v", s.BufferName(b), s.TypeOf(b),
					t.Name, t.Type)
			case off < 0 || n > t.Shape.Elements()-off:
				return fmt.Errorf("%s, elements %d to %d, does not lie in %s, of %v", s.BufferName(b),
					off, off+n, t.Name, t.Shape)
			}
		}
	}
	return nil
}

// Offset returns the offset of a rank of the part.
func (p Place) Offset(place int) int64 {
	switch len(p.Offsets) {
	case 0:
		return 0
	case 1:
		return p.Offsets[0]
	}
	return p.Offsets[place]
}

// executing returns how many ranks of the part's schedule the whole has.
func (p *Part) executing() int {
	if p.Fold == nil {
		return p.Schedule.Spec.Ranks
	}
	return len(p.Fold.Seats)
}

// isOrdered reports whether ranks are all of a number, in order.
func isOrdered(ranks []int, n int) bool {
	for i, rank := range ranks {
		if rank != i {
			return false
		}
	}
	return len(ranks) == n
}

// placeOf returns the index in the part's ranks of a rank of the whole, −1 for none.
func (p *part) placeOf(rank int) int {
	if p.place == nil {
		return rank
	}
	return int(p.place[rank])
}

// Composed reports whether Compose has made the schedule of parts.
func Composed(s *Schedule) bool { return len(s.parts) > 0 }

// NumParts returns the number of parts of a composed schedule; 0 for any other.
func NumParts(s *Schedule) int { return len(s.parts) }

// PartOf returns a part of a composed schedule by its number. It is read-only.
func PartOf(s *Schedule, i int) *Part { return &s.parts[i].Part }

// Parts returns a copy of the parts of a composed schedule; nil for any other.
func (s *Schedule) Parts() []Part {
	if s.parts == nil {
		return nil
	}
	list := make([]Part, len(s.parts))
	for i := range s.parts {
		list[i] = s.parts[i].Part
	}
	return list
}

// Waits lists the parts that a part waits for on one of its ranks: those in its After, and the ones
// before it on its streams.
//
// REQUIRES: the schedule is composed, and the rank is one of the part's.
func (s *Schedule) Waits(part, rank int) []int {
	p := &s.parts[part]
	return p.waits[p.placeOf(rank)]
}

// partOf returns the schedule of the part that a spot is in, and the spot in that part. Of a
// schedule that is not composed it returns the schedule itself.
func (s *Schedule) partOf(where Spot) (*Schedule, Spot) {
	switch {
	case s.parts != nil:
		p := &s.parts[where.Part]
		where.Rank, where.Part = p.Fold.seat(p.placeOf(where.Rank)), 0
		return p.Schedule, where
	case s.teams != nil:
		s, where.Rank = s.at(where.Rank)
	}
	return s, where
}

// SpecAt returns the collective of a step: its part's, in a composed schedule.
func (s *Schedule) SpecAt(where Spot) *collective.Spec {
	s, _ = s.partOf(where)
	return &s.Spec
}

// Locate returns the memory that stores a region's buffer where a step executes, and the buffer's
// offset in it. That is Home; in a composed schedule, the tensor and offset of the part.
func (s *Schedule) Locate(where Spot, b Buffer) (memory Buffer, base int64) {
	if s.parts == nil {
		return s.Home(b, where.Rank)
	}
	p := &s.parts[where.Part]
	place := p.placeOf(where.Rank)
	memory, base = p.Schedule.Home(b, p.Fold.seat(place))
	at := p.Memory[memory]
	return at.Tensor, base + at.Offset(place)
}

// Bytes returns Size in bytes.
func (s *Schedule) Bytes(where Spot, step *Step) (n int64, known bool) {
	n, known = s.Size(where, step)
	if n == 0 {
		return 0, known
	}
	of, _ := s.partOf(where)
	b := Buffer(0)
	if len(step.To) > 0 {
		b = step.To[0].Buffer
	} else {
		for i := range step.From {
			if step.From[i].Kind != Message {
				b = step.From[i].Region.Buffer
				break
			}
		}
	}
	return n * int64(of.TypeOf(b).Width()), known
}

// BytesOf returns the bytes of a region.
func (s *Schedule) BytesOf(where Spot, r *Region) int64 {
	of, at := s.partOf(where)
	return of.Elements(at, r) * int64(of.TypeOf(r.Buffer).Width())
}
