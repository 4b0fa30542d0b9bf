package main

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// kernel adds a kernel of a random kind, if the chosen tensor has a suitable shape.
func (a *author) kernel() {
	o := a.begin()
	group, teams := a.where()
	ranks := slices.Concat(teams...)
	x := a.any(func(k *kind) bool { return k.on(ranks) && (!k.ragged || len(k.shape) > 1) })
	if x == nil {
		return
	}
	o.group, o.in = group, []string{x.name}
	var shape []int64
	switch a.luck.IntN(9) {
	case 0, 1:
		shape = a.matmul(&o, x, ranks)
	case 2, 3:
		shape = a.add(&o, x, ranks)
	case 4:
		o.kernel = "opaque 3 us"
		if a.chance(3) {
			if !a.gradient {
				a.ops = append(a.ops, o)
			}
			return
		}
		shape = a.opaque(&o, x, ranks)
	case 5:
		shape = a.shard(&o, x, ranks)
	default:
		shape = a.unary(&o, x)
	}
	if shape == nil {
		return
	}
	ragged := x.ragged && slices.Equal(shape[1:], x.shape[1:])
	if x.ragged {
		o.out = []string{fmt.Sprintf("t%d", len(a.known))}
	} else {
		o.out = []string{a.result(shape, x.typ, x)}
	}
	a.end(o, shape, x.typ, ranks, ragged)
	if ragged {
		a.known[o.out[0]].roots = x.roots
	}
}

// opaque makes an op an opaque kernel of one or two tensors that writes a result of another shape,
// and returns that.
func (a *author) opaque(o *op, x *kind, ranks []int) []int64 {
	if x.ragged {
		o.shape = x.shape
		return x.shape
	}
	y := a.any(func(k *kind) bool { return k.on(ranks) && !k.ragged && k.typ == x.typ })
	if y != nil && a.chance(2) {
		o.in = append(o.in, y.name)
	}
	o.shape = []int64{pick(a.luck, 4, x.shape[0], 2*int64(a.ranks)), 4}
	return o.shape
}

// matmul makes an op a matmul with a matrix on these ranks, and returns the result's shape.
func (a *author) matmul(o *op, x *kind, ranks []int) []int64 {
	last := len(x.shape) - 1
	y := a.any(func(k *kind) bool {
		return k.on(ranks) && !k.ragged && k.typ == x.typ && len(k.shape) == 2 &&
			k.shape[0] == x.shape[last]
	})
	if y == nil || last < 1 {
		return nil
	}
	o.kernel, o.in = "matmul", []string{x.name, y.name}
	if y.shape[0] == y.shape[1] && a.chance(3) {
		o.kernel += " transpose=b"
	}
	return append(slices.Clone(x.shape[:last]), y.shape[1])
}

// add makes an op a sum of two tensors.
func (a *author) add(o *op, x *kind, ranks []int) []int64 {
	y := a.any(func(k *kind) bool {
		return k.on(ranks) && !k.ragged && k.typ == x.typ && slices.Equal(k.shape, x.shape)
	})
	if y == nil || x.ragged {
		y = x
	}
	o.kernel, o.in = "add", []string{x.name, y.name}
	return x.shape
}

// unary makes an op a kernel of one tensor.
func (a *author) unary(o *op, x *kind) []int64 {
	shape := slices.Clone(x.shape)
	axis := a.luck.IntN(len(shape))
	if x.ragged {
		axis = 0
	}
	switch a.luck.IntN(4) {
	case 0:
		word, n := pick(a.luck, "sum", "sum", "mean"), shape[axis]
		if n == 0 || n&(n-1) != 0 || x.ragged {
			word = "sum"
		}
		o.kernel = fmt.Sprintf("%s axis=%d", word, axis)
		if shape = slices.Delete(shape, axis, axis+1); len(shape) == 0 {
			return nil
		}
	case 1:
		o.kernel = fmt.Sprintf("move axis=%d", axis)
		shape = slices.Insert(slices.Delete(shape, axis, axis+1), 0, x.shape[axis])
	case 2:
		if len(shape) > 2 || x.ragged {
			return nil
		}
		times := 1 + a.luck.Int64N(4)
		o.kernel = fmt.Sprintf("expand axis=%d times=%d", axis, times)
		shape = slices.Insert(shape, axis, times)
	case 3:
		o.kernel = "scale by=" + pick(a.luck, "2", "-1", "0.5")
		if !strings.Contains(x.typ, "float") {
			o.kernel = "cast"
		}
	}
	return shape
}

