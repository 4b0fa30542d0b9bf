package schedule

import "fmt"

// A Buffer is one of a rank's buffers.
type Buffer uint32

// The buffers. In place, input and output overlap as collective.Spec.Place says.
const (
	Input Buffer = iota
	Output
	Scratch
	// FirstTensor is the number of Schedule.Tensors[0]; the others follow.
	FirstTensor
	// work is the working copy: Lane resolves it to Input or Output. No schedule contains it.
	work Buffer = 1 << 30
)

var bufferNames = [...]string{"in", "out", "scratch"}

// String returns the buffer's name in the text form; for a tensor, whose name only the schedule
// knows, its number.
func (b Buffer) String() string {
	switch {
	case b < FirstTensor:
		return bufferNames[b]
	case b == work:
		return "work"
	}
	return fmt.Sprintf("tensor%d", b-FirstTensor)
}

// An Axis is what a level of a cut divides into.
type Axis uint8

// The axes. A lane fixes the channel, a region names its tile and blocks; slices are not a level:
// they cut every block once more, at the very end (Schedule.Slices).
const (
	Channel Axis = iota
	Tile
	Block
)

var axisNames = [...]string{"channel", "tile", "block"}

// A Split is a rule by which a level divides a length into parts.
type Split uint8

const (
	// Even: N parts; the first (length mod N) of them have one element more. With an Align that
	// divides the length, units of Align elements are divided so.
	Even Split = iota
	// Ceil: N parts of ⌈length/N⌉, the last ones shorter or empty (torch.chunk).
	Ceil
	// Size: parts of N elements, the last shorter; their number follows from the length.
	Size
	// Aligned: N parts of ⌈length/N⌉ rounded up to a multiple of Align, the last ones shorter.
	Aligned
	// Table: the parts' ends are given, one row for all ranks or one a rank.
	Table
)

var splitNames = [...]string{"even", "ceil", "size", "aligned", "table"}

// A Level is one division of a cut.
type Level struct {
	Axis  Axis
	Split Split
	N     int64 // parts, or elements for Size
	Align int64 // of Aligned; of Even, the unit: 0 is 1
	// Ends of Table: Ends[r][i] is where part i ends for rank r; one row serves all ranks. Part
	// 0 begins at 0.
	Ends [][]int64
	// ByRank says that the level's parts are numbered by ranks. In a schedule with a group, rank
	// g's program then names rank 0's parts, translated by g.
	ByRank bool
	// Mirrored says that part and rank correspond with the digits of one of them in the opposite
	// order: rank g translates by Group.Mirror(g). It needs ByRank.
	Mirrored bool
}

// A Cut divides a buffer by its levels, outermost first. Without levels it is one block.
type Cut []Level

// A span is a run of elements of a buffer.
type span struct{ off, len int64 }

// part returns the i-th part of s; empty if there is none. It clips a part's ends before
// multiplying them out, so that no size or index overflows.
func (l *Level) part(s span, i int64, rank int32) span {
	from, to := s.len, s.len
	switch {
	case i < 0 || i >= l.parts(s.len):
	case l.Split == Table:
		ends := l.Ends[0]
		if len(l.Ends) > 1 {
			ends = l.Ends[rank]
		}
		if from = 0; i > 0 {
			from = ends[i-1]
		}
		to = ends[i]
	case l.Split == Even:
		unit := l.unit(s.len)
		size, more := s.len/unit/l.N, s.len/unit%l.N
		from = (i*size + min(i, more)) * unit
		to = from + size*unit
		if i < more {
			to += unit
		}
	default:
		if size := l.partSize(s.len); size > 0 && i <= s.len/size {
			from = i * size
			to = from + min(size, s.len-from)
		}
	}
	from, to = min(from, s.len), min(to, s.len)
	return span{s.off + from, to - from}
}

// unit returns the number of elements that an even split keeps together in a length.
func (l *Level) unit(length int64) int64 {
	if l.Align > 0 && length%l.Align == 0 {
		return l.Align
	}
	return 1
}

// partSize returns the length of all parts but the last ones, for Ceil, Size and Aligned.
func (l *Level) partSize(length int64) int64 {
	switch l.Split {
	case Ceil:
		return up(length, l.N)
	case Aligned: // at most 2^58 + 2^40
		return up(up(length, l.N), l.Align) * l.Align
	}
	return l.N
}

// up returns a/b rounded up.
func up(a, b int64) int64 { return a/b + min(1, a%b) }

