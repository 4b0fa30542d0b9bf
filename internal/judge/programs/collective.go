package programs

import (
	"fmt"
	"math"
)

// inputs returns the inputs of a team's members and their shapes; nil for a member without an
// input.
func (c *call) inputs(team []int, of []*tensor) ([]*tensor, [][]int64, error) {
	in, shapes := make([]*tensor, len(team)), make([][]int64, len(team))
	for i, rank := range team {
		if c.rooted() && i != c.root {
			continue
		}
		t := of[rank]
		if t == nil {
			return nil, nil, fmt.Errorf("rank %d reads what nobody has written", rank)
		}
		if c.takesSplits() && axisOf(t.shape, c.axis) == nil &&
			i < len(c.splits[0]) && (c.kind != "all_to_allv" || i < len(c.splits)) {
			n := c.sent(i)
			if t.shape[c.axis] < n {
				return nil, nil, fmt.Errorf("rank %d has a length of %d, of which it sends %d", rank,
					t.shape[c.axis], n)
			}
			t = t.cut(c.axis, 0, n) // the rest is for ranks that send more
		}
		in[i], shapes[i] = t, t.shape
	}
	return in, shapes, nil
}

// do executes the call of one team. It returns the results of its members; nil for a member without
// one.
func (c *call) do(a *account, team []int, of []*tensor) ([]*tensor, error) {
	in, shapes, err := c.inputs(team, of)
	if err != nil {
		return nil, err
	}
	wires, err := c.wires(shapes)
	if err != nil {
		return nil, err
	}
	var typ numberType
	for _, t := range in {
		if t != nil {
			typ = t.typ
		}
	}
	out := make([]*tensor, len(team))
	for i, w := range wires {
		if w.shape == nil {
			continue
		}
		out[i] = zeros(typ, w.shape)
		for x := range out[i].list {
			if w.from[x] >= 0 {
				out[i].list[x] = in[w.from[x]].list[w.at[x]]
				continue
			}
			terms := make([]number, len(in))
			for k, t := range in {
				terms[k] = t.list[w.at[x]]
			}
			if out[i].list[x], err = c.reduce(a, typ, terms); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// reduce applies the operator.
func (c *call) reduce(a *account, t numberType, terms []number) (number, error) {
	if !t.float {
		return c.reduceWhole(t, terms)
	}
	n := float64(len(terms))
	list := make([]float64, len(terms))
	for i, x := range terms {
		list[i] = x.f
		switch {
		case c.operator == "premulsum":
			list[i] = a.round(t, x.f*a.round(t, c.factor))
		case c.operator == "avg" && !c.post && powerOfTwo(len(terms)):
			list[i] = a.round(t, x.f/n)
		// 1/n is rounded, and so is everything computed from it
		case c.operator == "avg" && !c.post:
			a.note(x.f != 0)
		}
	}
	switch c.operator {
	case "prod":
		return number{f: t.round(a.product(list, t))}, nil
	case "min", "max":
		return number{f: extreme(list, c.operator == "max")}, nil
	}
	total := t.round(a.sum(list, t))
	switch {
	case c.operator == "avg" && c.post:
		total = t.round(total / n)
	case c.operator == "avg" && !powerOfTwo(len(terms)):
		total = t.round(total / n)
	}
	return number{f: total}, nil
}

// powerOfTwo reports whether n is a power of two.
func powerOfTwo(n int) bool { return n&(n-1) == 0 }

// extreme returns the least or the largest number. Numbers have precedence over NaN, and −0 is less
// than +0.
func extreme(list []float64, largest bool) float64 {
	best := list[0]
	for _, x := range list[1:] {
		better := x < best || x == best && math.Signbit(x)
		if largest {
			better = x > best || x == best && !math.Signbit(x)
		}
		if math.IsNaN(best) || better {
			best = x
		}
	}
	return best
}

// reduceWhole applies the operator to integers, which wrap.
func (c *call) reduceWhole(t numberType, terms []number) (number, error) {
	factor := int64(c.factor)
	if c.operator == "premulsum" && float64(factor) != c.factor {
		return number{}, fmt.Errorf("premulsum of integers by %v is not known", c.factor)
	}
	total := terms[0].n * factor
	for _, x := range terms[1:] {
		switch c.operator {
		case "sum", "avg":
			total += x.n
		case "premulsum":
			total += x.n * factor
		case "prod":
			total *= x.n
		case "min":
			if t.less(x.n, total) {
				total = x.n
			}
		case "max":
			if t.less(total, x.n) {
				total = x.n
			}
		}
	}
	total = t.wrap(total)
	if c.operator == "avg" {
		total = t.divide(total, len(terms))
	}
	return number{n: total}, nil
}

// less compares integers of a type.
func (t numberType) less(a, b int64) bool {
	if t.signed {
		return a < b
	}
	return uint64(a) < uint64(b)
}

// divide divides an integer of a type towards zero.
func (t numberType) divide(n int64, by int) int64 {
	if t.signed {
		return n / int64(by)
	}
	return int64(uint64(n) / uint64(by))
}
