package schedule

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/symmetry"
)

// A Schedule is a solution of a collective: what each rank does, in order.
type Schedule struct {
	Name  string // of the algorithm
	Spec  collective.Spec
	Group Group  // nil: each rank has a program of its own
	Cuts  [3]Cut // of Input, Output and Scratch
	// Tensors are further buffers of every rank: FirstTensor, FirstTensor+1, …. Programs have them,
	// with a Spec of kind Custom.
	Tensors []Tensor
	Defs    []Def // what a program computes, line by line
	Memory  int64 // elements of every rank's scratch buffer
	Slices  int   // sub-steps of every step that moves data, in order; at least 1
	// Slots bounds the messages of a FIFO connection; 0 leaves it to the environment.
	Slots int
	// Protocol selects NCCL's latencies for messages, if any.
	Protocol Protocol
	// Alike, unless nil, says that the ranks of a composed schedule stand for all: ComposeFolded.
	Alike *symmetry.Subgroup
	// Means, unless nil, is what a composed schedule must compute. Nil means what its parts define,
	// one after the other.
	Means *Meaning

	blocks  []int32    // of each buffer: number of blocks
	tiles   []int64    // of each buffer: tiles of its longest part, on any rank
	longest []int64    // the largest length on any rank of a buffer that is cut into tiles
	lengths [2][]int64 // of an all_to_allv: of each rank's input and output, sums of splits
	byRank  []bool     // of each buffer: its blocks are numbered by ranks
	// mirrored says of each buffer that its blocks are numbered by mirrored ranks.
	mirrored []bool
	isEven   []bool // of each buffer: EvenBlocks
	role     func(rank int32) *code
	// straight makes Straight of a plan with Places, if it is still of its collective.
	straight func(collective.Spec) (*Schedule, []int64)
	cast     *cast         // of Plan.Roles: ranks of one role share its code, with own peers
	even     bool          // ranks differ in order only: see Plan.Even
	timing   *Translations // Plan.Timing
	// each is the number of elements here for one that is cut: 2 of what InComponents has made of
	// complex numbers, else 0, which means 1.
	each int64

	parts  []part      // composed of the calls of a program, on its tensors
	teams  []Part      // composed of schedules of disjoint teams
	member []placement // of each rank: its team
}

// Program returns the program of a rank. A composed schedule joins it from its parts, or takes it
// from the rank's team. Otherwise it is the code of the rank's role. It is a pure function of the
// schedule and the rank.
func (s *Schedule) Program(rank int) *Program {
	if s.parts != nil {
		return s.composedProgram(rank)
	}
	if s.teams != nil {
		return s.teamProgram(rank)
	}
	if s.cast != nil {
		code, peers := s.cast.code(rank)
		return &Program{schedule: s, code: code, peers: peers, rank: int32(rank)}
	}
	return &Program{schedule: s, code: s.role(int32(rank)), rank: int32(rank)}
}

// RepresentativeRanks returns how many ranks, counted from 0, represent all where lanes, steps and
// messages are counted. One is enough where there is a group, or where the plan has declared ranks
// even.
func (s *Schedule) RepresentativeRanks() int {
	if s.Group != nil || s.even {
		return 1
	}
	return s.Spec.Ranks
}

// AnyStep reports whether some step has a property. It calls such once for each written step,
// whatever the loops, lanes of a bundle and ranks of a group.
func (s *Schedule) AnyStep(such func(*Step) bool) bool {
	for i := range s.teams {
		if s.teams[i].Schedule.AnyStep(such) {
			return true
		}
	}
	for i := range s.parts {
		if s.parts[i].Schedule.AnyStep(such) {
			return true
		}
	}
	if s.teams != nil || s.parts != nil {
		return false
	}
	var buffer Step
	for code := range codesOf(s) {
		for i := range code.nodes {
			if n := &code.nodes[i]; n.leaf >= 0 && such(code.stepOf(n, &buffer)) {
				return true
			}
		}
	}
	return false
}

// OneSided reports whether the schedule reads or writes other ranks' buffers: gets, puts, multimem.
func (s *Schedule) OneSided() bool { return s.AnyStep((*Step).OneSided) }

// OneSided reports whether the step reads or writes other ranks' buffers.
func (s *Step) OneSided() bool {
	return slices.ContainsFunc(s.From, func(f Source) bool {
		return f.Kind == Get || f.Kind == Multimem
	}) || slices.ContainsFunc(s.Send, func(d Dest) bool { return d.Lands() })
}

// Len returns the number of elements of a rank's buffer.
func (s *Schedule) Len(b Buffer, rank int) int64 {
	if s.teams != nil {
		s, rank = s.at(rank)
	}
	if b <= Output && s.lengths[b] != nil {
		return s.lengths[b][rank]
	}
	switch b {
	case Input:
		return s.Spec.In(rank)
	case Output:
		return s.Spec.Out(rank)
	case Scratch:
		return s.Memory
	}
	return s.Tensors[b-FirstTensor].Shape.Elements()
}

