package schedule

import "slices"

// A Strip is a part of a buffer in which blocks are contiguous: block i is the Size elements from
// Off + i·Size on.
type Strip struct{ Off, Size int64 }

// ByRank reports whether a buffer is cut into one block for each rank, which a group translates.
func (s *Schedule) ByRank(b Buffer) bool { return s.byRank[b] }

// Mirrored reports whether the blocks of such a buffer are numbered by mirrored ranks.
func (s *Schedule) Mirrored(b Buffer) bool { return s.mirrored[b] }

// Moves returns the translation of a buffer's blocks by a rank.
//
// REQUIRES: the buffer's blocks are numbered by rank, and there is a group.
func (s *Schedule) Moves(b Buffer, rank int32) int32 {
	if s.mirrored[b] {
		return s.Group.Mirror(rank)
	}
	return rank
}

// Strips returns the strips of a buffer that is cut into one block for each rank: one strip for
// each part outside of blocks (a channel). It reports false if the blocks of a strip differ in
// size, do not fill it, or have different places on different ranks. It also does if there are too
// many parts.
func (s *Schedule) Strips(b Buffer) (list []Strip, ok bool) {
	if s.teams != nil || s.parts != nil || !s.byRank[b] || !s.EvenRanks(b) {
		return nil, false
	}
	each := Components(s)
	within := []span{{0, s.Len(b, 0) / each}}
	for i := range *s.cut(b) {
		l := &(*s.cut(b))[i]
		if l.Axis == Block {
			list, ok = l.strips(within)
			for i := range list {
				list[i] = Strip{list[i].Off * each, list[i].Size * each}
			}
			return list, ok
		}
		var parts []span
		for _, w := range within {
			n := l.parts(w.len)
			if int64(len(parts))+n > maxCuts {
				return nil, false
			}
			for i := range n {
				if p := l.part(w, i, 0); p.len > 0 {
					parts = append(parts, p)
				}
			}
		}
		within = parts
	}
	return nil, false
}

// strips divides spans into blocks.
func (l *Level) strips(within []span) (list []Strip, ok bool) {
	n := l.parts(0)
	for _, w := range within {
		if w.len%n != 0 || !l.even(w.len) || l.part(w, n-1, 0).off+w.len/n != w.off+w.len {
			return nil, false
		}
		list = append(list, Strip{w.off, w.len / n})
	}
	return list, true
}

// EvenRanks reports whether a buffer has one length and one cut on all ranks.
func (s *Schedule) EvenRanks(b Buffer) bool {
	for _, l := range *s.cut(b) {
		if l.Split == Table && slices.ContainsFunc(l.Ends, func(row []int64) bool {
			return !slices.Equal(row, l.Ends[0])
		}) {
			return false
		}
	}
	return s.evenLen(b)
}
