package collective

import (
	"fmt"

	"collsim/dtype"
)

// Role describes one rank in a communication: its position in the team, and the number of buffers
// it passes. A buffer holds one block: the root of a gather has as many destinations as the team
// has ranks.
type Role struct {
	Position              int
	Root                  bool
	Sources, Destinations int
}

// Role binds the communication to a rank of a machine with so many ranks. A rank or a root outside
// the team is an error that names it.
func (c *Communication) Role(rank, ranks int) (Role, error) {
	n := ranks
	if c.Team != nil {
		n = len(c.Team)
	}
	if err := c.Validate(n); err != nil {
		return Role{}, err
	}
	for _, member := range c.Team {
		if member >= ranks {
			return Role{}, fmt.Errorf("team %s on %d ranks: there is no rank %d",
				c.teamText(n), ranks, member)
		}
	}
	r := Role{Position: c.position(rank, n), Root: c.Kind.Rooted() && rank == c.Root}
	if r.Position < 0 {
		return Role{}, fmt.Errorf("%v: rank %d is not a member of the team %s",
			c.Kind, rank, c.teamText(n))
	}
	at := func(root bool, buffers int) int {
		if root {
			return buffers
		}
		return 0
	}
	switch c.Kind {
	case AllReduce, SendRecv:
		r.Sources, r.Destinations = 1, 1
	case AllGather, AllGatherV:
		r.Sources, r.Destinations = 1, n
	case ReduceScatter, ReduceScatterV:
		r.Sources, r.Destinations = n, 1
	case AllToAll, AllToAllV:
		r.Sources, r.Destinations = n, n
	case Broadcast:
		r.Sources, r.Destinations = at(r.Root, 1), 1
	case Reduce:
		r.Sources, r.Destinations = 1, at(r.Root, 1)
	case Gather:
		r.Sources, r.Destinations = 1, at(r.Root, n)
	case Scatter:
		r.Sources, r.Destinations = at(r.Root, n), 1
	}
	return r, nil
}

// CheckType checks that a rank's buffer has the declared type.
func (c *Communication) CheckType(rank int, t dtype.Type) error {
	if t == c.Type {
		return nil
	}
	return fmt.Errorf("%v is declared on %v, but rank %d passes %v", c.Kind, c.Type,
		rank, t)
}

// CheckBuffers checks the numbers of source and destination buffers that a rank passes, before
// anything is posted.
func (c *Communication) CheckBuffers(rank, ranks int, sources, destinations int) error {
	r, err := c.Role(rank, ranks)
	if err != nil {
		return err
	}
	what := "rank"
	if c.Kind.Rooted() {
		what = "non-root rank"
		if r.Root {
			what = "root"
		}
	}
	for _, side := range []struct {
		name       string
		want, have int
	}{{"source", r.Sources, sources}, {"destination", r.Destinations, destinations}} {
		if side.want != side.have {
			return fmt.Errorf("%v: %s %d takes %d %s buffers, not %d", c.Kind, what, rank,
				side.want, side.name, side.have)
		}
	}
	return nil
}

// Spec returns the communication on so many ranks without shapes and axes: blocks of elements, one
// after the other. Its ranks are those of the team, in its order. Pack and Unpack locate the blocks
// in the tensors. REQUIRES: Shape.
func (c *Communication) Spec(ranks int) (Spec, error) {
	n := ranks
	if c.Team != nil {
		n = len(c.Team)
	}
	s := Spec{Kind: c.Kind, Op: c.Op, Type: c.Type, Ranks: n, InPlace: c.InPlace, Avg: c.Avg,
		Factor: c.Factor}
	if err := c.Validate(n); err != nil {
		return s, err
	}
	if c.Kind == Barrier {
		return s, s.Validate()
	}
	if c.Shape == nil {
		return s, fmt.Errorf("%v has no shape yet", c.Kind)
	}
	if s.Root = 0; c.Kind.Rooted() {
		s.Root = c.position(c.Root, n)
	}
	if _, err := c.Shapes(c.Inputs(n)); err != nil {
		return s, err
	}
	per := int64(1) // elements of one index on the axis
	for axis, length := range c.Shape {
		if axis != c.Axis {
			per *= length
		}
	}
	switch {
	case c.Kind.Splits():
		for _, row := range c.Splits {
			scaled := make([]int64, len(row))
			for i, length := range row {
				scaled[i] = length * per
			}
			s.Splits = append(s.Splits, scaled)
		}
	case c.Kind.Scatters() || c.Kind == AllToAll:
		s.Count = c.Shape.Elements() / int64(n)
	default:
		s.Count = c.Shape.Elements()
	}
	return s, s.Validate()
}

// Inputs returns the shapes of all ranks' inputs, by Shape and Splits.
func (c *Communication) Inputs(n int) []Shape {
	in := make([]Shape, n)
	for i := range in {
		switch {
		case (c.Kind == Broadcast || c.Kind == Scatter) && c.rank(i) != c.Root:
		case c.Kind == AllGatherV && c.Axis < len(c.Shape):
			in[i] = c.Shape.with(c.Axis, c.Splits[0][i])
		case c.Kind == AllToAllV && c.Axis < len(c.Shape):
			in[i] = c.Shape.with(c.Axis, sum(c.Splits[i]))
		default:
			in[i] = c.Shape
		}
	}
	return in
}