// Blocks returns the number of blocks of a buffer.
func (s *Schedule) Blocks(b Buffer) int { return int(s.blocks[b]) }

// Tiles returns the number of tiles of a buffer, the largest of any channel.
func (s *Schedule) Tiles(b Buffer) int64 { return s.tiles[b] }

// FirstBlock returns the number of the first block of a region.
func (s *Schedule) FirstBlock(r *Region) int { return int(mod(r.block(0), s.blocks[r.Buffer])) }

// settle checks cuts and group and computes the derived fields.
func (s *Schedule) settle() error {
	if err := s.Spec.Validate(); err != nil {
		return err
	}
	if err := s.Group.Validate(s.Spec.Ranks); err != nil {
		return err
	}
	if s.Slices < 1 || s.Slices > 1<<16 || s.Slots < 0 || s.Memory < 0 ||
		s.Memory > collective.MaxElements {
		return fmt.Errorf("%d slices, %d slots or %d elements of scratch out of range",
			s.Slices, s.Slots, s.Memory)
	}
	if err := s.settleTensors(); err != nil {
		return err
	}
	s.lengths = lengthsOf(&s.Spec)
	n := s.Buffers()
	s.blocks, s.tiles, s.byRank = make([]int32, n), make([]int64, n), make([]bool, n)
	s.longest, s.isEven, s.mirrored = make([]int64, n), make([]bool, n), make([]bool, n)
	for b := range Buffer(n) {
		cut := *s.cut(b)
		if err := cut.validate(s.Spec.Ranks); err != nil {
			return fmt.Errorf("%w (buffer %s)", err, s.BufferName(b))
		}
		if err := mirrors(s.Group, cut); err != nil {
			return fmt.Errorf("%w (buffer %s)", err, s.BufferName(b))
		}
		s.blocks[b] = cut.blocks()
		s.byRank[b], s.mirrored[b] = cut.byRank(), cut.mirrored()
		s.tiles[b] = s.mostTiles(b)
		s.isEven[b] = s.evenBlocks(b)
	}
	return nil
}

// lengthsOf returns the lengths of each rank's input and output if they are sums of many splits.
func lengthsOf(spec *collective.Spec) (lengths [2][]int64) {
	if spec.Kind == collective.AllToAllV {
		for rank := range spec.Ranks {
			lengths[Input] = append(lengths[Input], spec.In(rank))
			lengths[Output] = append(lengths[Output], spec.Out(rank))
		}
	}
	return lengths
}

// mostTiles returns the number of tiles of a buffer's longest part that is cut into tiles.
func (s *Schedule) mostTiles(b Buffer) int64 {
	cut := *s.cut(b)
	tile := cut.level(Tile)
	if tile == nil {
		return 1
	}
	longest := int64(0)
	for rank := range s.Spec.Ranks {
		longest = max(longest, s.Len(b, rank))
	}
	if s.longest[b] = longest; tile.Split != Size {
		return tile.parts(0)
	}
	for i := range cut {
		if cut[i].Axis == Tile {
			break
		}
		longest = cut[i].longest(longest)
	}
	return tile.parts(longest)
}

// A Spot is where a step executes: a rank, the part and channel of the lane, the slice.
type Spot struct {
	Rank, Channel, Slice, Part int
}

// A Span is a run of elements.
type Span struct{ Off, Len int64 }

// Spans appends the elements that a region names to dst, in order, adjoining runs joined. Offsets
// count from the beginning of the region's buffer. In place, Home gives the buffer's own offset.
func (s *Schedule) Spans(dst []Span, where Spot, r *Region) []Span {
	return s.spans(dst, where, r, true)
}

// BlockSpans appends the elements of a region to dst block by block: one span for each block that
// has elements.
func (s *Schedule) BlockSpans(dst []Span, where Spot, r *Region) []Span {
	return s.spans(dst, where, r, false)
}

// spans implements Spans and BlockSpans.
func (s *Schedule) spans(dst []Span, where Spot, r *Region, joins bool) []Span {
	s, where = s.partOf(where)
	cut, n := *s.cut(r.Buffer), s.Len(r.Buffer, where.Rank)
	at := indices{rank: int32(where.Rank), channel: int32(where.Channel), tile: r.Tile,
		slice: int32(where.Slice), slices: int32(s.Slices)}
	from := len(dst)
	blocks, isRow := s.blocks[r.Buffer], joins && s.inRow(r)
	for i, count := int32(0), r.count(); i < count; i++ {
		at.block = mod(r.block(i), blocks)
		p := placed(s, cut, n, at)
		if isRow {
			beside := min(r.Run-i%r.Run, blocks-at.block)
			p.len, i = p.len*int64(beside), i+beside-1
		}
		if p.len == 0 {
			continue
		}
		if last := len(dst) - 1; joins && last >= from && dst[last].Off+dst[last].Len == p.off {
			dst[last].Len += p.len
			continue
		}
		dst = append(dst, Span{p.off, p.len})
	}
	return dst
}

