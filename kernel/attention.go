package kernel

import (
	"fmt"
	"math"

	"collsim/collective"
	"collsim/internal/parallel"
)

// The attributes of attention.
const (
	heads = iota
	kvHeads
	sequences
	causal
)

// attentionLayer returns the row of attention (Vaswani et al., "Attention Is All You Need", 2017),
// with grouped heads of keys and values (Ainslie et al., "GQA", 2023). Operands are matrices of
// tokens: q [.., tokens, heads·d], k and v [.., tokens, kv_heads·d], or one with all three side by
// side, [.., tokens, (heads + 2·kv_heads)·d]. Of more axes than two, all but the last two are
// sequences; otherwise sequences=N says how many the tokens are of, one after the other.
//
//	s[j]    = (Σ_x q[i,x]·k[j,x]) / √d                    for the keys j that query i sees
//	p[j]    = exp(s[j] − max s) / Σ_j exp(s[j] − max s)
//	out[i]  = Σ_j p[j]·v[j], divided by the sum at its end
//	dp[j]   = Σ_x g[i,x]·v[j,x];  ds[j] = p[j]·(dp[j] − Σ_j p[j]·dp[j]) / √d
//	dq[i]   = Σ_j ds[j]·k[j];  dk[j] = Σ_i ds[j]·q[i];  dv[j] = Σ_i p[j]·g[i]
//
// Sums ascend, those over i with the query heads of a group outermost. With causal, query i sees
// keys up to i + keys − queries: the last query sees all, as FlashAttention has it.
//
// It is priced as FlashAttention (Dao, "FlashAttention-2", 2023): scores are in no memory. Forward
// there are 2 matmuls of the pairs that see each other; backward 5, since it computes scores again.
// Of the gradients, which are one kernel there, that by v counts 2 of them, by k 2, by q 1.
func attentionLayer() layer {
	return layer{kind: Attention, operands: []string{"q", "k", "v"}, least: 1,
		attributes: []attribute{count("heads"), {name: "kv_heads", whole: true, most: maxWhole,
			follows: true}, {name: "sequences", whole: true, most: maxWhole, follows: true},
			{name: "causal", flag: true}},
		result: attentionShape,
		bound:  attentionBound,
		flops: func(o *Op, in []Tensor) int64 {
			a := attentionOf(o, shapesOf(in))
			each := float64(a.width) * float64(a.heads) * float64(a.batch)
			return int64(min(2*a.matmuls(o)*each*a.pairs(), maxFLOPs))
		},
		apply: func(c *computation) []float64 {
			a := attentionOf(c.op, c.shapes)
			x := a.over(c.in)
			return x.forward()
		},
		gradient: func(c *computation, by int, of []float64) []float64 {
			a := attentionOf(c.op, c.shapes)
			x, d := a.over(c.in), a.over(zeros(c.in)) // that by one operand needs the others' work
			x.backward(&d, a.results(of))
			return [3]side{d.q, d.k, d.v}[by].data
		},
	}
}

// matmuls returns how many matmuls of all pairs the operation is priced as.
func (a *attention) matmuls(o *Op) float64 {
	switch {
	case o.Gradient == 0:
		return 2
	case a.packed:
		return 5
	case o.Gradient == 1:
		return 1
	}
	return 2
}

// attention holds sizes: of a sequence, its queries and keys; of a head its width.
type attention struct {
	batch, queries, keys, heads, groups, width int64
	packed, causal                             bool
}

// pairs returns how many pairs of a query and a key of a head see each other in a sequence.
func (a *attention) pairs() float64 {
	n := float64(a.queries)
	all, unseen := float64(n*float64(a.keys)), float64(n*(n-1)/2)
	if a.causal {
		return all - unseen
	}
	return all
}

// sees returns how many keys a query sees.
func (a *attention) sees(query int64) int64 {
	if a.causal {
		return query + 1 + a.keys - a.queries
	}
	return a.keys
}

// attentionOf returns the sizes of a valid operation.
func attentionOf(o *Op, shapes []collective.Shape) attention {
	a := attention{batch: int64(o.Attributes[sequences]), heads: int64(o.Attributes[heads]),
		groups: int64(o.Attributes[kvHeads]), packed: len(shapes) == 1,
		causal: o.Attributes[causal] == 1}
	rows, columns := matrix(shapes[0])
	a.queries = rows / a.batch
	if a.keys, a.width = a.queries, columns/(a.heads+2*a.groups); !a.packed {
		rows, _ := matrix(shapes[1])
		a.keys, a.width = rows/a.batch, columns/a.heads
	}
	return a
}

