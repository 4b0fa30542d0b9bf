package kernel

import (
	"math"

	"collsim/collective"
)

// Steps of optimizers, element by element, without gradients of their own. g is the gradient.

// sgdLayer returns the row of sgd: p − lr·(g + weight_decay·p).
func sgdLayer() layer {
	l := step(SGD, 4, []string{"p", "g"}, []attribute{{name: "lr", most: math.MaxFloat64,
		otherwise: 0.01}, {name: "weight_decay", most: 1}},
		func(c *computation, i int) float64 {
			p, lr, decay := c.in[0][i], c.op.Attributes[0], c.op.Attributes[1]
			return p - float64(lr*(c.in[1][i]+float64(decay*p)))
		})
	l.bound = byElementBound(sgdBound)
	return l
}

// Adam's step (Kingma and Ba, "Adam", 2015, with the weight decay of Loshchilov and Hutter,
// "Decoupled Weight Decay Regularization", 2019) has three results, each a kernel here: adam_m and
// adam_v the new moments, and adam with them the new parameters. On a GPU they are one kernel, so
// what one of them has read, or computed, costs another nothing: g is read by adam_m alone, and the
// moments are not read again.
//
//	m′ = β1·m + (1 − β1)·g;  v′ = β2·v + (1 − β2)·g²
//	p′ = p − lr·((m′/(1 − β1^t)) / (√(v′/(1 − β2^t)) + ε) + weight_decay·p), t = step

// adamMLayer returns the row of the first moment.
func adamMLayer() layer {
	l := moment(AdamM, "m", attribute{name: "beta1", most: 1, otherwise: 0.9},
		func(g float64) float64 { return g })
	l.bound = byElementBound(momentBound(func(_ precision, g approx) approx { return g }))
	l.reads = first(2)
	return l
}

// adamVLayer returns the row of the second moment.
func adamVLayer() layer {
	l := moment(AdamV, "v", attribute{name: "beta2", most: 1, otherwise: 0.999},
		func(g float64) float64 { return float64(g * g) })
	l.bound = byElementBound(momentBound(func(p precision, g approx) approx { return p.times(g, g) }))
	l.reads = first(1)
	return l
}

// moment returns the row of a moving average of a function of the gradient.
func moment(kind Kind, of string, beta attribute, f func(float64) float64) layer {
	return step(kind, 3, []string{of, "g"}, []attribute{beta},
		func(c *computation, i int) float64 {
			b := c.op.Attributes[0]
			return float64(b*c.in[0][i]) + float64((1-b)*f(c.in[1][i]))
		})
}

// The attributes of adam.
const (
	adamLR = iota
	adamBeta1
	adamBeta2
	adamEps
	adamDecay
	adamStep
)

// adamLayer returns the row of the new parameters.
func adamLayer() layer {
	l := step(Adam, 12, []string{"p", "m", "v"}, []attribute{
		{name: "lr", most: math.MaxFloat64, otherwise: 0.001}, {name: "beta1", most: 1, otherwise: 0.9},
		{name: "beta2", most: 1, otherwise: 0.999}, {name: "eps", most: 1, otherwise: 1e-8},
		{name: "weight_decay", most: 1}, {name: "step", whole: true, least: 1, most: maxWhole,
			otherwise: 1}},
		func(c *computation, i int) float64 {
			a, p := &c.op.Attributes, c.in[0][i]
			m := c.in[1][i] / (1 - power(a[adamBeta1], int64(a[adamStep])))
			v := c.in[2][i] / (1 - power(a[adamBeta2], int64(a[adamStep])))
			moved := m/(math.Sqrt(v)+a[adamEps]) + float64(a[adamDecay]*p)
			return p - float64(a[adamLR]*moved)
		})
	l.bound = byElementBound(adamBound)
	l.reads = first(1)
	return l
}

// first returns a function that counts the bytes of the first n operands.
func first(n int) func(*Op, []Tensor) int64 {
	return func(_ *Op, in []Tensor) (sum int64) {
		for _, t := range in[:n] {
			sum += t.Bytes()
		}
		return sum
	}
}

// power returns x^n by squaring.
func power(x float64, n int64) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			y = float64(y * x)
		}
		x = float64(x * x)
	}
	return y
}

// step returns the row of an optimizer's step on tensors of one shape; flops are per element.
func step(kind Kind, flops int64, operands []string, attributes []attribute,
	of func(c *computation, i int) float64) layer {
	return layer{kind: kind, operands: operands, least: len(operands), attributes: attributes,
		result: func(o *Op, in []Tensor) (collective.Shape, error) { return alike(o, in) },
		rows:   byElement,
		flops:  func(_ *Op, in []Tensor) int64 { return flops * in[0].Shape.Elements() },
		apply: func(c *computation) []float64 {
			return c.each(func(i int) float64 { return of(c, i) })
		}}
}
