package programs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Layers are evaluated with functions of package math, in any order: what they give is rounded in
// any case, and an evaluation with one is not exact.

// A layer is a kernel of the table in docs/programs.md.
type layer struct {
	numbers []string // attributes with a value
	flags   []string
	least   int // operands
	most    int
	// result is the shape of the result.
	result func(in [][]int64, n func(string, float64) float64) []int64
	of     func(in [][]dual, shapes [][]int64, n func(string, float64) float64) []dual
}

func same(in [][]int64, _ func(string, float64) float64) []int64 { return in[0] }

// layers returns the table.
func layers() map[string]layer {
	one := func(f func(x dual, n func(string, float64) float64) dual) func([][]dual, [][]int64,
		func(string, float64) float64) []dual {
		return func(in [][]dual, _ [][]int64, n func(string, float64) float64) (out []dual) {
			for _, x := range in[0] {
				out = append(out, f(x, n))
			}
			return out
		}
	}
	return map[string]layer{
		"relu": {result: same, least: 1, most: 1, of: one(positive)},
		"silu": {result: same, least: 1, most: 1, of: one(smooth)},
		"gelu": {result: same, least: 1, most: 1, flags: []string{"tanh"}, of: one(bell)},
		"swiglu": {result: same, least: 2, most: 2, of: func(in [][]dual, _ [][]int64,
			_ func(string, float64) float64) (out []dual) {
			for i, x := range in[0] {
				out = append(out, times(times(x, sigmoid(x)), in[1][i]))
			}
			return out
		}},
		"softmax": {result: same, least: 1, most: 1, of: func(in [][]dual, shapes [][]int64,
			_ func(string, float64) float64) (out []dual) {
			for row := range slices.Chunk(in[0], last(shapes[0])) {
				out = append(out, shares(row)...)
			}
			return out
		}},
		"rms_norm":   {result: same, least: 1, most: 2, numbers: []string{"eps"}, of: rms},
		"layer_norm": {result: same, least: 1, most: 3, numbers: []string{"eps"}, of: standard},
		"cross_entropy": {least: 2, most: 2, of: loss,
			result: func([][]int64, func(string, float64) float64) []int64 { return []int64{1} }},
		"embedding": {least: 2, most: 2, of: looked, result: func(in [][]int64,
			_ func(string, float64) float64) []int64 {
			return append(slices.Clone(in[0]), in[1][1])
		}},
		"attention": {least: 1, most: 3, numbers: []string{"heads", "kv_heads", "sequences"},
			flags: []string{"causal"}, of: attend, result: func(in [][]int64,
				n func(string, float64) float64) []int64 {
				all := n("heads", 0)
				if len(in) == 1 {
					all += 2 * n("kv_heads", n("heads", 0))
				}
				width := float64(last(in[0])) / all
				return with(in[0], len(in[0])-1, int64(width*n("heads", 0)))
			}},
		"route": {result: same, least: 1, most: 1, numbers: []string{"k"}, of: routed},
		"shard": {least: 1, most: 1, numbers: []string{"axis", "part", "of"}, of: piece,
			result: func(in [][]int64, n func(string, float64) float64) []int64 {
				axis := int(n("axis", 0))
				return with(in[0], axis, in[0][axis]/int64(n("of", 1)))
			}},
		"sgd":    {result: same, least: 2, most: 2, numbers: []string{"lr", "weight_decay"}, of: sgd},
		"adam_m": {result: same, least: 2, most: 2, numbers: []string{"beta1"}, of: firstMoment},
		"adam_v": {result: same, least: 2, most: 2, numbers: []string{"beta2"}, of: secondMoment},
		"adam": {result: same, least: 3, most: 3, numbers: []string{"lr", "beta1", "beta2", "eps",
			"weight_decay", "step"}, of: adam},
	}
}

func last(shape []int64) int { return int(shape[len(shape)-1]) }

// parseLayer parses the attributes of a layer.
func parseLayer(l layer, k *kernel, words []string) error {
	k.numbers = map[string]float64{}
	for _, word := range words {
		name, text, named := strings.Cut(word, "=")
		switch {
		case k.name == "shard" && name == "over":
			k.over = text
		case !named && slices.Contains(l.flags, name):
			k.numbers[name] = 1
		case named && slices.Contains(l.numbers, name):
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("%q: a number is expected", word)
			}
			k.numbers[name] = x
		default:
			return fmt.Errorf("%s: %q is not known", k.name, word)
		}
	}
	return nil
}

// attribute returns the value of an attribute, or another.
func (k *kernel) attribute(name string, otherwise float64) float64 {
	if x, there := k.numbers[name]; there {
		return x
	}
	return otherwise
}

