package kernel

import "math"

// Bounds of rms_norm and layer_norm (see bounding).
//
// Mean. A sum in any order is off by n·u·Σ|x|, and Welford's running mean by
// (n + 3 + 3·H_n)·u·Σ|x|/n, H_n ≤ 1 + ln n: m_k = m_{k−1} + (x_k − m_{k−1})/k rounds |m_k| once and
// |x_k − m_{k−1}|/k three times; a share k/n of it reaches the mean; and |m_k| ≤ Σ_{i≤k}|x_i|/k.
//
// Variance. By a mean that is ε off, Σ(x − μ)² is off by n·ε², and by the roundings of its terms.
// Welford's M_k = M_{k−1} + (x_k − m_{k−1})·(x_k − m_k) is off by what its factors are,
// e_k ≤ 5·u·S, S = Σ_{i≤n}|x_i|: Σ(|x_k − m_{k−1}| + |x_k − m_k|)·e_k ≤ 2·√(2M)·√(Σ e_k²) by Cauchy
// and Schwarz, since Σ_{k≥2}(x_k − m_{k−1})² ≤ 2M. So σ² = M/n is off by 15·u·S·σ + 25·u²·S²: the
// n·κ·u of Chan, Golub and LeVeque ("Algorithms for Computing the Sample Variance", The American
// Statistician 37, 1983) with a constant. Σx² − n·μ² loses n·κ²·u, and is not covered.
//
// Both (x − μ)·r and x·r − μ·r are covered, the latter is off by 3u·r·(|x| + |μ|). For a
// gradient the statistics are kept in the type of x, as PyTorch does on CPUs. The normed row is
// kept in that type where the weight is another kernel's, as in Hugging Face's Llama.

// A normedRow is a row of a norm with bounds: the elements without weight and bias, r, and
// magnitudes r·(|x| + |μ|).
type normedRow struct {
	h    []approx
	r    approx
	size []float64
}

// normed bounds a row of n elements of the first operand.
func (b *bounding) normed(i, n int) normedRow {
	x, mean := b.row(0, i, n), approx{}
	if b.op.Kind == LayerNorm {
		mean = b.mean(x)
	}
	row := normedRow{h: make([]approx, n), size: make([]float64, n)}
	row.r = b.root(b.variance(x, mean))
	if b.by >= 0 {
		row.r, mean = b.stored(row.r), b.stored(mean)
	}
	for j, a := range x {
		d := approx{a.x - mean.x, a.off + mean.off}
		row.size[j] = float64((math.Abs(a.x) + math.Abs(mean.x) + d.off) * (row.r.x + row.r.off))
		h := b.p.times(d, row.r)
		h.off += float64(3 * float64(b.p.u*row.size[j]))
		row.h[j] = b.stored(h)
	}
	return row
}

// mean bounds the mean of a row.
func (b *bounding) mean(x []approx) approx {
	total, off, size := totals(x)
	n := float64(len(x))
	return b.p.within(total/n, off/n+float64((n+6+float64(3*math.Log(n)))*float64(b.p.u*size/n)), 1)
}

// variance bounds the mean square of a row's distances to a mean, which is 0 of rms_norm.
func (b *bounding) variance(x []approx, mean approx) approx {
	squares, n := make([]approx, len(x)), float64(len(x))
	for j, a := range x {
		d, off := a.x-mean.x, a.off+mean.off
		squares[j] = b.p.rounded(float64(d*d),
			float64(2*float64(math.Abs(d)*a.off))+float64(off*off))
	}
	total, off, size := totals(squares)
	v := b.p.over(b.p.summed(total, off, size, len(x)+4), approx{x: n})
	if b.op.Kind == LayerNorm {
		_, _, size = totals(x)
		if !(float64(size*size) <= b.p.most) { // Welford's squares of what is first may overflow
			return approx{v.x, math.NaN()}
		}
		lost := float64(b.p.u * size)
		v.off += float64(15*float64(lost*math.Sqrt(v.x))) + float64(25*float64(lost*lost))
	}
	return v
}