// attentionShape checks the shapes of attention's operands, completes its attributes, and returns
// the shape of its result.
func attentionShape(o *Op, in []Tensor) (collective.Shape, error) {
	q := in[0]
	if len(q.Shape) < 2 {
		return nil, o.fail("the shape of "+q.called("q"), q.Shape, "tokens and columns are expected")
	}
	if o.Attributes[kvHeads] == 0 {
		o.Attributes[kvHeads] = o.Attributes[heads]
	}
	if o.Attributes[sequences] == 0 {
		o.Attributes[sequences] = float64(max(q.Shape[:len(q.Shape)-2].Elements(), 1))
	}
	n, groups := int64(o.Attributes[heads]), int64(o.Attributes[kvHeads])
	if n%groups != 0 {
		return nil, o.fail("kv_heads", groups, fmt.Sprintf("a divisor of the %d heads is expected", n))
	}
	per := n
	if len(in) == 1 {
		per = n + 2*groups
	}
	columns := q.Shape[len(q.Shape)-1]
	if columns%per != 0 {
		return nil, o.fail("the columns of "+q.called("q"), columns, fmt.Sprintf(
			"a multiple of %d, the heads in a row, is expected", per))
	}
	shape := append(collective.Shape{}, q.Shape...)
	shape[len(shape)-1] = columns / per * n
	for i, t := range in {
		if err := checkTokens(o, t, o.nameOf(i, len(in))); err != nil {
			return nil, err
		}
		if i > 0 && t.Shape[len(t.Shape)-1] != columns/n*groups {
			return nil, o.fail("the columns of "+t.called(o.nameOf(i, len(in))),
				t.Shape[len(t.Shape)-1], fmt.Sprintf("%d, %d heads of %d, are expected", columns/n*groups,
					groups, columns/n))
		}
	}
	return shape, checkKeys(o, in)
}

// checkTokens checks that the tokens of an operand are of as many sequences.
func checkTokens(o *Op, t Tensor, name string) error {
	if len(t.Shape) < 2 {
		return o.fail("the shape of "+t.called(name), t.Shape, "tokens and columns are expected")
	}
	rows, _ := matrix(t.Shape)
	if n := int64(o.Attributes[sequences]); rows%n != 0 {
		return o.fail("the tokens of "+t.called(name), rows, fmt.Sprintf(
			"a multiple of %d, the sequences, is expected", n))
	}
	return nil
}

// checkKeys checks that there are as many keys as values, and as many as causal queries need.
func checkKeys(o *Op, in []Tensor) error {
	if len(in) == 1 {
		return nil
	}
	queries, _ := matrix(in[0].Shape)
	keys, _ := matrix(in[1].Shape)
	values, _ := matrix(in[2].Shape)
	switch {
	case keys != values:
		return o.fail("the tokens of "+in[2].called("v"), values, fmt.Sprintf(
			"%d, as %s has, are expected", keys, in[1].called("k")))
	case keys == 0 && queries > 0:
		return o.fail("the tokens of "+in[1].called("k"), keys, "at least one is expected")
	case o.Attributes[causal] == 1 && keys < queries:
		return o.fail("the tokens of "+in[1].called("k"), keys, fmt.Sprintf(
			"at least %d, as %s has, are expected where it is causal", queries, in[0].called("q")))
	}
	return nil
}

// A side is where the rows of heads of an operand are in its elements.
type side struct {
	data        []float64
	stride, off int64
	width       int64
}

// row returns the elements of a head of a token.
func (s *side) row(token, head int64) []float64 {
	return s.data[token*s.stride+s.off+head*s.width:][:s.width]
}

// An attending is attention on its operands, or on their gradients.
type attending struct {
	attention
	q, k, v side
}

// over returns the operands as heads.
func (a *attention) over(in [][]float64) attending {
	wide, narrow := a.heads*a.width, a.groups*a.width
	if a.packed {
		all := wide + 2*narrow
		return attending{*a, side{in[0], all, 0, a.width}, side{in[0], all, wide, a.width},
			side{in[0], all, wide + narrow, a.width}}
	}
	return attending{*a, side{in[0], wide, 0, a.width}, side{in[1], narrow, 0, a.width},
		side{in[2], narrow, 0, a.width}}
}

