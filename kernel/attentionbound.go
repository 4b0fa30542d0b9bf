package kernel

import (
	"math"

	"collsim/internal/parallel"
)

// Bounds of attention (see bounding).
//
// A score is a sum of d products in any order, scaled before or after. Its power e^(s − max) is off
// by the score's bound and by expf's. An online softmax multiplies it by one power more for each
// block of at least 16 keys, whose exponents add up to s − max. Powers are kept in the type of the
// tensors for the product with v, as the matrix units of a GPU take them. The gradient computes
// p = e^(s − ln Σ) again, where ln Σ is rounded as a whole, keeps p and ds in that type, and has
// Σ p·dp, or Σ g·out of an out that was kept. It may be added up in that type in blocks of at least
// 32 tokens, and over the heads of a group, as PyTorch does on CPUs.
const (
	onlineBlock   = 16
	gradientBlock = 32
)

// A boundedAttention is attention on operands and on their bounds.
type boundedAttention struct {
	*bounding
	x, off attending
}

// A boundedRow is some elements and their bounds.
type boundedRow struct{ x, off []float64 }

// attentionBound bounds the result, or the gradient by an operand.
func attentionBound(b *bounding) []approx {
	n := len(b.in)
	if b.by >= 0 {
		n--
	}
	a := attentionOf(b.op, b.shapes[:n])
	t := &boundedAttention{b, a.over(b.in[:n]), a.over(b.off[:n])}
	if b.by >= 0 {
		return t.backward()
	}
	out := make([]approx, a.batch*a.queries*a.heads*a.width)
	parallel.Each(int(a.batch*a.heads), func() func(i int) {
		return func(i int) {
			for query := range a.queries {
				at := [3]int64{int64(i) / a.heads, query, int64(i) % a.heads}
				powers, sum, _ := t.powers(at)
				token := at[0]*a.queries + query
				copy(out[(token*a.heads+at[2])*a.width:], t.weighted(at, powers, sum))
			}
		}
	})
	return out
}

// row returns a head of a token of an operand with its bounds.
func row(x, off *side, token, head int64) boundedRow {
	return boundedRow{x.row(token, head), off.row(token, head)}
}

// query returns the head of a query at a sequence, a query and a head.
func (t *boundedAttention) query(at [3]int64) boundedRow {
	return row(&t.x.q, &t.off.q, at[0]*t.x.queries+at[1], at[2])
}

// key returns a key, or a value, that the query sees.
func (t *boundedAttention) key(x, off *side, at [3]int64, j int) boundedRow {
	return row(x, off, at[0]*t.x.keys+int64(j), t.x.group(at[2]))
}

// dotBound bounds a sum of products, with so many roundings more.
func dotBound(p precision, a, c boundedRow, more int) approx {
	total, off, size := 0.0, 0.0, 0.0
	for i, x := range a.x {
		y := c.x[i]
		total += float64(x * y)
		off += float64(math.Abs(x)*c.off[i]) + float64(math.Abs(y)*a.off[i]) +
			float64(a.off[i]*c.off[i])
		size += float64((math.Abs(x) + a.off[i]) * (math.Abs(y) + c.off[i]))
	}
	return p.summed(total, off, size, len(a.x)+more)
}

// powers bounds the powers of the scores of a query, their sum, and the largest score.
func (t *boundedAttention) powers(at [3]int64) (list []approx, sum approx, most float64) {
	p, scale := t.p, 1/math.Sqrt(float64(t.x.width))
	list, most = make([]approx, t.x.sees(at[1])), math.Inf(-1)
	for j := range list {
		s := dotBound(p, t.query(at), t.key(&t.x.k, &t.off.k, at, j), 6)
		list[j] = approx{float64(s.x * scale), float64(s.off * scale)}
		most = max(most, list[j].x)
	}
	blocks := float64((len(list) + onlineBlock - 1) / onlineBlock)
	for j, s := range list {
		d := p.minus(s, approx{x: most})
		units := expError + float64((expError+1)*blocks) + float64((expPerUnit+1)*math.Abs(d.x))
		list[j] = p.apply(exp, d, units)
	}
	return list, p.sum(list), most
}

// weighted bounds the result of a query.
func (t *boundedAttention) weighted(at [3]int64, powers []approx, sum approx) []approx {
	n := t.x.width
	total, off, size := make([]float64, n), make([]float64, n), make([]float64, n)
	for j, power := range powers {
		addBounds(total, off, size, t.stored(power), t.key(&t.x.v, &t.off.v, at, j))
	}
	out := make([]approx, n)
	for i := range out {
		out[i] = t.p.over(t.p.summed(total[i], off[i], size[i], len(powers)), sum)
	}
	return out
}

