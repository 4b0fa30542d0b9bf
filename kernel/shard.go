package kernel

import (
	"fmt"

	"collsim/collective"
)

// shardLayer returns the row of shard: one of some equal parts of a tensor along an axis, as a rank
// keeps it of what it has whole. Nothing is rounded. The gradient is 0 in the other parts.
//
//	out[.., i, ..] = x[.., part·n + i, ..], n = length of the axis / of
func shardLayer() layer {
	return layer{kind: Shard, operands: []string{"x"}, least: 1,
		attributes: []attribute{{name: "axis", whole: true, most: MaxAxes - 1},
			{name: "part", whole: true, most: maxWhole}, count("of")},
		result: shardShape,
		bound:  movedBound,
		flops:  func(*Op, []Tensor) int64 { return 0 },
		reads:  func(o *Op, in []Tensor) int64 { return in[len(in)-1].Bytes() / o.cuts() },
		apply: func(c *computation) []float64 {
			var out []float64
			c.eachShard(func(at, n int) { out = append(out, c.in[0][at:at+n]...) })
			return out
		},
		gradient: func(c *computation, _ int, g []float64) []float64 {
			out := make([]float64, len(c.in[0]))
			c.eachShard(func(at, n int) {
				copy(out[at:at+n], g)
				g = g[n:]
			})
			return out
		}}
}

// cuts returns how many parts what a shard reads has: a gradient is all read.
func (o *Op) cuts() int64 {
	if o.Gradient > 0 {
		return 1
	}
	return int64(o.Attribute("of"))
}

// shardShape checks a shard, and returns the shape of a part.
func shardShape(o *Op, in []Tensor) (collective.Shape, error) {
	axis, part, of := int(o.Attribute("axis")), o.Attribute("part"), o.Attribute("of")
	shape := append(collective.Shape{}, in[0].Shape...)
	switch {
	case axis >= len(shape):
		return nil, o.fail("axis", axis, fmt.Sprintf("an axis of %v is expected", shape))
	case of < 1:
		return nil, o.fail("of", of, "the number of parts is expected")
	case part >= of:
		return nil, o.fail("part", part, fmt.Sprintf("one of %.0f, from 0, is expected", of))
	case shape[axis]%int64(of) != 0:
		return nil, o.fail("of", of, fmt.Sprintf("a divisor of %d, the length of axis %d of %s, is "+
			"expected", shape[axis], axis, in[0].called("x")))
	}
	shape[axis] /= int64(of)
	return shape, nil
}

// eachShard calls a function for each run of the operand's elements that is in the part.
func (c *computation) eachShard(do func(at, n int)) {
	shape, axis := c.shapes[0], int(c.op.Attribute("axis"))
	outer := int(shape[:axis].Elements())
	run := int(shape[axis:].Elements()) / int(c.op.Attribute("of"))
	for i := range outer {
		do((i*int(c.op.Attribute("of"))+int(c.op.Attribute("part")))*run, run)
	}
}