// root bounds 1/√(v + ε), by rsqrtf or by a root and a quotient.
func (b *bounding) root(v approx) approx {
	eps := b.op.Attributes[eps]
	of := func(v float64) float64 { return 1 / math.Sqrt(max(v, 0)+eps) }
	r := of(v.x)
	off := max(of(v.x-v.off)-r, r-of(v.x+v.off))
	return b.p.within(r, off, 2+rootError+quotient)
}

// totals returns the sums of numbers, of their bounds, and of their magnitudes.
func totals(list []approx) (total, off, size float64) {
	for _, a := range list {
		total += a.x
		off += a.off
		size += math.Abs(a.x) + a.off
	}
	return total, off, size
}

// normWeight returns the weight of a column.
func (b *bounding) normWeight(j int) approx {
	if n := len(b.in); n < 2 || b.by >= 0 && n < 3 {
		return approx{x: 1}
	}
	return b.at(1, j)
}

// normBound bounds the result, or the gradient by an operand.
func normBound(b *bounding) []approx {
	if b.by > 0 {
		return b.normColumns()
	}
	out := make([]approx, len(b.in[0]))
	b.eachRowOf(func(i, n int) {
		row := b.normed(i, n)
		if b.by == 0 {
			b.unNorm(out[i*n:][:n], &row, i)
			return
		}
		for j, h := range row.h {
			y := b.p.times(h, b.normWeight(j))
			if len(b.in) > 2 {
				y = b.p.plus(y, b.at(2, j))
			}
			out[i*n+j] = y
		}
	})
	return out
}

// normColumns bounds the gradients by weight and bias: sums over rows, of products that are kept.
// PyTorch adds them up in the type of the result on CPUs.
func (b *bounding) normColumns() []approx {
	n, g := len(b.in[b.by]), b.gradient()
	rows := len(b.in[0]) / n
	all := make([]normedRow, rows)
	if b.by == 1 {
		b.eachRowOf(func(i, n int) { all[i] = b.normed(i, n) })
	}
	out, terms := make([]approx, n), make([]approx, rows)
	for j := range out {
		for i := range rows {
			terms[i] = b.at(g, i*n+j)
			if b.by == 1 {
				terms[i] = b.stored(b.p.times(terms[i], all[i].h[j]))
			}
		}
		out[j] = b.p.sum(terms)
		_, _, size := totals(terms)
		out[j].off += float64(float64(float64(rows-1)*b.kept) * size)
	}
	return out
}

// unNorm sets out to the gradient by a row of x: r·(g·w − Σ(g·w)/n − h·Σ(g·w·h)/n). The last sum
// may be that of g·w·x less that of g·w·μ, times r³, which may underflow.
func (b *bounding) unNorm(out []approx, row *normedRow, i int) {
	p, n := b.p, len(out)
	gw, products, size := make([]approx, n), make([]approx, n), 0.0
	for j := range gw {
		gw[j] = b.stored(p.times(b.at(b.gradient(), i*n+j), b.normWeight(j)))
		products[j] = p.times(gw[j], row.h[j])
		size += float64((math.Abs(gw[j].x) + gw[j].off) * row.size[j])
	}
	total, off, _ := totals(products)
	along := p.over(p.summed(total, off, size, n+4), approx{x: float64(n)})
	mean := approx{}
	if b.op.Kind == LayerNorm {
		mean = p.over(p.sum(gw), approx{x: float64(n)})
	}
	cubed := p.least / float64(row.r.x*row.r.x)
	for j := range out {
		out[j] = p.times(row.r, p.minus(p.minus(gw[j], mean), p.times(row.h[j], along)))
		terms := math.Abs(gw[j].x) + math.Abs(mean.x) + float64(math.Abs(along.x)*row.size[j])
		out[j].off += float64(6*float64(p.u*float64(row.r.x*terms))) +
			float64(cubed*float64(math.Abs(along.x)*row.size[j]))
	}
}
