package kernel

import (
	"math"
	"slices"

	"collsim/internal/parallel"
)

// Bounds of softmax, cross_entropy and route (see bounding).

// eachRowOf calls a function for each row of the first operand, several at once.
func (b *bounding) eachRowOf(do func(i, n int)) {
	n := int(b.shapes[0][len(b.shapes[0])-1])
	parallel.Each(len(b.in[0])/n, func() func(i int) { return func(i int) { do(i, n) } })
}

// row returns n elements of a row of an operand.
func (b *bounding) row(operand, i, n int) []approx {
	list := make([]approx, n)
	for j := range list {
		list[j] = b.at(operand, i*n+j)
	}
	return list
}

// powersBound bounds the powers of a softmax, e^(x − max x), and their sum. Whatever number is
// subtracted is so from all of them: that it may be another one cancels out.
func powersBound(p precision, x []approx) (powers []approx, sum approx) {
	most := math.Inf(-1)
	for _, a := range x {
		most = max(most, a.x)
	}
	powers = make([]approx, len(x))
	for j, a := range x {
		if math.IsInf(a.x, -1) && a.off == 0 && !math.IsInf(most, 0) {
			continue // masked
		}
		powers[j] = p.exp(p.minus(a, approx{x: most}))
	}
	return powers, p.sum(powers)
}

// softmaxOf bounds a softmax.
func softmaxOf(p precision, x []approx) []approx {
	powers, sum := powersBound(p, x)
	for j := range powers {
		powers[j] = p.over(powers[j], sum)
	}
	return powers
}

// backOfSoftmax bounds out·(g − Σ g·out), where out is kept in the type of the tensors.
func (b *bounding) backOfSoftmax(out, g []approx) []approx {
	p := b.p
	products := make([]approx, len(out))
	for j := range out {
		out[j] = b.stored(out[j])
		products[j] = p.times(g[j], out[j])
	}
	along := p.sum(products)
	for j := range out {
		products[j] = p.times(out[j], p.minus(g[j], along))
	}
	return products
}

// softmaxBound bounds a softmax of rows, and its gradient.
func softmaxBound(b *bounding) []approx {
	out := make([]approx, len(b.in[0]))
	b.eachRowOf(func(i, n int) {
		row := softmaxOf(b.p, b.row(0, i, n))
		if b.by >= 0 {
			row = b.backOfSoftmax(row, b.row(1, i, n))
		}
		copy(out[i*n:], row)
	})
	return out
}

// routeBound bounds the weights of the k largest. Logits that are off may choose others: then there
// is no bound.
func routeBound(b *bounding) []approx {
	out, k := make([]approx, len(b.in[0])), int(b.op.Attribute("k"))
	b.eachRowOf(func(i, n int) {
		x := b.row(0, i, n)
		order := make([]int, n)
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, c int) int { return compareDown(x[a].x, x[c].x) })
		row := make([]approx, n)
		if isUnsure(x, order, k) {
			for j := range row {
				row[j].off = math.NaN()
			}
			copy(out[i*n:], row)
			return
		}
		chosen := make([]approx, k)
		for j, at := range order[:k] {
			chosen[j] = x[at]
		}
		for j, weight := range softmaxOf(b.p, chosen) {
			row[order[j]] = weight
		}
		if b.by >= 0 {
			row = b.backOfSoftmax(row, b.row(1, i, n))
		}
		copy(out[i*n:], row)
	})
	return out
}

// compareDown orders numbers, the largest first.
func compareDown(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// isUnsure reports whether others may be the k largest.
func isUnsure(x []approx, order []int, k int) bool {
	for _, in := range order[:k] {
		for _, out := range order[k:] {
			if a, c := x[in], x[out]; a.off+c.off > 0 && !(a.x-a.off > c.x+c.off) {
				return true
			}
		}
	}
	return false
}

// crossEntropyBound bounds the mean loss, and its gradient. The logarithm of a softmax,
// (x − max x) − ln Σ or x − (max x + ln Σ), is kept in the type of the logits, as PyTorch does; on
// CPUs Σ is, too, and the sum of the losses. The gradient has the power of that logarithm, and on
// CPUs each of its steps is kept in that type.
func crossEntropyBound(b *bounding) []approx {
	p, rows := b.p, len(b.in[1])
	losses, out := make([]approx, rows), make([]approx, len(b.in[0]))
	b.eachRowOf(func(i, n int) {
		x := b.row(0, i, n)
		logs := b.logSoftmax(x)
		at := modulo(b.in[1][i], n)
		losses[i] = b.stored(logs[at])
		losses[i].x = -losses[i].x
		if b.by < 0 {
			return
		}
		for j := range logs {
			y := b.stored(p.exp(b.stored(logs[j])))
			if j == at {
				y = p.minus(y, approx{x: 1})
			}
			each := b.stored(p.over(b.at(2, 0), approx{x: float64(rows)}))
			out[i*n+j] = b.stored(p.times(y, each))
		}
	})
	if b.by >= 0 {
		return out
	}
	total := p.sum(losses)
	_, _, size := totals(losses)
	total.off += float64(float64(float64(rows-1)*b.kept) * size)
	return []approx{p.over(total, approx{x: float64(rows)})}
}

// logSoftmax bounds the logarithms of a softmax.
func (b *bounding) logSoftmax(x []approx) []approx {
	p, most := b.p, math.Inf(-1)
	for _, a := range x {
		most = max(most, a.x)
	}
	_, sum := powersBound(p, x)
	log := p.apply(ln, b.stored(sum), logError)
	log.off += float64(p.u * (math.Abs(most) + math.Abs(log.x) + logError))
	out := make([]approx, len(x))
	for j, a := range x {
		out[j] = p.minus(p.minus(a, approx{x: most}), log)
		if math.IsInf(a.x, -1) && a.off == 0 && !math.IsInf(most, 0) {
			out[j] = a
		}
	}
	return out
}
