package kernel

import (
	"fmt"

	"collsim/collective"
)

// embeddingLayer returns the row of embedding: of ids, which are integers of any shape, and a table
// [rows, columns], the row of each id, modulo the number of rows. It reads as many rows of the
// table as there are ids. The gradient by the table adds up, ids in ascending order, and writes all
// of it.
func embeddingLayer() layer {
	return layer{kind: Embedding, operands: []string{"ids", "table"}, least: 2, integers: []int{0},
		bound: embeddingBound,
		result: func(o *Op, in []Tensor) (collective.Shape, error) {
			t := in[1]
			if len(t.Shape) != 2 || t.Shape[0] == 0 || len(in[0].Shape) == MaxAxes {
				return nil, o.fail("the shape of "+t.called("table"), t.Shape, fmt.Sprintf(
					"rows and columns, and ids of at most %d axes, are expected", MaxAxes-1))
			}
			return append(append(collective.Shape{}, in[0].Shape...), t.Shape[1]), nil
		},
		rows: func(o *Op, in []Tensor) (int64, []int) {
			if o.Gradient > 0 {
				return 1, nil
			}
			return in[0].Shape.Elements(), []int{1}
		},
		flops: func(o *Op, in []Tensor) int64 {
			return int64(min(o.Gradient, 1)) * in[0].Shape.Elements() * in[1].Shape[1]
		},
		reads: func(o *Op, in []Tensor) int64 {
			rows := in[0].Shape.Elements() * in[1].Shape[1]
			from := in[len(in)-1] // the table, or the gradient of the result
			return in[0].Bytes() + rows*int64(from.Type.Width())
		},
		apply: func(c *computation) []float64 {
			n := int(c.shapes[1][1])
			out := make([]float64, 0, len(c.in[0])*n)
			for _, id := range c.in[0] {
				out = append(out, c.in[1][modulo(id, int(c.shapes[1][0]))*n:][:n]...)
			}
			return out
		},
		gradient: func(c *computation, _ int, g []float64) []float64 {
			n := int(c.shapes[1][1])
			out := make([]float64, len(c.in[1]))
			for i, id := range c.in[0] {
				add64(out[modulo(id, int(c.shapes[1][0]))*n:][:n], 1, g[i*n:][:n])
			}
			return out
		}}
}
