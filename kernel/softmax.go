package kernel

import (
	"fmt"
	"math"

	"collsim/collective"
)

// softmaxLayer returns the row of softmax, along the last axis.
//
//	out = exp(x − max x) / Σ exp(x − max x)
//	dx = out·(g − Σ g·out)
func softmaxLayer() layer {
	return layer{kind: Softmax, operands: []string{"x"}, least: 1, bound: softmaxBound,
		result: func(o *Op, in []Tensor) (collective.Shape, error) { return rowsOf(o, in[0]) },
		flops:  func(_ *Op, in []Tensor) int64 { return 5 * in[0].Shape.Elements() },
		rows: func(_ *Op, in []Tensor) (int64, []int) {
			n, _ := matrix(in[0].Shape)
			return n, nil
		},
		apply: func(c *computation) []float64 {
			out := make([]float64, len(c.in[0]))
			c.eachRow(func(i, n int) { softmax(out[i*n:][:n], c.in[0][i*n:]) })
			return out
		},
		gradient: func(c *computation, _ int, g []float64) []float64 {
			out := make([]float64, len(c.in[0]))
			c.eachRow(func(i, n int) {
				p, g := out[i*n:][:n], g[i*n:][:n]
				softmax(p, c.in[0][i*n:])
				along := dot(g, p)
				for j := range p {
					p[j] = float64(p[j] * (g[j] - along))
				}
			})
			return out
		}}
}

// rowsOf returns the shape of a tensor that has rows of at least one element.
func rowsOf(o *Op, t Tensor) (collective.Shape, error) {
	if len(t.Shape) == 0 || t.Shape[len(t.Shape)-1] == 0 {
		return nil, o.fail("the shape of "+t.called("x"), t.Shape, "rows of at least one element are "+
			"expected")
	}
	return t.Shape, nil
}

// softmax sets p to the softmax of as many numbers, and returns the largest and the sum of powers.
func softmax(p, x []float64) (most, sum float64) {
	most = math.Inf(-1)
	for j := range p {
		most = max(most, x[j])
	}
	for j := range p {
		p[j] = exp(x[j] - most)
		sum += p[j]
	}
	for j := range p {
		p[j] /= sum
	}
	return most, sum
}

// crossEntropyLayer returns the row of cross_entropy: the mean loss of rows of logits, in one
// element. Targets are the place of the right column, one for each row, modulo the number of
// columns.
//
//	loss = (Σ_rows ln Σ exp(x − max x) − (x[target] − max x)) / rows
//	dx = (softmax(x) − (1 at target)) / rows · g
func crossEntropyLayer() layer {
	return layer{kind: CrossEntropy, operands: []string{"logits", "targets"}, least: 2,
		integers: []int{1},
		bound:    crossEntropyBound,
		result:   lossShape,
		flops:    func(_ *Op, in []Tensor) int64 { return 4 * in[0].Shape.Elements() },
		apply: func(c *computation) []float64 {
			losses := make([]float64, len(c.in[1]))
			c.eachRow(func(i, n int) {
				x := c.in[0][i*n:][:n]
				most, sum := softmax(make([]float64, n), x)
				losses[i] = ln(sum) - (x[modulo(c.in[1][i], n)] - most)
			})
			total := 0.0
			for _, x := range losses {
				total += x
			}
			return []float64{total / float64(len(losses))}
		},
		gradient: func(c *computation, _ int, g []float64) []float64 {
			out := make([]float64, len(c.in[0]))
			c.eachRow(func(i, n int) {
				p := out[i*n:][:n]
				softmax(p, c.in[0][i*n:])
				p[modulo(c.in[1][i], n)]--
				for j := range p {
					p[j] = float64(p[j] / float64(len(c.in[1])) * g[0])
				}
			})
			return out
		}}
}

// lossShape checks the operands of a loss, and returns the shape of one element.
func lossShape(o *Op, in []Tensor) (collective.Shape, error) {
	if _, err := rowsOf(o, in[0]); err != nil {
		return nil, err
	}
	rows, _ := matrix(in[0].Shape)
	if rows == 0 || in[1].Shape.Elements() != rows {
		return nil, o.fail("the shape of "+in[1].called("targets"), in[1].Shape, fmt.Sprintf(
			"one for each of %d rows of %s, at least one, is expected", rows, in[0].called("logits")))
	}
	return collective.Shape{1}, nil
}

// modulo returns a whole number modulo n, from 0.
func modulo(x float64, n int) int {
	m := int64(x) % int64(n)
	if m < 0 {
		m += int64(n)
	}
	return int(m)
}
