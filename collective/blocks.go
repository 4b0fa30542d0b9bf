package collective

// Blocks returns the shapes of the buffers that the rank at a position passes, as many as its Role
// counts. Source s goes to the s-th rank of the team, destination s comes from it. Their elements,
// in C order and one buffer after the other, are the blocks of Spec. Pack and Unpack locate the
// same blocks in one tensor. REQUIRES: Spec succeeds.
func (c *Communication) Blocks(position, ranks int) (sources, destinations []Shape) {
	n := c.size(ranks)
	inputs := c.Inputs(n)
	in, root := inputs[position], !c.Kind.Rooted() || c.rank(position) == c.Root
	switch {
	case c.Kind == Barrier:
		return nil, nil
	case c.Kind == AllToAll:
		sources = c.cut(in, even(in[c.Axis], n))
		return sources, sources
	case c.Kind == AllToAllV:
		column := make([]int64, n)
		for i, row := range c.Splits {
			column[i] = row[position]
		}
		return c.cut(in, c.Splits[position]), c.cut(in, column)
	case c.Kind == ReduceScatterV:
		sources = c.cut(in, c.Splits[0])
		return sources, sources[position : position+1]
	case c.Kind.Scatters():
		parts := c.cut(c.Shape, even(c.Shape[c.Axis], n))
		if root {
			sources = parts
		}
		return sources, parts[position : position+1]
	}
	if in != nil {
		sources = []Shape{in}
	}
	switch {
	case !root && c.Kind != Broadcast:
		return sources, nil
	case c.Kind.Gathers():
		return sources, inputs
	}
	return sources, []Shape{c.Shape}
}

// cut returns the shapes of a tensor's parts, given their lengths on the axis.
func (c *Communication) cut(s Shape, lengths []int64) []Shape {
	parts := make([]Shape, len(lengths))
	for i, length := range lengths {
		parts[i] = s.with(c.Axis, length)
	}
	return parts
}
