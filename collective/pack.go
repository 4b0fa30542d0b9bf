package collective

// Move is a run of elements at Tensor in a tensor and at Flat in the blocks of a Spec.
type Move struct{ Tensor, Flat, Len int64 }

// Pack maps the elements of a position's input tensor to the input of the flat Spec, in the order
// of the latter. It is one move if the cut axis is the first. REQUIRES: Spec succeeds.
func (c *Communication) Pack(position, ranks int) []Move {
	n := c.size(ranks)
	in := c.Inputs(n)[position]
	if in == nil || c.Kind == Barrier {
		return nil
	}
	switch {
	case c.Kind.Splits() && c.Kind != AllGatherV:
		row := c.Splits[0]
		if c.Kind == AllToAllV {
			row = c.Splits[position]
		}
		return interleave(in, c.Axis, row)
	case c.Kind.Scatters() || c.Kind == AllToAll:
		return interleave(in, c.Axis, even(in[c.Axis], n))
	}
	return whole(in.Elements())
}

// Unpack maps the elements of a position's output tensor to the output of the flat Spec. Ranks
// without a result have none. REQUIRES: Spec succeeds.
func (c *Communication) Unpack(position, ranks int) []Move {
	n := c.size(ranks)
	if c.Kind == Barrier || (c.Kind == Reduce || c.Kind == Gather) && c.rank(position) != c.Root {
		return nil
	}
	shapes, err := c.Shapes(c.Inputs(n))
	if err != nil {
		return nil
	}
	out := shapes[position]
	switch c.Kind {
	case AllGather, Gather:
		return interleave(out, c.Axis, even(out[c.Axis], n))
	case AllGatherV:
		return interleave(out, c.Axis, c.Splits[0])
	case AllToAll:
		return interleave(out, c.Concat, even(out[c.Concat], n))
	case AllToAllV:
		column := make([]int64, n)
		for i, row := range c.Splits {
			column[i] = row[position]
		}
		return interleave(out, c.Axis, column)
	}
	return whole(out.Elements())
}

func (c *Communication) size(ranks int) int {
	if c.Team != nil {
		return len(c.Team)
	}
	return ranks
}

func whole(n int64) []Move { return []Move{{Len: n}} }

// even divides a length into n equal parts.
func even(length int64, n int) []int64 {
	parts := make([]int64, n)
	for i := range parts {
		parts[i] = length / int64(n)
	}
	return parts
}

// interleave lists the parts of a tensor that is cut along an axis: part by part, and within a part
// in the tensor's order. A part is contiguous in the tensor only if the axis is the first.
func interleave(s Shape, axis int, parts []int64) []Move {
	outer, inner := s[:axis].Elements(), s[axis+1:].Elements()
	row := s[axis] * inner
	var moves []Move
	flat, from := int64(0), int64(0)
	for _, length := range parts {
		for o := range outer {
			m := Move{o*row + from, flat, length * inner}
			flat += m.Len
			if k := len(moves) - 1; m.Len > 0 && k >= 0 && moves[k].Tensor+moves[k].Len == m.Tensor {
				moves[k].Len += m.Len
			} else if m.Len > 0 {
				moves = append(moves, m)
			}
		}
		from += length * inner
	}
	return moves
}
