package schedule

import "collsim/symmetry"

// PlacedClassesOf divides the roles of a schedule by the distances of a rank's peers. It returns
// nil where there are no roles, where ports do not match, and where there are too many classes. It
// also does where blocks are stored at different places on different ranks. Peers of a class may be
// of several classes. In a binomial tree, say, children of any class have parents of any class. So
// ranks of a class do the same steps, but the values may come from different classes.
func PlacedClassesOf(s *Schedule) *Classes {
	if !s.AlikeInRoles() {
		return nil
	}
	c := &Classes{s: s, Parts: 1}
	for _, code := range s.cast.codes {
		c.parts = append(c.parts, make([]int32, max(0, int(code.lanes)-len(c.parts)))...)
	}
	c.role, c.ranks = s.PeerGraph()
	numbers, of := symmetry.Colours[string]{}, make([]int32, len(c.role))
	for rank, role := range c.role {
		key := appendNumbers(make([]byte, 0, 128), role)
		for _, peer := range c.ranks.Peers(int32(rank)) {
			key = appendNumbers(key, peer-int32(rank))
		}
		if of[rank], _ = symmetry.NumberText(numbers, key); len(numbers) > mostClasses {
			return nil
		}
	}
	c.listPorts()
	g, ok := c.graph()
	if !ok {
		return nil
	}
	g.Label = nil
	c.Partition = symmetry.NewPartition(g, of, len(numbers))
	return c
}