// addBounds adds a multiple of a row to sums, to their bounds, and to the magnitudes in them.
func addBounds(total, off, size []float64, by approx, row boundedRow) {
	most := math.Abs(by.x) + by.off
	for i, x := range row.x {
		total[i] += float64(by.x * x)
		off[i] += float64(by.off*math.Abs(x)) + float64(most*row.off[i])
		size[i] += float64(most * (math.Abs(x) + row.off[i]))
	}
}

// gradients are those by all operands: sums, their bounds, and the magnitudes in them.
type gradients struct{ total, off, size attending }

// backward bounds the gradient by an operand.
func (t *boundedAttention) backward() []approx {
	a := &t.x.attention
	n := t.bounding.gradient()
	room := func() attending { return a.over(zeros(t.in[:n])) }
	d := gradients{room(), room(), room()}
	g, gOff := a.results(t.in[n]), a.results(t.bounding.off[n])
	each := a.heads / a.groups
	parallel.Each(int(a.batch*a.groups), func() func(i int) {
		return func(i int) {
			b, group := int64(i)/a.groups, int64(i)%a.groups
			for head := group * each; head < (group+1)*each; head++ {
				for query := range a.queries {
					t.back(&d, row(&g, &gOff, b*a.queries+query, head), [3]int64{b, query, head})
				}
			}
		}
	})
	total, off, size := d.operand(t.by)
	out := make([]approx, len(total))
	terms := t.additions(t.by)
	for i := range out {
		column := i % int(t.shapes[t.by][len(t.shapes[t.by])-1])
		n := terms(int64(column))
		blocks := float64((n+gradientBlock-1)/gradientBlock - 1)
		out[i] = t.p.summed(total[i], off[i], size[i], int(n))
		out[i].off += float64(float64(blocks*t.kept) * size[i])
	}
	return out
}

// operand returns the sums of an operand's gradient.
func (d *gradients) operand(by int) (total, off, size []float64) {
	of := func(a *attending) []float64 { return [3]side{a.q, a.k, a.v}[by].data }
	return of(&d.total), of(&d.off), of(&d.size)
}

// additions returns how many terms are added up at most in a column of an operand's gradient. Each
// head of a group has blocks of its own.
func (t *boundedAttention) additions(by int) func(column int64) int64 {
	a := &t.x.attention
	blocks := (a.queries + gradientBlock - 1) / gradientBlock * (a.heads / a.groups)
	return func(column int64) int64 {
		if by == 0 && column < a.heads*a.width {
			return a.keys
		}
		return blocks * gradientBlock
	}
}

// back adds to the gradients what a query, of a sequence and a head, contributes.
func (t *boundedAttention) back(d *gradients, g boundedRow, at [3]int64) {
	p, a := t.p, &t.x.attention
	powers, sum, most := t.powers(at)
	dp, products := make([]approx, len(powers)), make([]approx, len(powers))
	out := t.weighted(at, powers, sum)
	again := math.Expm1(float64(2*p.u) * (math.Abs(most) + math.Abs(math.Log(sum.x)) + logError))
	for j, power := range powers {
		w := p.over(power, sum)
		w.off += float64(again * (w.x + w.off))
		powers[j] = t.stored(w)
		dp[j] = dotBound(p, g, t.key(&t.x.v, &t.off.v, at, j), 1)
		products[j] = p.times(powers[j], dp[j])
	}
	mean, kept := p.sum(products), boundedRow{}
	for _, y := range out {
		y = t.stored(y)
		kept.x, kept.off = append(kept.x, y.x), append(kept.off, y.off)
	}
	mean.off = max(mean.off, dotBound(p, g, kept, 1).off)
	scale := p.constant(1 / math.Sqrt(float64(a.width)))
	token, group := at[0]*a.queries+at[1], a.group(at[2])
	for j := range powers {
		key := at[0]*a.keys + int64(j)
		ds := t.stored(p.times(p.times(powers[j], p.minus(dp[j], mean)), scale))
		d.add(func(a *attending) []float64 { return a.q.row(token, at[2]) }, ds,
			t.key(&t.x.k, &t.off.k, at, j))
		d.add(func(a *attending) []float64 { return a.k.row(key, group) }, ds, t.query(at))
		d.add(func(a *attending) []float64 { return a.v.row(key, group) }, powers[j], g)
	}
}

// add adds a multiple of a row to a row of the gradients.
func (d *gradients) add(to func(*attending) []float64, by approx, row boundedRow) {
	addBounds(to(&d.total), to(&d.off), to(&d.size), by, row)
}
