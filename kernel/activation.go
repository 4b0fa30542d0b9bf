package kernel

import (
	"fmt"
	"math"

	"collsim/collective"
)

// Activations, element by element. The gradient by x is g times the derivative.

// geluLayer returns the row of gelu (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016),
// as PyTorch has it: x·(1 + erf(x/√2))/2, or with the attribute tanh the approximation
// x·(1 + tanh u)/2, u = √(2/π)·(x + 0.044715·x³).
func geluLayer() layer {
	l := activation(GELU, 8, gelu, geluSlope)
	l.bound = activationBound(geluBound, geluSlopeBound)
	l.attributes = []attribute{{name: "tanh", flag: true}}
	return l
}

// siluLayer returns the row of silu: x·σ(x), whose derivative is σ(x)·(1 + x·(1 − σ(x))).
func siluLayer() layer {
	l := activation(SiLU, 4, func(_ *Op, x float64) float64 { return silu(x) },
		func(_ *Op, x float64) float64 { return siluSlope(x) })
	l.bound = activationBound(siluBound, siluSlopeBound)
	return l
}

// reluLayer returns the row of relu: max(x, 0), whose derivative at 0 is 0. Where it is 0 the
// gradient is +0, as PyTorch's is, whatever sign g has.
func reluLayer() layer {
	l := activation(ReLU, 1, func(_ *Op, x float64) float64 { return max(x, 0) }, nil)
	l.bound = reluBound
	l.gradient = func(c *computation, _ int, g []float64) []float64 {
		return c.each(func(i int) float64 {
			switch x := c.in[0][i]; {
			case x > 0:
				return g[i]
			case math.IsNaN(x):
				return x
			}
			return 0
		})
	}
	return l
}

func silu(x float64) float64 { return float64(x * sigmoid(x)) }

func siluSlope(x float64) float64 {
	s := sigmoid(x)
	return float64(s * (1 + float64(x*(1-s))))
}

// cubic is the factor of x³ in the approximation of gelu.
const cubic = 0.044715

// bent returns the tanh of the approximation of gelu.
func bent(x float64) float64 {
	cube := float64(float64(x*x) * x)
	return tanh(float64(math.Sqrt(2/math.Pi) * (x + float64(cubic*cube))))
}

func gelu(o *Op, x float64) float64 {
	if o.Attributes[0] == 1 {
		return float64(float64(x/2) * (1 + bent(x)))
	}
	return float64(float64(x/2) * (1 + erf(x/math.Sqrt2)))
}

func geluSlope(o *Op, x float64) float64 {
	square := float64(x * x)
	if o.Attributes[0] == 1 {
		t := bent(x)
		inner := float64(math.Sqrt(2/math.Pi) * (1 + float64(3*cubic*square)))
		return (1+t)/2 + float64(float64(float64(x/2)*(1-float64(t*t)))*inner)
	}
	density := exp(-square/2) / math.Sqrt(2*math.Pi)
	return (1+erf(x/math.Sqrt2))/2 + float64(x*density)
}

// activation returns the row of a function of one number, and its derivative.
func activation(kind Kind, flops int64, of, slope func(o *Op, x float64) float64) layer {
	return layer{kind: kind, operands: []string{"x"}, least: 1, rows: byElement,
		result: func(_ *Op, in []Tensor) (collective.Shape, error) { return in[0].Shape, nil },
		flops: func(o *Op, in []Tensor) int64 {
			return (flops + 2*min(int64(o.Gradient), 1)) * in[0].Shape.Elements()
		},
		apply: func(c *computation) []float64 {
			return c.each(func(i int) float64 { return of(c.op, c.in[0][i]) })
		},
		gradient: func(c *computation, _ int, g []float64) []float64 {
			return c.each(func(i int) float64 { return float64(g[i] * slope(c.op, c.in[0][i])) })
		}}
}

// byElement says that each element depends on one of each operand.
func byElement(_ *Op, in []Tensor) (int64, []int) { return in[0].Shape.Elements(), nil }

// each computes as many elements as the first operand has, in parallel.
func (c *computation) each(of func(i int) float64) []float64 {
	out := make([]float64, len(c.in[0]))
	parts(len(out), func() func(at, n int) {
		return func(at, n int) {
			for i := at; i < at+n; i++ {
				out[i] = of(i)
			}
		}
	})
	return out
}

// swigluLayer returns the row of swiglu (Shazeer, "GLU Variants Improve Transformer", 2020), of two
// tensors of one shape: silu(gate)·up. The gradient by gate is g·up·silu′(gate), by up
// g·silu(gate).
func swigluLayer() layer {
	return layer{kind: SwiGLU, operands: []string{"gate", "up"}, least: 2, rows: byElement,
		result: alike, bound: swigluBound,
		flops: func(o *Op, in []Tensor) int64 {
			return (5 + 2*min(int64(o.Gradient), 1)) * in[0].Shape.Elements()
		},
		apply: func(c *computation) []float64 {
			return c.each(func(i int) float64 { return float64(silu(c.in[0][i]) * c.in[1][i]) })
		},
		gradient: func(c *computation, by int, g []float64) []float64 {
			return c.each(func(i int) float64 {
				if by == 1 {
					return float64(g[i] * silu(c.in[0][i]))
				}
				return float64(float64(g[i]*c.in[1][i]) * siluSlope(c.in[0][i]))
			})
		}}
}

// alike returns the shape that all operands have.
func alike(o *Op, in []Tensor) (collective.Shape, error) {
	for i, t := range in[1:] {
		if t.Shape.String() != in[0].Shape.String() {
			return nil, o.fail("the shape of "+t.called(o.nameOf(i+1, len(in))), t.Shape, fmt.Sprintf(
				"%v, as %s has, is expected", in[0].Shape, in[0].called(o.nameOf(0, len(in)))))
		}
	}
	return in[0].Shape, nil
}
