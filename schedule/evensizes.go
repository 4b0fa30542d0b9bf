package schedule

import "collsim/collective"

// SameSizes reports whether every rank's steps move as much as the steps of rank 0 that they are
// translated from.
func (s *Schedule) SameSizes() bool {
	if s.Group == nil || s.teams != nil || s.parts != nil {
		return false
	}
	for b := range Buffer(s.Buffers()) {
		if !s.evenLen(b) || s.byRank[b] && !s.EvenBlocks(b) {
			return false
		}
		for _, l := range *s.cut(b) {
			if l.Split == Table && l.Axis != Block && !s.EvenRanks(b) {
				return false
			}
			if l.Split == Table && len(l.Ends) > 1 && !s.EvenBlocks(b) {
				return false
			}
		}
	}
	return true
}

// EvenBlocks reports whether the blocks of a buffer are of equal size for equal channel, tile and
// slice. Then the size of a region does not depend on its blocks.
func (s *Schedule) EvenBlocks(b Buffer) bool {
	return s.teams == nil && s.parts == nil && s.isEven[b]
}

// evenBlocks computes EvenBlocks.
func (s *Schedule) evenBlocks(b Buffer) bool {
	if !s.evenLen(b) {
		return false
	}
	lengths := []int64{s.Len(b, 0)}
	for _, l := range *s.cut(b) {
		if l.Axis == Block {
			for _, n := range lengths {
				if !l.even(n) {
					return false
				}
			}
			return true
		}
		lengths = l.partsOf(lengths)
	}
	return true
}

// evenLen reports whether a buffer has the same length on every rank.
func (s *Schedule) evenLen(b Buffer) bool {
	ranks := s.Spec.Ranks
	if !s.Spec.Kind.Splits() && s.Spec.Kind != collective.Custom { // only a root may differ
		root := s.Spec.Root
		return s.Len(b, root) == s.Len(b, (root+1)%ranks)
	}
	for rank := range ranks {
		if s.Len(b, rank) != s.Len(b, 0) {
			return false
		}
	}
	return true
}

// even reports whether all parts of a length are of equal size, on any rank.
func (l *Level) even(length int64) bool {
	switch l.Split {
	case Table:
		for _, row := range l.Ends {
			from := int64(0)
			for _, to := range row {
				if to-from != l.Ends[0][0] {
					return false
				}
				from = to
			}
		}
		return l.Ends[0][len(l.Ends[0])-1] <= length
	case Even:
		return length/l.unit(length)%l.N == 0
	}
	return l.partSize(length)*l.N == length
}

// partsOf returns the distinct lengths of parts of some lengths, including 0 where a part is
// missing.
func (l *Level) partsOf(lengths []int64) (parts []int64) {
	seen := map[int64]bool{}
	for _, n := range lengths {
		for i := range l.parts(n) + 1 {
			if i > 1<<16 { // too fine to enumerate
				return []int64{1, 2}
			}
			part := int64(0)
			for rank := range max(1, len(l.Ends)) {
				part = l.part(span{0, n}, i, int32(rank)).len
				if !seen[part] {
					seen[part] = true
					parts = append(parts, part)
				}
			}
		}
	}
	return parts
}
