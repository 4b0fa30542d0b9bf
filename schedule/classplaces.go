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
	c.listPeers()
	numbers := symmetry.Colours[string]{}
	for rank, role := range c.role {
		key := appendNumbers(make([]byte, 0, 128), role)
		for _, peer := range c.peersOf(int32(rank)) {
			key = appendNumbers(key, peer-int32(rank))
		}
		class, isNew := symmetry.NumberText(numbers, key)
		if int(class) == mostClasses {
			return nil
		}
		if c.Add(class); isNew {
			c.examples = append(c.examples, make([][]int32, mostPeers+1))
		}
	}
	c.listPorts()
	if !c.meetPeers() {
		return nil
	}
	return c
}

// meetPeers finds the classes of the peers of each class, and reports whether all ports match.
func (c *Classes) meetPeers() bool {
	type end struct {
		class, back int32
	}
	none := c.ports[0][mostPeers].wires // of nobody
	seen := make([][][]end, len(c.Reps))
	for class := range seen {
		seen[class] = make([][]end, mostPeers+1)
	}
	for rank, class := range c.Of {
		for i := range c.peersOf(int32(rank)) {
			if c.port(int32(rank), 0, i).wires == none {
				continue
			}
			peer, back := c.back(int32(rank), 0, i)
			if back < 0 {
				return false
			}
			e, list := end{c.Of[peer], int32(back)}, &seen[class][i]
			isKnown := false
			for _, other := range *list {
				isKnown = isKnown || other == e
			}
			if !isKnown {
				*list = append(*list, e)
				c.examples[class][i] = append(c.examples[class][i], int32(rank))
			}
		}
	}
	return true
}
