package kernel

import (
	"fmt"

	"collsim/collective"
)

// padLayer returns the row of pad: the rows of x, and rows of zeros behind them until there are as
// many as the attribute says. Nothing is rounded. The gradient by x is that of its rows.
func padLayer() layer {
	return layer{kind: Pad, operands: []string{"x"}, least: 1,
		attributes: []attribute{count("rows")},
		bound:      movedBound,
		result: func(o *Op, in []Tensor) (collective.Shape, error) {
			x, rows := in[0], int64(o.Attributes[0])
			if len(x.Shape) == 0 || x.Shape[0] > rows {
				return nil, o.fail("the shape of "+x.called("x"), x.Shape,
					fmt.Sprintf("at most %d rows are expected", rows))
			}
			return append(collective.Shape{rows}, x.Shape[1:]...), nil
		},
		flops: func(*Op, []Tensor) int64 { return 0 },
		apply: func(c *computation) []float64 {
			out := make([]float64, c.op.In.Lengths().Elements())
			copy(out, c.in[0])
			return out
		},
		gradient: func(c *computation, _ int, g []float64) []float64 { return g[:len(c.in[0])] }}
}
