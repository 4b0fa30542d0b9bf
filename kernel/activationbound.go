package kernel

import "math"

// Bounds of activations (see bounding). Their formulas are those of activation.go, evaluated with
// bounds.

// activationBound returns the bound of a function of one number, by its value and its derivative.
func activationBound(of, slope func(b *bounding, x approx) approx) func(*bounding) []approx {
	return func(b *bounding) []approx {
		return b.each(func(i int) approx {
			if b.by < 0 {
				return of(b, b.at(0, i))
			}
			return b.p.times(b.at(1, i), slope(b, b.at(0, i)))
		})
	}
}

// halved returns x/2, which is exact.
func halved(a approx) approx { return approx{a.x / 2, a.off / 2} }

// geluBound bounds x/2·(1 + erf(x/√2)), or with tanh x/2·(1 + tanh u).
func geluBound(b *bounding, x approx) approx {
	p := b.p
	if b.op.Attributes[0] == 1 {
		return p.times(halved(x), p.plus(approx{x: 1}, bentBound(p, x)))
	}
	return p.times(halved(x), p.plus(approx{x: 1}, erfBound(p, x)))
}

// erfBound bounds erf(x/√2), whose error is of 1.
func erfBound(p precision, x approx) approx {
	y := p.apply(erf, p.times(x, p.constant(1/math.Sqrt2)), 0)
	return approx{y.x, y.off + float64(erfError*p.u)}
}

// bentBound bounds the tanh of the approximation of gelu. Beyond 8 it is 1 to the last bit, also
// where the cube overflows.
func bentBound(p precision, x approx) approx {
	cube := p.times(p.times(x, x), x)
	inner := p.times(p.constant(math.Sqrt(2/math.Pi)), p.plus(x, p.times(p.constant(cubic), cube)))
	if math.Abs(x.x)-x.off > 8 {
		return approx{x: math.Copysign(1, x.x)}
	}
	return p.apply(tanh, inner, tanhError)
}

// geluSlopeBound bounds the derivative.
func geluSlopeBound(b *bounding, x approx) approx {
	p, one := b.p, approx{x: 1}
	square := p.times(x, x)
	if b.op.Attributes[0] == 1 {
		t := bentBound(p, x)
		inner := p.times(p.constant(math.Sqrt(2/math.Pi)),
			p.plus(one, p.times(p.constant(3*cubic), square)))
		bend := p.minus(one, p.times(t, t))
		return p.plus(halved(p.plus(one, t)), p.times(p.times(halved(x), bend), inner))
	}
	power := p.exp(approx{-square.x / 2, square.off / 2})
	density := p.times(power, p.constant(1/math.Sqrt(2*math.Pi)))
	return p.plus(halved(p.plus(one, erfBound(p, x))), p.times(x, density))
}

// siluBound bounds x·σ(x), and x/(1 + e^−x).
func siluBound(b *bounding, x approx) approx { return b.p.times(x, b.p.sigmoid(x)) }

// siluSlopeBound bounds σ(x)·(1 + x·(1 − σ(x))).
func siluSlopeBound(b *bounding, x approx) approx {
	p, s := b.p, b.p.sigmoid(x)
	one := approx{x: 1}
	return p.times(s, p.plus(one, p.times(x, p.minus(one, s))))
}

// reluBound bounds max(x, 0), and its gradient, which are exact: where x may be on either side of
// 0, the gradient may be 0 or not.
func reluBound(b *bounding) []approx {
	return b.each(func(i int) approx {
		x := b.at(0, i)
		if b.by < 0 {
			return approx{max(x.x, 0), x.off}
		}
		g := b.at(1, i)
		switch {
		case x.off > 0 && math.Abs(x.x) <= x.off:
			return approx{g.x, math.Abs(g.x) + g.off}
		case x.x > 0:
			return g
		}
		return approx{}
	})
}

// swigluBound bounds silu(gate)·up, and its gradients. Where two kernels compute it, silu(gate) and
// its gradient g·up are kept in the type of the tensors.
func swigluBound(b *bounding) []approx {
	p := b.p
	return b.each(func(i int) approx {
		gate, up := b.at(0, i), b.at(1, i)
		switch b.by {
		case 0:
			return p.times(b.stored(p.times(b.at(2, i), up)), siluSlopeBound(b, gate))
		case 1:
			return p.times(b.at(2, i), b.stored(siluBound(b, gate)))
		}
		return p.times(b.stored(siluBound(b, gate)), up)
	})
}