// duals returns the numbers of operands, without derivatives, and their shapes.
func duals(in []*tensor) (list [][]dual, shapes [][]int64) {
	for _, t := range in {
		numbers := make([]dual, len(t.list))
		for i, x := range t.list {
			if numbers[i].v = x.f; !t.typ.float {
				numbers[i].v = float64(x.n)
			}
		}
		list, shapes = append(list, numbers), append(shapes, t.shape)
	}
	return list, shapes
}

// layer evaluates a layer.
func (k *kernel) layer(a *account, in []*tensor, out numberType) (*tensor, error) {
	l := layers()[k.name]
	if len(in) < l.least || len(in) > l.most {
		return nil, fmt.Errorf("%s of %d tensors is not known", k.name, len(in))
	}
	a.note(true)
	numbers, shapes := duals(in)
	values := l.of(numbers, shapes, k.attribute)
	return pointwise(l.result(shapes, k.attribute), out, func(i int) number {
		return number{f: out.round(values[i].v)}
	}), nil
}

// unlayer returns the gradient of a layer by an operand: of each element the derivative of all
// results, each times its gradient.
func (k *kernel) unlayer(operand int, in []*tensor, g *tensor) *tensor {
	l := layers()[k.name]
	numbers, shapes := duals(in)
	return pointwise(in[operand].shape, in[operand].typ, func(i int) number {
		numbers[operand][i].d = 1
		sum := 0.0
		for j, y := range l.of(numbers, shapes, k.attribute) {
			sum += float64(y.d * g.list[j].f)
		}
		numbers[operand][i].d = 0
		return number{f: in[operand].typ.round(sum)}
	})
}

// routed returns the shares of the k largest of each row: a number is among them if fewer than k
// are larger, or are as large and before it.
func routed(in [][]dual, shapes [][]int64, n func(string, float64) float64) (out []dual) {
	for row := range slices.Chunk(in[0], last(shapes[0])) {
		var top []dual
		var at []int
		for i, x := range row {
			ahead := 0
			for j, y := range row {
				if y.v > x.v || y.v == x.v && j < i {
					ahead++
				}
			}
			if float64(ahead) < n("k", 1) {
				top, at = append(top, x), append(at, i)
			}
		}
		weights := make([]dual, len(row))
		for i, w := range shares(top) {
			weights[at[i]] = w
		}
		out = append(out, weights...)
	}
	return out
}

// kernelOf returns the kernel of an op on a rank.
func (o *op) kernelOf(rank int) *kernel {
	for _, team := range o.over {
		for place, of := range team {
			if of == rank {
				k := *o.kernel
				k.numbers = map[string]float64{"axis": k.attribute("axis", 0), "part": float64(place),
					"of": float64(len(team))}
				return &k
			}
		}
	}
	return o.kernel
}

// piece returns a part along an axis: of each element's place, what is before the axis, on it and
// behind it.
func piece(in [][]dual, shapes [][]int64, n func(string, float64) float64) (out []dual) {
	axis := int(n("axis", 0))
	behind := int(elements(shapes[0][axis+1:]))
	long := int(shapes[0][axis])
	each := long / int(n("of", 1))
	for at, x := range in[0] {
		if at/behind%long/each == int(n("part", 0)) {
			out = append(out, x)
		}
	}
	return out
}

// positive returns relu.
func positive(x dual, _ func(string, float64) float64) dual {
	if x.v > 0 {
		return x
	}
	return dual{}
}

// smooth returns silu.
func smooth(x dual, _ func(string, float64) float64) dual { return times(x, sigmoid(x)) }

// bell returns gelu.
func bell(x dual, n func(string, float64) float64) dual {
	half := times(x, constant(0.5))
	if n("tanh", 0) == 1 {
		u := times(constant(math.Sqrt(2/math.Pi)), plus(x, times(constant(0.044715),
			times(x, times(x, x)))))
		t := math.Tanh(u.v)
		return times(half, plus(constant(1), of(u, t, 1-float64(t*t))))
	}
	u := times(x, constant(math.Sqrt2/2))
	return times(half, plus(constant(1), of(u, math.Erf(u.v),
		2/math.Sqrt(math.Pi)*math.Exp(-u.v*u.v))))
}

// normed returns rows less a mean, divided by the root of the mean of their squares, with weights
// and biases.
func normed(in [][]dual, width int, eps float64, centred bool) (out []dual) {
	for row := range slices.Chunk(in[0], width) {
		mean := dual{}
		if centred {
			mean = average(row)
		}
		var less, squares []dual
		for _, x := range row {
			d := minus(x, mean)
			less, squares = append(less, d), append(squares, times(d, d))
		}
		by := root(plus(average(squares), constant(eps)))
		for j, d := range less {
			y := over(d, by)
			if len(in) > 1 {
				y = times(y, in[1][j])
			}
			if len(in) > 2 {
				y = plus(y, in[2][j])
			}
			out = append(out, y)
		}
	}
	return out
}