// results returns the result, or its gradient, as heads.
func (a *attention) results(data []float64) side {
	return side{data, a.heads * a.width, 0, a.width}
}

// group returns the head of keys and values that a head reads.
func (a *attention) group(head int64) int64 { return head / (a.heads / a.groups) }

// weights sets p to the weights of the keys that a query of a sequence sees, not yet divided by
// their sum, which it returns.
func (a *attending) weights(p []float64, sequence, query, head int64) (sum float64) {
	scale, most := 1/math.Sqrt(float64(a.width)), math.Inf(-1)
	q := a.q.row(sequence*a.queries+query, head)
	for j := range p {
		p[j] = float64(dot(q, a.k.row(sequence*a.keys+int64(j), a.group(head))) * scale)
		most = max(most, p[j])
	}
	for j, s := range p {
		p[j] = exp(s - most)
		sum += p[j]
	}
	return sum
}

// forward returns the result. Heads of sequences are computed at once.
func (a *attending) forward() []float64 {
	out := a.results(make([]float64, a.batch*a.queries*a.heads*a.width))
	parallel.Each(int(a.batch*a.heads), func() func(i int) {
		room := make([]float64, a.keys)
		return func(i int) {
			b, head := int64(i)/a.heads, int64(i)%a.heads
			for query := range a.queries {
				p, row := room[:a.sees(query)], out.row(b*a.queries+query, head)
				sum := a.weights(p, b, query, head)
				for j, w := range p {
					add64(row, w, a.v.row(b*a.keys+int64(j), a.group(head)))
				}
				for x := range row {
					row[x] /= sum
				}
			}
		}
	})
	return out.data
}

// backward adds to the gradients d, given that of the result. The heads of a group share keys and
// values: one goes after the other.
func (a *attending) backward(d *attending, g side) {
	each := a.heads / a.groups
	parallel.Each(int(a.batch*a.groups), func() func(i int) {
		p, ds := make([]float64, a.keys), make([]float64, a.keys)
		return func(i int) {
			b, group := int64(i)/a.groups, int64(i)%a.groups
			for head := group * each; head < (group+1)*each; head++ {
				for query := range a.queries {
					n := a.sees(query)
					a.back(d, g.row(b*a.queries+query, head), [3]int64{b, query, head}, p[:n], ds[:n])
				}
			}
		}
	})
}

// back adds to the gradients what a query, of a sequence and a head, contributes. p and ds are room
// for its keys.
func (a *attending) back(d *attending, g []float64, at [3]int64, p, ds []float64) {
	b, query, head := at[0], at[1], at[2]
	token, group := b*a.queries+query, a.group(head)
	sum, mean := a.weights(p, b, query, head), 0.0
	for j := range p {
		p[j] /= sum
		ds[j] = dot(g, a.v.row(b*a.keys+int64(j), group))
		mean += float64(p[j] * ds[j])
	}
	scale := 1 / math.Sqrt(float64(a.width))
	for j := range p {
		key := b*a.keys + int64(j)
		ds[j] = float64(float64(p[j]*(ds[j]-mean)) * scale)
		add64(d.q.row(token, head), ds[j], a.k.row(key, group))
		add64(d.k.row(key, group), ds[j], a.q.row(token, head))
		add64(d.v.row(key, group), p[j], g)
	}
}

// dot returns the sum of products, ascending.
func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}

// zeros returns as many zeros as there are numbers.
func zeros(in [][]float64) (list [][]float64) {
	for _, x := range in {
		list = append(list, make([]float64, len(x)))
	}
	return list
}

// add64 adds a multiple of b to a.
func add64(a []float64, factor float64, b []float64) {
	for i, x := range b {
		a[i] += float64(factor * x)
	}
}

// shapesOf returns the shapes of tensors.
func shapesOf(in []Tensor) (shapes []collective.Shape) {
	for _, t := range in {
		shapes = append(shapes, t.Shape)
	}
	return shapes
}

// attentionRows is the queries of a block, as FlashAttention-2 has them.
const attentionRows = 128

// attentionBlocks returns how many blocks attention is cut into.
func (o *Op) attentionBlocks() int64 {
	a := attentionOf(o, shapesOf(o.forward()))
	rows, each := a.queries, a.heads
	if o.Gradient > 1 {
		rows, each = a.keys, a.groups
	}
	return a.batch * each * over(rows, attentionRows)
}
