package schedule

import "slices"

// MaxEnds bounds how many parts of a buffer Ends tells.
const MaxEnds = maxCuts

// maxCuts bounds how many parts of a buffer are looked at.
const maxCuts = 1 << 16

// BlockAt is the block that an element of a buffer is in, 0 if that is not to be found quickly.
func (s *Schedule) BlockAt(b Buffer, rank int, off int64) int {
	cut := *s.cut(b)
	within, block := span{0, s.Len(b, rank)}, 0
	for level := range cut {
		l := &cut[level]
		parts := l.parts(within.len)
		for i := int64(0); i < parts && i < maxCuts; i++ {
			if p := l.part(within, i, int32(rank)); off >= p.off && off < p.off+p.len {
				if within = p; l.Axis == Block {
					block = int(i)
				}
				break
			}
		}
	}
	return block
}

// Ends appends where the parts of a buffer end, base added; nothing if they are too many.
func (s *Schedule) Ends(dst []int64, b Buffer, rank int, base int64) []int64 {
	return s.EndsUpTo(MaxEnds, dst, b, rank, base)
}

// EndsUpTo is Ends with another bound.
func (s *Schedule) EndsUpTo(most int, dst []int64, b Buffer, rank int, base int64) []int64 {
	cut, n := *s.cut(b), s.Len(b, rank)
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
				dst = append(dst, base+p.off+p.len)
			}
			return len(dst)-from < most
		}
		l := &cut[level]
		for i := range l.parts(within.len) {
			p := l.part(within, i, int32(rank))
			if p.len == 0 && l.Split != Table { // nor have the others any
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