// longest returns the length of the longest part of a length, of any rank.
func (l *Level) longest(length int64) int64 {
	if l.Split != Table {
		return l.part(span{0, length}, 0, 0).len
	}
	most := int64(0)
	for rank, row := range l.Ends {
		for i := range row {
			most = max(most, l.part(span{0, length}, int64(i), int32(rank)).len)
		}
	}
	return most
}

// parts returns the number of parts of a length, empty ones included.
func (l *Level) parts(length int64) int64 {
	switch l.Split {
	case Size:
		return max(1, up(length, l.N))
	case Table:
		return int64(len(l.Ends[0]))
	}
	return l.N
}

// level returns the cut's level on an axis, nil if it has none.
func (c Cut) level(a Axis) *Level {
	for i := range c {
		if c[i].Axis == a {
			return &c[i]
		}
	}
	return nil
}

// blocks returns the number of blocks; 1 without a block level. A Size level would need the
// buffer's length, so blocks are never cut by Size.
func (c Cut) blocks() int32 {
	if l := c.level(Block); l != nil {
		return int32(l.parts(0))
	}
	return 1
}

// byRank reports whether the cut's blocks are numbered by ranks.
func (c Cut) byRank() bool {
	l := c.level(Block)
	return l != nil && l.ByRank
}

// mirrored reports whether the cut's blocks are numbered by mirrored ranks.
func (c Cut) mirrored() bool {
	l := c.level(Block)
	return l != nil && l.Mirrored
}

// place returns the elements that the indices name in a buffer of length n.
func (c Cut) place(n int64, at indices) span {
	s := c.within(span{0, n}, at)
	if at.slices > 1 {
		slice := Level{Split: Even, N: int64(at.slices)}
		s = slice.part(s, int64(at.slice), at.rank)
	}
	return s
}

// within returns the elements that the indices name in s, before slicing.
func (c Cut) within(s span, at indices) span {
	for i := range c {
		l := &c[i]
		switch l.Axis {
		case Channel:
			s = l.part(s, int64(at.channel), at.rank)
		case Tile:
			s = l.part(s, int64(at.tile), at.rank)
		default:
			s = l.part(s, int64(at.block), at.rank)
		}
	}
	return s
}

// indices has an index for each level, and the rank whose buffer it is.
type indices struct {
	rank, channel, tile, block, slice, slices int32
}

// validate returns an error if a cut is invalid for a number of ranks.
func (c Cut) validate(ranks int) error {
	seen := [3]bool{}
	for _, l := range c {
		switch {
		case int(l.Axis) >= len(seen) || seen[l.Axis]:
			return fmt.Errorf("cut has two levels %s", axisNames[l.Axis%3])
		case l.Split == Table && len(l.Ends) != 1 && len(l.Ends) != ranks:
			return fmt.Errorf("table of a cut has %d rows; 1 or %d are needed",
				len(l.Ends), ranks)
		case l.Split == Table && !rising(l.Ends):
			return fmt.Errorf("the ends in a cut's table must not fall, and all its " +
				"rows must be of one length")
		case l.Split != Table && (l.N < 1 || l.N > 1<<40 || l.Align < 0 || l.Align > 1<<40):
			return fmt.Errorf("a cut into %d %ss is out of range", l.N, axisNames[l.Axis])
		case l.Split == Aligned && l.Align < 1:
			return fmt.Errorf("an aligned cut needs an alignment of at least 1")
		case l.Split == Size && l.Axis != Tile:
			return fmt.Errorf("only tiles are cut by size")
		case l.Axis != Tile && l.Split != Table && l.N > 1<<24:
			return fmt.Errorf("a cut into %d %ss is too fine", l.N, axisNames[l.Axis])
		case l.Mirrored && !l.ByRank:
			return fmt.Errorf("only what is numbered by rank is so by mirrored rank")
		case l.ByRank && (l.Axis != Block || l.parts(0) != int64(ranks)):
			return fmt.Errorf("only blocks, as many as ranks, are numbered by rank")
		}
		seen[l.Axis] = true
	}
	return nil
}

// rising reports whether every row has one length and its numbers do not fall.
func rising(rows [][]int64) bool {
	for _, row := range rows {
		last := int64(0)
		for _, end := range row {
			if end < last {
				return false
			}
			last = end
		}
		if len(row) == 0 || len(row) != len(rows[0]) {
			return false
		}
	}
	return len(rows) > 0
}
