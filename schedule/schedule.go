package schedule

import (
	"fmt"
	"slices"

	"collsim/collective"
)

// Schedule is a solution of a collective: who does what, in order.
type Schedule struct {
	Name  string // of the algorithm
	Spec  collective.Spec
	Group Group  // nil: a program a rank
	Cuts  [3]Cut // of Input, Output and Scratch
	// Tensors are further buffers of every rank, FirstTensor, FirstTensor+1, …: those of programs,
	// whose Spec is of kind Custom.
	Tensors []Tensor
	Defs    []Def // what a program computes, line by line
	Memory  int64 // elements of every rank's scratch buffer
	Slices  int   // every step that moves data is as many sub-steps in order, at least 1
	// Slots is what a connection of class FIFO holds, in messages; 0 leaves it to the environment.
	Slots int
	// Protocol says which of NCCL's latencies messages have, if any.
	Protocol Protocol
	// Means, unless nil, is what a composed schedule is to compute: nil is what its parts say, one
	// after the other.
	Means *Meaning

	blocks []int32 // in each buffer's cut
	tiles  []int64 // of its longest part that is cut into tiles, on any rank
	// longest is its length on the rank where it is longest, of a buffer that is cut into tiles.
	longest []int64
	byRank  []bool
	// mirrored is of which the numbers are those of mirrored ranks.
	mirrored    []bool
	isEven      []bool // EvenBlocks
	role        func(rank int32) *code
	cast        *cast // of Plan.Roles
	isBackwards bool  // made by Transpose
	even        bool  // ranks differ in order alone: see Plan.Even

	parts  []part      // of Compose, on tensors
	teams  []Part      // of Compose, beside each other
	member []placement // in beside, of each rank
}

// Program is what a rank runs. It is a pure function of the schedule and the rank.
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

// Alike is how many ranks, the first ones, stand for all where lanes, steps and messages are
// counted: all do as much as rank 0 where there is a group, or the plan has said so.
func (s *Schedule) RepresentativeRanks() int {
	if s.Group != nil || s.even {
		return 1
	}
	return s.Spec.Ranks
}

// AnyStep reports whether some step is such. It looks at steps as they are written: at those in
// loops, in lanes of a bundle and on ranks of a group once.
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
	ranks := s.Spec.Ranks
	if s.Group != nil {
		ranks = 1
	}
	of := func(i int) *code { return s.role(int32(i)) }
	if s.cast != nil {
		ranks, of = len(s.cast.codes), func(i int) *code { return s.cast.codes[i] }
	}
	for i := range ranks {
		leaves := of(i).leaves
		for i := range leaves {
			if such(&leaves[i].step) {
				return true
			}
		}
	}
	return false
}

// OneSided reports whether the schedule reads or writes other ranks' buffers: gets, puts, multimem.
func (s *Schedule) OneSided() bool { return s.AnyStep((*Step).OneSided) }

// OneSided reports whether the step does that.
func (s *Step) OneSided() bool {
	return slices.ContainsFunc(s.From, func(f Source) bool {
		return f.Kind == Get || f.Kind == Multimem
	}) || slices.ContainsFunc(s.Send, func(d Dest) bool { return d.Lands() })
}

