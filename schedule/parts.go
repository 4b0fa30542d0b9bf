package schedule

import (
	"slices"
	"sort"
)

// MaxEnds bounds how many parts of a buffer Ends lists.
const MaxEnds = maxCuts

// maxCuts bounds how many parts of a buffer are enumerated.
const maxCuts = 1 << 16

// BlockAt returns the block that an element of a buffer is in.
func (s *Schedule) BlockAt(b Buffer, rank int, off int64) int {
	cut := *s.cut(b)
	each := Components(s)
	within, block := span{0, s.Len(b, rank) / each}, 0
	off /= each
	for level := range cut {
		l := &cut[level]
		parts, whole := int(l.parts(within.len)), within
		i := sort.Search(parts, func(i int) bool {
			p := l.part(whole, int64(i), int32(rank))
			return off < p.off+p.len
		})
		if i == parts {
			continue // behind all of them
		}
		if within = l.part(whole, int64(i), int32(rank)); l.Axis == Block {
			block = i
		}
	}
	return block
}

// Ends appends where the parts of a buffer end, base added; nothing if they are too many.
func (s *Schedule) Ends(dst []int64, b Buffer, rank int, base int64) []int64 {
	return s.EndsUpTo(MaxEnds, dst, b, rank, base)
}

// EndsUpTo does what Ends does, with another bound than MaxEnds.
func (s *Schedule) EndsUpTo(most int, dst []int64, b Buffer, rank int, base int64) []int64 {
	each := Components(s)
	cut, n := *s.cut(b), s.Len(b, rank)/each
	from := len(dst)
	if most > MaxEnds { // one table, not one of each rank
		dst = slices.Grow(dst, min(most, int(s.blocks[b])*s.Slices))
	}
	var walk func(level int, within span) bool
	walk = func(level int, within span) bool {
		if level == len(cut) {
			for i := range s.Slices {
				slice := Level{Split: Even, N: int64(s.Slices)}
				p := slice.part(within, int64(i), int32(rank))
				dst = append(dst, base+each*(p.off+p.len))
			}
			return len(dst)-from < most
		}
		l := &cut[level]
		for i := range l.parts(within.len) {
			p := l.part(within, i, int32(rank))
			if p.len == 0 && l.Split != Table { // nor has any later part
				break
			}
			if p.len > 0 && !walk(level+1, p) {
				return false
			}
		}
		return true
	}
	if !walk(0, span{0, n}) {
		return dst[:from]
	}
	return dst
}
