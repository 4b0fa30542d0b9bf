package main

import (
	"fmt"
	"slices"

	"collsim/collective"
)

// sums adds equal calls, with kernels between some of them.
func (a *author) sums() {
	group, teams := a.where()
	ranks := slices.Concat(teams...)
	k := pick(a.luck, collective.AllReduce, collective.AllReduce, collective.Broadcast)
	word, algorithm, async, stream := "", a.algorithm(k), a.chance(2), pick(a.luck, "", "", "s1")
	if k == collective.AllReduce {
		word = a.operator(len(teams[0]))
	}
	for range 2 + a.luck.IntN(3) {
		x := a.any(func(t *kind) bool { return t.on(ranks) && !t.ragged && t.typ == a.typ })
		if x == nil {
			return
		}
		o := a.begin()
		o.call, o.in, o.group, o.algorithm = k.String()+word, []string{x.name}, group, algorithm
		o.async, o.stream = async, stream
		o.out = []string{a.result(x.shape, x.typ, x)}
		a.end(o, x.shape, x.typ, ranks, false)
		if a.chance(3) {
			a.kernel()
		}
	}
}

// list adds a call of several tensors.
func (a *author) list() {
	group, teams := a.where()
	ranks := slices.Concat(teams...)
	k := pick(a.luck, collective.AllReduce, collective.AllReduce, collective.Broadcast,
		collective.AllGather)
	o := a.begin()
	o.call, o.group, o.async, o.algorithm = k.String(), group, a.chance(2), a.algorithm(k)
	if k == collective.AllReduce {
		o.call += a.operator(len(teams[0]))
	}
	var shapes [][]int64
	for range 2 + a.luck.IntN(2) {
		x := a.any(func(t *kind) bool {
			return t.on(ranks) && !t.ragged && !slices.Contains(o.in, t.name)
		})
		if x == nil {
			return
		}
		shape := slices.Clone(x.shape)
		out := fmt.Sprintf("t%d", len(a.known)+len(o.out))
		switch {
		case k == collective.AllGather:
			if shape[0] *= int64(len(teams[0])); collective.Shape(shape).Elements() > 200 {
				return
			}
		case x.written && !a.gradient && a.chance(3):
			out = x.name
		}
		o.in, o.out, shapes = append(o.in, x.name), append(o.out, out), append(shapes, shape)
	}
	a.ops = append(a.ops, o)
	for i, name := range o.out {
		a.learn(tensor{name: name, typ: a.known[o.in[i]].typ, shape: shapes[i], memory: "private"},
			ranks, false, true)
	}
}
