package schedule

// CachedParts bounds what the programs of a schedule take in memory once all of them have been
// asked for: in steps, their operands and their destinations.
//
// REQUIRES: no teams, no parts.
func CachedParts(s *Schedule) (parts int64) {
	count := func(c *code) {
		for i := range c.leaves {
			parts += int64(c.leaves[i].step.parts())
		}
	}
	switch {
	case s.cast != nil:
		for _, c := range s.cast.codes {
			count(c)
		}
		return parts
	case s.RepresentativeRanks() == 1 && !s.even:
		count(s.role(0))
		return parts
	}
	some := writtenAtOnce(s)
	for _, rank := range some {
		count(s.role(rank))
	}
	return parts * int64(s.Spec.Ranks) / int64(len(some))
}
