package kernel

import (
	"fmt"
	"slices"

	"collsim/collective"
)

// routeLayer returns the row of route: of rows of logits, one for each expert, the weights of the k
// largest, which are the softmax of these alone; the others are 0. Of equal logits those of the
// first experts are taken. It is Mixtral's router (Jiang et al., "Mixtral of Experts",
// arXiv:2401.04088, §2.1).
//
//	out = exp(x − max x) / Σ_top exp(x − max x) among the top k, else 0
//	dx = out·(g − Σ g·out)
func routeLayer() layer {
	return layer{kind: Route, operands: []string{"logits"}, least: 1,
		attributes: []attribute{count("k")},
		result:     routeShape,
		bound:      routeBound,
		flops:      func(_ *Op, in []Tensor) int64 { return 5 * in[0].Shape.Elements() },
		rows: func(_ *Op, in []Tensor) (int64, []int) {
			n, _ := matrix(in[0].Shape)
			return n, nil
		},
		apply: func(c *computation) []float64 {
			out := make([]float64, len(c.in[0]))
			c.eachRow(func(i, n int) { c.route(out[i*n:][:n], c.in[0][i*n:][:n]) })
			return out
		},
		gradient: func(c *computation, _ int, g []float64) []float64 {
			out := make([]float64, len(c.in[0]))
			c.eachRow(func(i, n int) {
				p, g := out[i*n:][:n], g[i*n:][:n]
				c.route(p, c.in[0][i*n:][:n])
				along := dot(g, p)
				for j := range p {
					p[j] = float64(p[j] * (g[j] - along))
				}
			})
			return out
		}}
}

// routeShape checks the logits of a route.
func routeShape(o *Op, in []Tensor) (collective.Shape, error) {
	shape, err := rowsOf(o, in[0])
	if err != nil {
		return nil, err
	}
	if k, experts := o.Attribute("k"), shape[len(shape)-1]; k < 1 || k > float64(experts) {
		return nil, o.fail("k", k, fmt.Sprintf("a whole number from 1 to %d, the columns of %s, is "+
			"expected", experts, in[0].called("logits")))
	}
	return shape, nil
}

// route sets p, which is 0, to the weights of a row.
func (c *computation) route(p, x []float64) {
	order := make([]int, len(x))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] > x[b]:
			return -1
		case x[a] < x[b]:
			return 1
		}
		return 0
	})
	top := order[:int(c.op.Attribute("k"))]
	slices.Sort(top)
	chosen := make([]float64, len(top))
	for i, j := range top {
		chosen[i] = x[j]
	}
	weights := make([]float64, len(top))
	softmax(weights, chosen)
	for i, j := range top {
		p[j] = weights[i]
	}
}
