package kernel

import (
	"fmt"
	"math"

	"collsim/collective"
	"collsim/internal/parallel"
)

// Norms of rows, which are along the last axis. Sums ascend. ε is the attribute eps.

const eps = 0

// rmsNormLayer returns the row of rms_norm (Zhang and Sennrich, "Root Mean Square Layer
// Normalization", 2019): of x and a weight, which may be left out.
//
//	r = 1 / √(Σ x² / n + ε);  out = x·r·w
//	dx = r·g·w − x·r³·(Σ g·w·x) / n;  dw = Σ_rows g·x·r
func rmsNormLayer() layer {
	l := normLayer(RMSNorm, []string{"x", "weight"}, 1e-6, 4)
	l.apply = func(c *computation) []float64 { return c.norm(false) }
	l.gradient = func(c *computation, by int, g []float64) []float64 { return c.unNorm(by, g, false) }
	return l
}

// layerNormLayer returns the row of layer_norm (Ba, Kiros and Hinton, "Layer Normalization", 2016):
// of x, a weight and a bias; the bias may be left out, or both.
//
//	μ = Σ x / n;  r = 1 / √(Σ (x − μ)² / n + ε);  h = (x − μ)·r;  out = h·w + b
//	dx = r·(g·w − (Σ g·w) / n − h·(Σ g·w·h) / n);  dw = Σ_rows g·h;  db = Σ_rows g
func layerNormLayer() layer {
	l := normLayer(LayerNorm, []string{"x", "weight", "bias"}, 1e-5, 7)
	l.apply = func(c *computation) []float64 { return c.norm(true) }
	l.gradient = func(c *computation, by int, g []float64) []float64 { return c.unNorm(by, g, true) }
	return l
}

// normLayer returns what norms have in common; their FLOPs are per element, and twice as many
// backward.
func normLayer(kind Kind, operands []string, epsilon float64, flops int64) layer {
	return layer{kind: kind, operands: operands, least: 1, bound: normBound,
		attributes: []attribute{{name: "eps", most: 1, otherwise: epsilon}},
		flops: func(o *Op, in []Tensor) int64 {
			return flops * min(int64(o.Gradient)+1, 2) * in[0].Shape.Elements()
		},
		rows: func(o *Op, in []Tensor) (int64, []int) {
			if n, _ := matrix(in[0].Shape); o.Gradient == 0 {
				return n, []int{1, 2}
			}
			return 1, nil
		},
		result: func(o *Op, in []Tensor) (collective.Shape, error) {
			x := in[0]
			if len(x.Shape) == 0 || x.Shape[len(x.Shape)-1] == 0 {
				return nil, o.fail("the shape of "+x.called("x"), x.Shape, "rows of at least one element "+
					"are expected")
			}
			n := x.Shape[len(x.Shape)-1]
			for i, t := range in[1:] {
				if len(t.Shape) != 1 || t.Shape[0] != n {
					return nil, o.fail("the shape of "+t.called(operands[i+1]), t.Shape,
						fmt.Sprintf("%d, as a row of %s has, is expected", n, x.called("x")))
				}
			}
			return x.Shape, nil
		}}
}

// A row of a norm: its elements, what is subtracted from them, and what they are multiplied by.
type normed struct {
	x        []float64
	mean, by float64
}

// row returns a row of the first operand, with its mean if it is centred.
func (c *computation) row(i int, centred bool) (r normed) {
	n := int(c.shapes[0][len(c.shapes[0])-1])
	r.x = c.in[0][i*n:][:n]
	if centred {
		for _, x := range r.x {
			r.mean += x
		}
		r.mean /= float64(n)
	}
	square := 0.0
	for _, x := range r.x {
		d := x - r.mean
		square += float64(d * d)
	}
	r.by = 1 / math.Sqrt(square/float64(n)+c.op.Attributes[eps])
	return r
}

// at returns an element of the norm, without weight and bias.
func (r *normed) at(j int) float64 { return float64((r.x[j] - r.mean) * r.by) }

// weight returns the weight of a column; 1 without weights.
func (c *computation) weight(j int) float64 {
	if len(c.in) < 2 {
		return 1
	}
	return c.in[1][j]
}

// norm returns the result.
func (c *computation) norm(centred bool) []float64 {
	out := make([]float64, len(c.in[0]))
	c.eachRow(func(i, n int) {
		r := c.row(i, centred)
		for j := range n {
			y := float64(r.at(j) * c.weight(j))
			if len(c.in) > 2 {
				y += c.in[2][j]
			}
			out[i*n+j] = y
		}
	})
	return out
}

// eachRow calls a function for each row of the first operand, several at once, with the length of
// a row.
func (c *computation) eachRow(do func(i, n int)) {
	n := int(c.shapes[0][len(c.shapes[0])-1])
	parallel.Each(len(c.in[0])/n, func() func(i int) { return func(i int) { do(i, n) } })
}

// unNorm returns the gradient by an operand.
func (c *computation) unNorm(by int, g []float64, centred bool) []float64 {
	out := make([]float64, len(c.in[by]))
	if by > 0 { // row after row
		n := len(out)
		for i := range len(c.in[0]) / n {
			r := c.row(i, centred)
			for j := range out {
				if by == 1 {
					out[j] += float64(g[i*n+j] * r.at(j))
				} else {
					out[j] += g[i*n+j]
				}
			}
		}
		return out
	}
	c.eachRow(func(i, n int) {
		r := c.row(i, centred)
		sum, along := 0.0, 0.0
		for j := range n {
			gw := float64(g[i*n+j] * c.weight(j))
			sum += gw
			along += float64(gw * r.at(j))
		}
		if sum /= float64(n); !centred {
			sum = 0
		}
		along /= float64(n)
		for j := range n {
			gw := float64(g[i*n+j] * c.weight(j))
			out[i*n+j] = float64((gw - sum - float64(r.at(j)*along)) * r.by)
		}
	})
	return out
}
