package schedule

import "slices"

// InComponents returns the same schedule on components: on two floats for each complex number,
// which is what steps combine. Steps, regions and cuts are the same; lengths, offsets and counts
// are in components. A schedule of other types is returned as it is. It is for execution on
// numbers: its text would cut between the components of an element. REQUIRES: the schedule is of
// one collective, or of teams, without tensors.
func InComponents(s *Schedule) *Schedule {
	each := int64(s.Spec.Type.Components())
	if each == 1 {
		return s
	}
	if s.parts != nil || len(s.Tensors) > 0 {
		panic("schedule: components of a program")
	}
	c := *s
	c.Spec, c.Memory, c.each = s.Spec.InComponents(), s.Memory*each, each
	c.lengths = lengthsOf(&c.Spec)
	c.teams = slices.Clone(s.teams)
	for i := range c.teams {
		c.teams[i].Schedule = InComponents(c.teams[i].Schedule)
	}
	return &c
}

// Components returns the number of elements of a schedule for each element that its cuts divide: 2
// where InComponents has divided complex numbers, else 1.
func Components(s *Schedule) int64 { return max(1, s.each) }

// placed returns the elements that the indices name in a buffer of length n.
func placed(s *Schedule, cut Cut, n int64, at indices) span {
	each := Components(s)
	p := cut.place(n/each, at)
	return span{p.off * each, p.len * each}
}