func rms(in [][]dual, shapes [][]int64, n func(string, float64) float64) []dual {
	return normed(in, last(shapes[0]), n("eps", 1e-6), false)
}

func standard(in [][]dual, shapes [][]int64, n func(string, float64) float64) []dual {
	return normed(in, last(shapes[0]), n("eps", 1e-5), true)
}

// place returns the row that an id names.
func place(id dual, rows int) int {
	return int(((int64(id.v) % int64(rows)) + int64(rows)) % int64(rows))
}

func loss(in [][]dual, shapes [][]int64, _ func(string, float64) float64) []dual {
	var losses []dual
	columns := last(shapes[0])
	for row := range slices.Chunk(in[0], columns) {
		p := shares(row)[place(in[1][len(losses)], columns)]
		losses = append(losses, minus(dual{}, ln(p)))
	}
	return []dual{average(losses)}
}

func looked(in [][]dual, shapes [][]int64, _ func(string, float64) float64) (out []dual) {
	width := last(shapes[1])
	for _, id := range in[0] {
		out = append(out, in[1][place(id, int(shapes[1][0]))*width:][:width]...)
	}
	return out
}

// attend returns attention, head by head on matrices of tokens.
func attend(in [][]dual, shapes [][]int64, n func(string, float64) float64) []dual {
	heads := int(n("heads", 0))
	groups := int(n("kv_heads", float64(heads)))
	lead := elements(shapes[0][:len(shapes[0])-2])
	sequences := int(n("sequences", float64(lead)))
	from, width := []int{0, 0, 0}, last(shapes[0])/heads
	if len(in) == 1 {
		width = last(shapes[0]) / (heads + 2*groups)
		in, shapes = [][]dual{in[0], in[0], in[0]}, [][]int64{shapes[0], shapes[0], shapes[0]}
		from = []int{0, heads * width, (heads + groups) * width}
	}
	row := func(which, token, head int) []dual {
		return in[which][token*last(shapes[which])+from[which]+head*width:][:width]
	}
	queries := len(in[0]) / last(shapes[0]) / sequences
	keys := len(in[1]) / last(shapes[1]) / sequences
	out := make([]dual, sequences*queries*heads*width)
	for t := range sequences * queries {
		s, i := t/queries, t%queries
		sees := keys
		if n("causal", 0) == 1 {
			sees = keys - (queries - 1 - i)
		}
		for h := range heads {
			var scores []dual
			for j := range sees {
				scores = append(scores, over(products(row(0, t, h), row(1, s*keys+j, h*groups/heads)),
					constant(math.Sqrt(float64(width)))))
			}
			for j, p := range shares(scores) {
				for x, v := range row(2, s*keys+j, h*groups/heads) {
					at := (t*heads+h)*width + x
					out[at] = plus(out[at], times(p, v))
				}
			}
		}
	}
	return out
}

func sgd(in [][]dual, _ [][]int64, n func(string, float64) float64) (out []dual) {
	for i, p := range in[0] {
		step := in[1][i].v + float64(n("weight_decay", 0)*p.v)
		out = append(out, constant(p.v-float64(n("lr", 0.01)*step)))
	}
	return out
}

func firstMoment(in [][]dual, _ [][]int64, n func(string, float64) float64) (out []dual) {
	b := n("beta1", 0.9)
	for i, m := range in[0] {
		out = append(out, constant(float64(b*m.v)+float64((1-b)*in[1][i].v)))
	}
	return out
}

func secondMoment(in [][]dual, _ [][]int64, n func(string, float64) float64) (out []dual) {
	b := n("beta2", 0.999)
	for i, v := range in[0] {
		out = append(out, constant(float64(b*v.v)+float64((1-b)*float64(in[1][i].v*in[1][i].v))))
	}
	return out
}

func adam(in [][]dual, _ [][]int64, n func(string, float64) float64) (out []dual) {
	step := n("step", 1)
	for i, p := range in[0] {
		m := in[1][i].v / (1 - math.Pow(n("beta1", 0.9), step))
		v := in[2][i].v / (1 - math.Pow(n("beta2", 0.999), step))
		moved := m/(math.Sqrt(v)+n("eps", 1e-8)) + float64(n("weight_decay", 0)*p.v)
		out = append(out, constant(p.v-float64(n("lr", 0.001)*moved)))
	}
	return out
}