// operator returns a random operator for teams of n; "" is the sum.
func (a *author) operator(n int) string {
	if a.gradient {
		return ""
	}
	word := pick(a.luck, "", "", "", " avg", " max", " min", " avg average post",
		" premulsum(factor=2)")
	if strings.HasPrefix(word, " avg") && n&(n-1) != 0 && strings.Contains(a.typ, "float") {
		return ""
	}
	return word
}

// call adds a call of a kind.
func (a *author) call(k collective.Kind) {
	group, teams := a.where()
	n := len(teams[0])
	o := a.begin()
	o.group, o.async = group, a.chance(2)
	o.algorithm = a.algorithm(k)
	if o.call = k.String(); k == collective.Barrier {
		a.ops = append(a.ops, o)
		return
	}
	root := 0
	if k.Rooted() && a.chance(2) {
		root = a.luck.IntN(n)
		o.call += fmt.Sprintf(" root %d", root)
	}
	ranks := slices.Concat(teams...)
	readers := ranks
	if k == collective.Broadcast || k == collective.Scatter {
		readers = rootsOf(teams, root)
	}
	x := a.any(func(t *kind) bool {
		isWhole := !t.ragged || len(readers) < len(ranks) && t.hasAll(readers)
		return t.on(readers) && isWhole && t.shape[0] > 0
	})
	if x == nil {
		return
	}
	shape, ragged := slices.Clone(x.shape), false
	if k.Reduces() {
		o.call += a.operator(n)
	}
	o.in = []string{x.name}
	fits := false
	if k.Splits() {
		fits, ragged = a.split(&o, k, shape, n)
	} else {
		fits = a.along(&o, k, shape, n)
		ragged = n > 1 && (k == collective.Reduce || k == collective.Gather)
	}
	if size := collective.Shape(shape).Elements(); !fits || size > 500 {
		return
	}
	place := x
	if k != collective.AllReduce && k != collective.Broadcast {
		place = nil
	}
	if ragged {
		o.out = []string{fmt.Sprintf("t%d", len(a.known))}
		ranks = a.all() // ranks without it have no rows
	} else {
		o.out = []string{a.result(shape, x.typ, place)}
	}
	if o.out[0] == x.name && place == nil {
		return
	}
	a.end(o, shape, x.typ, ranks, ragged)
	if k == collective.Reduce || k == collective.Gather {
		a.known[o.out[0]].roots = rootsOf(teams, root)
	}
}

// rootsOf returns the rank at one place of each team.
func rootsOf(teams [][]int, root int) (ranks []int) {
	for _, team := range teams {
		ranks = append(ranks, team[root])
	}
	return ranks
}

// hasAll reports whether all of these ranks have all of a ragged tensor.
func (k *kind) hasAll(ranks []int) bool {
	return !slices.ContainsFunc(ranks, func(rank int) bool { return !slices.Contains(k.roots, rank) })
}

// along computes the shape of a call's result, perhaps along another axis than the first.
func (a *author) along(o *op, k collective.Kind, shape []int64, n int) bool {
	axis := 0
	cuts := k == collective.ReduceScatter || k == collective.Scatter || k == collective.AllToAll
	gathers := k == collective.AllGather || k == collective.Gather
	if (cuts || gathers) && a.chance(4) {
		if axis = a.luck.IntN(len(shape)); axis > 0 {
			o.call += fmt.Sprintf(" axis %d", axis)
		}
	}
	if cuts && shape[axis]%int64(n) != 0 {
		return false
	}
	switch {
	case k == collective.AllToAll:
		concat := axis
		if concat = 0; a.chance(3) {
			concat = a.luck.IntN(len(shape))
		}
		if concat > 0 {
			o.call += fmt.Sprintf(" concat %d", concat)
		}
		shape[axis] /= int64(n)
		shape[concat] *= int64(n)
	case cuts:
		shape[axis] /= int64(n)
	case gathers:
		shape[axis] *= int64(n)
	}
	return true
}

