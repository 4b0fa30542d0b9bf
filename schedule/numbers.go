package schedule

// Steps that are in no loop, and alone in their bundle, may share a leaf (compactor). Each then has
// numbers of its own: its variables, the tags of its connections, and which kernel it computes.

// tags visits the tags of a step's connections.
func (s *Step) tags(visit func(tag *int32)) {
	for i := range s.From {
		visit(&s.From[i].Peer.Tag)
	}
	for i := range s.Send {
		visit(&s.Send[i].Peer.Tag)
	}
}

// number gives a step of a shared leaf its numbers, which begin at a place.
func (c *code) number(s *Step, place int32) {
	numbers := c.numbers[place:]
	at := s.shift(numbers, 1)
	for i := range s.From {
		s.From[i].Peer.Tag = numbers[at]
		at++
	}
	for i := range s.Send {
		s.Send[i].Peer.Tag = numbers[at]
		at++
	}
	if s.Kernel != nil {
		s.Kernel = c.kernels[numbers[at]]
	}
}

// stepOf returns the step of a node in iteration 0 of all its loops and in the first lane of its
// bundle. It is valid until the buffer is used again, and is not to be changed.
func (c *code) stepOf(n *node, buffer *Step) *Step {
	l := &c.leaves[n.leaf]
	if n.count == 0 {
		return &l.step
	}
	buffer.assign(&l.step)
	c.number(buffer, n.count)
	return buffer
}
