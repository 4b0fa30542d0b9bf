package schedule

import (
	"fmt"

	"collsim/collective"
)

// A Plan is an algorithm applied to a collective, from which Build makes a Schedule.
type Plan struct {
	Name string
	Spec collective.Spec
	// Group declares that rank g does what rank 0 does, translated by g: Lane is then called for
	// rank 0 only. Blocks of buffers cut into one block a rank are translated, others are not.
	Group Group
	// Mirrored numbers the chunks of a vector, as many as ranks of a group, by mirrored ranks.
	Mirrored bool
	// Roles declares, in a plan without a group, which ranks do the same relative to their peers.
	// Lane is then called for the first rank of each role only.
	Roles Roles
	// Even says, in a plan without a group, that every rank has as many lanes, steps and messages
	// as rank 0, if in another order. With many ranks, Build then calls Lane for the first and the
	// last rank only, or for one of each set of ranks that Timing takes to each other. Writing out
	// a step of all ranks for every rank would be quadratic. Misuse by another rank panics in
	// Program.
	Even bool
	// Timing declares, in a plan without a group, translations that take each rank's steps to those
	// of another rank as far as time depends on them: TimingOf. Operands may come in another order,
	// and blocks be others. It has no effect where blocks of a buffer differ in size.
	Timing *Translations
	// Same says that Lane ignores the rank: rank 0's program is every rank's.
	Same bool
	// Chunks is the number of blocks of the vector (0 means 1), for kinds whose input and output
	// are one vector. All other kinds have a block for each rank, with the sizes in the Spec.
	Chunks int
	// Align makes these blocks ⌈n/Chunks⌉ elements, rounded up to a multiple of it, the last ones
	// shorter. 0: the first blocks have one element more than the others.
	Align    int64
	Segment  int64 // if not 0, each block is cut into tiles of so many elements
	Lanes    int   // of a channel; 1 if 0
	Channels int   // parallel instances over a part of the data each; 1 if 0
	// PerNode gives every channel an order of the ranks of its own. Ranks fill nodes of so many,
	// one after the other. Channels then leave a node by different ranks, and so by their NICs.
	// Lane counts in places of the channel's order; rooted collectives begin at the root's. A plan
	// with a group has the group [nodes, PerNode] and a multiple of PerNode channels, of one lane
	// each. 0 means that all channels use the order of the ranks.
	PerNode int
	// Orders gives, in a plan without a group, the order of a node's ranks, by channel and place.
	// Nil: each channel's order is that of the ranks, beginning one rank further on.
	Orders [][]int32
	// Nodes is the number of ranks of each node, in place of PerNode where nodes differ. Such a
	// plan has no group.
	Nodes  []int
	firsts []int // of Nodes
	// Places declares, in a plan without a group, that all ranks do the same, each at a place of its
	// own in a channel's order.
	Places *Places
	// Protocol of the schedule.
	Protocol Protocol
	Slices   int // 1 if 0
	Slots    int // of connections; 0 leaves it to the environment
	Scratch  int // blocks of the scratch buffer, each of the size of the largest block
	Cuts     *[3]Cut
	Tensors  []Tensor // of a program, which has a Spec of kind Custom
	Defs     []Def
	// Lane writes what one lane of one rank does. It must be a pure function.
	Lane func(*Lane)
}