// Len is the number of elements of a rank's buffer.
func (s *Schedule) Len(b Buffer, rank int) int64 {
	if s.teams != nil {
		s, rank = s.at(rank)
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

// Blocks is the number of blocks of a buffer's cut.
func (s *Schedule) Blocks(b Buffer) int { return int(s.blocks[b]) }

// Tiles is the number of tiles of a buffer's cut, of any channel.
func (s *Schedule) Tiles(b Buffer) int64 { return s.tiles[b] }

// FirstBlock is the number of the first block of a region.
func (s *Schedule) FirstBlock(r *Region) int { return int(mod(r.block(0), s.blocks[r.Buffer])) }

// settle checks cuts and group and computes what follows from them.
func (s *Schedule) settle() error {
	if err := s.Spec.Validate(); err != nil {
		return err
	}
	if err := s.Group.validate(s.Spec.Ranks); err != nil {
		return err
	}
	if s.Slices < 1 || s.Slices > 1<<16 || s.Slots < 0 || s.Memory < 0 ||
		s.Memory > collective.MaxElements {
		return fmt.Errorf("schedule: %d slices, %d slots or %d elements of scratch out of range",
			s.Slices, s.Slots, s.Memory)
	}
	if err := s.settleTensors(); err != nil {
		return err
	}
	n := s.Buffers()
	s.blocks, s.tiles, s.byRank = make([]int32, n), make([]int64, n), make([]bool, n)
	s.longest, s.isEven, s.mirrored = make([]int64, n), make([]bool, n), make([]bool, n)
	for b := range Buffer(n) {
		cut := *s.cut(b)
		if err := cut.validate(s.Spec.Ranks); err != nil {
			return fmt.Errorf("%w (buffer %s)", err, s.BufferName(b))
		}
		if err := s.Group.mirrors(cut); err != nil {
			return fmt.Errorf("%w (buffer %s)", err, s.BufferName(b))
		}
		s.blocks[b] = cut.blocks()
		s.byRank[b], s.mirrored[b] = cut.byRank(), cut.mirrored()
		s.tiles[b] = s.mostTiles(b)
		s.isEven[b] = s.evenBlocks(b)
	}
	return nil
}

// mostTiles is how many tiles a buffer has at most: of the longest part that is cut into tiles.
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

// Spot is where a step is carried out: a rank, the part and the channel of the lane, the slice.
type Spot struct {
	Rank, Channel, Slice, Part int
}

// Span is a run of elements.
type Span struct{ Off, Len int64 }

// Spans appends the elements that a region names to dst, in order, adjoining runs joined. Offsets
// count from the beginning of the region's buffer; Home says where that lies in place.
func (s *Schedule) Spans(dst []Span, where Spot, r *Region) []Span {
	return s.spans(dst, where, r, true)
}

// BlockSpans is Spans block by block: one for each that has elements here.
func (s *Schedule) BlockSpans(dst []Span, where Spot, r *Region) []Span {
	return s.spans(dst, where, r, false)
}

func (s *Schedule) spans(dst []Span, where Spot, r *Region, joins bool) []Span {
	s, where = s.partOf(where)
	cut, n := *s.cut(r.Buffer), s.Len(r.Buffer, where.Rank)
	at := indices{rank: int32(where.Rank), channel: int32(where.Channel), tile: r.Tile,
		slice: int32(where.Slice), slices: int32(s.Slices)}
	from := len(dst)
	blocks, isRow := s.blocks[r.Buffer], joins && s.inRow(r)
	for i, count := int32(0), r.count(); i < count; i++ {
		at.block = mod(r.block(i), blocks)
		p := cut.place(n, at)
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

// inRow reports whether blocks of a region that follow each other are of one size, and lie side by
// side.
func (s *Schedule) inRow(r *Region) bool {
	cut := *s.cut(r.Buffer)
	return r.List == nil && r.Run > 1 && s.Slices == 1 && s.isEven[r.Buffer] &&
		cut[len(cut)-1].Axis == Block
}

// Elements is the number of elements that a region names.
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
		return int64(r.count()) * cut.place(n, at).len
	}
	for i, count := int32(0), r.count(); i < count; i++ {
		at.block = mod(r.block(i), blocks)
		total += cut.place(n, at).len
	}
	return total
}

// Size is the number of elements that a step moves, and whether the step itself tells: if it names
// no region, the message that it receives does.
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

// Home says which memory a buffer of a rank lies in, and where it begins there: in place, the
// output's memory is the input's.
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

// Equal reports whether two schedules have every rank do the same: the same problem, cuts and
// slots, and the same steps in every lane, however they are written down.
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

// sameStep is equal but for the spelling: of regions, and of operands that are in rank order.
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