// split adds random splits to a call, and computes the shape of the longest result.
func (a *author) split(o *op, k collective.Kind, shape []int64, n int) (fits, ragged bool) {
	length := shape[0]
	shares := func(most int64) []int64 {
		row := make([]int64, n)
		for range most {
			row[a.luck.IntN(n)]++
		}
		return row
	}
	var rows [][]int64
	switch k {
	case collective.AllGatherV:
		row := make([]int64, n)
		for i := range row {
			row[i] = a.luck.Int64N(length + 1)
		}
		row[a.luck.IntN(n)] = length
		rows = [][]int64{row}
		shape[0] = 0
		for _, m := range row {
			shape[0] += m
		}
	case collective.ReduceScatterV:
		rows = [][]int64{shares(length)}
		shape[0] = slices.Max(rows[0])
		ragged = slices.Min(rows[0]) < shape[0]
	case collective.AllToAllV:
		whole := a.luck.IntN(n)
		for i := range n {
			most := length
			if i != whole {
				most = a.luck.Int64N(length + 1)
			}
			rows = append(rows, shares(most))
		}
		shape[0] = 0
		for to := range n {
			sum := int64(0)
			for _, row := range rows {
				sum += row[to]
			}
			ragged = ragged || to > 0 && sum != shape[0]
			shape[0] = max(shape[0], sum)
		}
	}
	var text []string
	for _, row := range rows {
		text = append(text, strings.ReplaceAll(strings.Trim(fmt.Sprint(row), "[]"), " ", ","))
	}
	o.call += " splits " + strings.Join(text, "/")
	return true, ragged
}

// rows returns a random tensor of rows of 4 that all ranks have, and an axis of it, not the last.
func (a *author) rows(fits func(k *kind, axis int) bool) (x *kind, axis int) {
	all := a.all()
	axis = a.luck.IntN(2)
	x = a.any(func(k *kind) bool {
		last := len(k.shape) - 1
		return k.on(all) && !k.ragged && k.typ == a.typ && last > axis && k.shape[last] == 4 &&
			fits(k, axis)
	})
	return x, axis
}

// gatherThenMultiply adds candidates for a pipeline: an all_gather, and matmuls of its result.
func (a *author) gatherThenMultiply() {
	x, axis := a.rows(func(k *kind, _ int) bool {
		return collective.Shape(k.shape).Elements()*int64(a.ranks) <= 256
	})
	if x == nil {
		return
	}
	group, teams := a.where()
	if len(slices.Concat(teams...)) < a.ranks {
		group, teams = "", a.teams("")
	}
	o := a.begin()
	o.call, o.in, o.group = "all_gather", []string{x.name}, group
	shape := slices.Clone(x.shape)
	if shape[axis] *= int64(len(teams[0])); axis > 0 {
		o.call += fmt.Sprintf(" axis %d", axis)
	}
	o.out = []string{a.result(shape, a.typ, nil)}
	a.end(o, shape, a.typ, a.all(), false)
	for range 1 + a.luck.IntN(2) {
		m := a.begin()
		m.kernel, m.in = "matmul", []string{o.out[0], "g0"}
		if a.chance(4) {
			m.kernel += " transpose=b"
		}
		m.out = []string{fmt.Sprintf("t%d", len(a.known))}
		a.end(m, shape, a.typ, a.all(), false)
	}
}

// multiplyThenScatter adds a candidate for another pipeline: a matmul, and a reduce_scatter of its
// result.
func (a *author) multiplyThenScatter() {
	x, axis := a.rows(func(k *kind, axis int) bool { return k.shape[axis]%int64(a.ranks) == 0 })
	if x == nil {
		return
	}
	m := a.begin()
	m.kernel, m.in = "matmul", []string{x.name, "g0"}
	m.out = []string{fmt.Sprintf("t%d", len(a.known))}
	a.end(m, x.shape, a.typ, a.all(), false)
	o := a.begin()
	o.call, o.in = "reduce_scatter", m.out
	if a.ranks&(a.ranks-1) == 0 && a.chance(3) {
		o.call += " avg"
	}
	if axis > 0 {
		o.call += fmt.Sprintf(" axis %d", axis)
	}
	shape := slices.Clone(x.shape)
	shape[axis] /= int64(a.ranks)
	o.out = []string{a.result(shape, a.typ, nil)}
	if o.out[0] == m.out[0] {
		return
	}
	a.end(o, shape, a.typ, a.all(), false)
}