// Build makes the schedule of a plan. It does not call Lane for one rank or no data: one rank
// copies its input to its output. Misuse by Lane is an error that names rank, lane and step.
func Build(p Plan) (*Schedule, error) {
	p.Chunks, p.Lanes = max(p.Chunks, 1), max(p.Lanes, 1)
	p.Channels, p.Slices = max(p.Channels, 1), max(p.Slices, 1)
	if err := p.Spec.Validate(); err != nil {
		return nil, err
	}
	if err := p.countNodes(); err != nil {
		return nil, err
	}
	if p.Places != nil && (p.Group != nil || p.Roles != nil || p.turns() || p.Spec.Kind.Rooted()) {
		return nil, fmt.Errorf("%s: places are for ranks that all do the same, without a group", p.Name)
	}
	s := &Schedule{Name: p.Name, Spec: p.Spec, Group: p.Group, Slices: p.Slices, Slots: p.Slots,
		Protocol: p.Protocol, Tensors: p.Tensors, Defs: p.Defs,
		even: p.Same || p.Even && p.Spec.Ranks > fewRanks}
	block := p.blockSize()
	s.Memory = int64(p.Scratch) * block
	if p.Cuts != nil {
		s.Cuts = *p.Cuts
	} else if p.Tensors == nil {
		s.Cuts = p.cuts()
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	var err error
	if s.timing, err = timingOf(p.Timing, s); err != nil {
		return nil, err
	}
	switch {
	case p.Tensors == nil && p.Spec.Empty() || p.Spec.Ranks == 1 && p.Spec.Kind == collective.Barrier:
		s.Group = nil
		s.role = func(int32) *code { return &code{} }
	case p.Tensors == nil && p.Spec.Ranks == 1:
		p.Lane, p.Lanes = alone, 1
		fallthrough
	default:
		if err := s.fill(&p); err != nil {
			return nil, err
		}
		if p.Places != nil {
			s.straight = p.straightener(s)
		}
	}
	return s, nil
}

// alone writes the program of a single rank, which copies its input to its output.
func alone(l *Lane) {
	in, out := Region{Buffer: Input}, Region{Buffer: Output}
	in.Run, in.Times, out.Run, out.Times = l.schedule.blocks[Input], 1, l.schedule.blocks[Output], 1
	spec := l.schedule.Spec
	if !spec.InPlace || spec.ScalesBefore() || spec.ScalesAfter() {
		for t := range l.Tiles() {
			l.Tile(t)
			l.Completes()
			in.Tile, out.Tile = int32(t), int32(t)
			l.Combine([]Region{out}, nil, l.Local(in))
		}
	}
}

// fewRanks is the number of ranks up to which Lane is called for all, whatever the plan says.
const fewRanks = 64

// fill calls Lane. With a group, or if all ranks do the same, one rank is enough. Otherwise it
// calls Lane once for every rank to find misuse (unless the ranks are even). Programs are written
// again whenever they are wanted, except for cached ones.
func (s *Schedule) fill(p *Plan) error {
	if s.Group != nil || p.Same {
		c, err := s.write(p, 0, nil)
		s.role = func(int32) *code { return c }
		return err
	}
	plan := *p
	write := func(rank int32) *code {
		c, err := s.write(&plan, int(rank), nil)
		if err != nil { // of even ranks, or a lane that is no pure function
			panic(err)
		}
		return c
	}
	if p.Roles != nil {
		c, err := castOf(s, p.Roles, func(rank int, peers []int32) (*code, error) {
			return s.write(p, rank, peers)
		})
		s.cast, s.role = c, write
		return err
	}
	kept := newProgramCache(p.Spec.Ranks, write)
	for _, rank := range writtenAtOnce(s) {
		c, err := s.write(p, int(rank), nil)
		if err != nil {
			return err
		}
		kept.store(rank, c)
	}
	s.role = kept.code
	return nil
}

// writtenAtOnce lists the ranks whose programs are written when the schedule is built: those that
// engines ask for if ranks are even, or all.
func writtenAtOnce(s *Schedule) []int32 {
	switch last := int32(s.Spec.Ranks) - 1; {
	case s.even && s.timing == nil:
		return []int32{0, last}
	case s.even:
		return unlike(s)
	}
	return allRanks(s)
}

// write returns the code of one rank. If peers is not nil, the code names peers by their place in
// it (roles).
func (s *Schedule) write(p *Plan, rank int, peers []int32) (*code, error) {
	var b bundler
	mods := s.moduli()
	for channel := range p.Channels {
		for index := range p.Lanes {
			l := &Lane{Rank: rank, Ranks: p.Spec.Ranks, Root: p.Spec.Root, Index: index,
				Lanes: p.Lanes, Channel: channel, schedule: s, roll: roll{mods: mods}, facing: index,
				peers: peers,
				checker: checker{s: s, rank: int32(rank), lane: int32(channel*p.Lanes + index),
					channels: int64(channel) + 1,
					lanes:    func(int32) int32 { return int32(p.Channels * p.Lanes) }}}
			l.turned(p.turnOf(channel))
			p.Lane(l)
			l.finish()
			if l.err != nil {
				return nil, fmt.Errorf("%s: rank %d lane %d %w",
					p.Name, rank, channel*p.Lanes+index, l.err)
			}
			b.add(int32(channel), l.roll.knots, mods)
		}
	}
	return b.code(), nil
}

// blockSize returns the number of elements of the largest block.
func (p *Plan) blockSize() int64 {
	spec := &p.Spec
	switch {
	case spec.Kind.Splits():
		largest := int64(0)
		for _, row := range spec.Splits {
			for _, n := range row {
				largest = max(largest, n)
			}
		}
		return largest
	case vector(spec.Kind):
		align := max(p.Align, 1)
		return up(up(spec.Count, int64(p.Chunks)), align) * align
	}
	return spec.Count
}

// vector reports whether input and output are the same vector, cut into chunks by the algorithm.
func vector(k collective.Kind) bool {
	return k == collective.AllReduce || k == collective.Broadcast || k == collective.Reduce ||
		k == collective.SendRecv || k == collective.Barrier
}

// cuts returns the usual cuts. A vector is cut into channels and these into chunks. Where there is
// a block for every rank, each block is cut into channels.
func (p *Plan) cuts() [3]Cut {
	spec := &p.Spec
	inner, tiles := Cut{}, Cut{}
	switch {
	case p.groupTurns(): // each channel has a tile of every block: see Lane.place
		tiles = Cut{{Axis: Tile, N: int64(p.Channels)}}
	case p.Channels > 1:
		inner = append(inner, p.channels())
	}
	if p.Segment > 0 {
		tiles = append(tiles, Level{Axis: Tile, Split: Size, N: p.Segment})
	}
	if vector(spec.Kind) {
		chunks := Cut{}
		if p.Chunks > 1 {
			byRank := p.Group != nil && p.Chunks == spec.Ranks
			level := Level{Axis: Block, N: int64(p.Chunks), ByRank: byRank, Mirrored: byRank && p.Mirrored}
			if p.Align > 0 {
				level.Split, level.Align = Aligned, p.Align
			}
			chunks = append(chunks, level)
		}
		cut := join(inner, chunks, tiles)
		return [3]Cut{Input: cut, Output: cut, Scratch: join(p.scratch(), inner, tiles)}
	}
	whole, in, out := join(inner, tiles), p.perRank(Input), p.perRank(Output)
	cuts := [3]Cut{Input: join(in, whole), Output: join(out, whole),
		Scratch: join(p.scratch(), whole)}
	if spec.Kind.Gathers() {
		cuts[Input] = whole
	}
	if spec.Kind.Scatters() {
		cuts[Output] = whole
	}
	return cuts
}

// channels returns the level of channels. Where the chunks divide a vector, each channel has a
// multiple of as many elements as there are chunks: its chunks are then of one size, also where
// those of all channels are not.
func (p *Plan) channels() Level {
	level := Level{Axis: Channel, N: int64(p.Channels)}
	if vector(p.Spec.Kind) && p.Chunks > 1 {
		level.Align = int64(p.Chunks) * max(p.Align, 1)
	}
	return level
}

// perRank returns the level of one block for each rank.
func (p *Plan) perRank(b Buffer) Cut {
	spec := &p.Spec
	level := Level{Axis: Block, N: int64(spec.Ranks), ByRank: p.Group != nil}
	if !spec.Kind.Splits() {
		return Cut{level}
	}
	rows := spec.Splits
	if spec.Kind == collective.AllToAllV && b == Output { // what arrives: the columns
		rows = make([][]int64, spec.Ranks)
		for r := range rows {
			for _, row := range spec.Splits {
				rows[r] = append(rows[r], row[r])
			}
		}
	}
	level.Split, level.N = Table, 0
	for _, row := range rows {
		ends, end := make([]int64, len(row)), int64(0)
		for i, n := range row {
			end += n
			ends[i] = end
		}
		level.Ends = append(level.Ends, ends)
	}
	return Cut{level}
}

// scratch returns the level of the blocks of the scratch buffer.
func (p *Plan) scratch() Cut {
	if p.Scratch > 1 {
		return Cut{{Axis: Block, N: int64(p.Scratch)}}
	}
	return nil
}

// join concatenates cuts.
func join(cuts ...Cut) Cut {
	var all Cut
	for _, c := range cuts {
		all = append(all, c...)
	}
	return all
}
