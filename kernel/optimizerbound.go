package kernel

import "math"

// Bounds of steps of optimizers and of the gradient of embedding (see bounding). Numbers of the
// scenario, and what is computed of them alone, are in the precision of the step at worst.

// byElementBound returns the bound of a step, element by element.
func byElementBound(of func(b *bounding, i int) approx) func(*bounding) []approx {
	return func(b *bounding) []approx {
		return b.each(func(i int) approx { return of(b, i) })
	}
}

// sgdBound bounds p − lr·(g + weight_decay·p). The sum is kept in the type of g where kernels of
// their own compute it, and so are lr and the product by PyTorch on CPUs.
func sgdBound(b *bounding, i int) approx {
	p, x, g := b.p, b.at(0, i), b.at(1, i)
	lr, decay := p.constant(b.op.Attributes[0]), p.constant(b.op.Attributes[1])
	if decay.x != 0 {
		g = b.stored(p.plus(g, p.times(decay, x)))
	}
	return p.minus(x, b.stored(p.times(b.stored(lr), g)))
}

// momentBound returns the bound of β·m + (1 − β)·f(g), where the first product is kept in the type
// of m if a kernel of its own computes it, and of PyTorch's lerp, m + (1 − β)·(f(g) − m).
func momentBound(f func(p precision, g approx) approx) func(b *bounding, i int) approx {
	return func(b *bounding, i int) approx {
		p, m, g := b.p, b.at(0, i), f(b.p, b.at(1, i))
		beta := p.constant(b.op.Attributes[0])
		rest := p.minus(approx{x: 1}, beta)
		y := p.plus(b.stored(p.times(beta, m)), p.times(rest, g))
		y.off += float64(2 * float64(p.u*float64((rest.x+rest.off)*(math.Abs(m.x)+math.Abs(g.x)+g.off))))
		return y
	}
}

// adamBound bounds p − lr·(m/(1 − β1^t) / (√(v/(1 − β2^t)) + ε) + weight_decay·p), and PyTorch's
// p·(1 − lr·weight_decay) − (lr/(1 − β1^t))·m / (√v/√(1 − β2^t) + ε). Where kernels of their own
// compute it, each root, quotient and sum of the divisor is kept in the type of p, and so is the
// first product.
func adamBound(b *bounding, i int) approx {
	p, a := b.p, &b.op.Attributes
	x, m, v := b.at(0, i), b.at(1, i), b.at(2, i)
	lr, decay := p.constant(a[adamLR]), p.constant(a[adamDecay])
	root := p.apply(func(x float64) float64 { return math.Sqrt(max(x, 0)) }, v, rootError)
	if v.x < 0 {
		root = approx{math.NaN(), math.NaN()}
	}
	unbiased := p.apply(math.Sqrt, p.correction(a[adamBeta2], a[adamStep]), rootError)
	root = b.stored(p.over(b.stored(root), unbiased))
	divisor := b.stored(p.plus(root, p.constant(a[adamEps])))
	step := p.times(p.over(lr, p.correction(a[adamBeta1], a[adamStep])), p.over(m, divisor))
	if decay.x != 0 {
		x = b.stored(p.times(x, p.minus(approx{x: 1}, p.times(lr, decay))))
	}
	return p.minus(x, step)
}

// correction bounds 1 − β^t, by powf or by squaring.
func (p precision) correction(beta, t float64) approx {
	y := power(beta, int64(t))
	return p.minus(approx{x: 1}, p.within(y, float64(y*math.Expm1(float64(2*p.u*t))), powError))
}

// embeddingBound bounds rows of a table, which are copies, and the gradient by it: what is added up
// of the same id may be in the type of the result, as by atomics.
func embeddingBound(b *bounding) []approx {
	if b.by < 0 {
		return movedBound(b)
	}
	n, g := int(b.shapes[1][1]), b.gradient()
	out, sizes := make([]approx, len(b.in[1])), make([]float64, len(b.in[1]))
	counts := make([]float64, b.shapes[1][0])
	for i, id := range b.in[0] {
		row := modulo(id, int(b.shapes[1][0]))
		counts[row]++
		for j := range n {
			a, at := b.at(g, i*n+j), row*n+j
			out[at].x += a.x
			out[at].off += a.off
			sizes[at] += math.Abs(a.x) + a.off
		}
	}
	for at := range out {
		times := counts[at/n] - 1
		if times > 0 { // one alone is a copy
			out[at].off += float64(float64(times*(b.kept+b.p.u))*sizes[at]) + b.p.least
		}
	}
	return out
}
