package main

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// rootOnly adds a call whose result is on the roots alone, and a kernel of that.
func (a *author) rootOnly() {
	n := len(a.ops)
	a.call(pick(a.luck, collective.Gather, collective.Reduce))
	if len(a.ops) > n {
		a.multiply(a.known[a.ops[n].out[0]])
	}
}

// experts adds the way of tokens to experts and back: an all_to_allv, a matmul of the rows that
// each rank gets, and the call with the splits transposed.
func (a *author) experts() {
	group, teams := a.where()
	ranks := slices.Concat(teams...)
	x := a.any(func(t *kind) bool {
		return t.on(ranks) && !t.ragged && len(t.shape) == 2 && t.shape[0] > 0
	})
	if x == nil {
		return
	}
	there := a.begin()
	shape := slices.Clone(x.shape)
	there.call, there.in, there.group = "all_to_allv", []string{x.name}, group
	_, ragged := a.split(&there, collective.AllToAllV, shape, len(teams[0]))
	there.out = []string{fmt.Sprintf("t%d", len(a.known))}
	if collective.Shape(shape).Elements() > 500 {
		return
	}
	if ragged { // ranks without it have no rows
		ranks = a.all()
	}
	a.end(there, shape, x.typ, ranks, ragged)
	y := a.multiply(a.known[there.out[0]])
	if y == nil {
		return
	}
	_, text, _ := strings.Cut(there.call, "splits ")
	var rows [][]string
	for _, row := range strings.Split(text, "/") {
		rows = append(rows, strings.Split(row, ","))
	}
	var back []string
	for to := range rows {
		var row []string
		for from := range rows {
			row = append(row, rows[from][to])
		}
		back = append(back, strings.Join(row, ","))
	}
	o := a.begin()
	o.call, o.in, o.group = "all_to_allv splits "+strings.Join(back, "/"), []string{y.name}, group
	o.out = []string{fmt.Sprintf("t%d", len(a.known))}
	a.end(o, append([]int64{x.shape[0]}, y.shape[1:]...), x.typ, a.all(), true)
}

// multiply adds a matmul of a tensor with a given matrix on all ranks, and returns the result; nil
// if there is no such matrix.
func (a *author) multiply(x *kind) *kind {
	o := a.begin()
	o.in = []string{x.name}
	if !x.on(a.all()) {
		return nil
	}
	shape := a.matmul(&o, x, a.all())
	if shape == nil {
		return nil
	}
	o.out = []string{fmt.Sprintf("t%d", len(a.known))}
	a.end(o, shape, x.typ, a.all(), x.ragged)
	a.known[o.out[0]].roots = x.roots
	return a.known[o.out[0]]
}

// shard makes an op one that keeps a part of a tensor, by the place of a rank in a team, and
// returns the shape of that.
func (a *author) shard(o *op, x *kind, ranks []int) []int64 {
	over, n := "all", a.ranks
	if len(a.groups) > 0 && a.chance(2) {
		g := pick(a.luck, a.groups...)
		in := slices.Concat(g.teams...)
		if slices.ContainsFunc(ranks, func(r int) bool { return !slices.Contains(in, r) }) {
			return nil
		}
		over, n = g.name, len(g.teams[0])
	}
	axis := a.luck.IntN(len(x.shape))
	if x.ragged || !strings.Contains(x.typ, "float") || x.shape[axis]%int64(n) != 0 {
		return nil
	}
	shape := slices.Clone(x.shape)
	shape[axis] /= int64(n)
	o.kernel = fmt.Sprintf("shard axis=%d over=%s", axis, over)
	return shape
}
