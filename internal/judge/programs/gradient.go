package programs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const gradientSuffix = "_grad"

// The backward pass is the transpose of the forward pass, op by op, in reverse order. An op is
// linear in each operand while the others are fixed. Its transpose maps the gradient of the result
// to a contribution to the operand's gradient. A tensor has no gradient on a rank where nothing is
// computed from it. If only some members of a call have one, the others' is zero.

// backward computes the gradients of all tensors that have one. It stores those of given tensors,
// and those that ops wait for, among the values.
func (m *machine) backward() error {
	b := &gradients{m, map[string]bool{}, map[string][]*tensor{}}
	if err := b.prepare(); err != nil {
		return err
	}
	for i := len(m.ops) - 1; i >= 0; i-- {
		o := &m.ops[i]
		if o.late || o.out == "" || b.of[o.out] == nil {
			continue
		}
		if err := b.op(o); err != nil {
			return fmt.Errorf("gradient of %s: %w", o.name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.of)) {
		g := name + gradientSuffix
		m.values[g], m.types[g], m.shapes[g] = b.of[name], m.types[name], m.shapes[name]
	}
	return nil
}

// gradients holds the gradients computed so far.
type gradients struct {
	*machine
	need map[string]bool
	of   map[string][]*tensor // by the name of the tensor
}

// isGradientOfGiven reports whether a name is that of the gradient of a given tensor.
func (m *machine) isGradientOfGiven(name string) bool {
	of, ok := strings.CutSuffix(name, gradientSuffix)
	written, _ := m.uses(true)
	return m.gradient && ok && m.tensors[of] != nil && written[of] == 0 && m.tensors[name] == nil
}

// prepare finds the tensors that have gradients, and decodes the given gradients of results.
func (b *gradients) prepare() error {
	written, read := b.uses(false)
	for _, name := range b.names {
		of := b.tensors[name]
		b.need[name] = written[name] == 0 && of.typ.float && !of.detached && b.values[name] != nil
	}
	by := map[string][]int{}
	for i := range b.ops {
		o := &b.ops[i]
		if o.late || o.out == "" {
			continue
		}
		for _, rank := range slices.Concat(o.teams...) {
			if slices.Contains(by[o.out], rank) || slices.Contains(o.in, o.out) {
				return fmt.Errorf("%s overwrites %s, which gradients need", o.name, o.out)
			}
			by[o.out] = append(by[o.out], rank)
		}
		detached := b.tensors[o.out] != nil && b.tensors[o.out].detached
		needs := slices.ContainsFunc(o.in, func(name string) bool { return b.need[name] })
		b.need[o.out] = b.need[o.out] || needs && b.types[o.out].float && !detached
	}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		if !b.need[name] || !b.isResult(name, written, read) {
			continue
		}
		given, err := b.given(name+gradientSuffix, b.types[name], b.shapeGiven(name))
		if err != nil {
			return err
		}
		b.of[name] = make([]*tensor, b.Ranks)
		for rank, t := range b.values[name] {
			if t != nil {
				b.of[name][rank] = &tensor{t.typ, t.shape, given[rank].list[:len(t.list)]}
			}
		}
	}
	return nil
}

// shapeGiven returns the shape of the gradient that is given of a result. Where no rank that writes
// the result has as many rows as its shape, the gradient has that many, and the rest is not used.
func (b *gradients) shapeGiven(name string) []int64 {
	shape, data := b.shapes[name], b.inputs[name+gradientSuffix]
	if len(shape) == 0 || len(data) == 0 {
		return shape
	}
	row := elements(shape[1:]) * int64(b.types[name].width)
	if row > 0 && int64(len(data[0])) > elements(shape)*int64(b.types[name].width) {
		return with(shape, 0, int64(len(data[0]))/row)
	}
	return shape
}

// contribute adds to the gradient of a tensor on a rank.
func (b *gradients) contribute(name string, rank int, t *tensor) error {
	if b.of[name] == nil {
		b.of[name] = make([]*tensor, b.Ranks)
	}
	was := b.of[name][rank]
	if was == nil {
		b.of[name][rank] = t
		return nil
	}
	if len(was.list) != len(t.list) {
		return fmt.Errorf("%s has contributions of %d and of %d elements", name, len(was.list),
			len(t.list))
	}
	b.of[name][rank] = pointwise(was.shape, was.typ, func(i int) number {
		s := b.sum([]float64{was.list[i].f, t.list[i].f}, was.typ)
		return number{f: b.round(was.typ, s)}
	})
	return nil
}

