package collective

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Shape lists the lengths of a tensor's axes, outermost first. Its elements are stored in C order:
// the last axis runs fastest. A scalar has no axes and one element.
type Shape []int64

// Placeholder returns the output shape of ranks without a part in the result: all but the root of
// gather and reduce. MegEngine gives them a tensor of one element, too.
func Placeholder() Shape { return Shape{1} }

// Elements returns the product of the lengths. REQUIRES: Validate.
func (s Shape) Elements() int64 {
	n := int64(1)
	for _, length := range s {
		n *= length
	}
	return n
}

// Validate returns an error if a length is negative, or if there are more than MaxElements
// elements.
func (s Shape) Validate() error {
	n := int64(1)
	for axis, length := range s {
		switch {
		case length < 0:
			return fmt.Errorf("shape %v: axis %d has length %d", s, axis, length)
		case length > 0 && n > math.MaxInt64/64/length:
			return fmt.Errorf("shape %v has too many elements", s)
		}
		n *= length
	}
	return nil
}

// String returns such as "4x5x6"; for a scalar "scalar".
func (s Shape) String() string {
	if len(s) == 0 {
		return "scalar"
	}
	text := make([]string, len(s))
	for i, length := range s {
		text[i] = strconv.FormatInt(length, 10)
	}
	return strings.Join(text, "x")
}

// ParseShape parses the output of String.
func ParseShape(text string) (Shape, error) {
	if text == "scalar" {
		return Shape{}, nil
	}
	var s Shape
	for _, part := range strings.Split(text, "x") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is no shape; shapes look like 4x5x6", text)
		}
		s = append(s, n)
	}
	return s, s.Validate()
}

// with returns the shape with another length on an axis.
func (s Shape) with(axis int, length int64) Shape {
	t := slices.Clone(s)
	t[axis] = length
	return t
}

