package schedule

// ScratchFor returns the length of the scratch buffer for another count, and whether it follows
// from the present one. It does if every block is as long as the longest block of input or output,
// or if the length is a multiple of the count.
func (s *Schedule) ScratchFor(count int64) (elements int64, ok bool) {
	own := s.Spec.Count
	blocks := int64(s.blocks[Scratch])
	if s.Memory == 0 || count == own {
		return s.Memory, true
	}
	if own == 0 || s.Memory%blocks != 0 {
		return 0, false
	}
	block := s.Memory / blocks
	other := *s
	other.Spec.Count = count
	for _, b := range []Buffer{Input, Output} {
		if block == s.longestBlock(b) {
			return blocks * other.longestBlock(b), true
		}
	}
	return s.Memory / own * count, s.Memory%own == 0
}

// longestBlock returns the length of the longest block of a buffer, on any rank.
func (s *Schedule) longestBlock(b Buffer) int64 {
	longest := int64(0)
	for rank := range s.Spec.Ranks {
		longest = max(longest, s.Len(b, rank)/Components(s))
	}
	for i := range s.Cuts[b] {
		if l := &s.Cuts[b][i]; l.Axis == Block {
			return l.longest(longest) * Components(s)
		}
	}
	return longest * Components(s)
}