// op propagates the gradient of an op's result to its operands.
func (b *gradients) op(o *op) error {
	if o.call != nil {
		if !b.need[o.in[0]] {
			return nil
		}
		for _, team := range o.teams {
			if err := b.call(o, team); err != nil {
				return err
			}
		}
		return nil
	}
	for _, rank := range slices.Concat(o.teams...) {
		g := b.of[o.out][rank]
		for i, name := range o.in {
			if g == nil || !b.need[name] {
				continue
			}
			in, err := b.operands(o, rank)
			if err != nil {
				return err
			}
			t, err := o.kernelOf(rank).transposed(&b.account, i, in, g)
			if err != nil {
				return err
			}
			if t, err = t.reshaped(in[i].shape); err == nil {
				err = b.contribute(name, rank, t)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// transposed returns the contribution of a kernel's gradient to that of an operand.
func (k *kernel) transposed(a *account, operand int, in []*tensor, g *tensor) (*tensor, error) {
	x := in[operand]
	if k.numbers != nil {
		return k.unlayer(operand, in, g), nil
	}
	switch k.name {
	case "opaque":
		return standIn(append(slices.Clone(in), g), x.shape, x.typ, operand+1), nil
	case "matmul":
		return k.transposedMatmul(a, operand, in, g)
	case "add", "cast":
		return k.cast(a, g, x.typ)
	case "scale":
		return k.scale(a, g, x.typ)
	case "expand":
		return total(a, g, k.axis, x.typ, false)
	case "pad":
		return &tensor{x.typ, x.shape, g.list[:len(x.list)]}, nil
	case "move":
		r := zeros(x.typ, x.shape)
		places := zeros(x.typ, x.shape)
		for i := range places.list {
			places.list[i].n = int64(i)
		}
		for i, place := range moved(places, k.axis).list {
			r.list[place.n] = g.list[i]
		}
		return r, nil
	case "sum", "mean":
		length := int(x.shape[k.axis])
		one := pointwise(g.shape, x.typ, func(i int) number {
			f := g.list[i].f
			if k.name == "mean" {
				a.note(f != 0 && !powerOfTwo(length))
				f /= float64(length)
			}
			return number{f: a.round(x.typ, f)}
		})
		return expanded(one, k.axis, length)
	}
	return nil, fmt.Errorf("the gradient of %s is not known", k.name)
}

// transposedMatmul returns, for C = A·B, C'·Bᵀ for A, and Aᵀ·C' for B. For transposed operands, it
// returns the transpose.
func (k *kernel) transposedMatmul(a *account, operand int, in []*tensor, g *tensor) (*tensor,
	error) {
	other := in[1-operand]
	typ := in[operand].typ
	// All axes but the last form the rows of a matrix.
	flat := func(t *tensor) *tensor {
		rows, columns, _, _ := matrix(t, false)
		return &tensor{t.typ, []int64{rows, columns}, t.list}
	}
	g, other = flat(g), flat(other)
	switch {
	case operand == 0 && !k.transposeA:
		return multiply(a, factor{g, false}, factor{other, !k.transposeB}, typ)
	case operand == 0:
		return multiply(a, factor{other, k.transposeB}, factor{g, true}, typ)
	case !k.transposeB:
		return multiply(a, factor{other, !k.transposeA}, factor{g, false}, typ)
	}
	return multiply(a, factor{g, true}, factor{other, k.transposeA}, typ)
}

// call propagates the gradient of a team's call along its wires.
func (b *gradients) call(o *op, team []int) error {
	c := o.call
	in, shapes, err := c.inputs(team, b.values[o.in[0]])
	if err != nil {
		return err
	}
	wires, err := c.wires(shapes)
	if err != nil {
		return err
	}
	some := slices.ContainsFunc(team, func(rank int) bool { return b.of[o.out][rank] != nil })
	if c.toRoot() {
		some = b.of[o.out][team[c.root]] != nil
	}
	if !some {
		return nil
	}
	if c.reduces() && slices.Contains([]string{"prod", "min", "max"}, c.operator) {
		return fmt.Errorf("that of %s is not known", c.operator)
	}
	terms := make([][][]float64, len(team))
	for i, t := range in {
		if t != nil {
			terms[i] = make([][]float64, len(t.list))
		}
	}
	for i, w := range wires {
		g := b.of[o.out][team[i]]
		if g == nil || w.shape == nil {
			continue
		}
		for x, from := range w.from {
			for member := range team {
				if from == member || from < 0 {
					list := &terms[member][w.at[x]]
					*list = append(*list, g.list[x].f)
				}
			}
		}
	}
	for i, rank := range team {
		if in[i] == nil {
			continue
		}
		t := pointwise(in[i].shape, in[i].typ, func(x int) number {
			return number{f: b.carried(c, terms[i][x], in[i].typ, len(team))}
		})
		if c.takesSplits() && !b.sentAlone(o.in[0]) { // what is not sent contributes nothing
			if t, err = padded(t, b.values[o.in[0]][rank].shape[0]); err != nil {
				return err
			}
		}
		if err := b.contribute(o.in[0], rank, t); err != nil {
			return err
		}
	}
	return nil
}

// sentAlone reports whether a given tensor stands for what one call sends of it: nothing else reads
// it, and no op its gradient. Its gradient then has the rows that are sent.
func (b *gradients) sentAlone(name string) bool {
	written, read := b.uses(true)
	readers := 0
	for i := range b.ops {
		for _, in := range b.ops[i].in {
			if in == name {
				readers++
			}
		}
	}
	return written[name] == 0 && readers == 1 && read[name+gradientSuffix] == 0
}

// carried combines the gradients of all results that an element contributes to.
func (b *gradients) carried(c *call, terms []float64, t numberType, members int) float64 {
	total := t.round(b.sum(terms, t))
	switch {
	case !c.reduces():
	case c.operator == "avg":
		b.note(total != 0 && !powerOfTwo(members))
		// Inputs scaled before their addition are multiples of a smaller unit.
		total = b.round(t, total/float64(members))
	case c.operator == "premulsum":
		total = b.round(t, total*b.round(t, c.factor))
	}
	return total
}