// inRow reports whether consecutive blocks of a region are of one size and adjoin.
func (s *Schedule) inRow(r *Region) bool {
	cut := *s.cut(r.Buffer)
	return r.List == nil && r.Run > 1 && s.Slices == 1 && s.isEven[r.Buffer] &&
		cut[len(cut)-1].Axis == Block
}

// Elements returns the number of elements that a region names.
func (s *Schedule) Elements(where Spot, r *Region) int64 {
	s, where = s.partOf(where)
	cut, n := *s.cut(r.Buffer), s.Len(r.Buffer, where.Rank)
	if len(cut) == 0 && s.Slices == 1 {
		return n
	}
	at := indices{rank: int32(where.Rank), channel: int32(where.Channel), tile: r.Tile,
		slice: int32(where.Slice), slices: int32(s.Slices)}
	total, blocks := int64(0), s.blocks[r.Buffer]
	if s.isEven[r.Buffer] {
		return int64(r.count()) * placed(s, cut, n, at).len
	}
	for i, count := int32(0), r.count(); i < count; i++ {
		at.block = mod(r.block(i), blocks)
		total += placed(s, cut, n, at).len
	}
	return total
}

// Size returns the number of elements that a step moves, and whether the step itself determines it.
// If it names no region, the size is that of the message it receives.
func (s *Schedule) Size(where Spot, step *Step) (n int64, known bool) {
	if len(step.To) > 0 {
		return s.Elements(where, &step.To[0]), true
	}
	for i := range step.From {
		f := &step.From[i]
		switch f.Kind {
		case Local:
			return s.Elements(where, &f.Region), true
		case Multimem:
			owner := where
			owner.Rank = int(f.Team[0])
			return s.Elements(owner, &f.Region), true
		case Get:
			owner := where
			owner.Rank = int(f.Peer.Rank)
			return s.Elements(owner, &f.Region), true
		}
	}
	return 0, len(step.From) == 0
}

// Home returns the memory that stores a buffer of a rank, and the buffer's offset in it. In place,
// the output's memory is the input's.
func (s *Schedule) Home(b Buffer, rank int) (memory Buffer, base int64) {
	if s.teams != nil {
		s, rank = s.at(rank)
	}
	if !s.Spec.InPlace || b >= Scratch {
		return b, 0
	}
	in, out := s.Spec.Place(rank)
	if b == Input {
		return Input, in
	}
	return Input, out
}

// Equal reports whether two schedules make every rank do the same: equal problem, cuts and slots,
// and equal steps in every lane, however they are written down.
func Equal(a, b *Schedule) bool {
	if a.composed() || b.composed() {
		return equalParts(a, b)
	}
	if a.header(a.Name) != b.header(b.Name) {
		return false
	}
	var x, y Step
	for rank := range a.Spec.Ranks {
		p, q := a.Program(rank), b.Program(rank)
		if p.Lanes() != q.Lanes() {
			return false
		}
		for lane := range p.Lanes() {
			if p.Channel(lane) != q.Channel(lane) {
				return false
			}
			c, d := p.Walk(lane), q.Walk(lane)
			for ; !c.Done() && !d.Done(); c.Next(1) {
				p.Load(&c, &x)
				q.Load(&d, &y)
				if !a.sameStep(&x, &y) {
					return false
				}
				d.Next(1)
			}
			if c.Done() != d.Done() {
				return false
			}
		}
	}
	return true
}

// sameStep reports whether two steps are equal, up to how regions are written and operands in rank
// order are marked.
func (s *Schedule) sameStep(x, y *Step) bool {
	a, b := x.clone(), y.clone()
	for _, step := range []*Step{&a, &b} {
		step.Ranked = false
		step.regions(func(r *Region) {
			list := make([]int32, r.count())
			for i := range list {
				list[i] = mod(r.block(int32(i)), s.blocks[r.Buffer])
			}
			*r = Region{Buffer: r.Buffer, Tile: r.Tile, List: list}
		})
	}
	return a.equal(&b)
}

// regions calls f with every region that the step names.
func (s *Step) regions(f func(*Region)) {
	for i := range s.From {
		if s.From[i].Kind != Message {
			f(&s.From[i].Region)
		}
	}
	for i := range s.To {
		f(&s.To[i])
	}
	for i := range s.Send {
		if s.Send[i].Lands() {
			f(&s.Send[i].Region)
		}
	}
}