// Shapes infers the output shape of every rank of the team from their input shapes, in the order of
// the team; nil stands for no input. n is the team's size, k the length of the axis:
//
//	all_reduce, send_recv     all inputs equal; the output is, too
//	reduce                    as all_reduce at the root; the others get Placeholder
//	all_gather                k → n·k on the axis; all_gatherv adds the inputs' lengths up
//	gather                    as all_gather at the root; the others get Placeholder
//	reduce_scatter            k → k/n on the axis, without remainder; reduce_scatterv: its split
//	all_to_all                Axis k → k/n, then Concat k → n·k
//	all_to_allv               Axis: the sum of its splits → the sum of what it is sent
//	broadcast, scatter        the root alone has an input; its shape, or k/n on the axis, for all
//
// A shape that does not match is an error that names the rank, the lengths and what was expected.
func (c *Communication) Shapes(in []Shape) ([]Shape, error) {
	n := len(in)
	if err := c.Validate(n); err != nil {
		return nil, err
	}
	given, err := c.givenShape(in)
	if err != nil {
		return nil, err
	}
	out := make([]Shape, n)
	for i := range out {
		if out[i], err = c.outShape(given, in, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// givenShape compares the inputs with one another and returns the shape from which outputs follow.
func (c *Communication) givenShape(in []Shape) (Shape, error) {
	alone := -1
	if c.Kind == Broadcast || c.Kind == Scatter {
		alone = c.position(c.Root, len(in))
	}
	first := max(alone, 0)
	for i, s := range in {
		rank := c.rank(i)
		switch {
		case c.Kind == Barrier && s != nil:
			return nil, fmt.Errorf("barrier takes no input, but rank %d has one", rank)
		case c.Kind == Barrier:
			continue
		case alone >= 0 && i != alone && s != nil:
			return nil, fmt.Errorf("%v takes one input, the root's; rank %d, which is "+
				"not the root %d, passes one of shape %v", c.Kind, rank, c.Root, s)
		case alone >= 0 && i != alone:
			continue
		case s == nil:
			return nil, fmt.Errorf("%v: rank %d passes no input", c.Kind, rank)
		}
		if err := s.Validate(); err != nil {
			return nil, err
		}
		if err := c.alike(rank, s, in[first]); err != nil {
			return nil, err
		}
	}
	if c.Kind == Barrier {
		return Shape{}, nil
	}
	for _, axis := range c.axes() {
		if axis >= len(in[first]) {
			return nil, fmt.Errorf("%v on axis %d of a tensor of shape %v, which has %d "+
				"axes", c.Kind, axis, in[first], len(in[first]))
		}
	}
	return in[first], nil
}

// alike compares an input with the first. They must be equal, except on the axis of kinds with
// splits.
func (c *Communication) alike(rank int, s, first Shape) error {
	loose := c.Kind == AllGatherV || c.Kind == AllToAllV
	if len(s) == len(first) {
		differ := -1
		for axis := range s {
			if s[axis] != first[axis] && !(loose && axis == c.Axis) {
				differ = axis
			}
		}
		if differ < 0 {
			return nil
		}
	}
	rule := "all inputs must have one shape"
	if loose {
		rule = fmt.Sprintf("inputs may differ on axis %d alone", c.Axis)
	}
	return fmt.Errorf("%v: rank %d passes shape %v, rank %d shape %v; %s",
		c.Kind, c.rank(0), first, rank, s, rule)
}

// axes returns the axes that the kind cuts or joins.
func (c *Communication) axes() []int {
	switch {
	case c.Kind == AllToAll:
		return []int{c.Axis, c.Concat}
	case c.Kind.Gathers() || c.Kind.Scatters() || c.Kind == AllToAllV:
		return []int{c.Axis}
	}
	return nil
}

// outShape returns the output shape of the i-th rank of the team.
func (c *Communication) outShape(given Shape, in []Shape, i int) (Shape, error) {
	n := int64(len(in))
	root := !c.Kind.Rooted() || c.rank(i) == c.Root
	switch c.Kind {
	case Barrier:
		return nil, nil
	case Reduce, Gather:
		if !root {
			return Placeholder(), nil
		}
	}
	switch c.Kind {
	case AllReduce, Reduce, Broadcast, SendRecv:
		return slices.Clone(given), nil
	case AllGather, Gather:
		return given.with(c.Axis, n*given[c.Axis]), nil
	case AllGatherV:
		total := int64(0)
		for r, s := range in {
			if want := c.Splits[0][r]; s[c.Axis] != want {
				return nil, fmt.Errorf("all_gatherv: rank %d has length %d on axis %d, "+
					"its split is %d", c.rank(r), s[c.Axis], c.Axis, want)
			}
			total += s[c.Axis]
		}
		return given.with(c.Axis, total), nil
	case ReduceScatterV:
		if total := sum(c.Splits[0]); total != given[c.Axis] {
			return nil, fmt.Errorf("reduce_scatterv: the splits add up to %d, axis %d "+
				"has length %d", total, c.Axis, given[c.Axis])
		}
		return given.with(c.Axis, c.Splits[0][i]), nil
	case AllToAllV:
		return c.allToAllVShape(in, i)
	}
	if given[c.Axis]%n != 0 {
		return nil, fmt.Errorf("%v: axis %d of length %d cannot be divided into %d parts: "+
			"%d would remain", c.Kind, c.Axis, given[c.Axis], n, given[c.Axis]%n)
	}
	out := given.with(c.Axis, given[c.Axis]/n)
	if c.Kind == AllToAll {
		out[c.Concat] *= n
	}
	return out, nil
}

func (c *Communication) allToAllVShape(in []Shape, i int) (Shape, error) {
	if total := sum(c.Splits[i]); total != in[i][c.Axis] {
		return nil, fmt.Errorf("all_to_allv: the splits of rank %d add up to %d, its axis "+
			"%d has length %d", c.rank(i), total, c.Axis, in[i][c.Axis])
	}
	total := int64(0)
	for _, row := range c.Splits {
		total += row[i]
	}
	return in[i].with(c.Axis, total), nil
}
