package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"collsim/algos"
	"collsim/collective"
)

// An author makes a random program, and tracks the state of each tensor.
type author struct {
	*draft
	luck  *rand.Rand
	typ   string
	have  []string // tensors in order of creation
	known map[string]*kind
}

// A kind is the state of a tensor: the ranks that have it, whether they have different lengths, and
// whether an op wrote it.
type kind struct {
	tensor
	has     []bool
	ragged  bool
	roots   []int // ranks that have all of a ragged tensor
	written bool
}

// randomProgram returns a program, which can usually be lowered.
func randomProgram(luck *rand.Rand) *draft {
	a := &author{luck: luck, known: map[string]*kind{}}
	a.draft = &draft{ranks: 2 + luck.IntN(5), iterations: pick(luck, 1, 1, 1, 2, 2, 3),
		device: pick(luck, "ideal", "ideal", "h100-sxm"), shapes: map[string]tensor{},
		gradient: luck.IntN(6) == 0}
	a.typ = pick(luck, "float32", "float32", "float32", "float32", "float64", "bfloat16", "float16",
		"int32", "int64", "uint8", "int16")
	a.makeGroups()
	for i, shape := range [][]int64{{4, 4}, {2 * int64(a.ranks), 4}, {12, 4}, {1 + luck.Int64N(7), 4},
		{1 + luck.Int64N(30)}, {3, 2, 2 * int64(a.ranks)}, {3, 2 * int64(a.ranks), 4}} {
		a.give(fmt.Sprintf("g%d", i), shape)
	}
	for range 1 + luck.IntN(6) {
		a.some()
	}
	for len(a.ops) == 0 || len(a.ops[len(a.ops)-1].out) == 0 { // so that there is a result
		a.kernel()
	}
	a.forget()
	return a.draft
}

// forget removes given tensors that no op reads.
func (a *author) forget() {
	a.tensors = slices.DeleteFunc(a.tensors, func(t tensor) bool {
		return !slices.ContainsFunc(a.ops, func(o op) bool {
			return slices.Contains(o.in, t.name) || slices.Contains(o.out, t.name)
		})
	})
}

// pick returns a random element.
func pick[T any](luck *rand.Rand, list ...T) T { return list[luck.IntN(len(list))] }

// chance reports true once in n times.
func (a *author) chance(n int) bool { return a.luck.IntN(n) == 0 }

// makeGroups makes up to three groups of teams of equal size, with ranks in random order.
func (a *author) makeGroups() {
	if a.ranks%2 == 0 && a.ranks > 2 && a.chance(5) {
		a.nodes = 2
		each := a.ranks / 2
		all := a.all()
		var rails [][]int
		for i := range each {
			rails = append(rails, []int{i, i + each})
		}
		a.groups = []group{{"tp", "node", [][]int{all[:each], all[each:]}}, {"dp", "rail", rails}}
		return
	}
	for i := range a.luck.IntN(4) {
		size := 1 + a.luck.IntN(a.ranks)
		ranks := a.luck.Perm(a.ranks)
		if size == 1 && !a.chance(4) {
			size = 2
		}
		var teams [][]int
		for k := range max(1, a.luck.IntN(a.ranks/size)+1) {
			teams = append(teams, ranks[k*size:(k+1)*size])
		}
		if a.chance(2) {
			for _, team := range teams {
				slices.Sort(team)
			}
		}
		a.groups = append(a.groups, group{fmt.Sprintf("team%d", i), "", teams})
	}
}

// give declares a given tensor.
func (a *author) give(name string, shape []int64) {
	t := tensor{name: name, typ: a.typ, shape: shape,
		memory: pick(a.luck, "private", "private", "registered", "symmetric")}
	a.tensors = append(a.tensors, t)
	a.learn(t, a.all(), false, false)
}

// learn records that ranks have a tensor.
func (a *author) learn(t tensor, ranks []int, ragged, written bool) {
	k := a.known[t.name]
	if k == nil {
		k = &kind{tensor: t, has: make([]bool, a.ranks)}
		a.known[t.name] = k
		a.have = append(a.have, t.name)
	}
	for _, rank := range ranks {
		k.has[rank] = true
	}
	k.ragged, k.written = ragged, k.written || written
	a.shapes[t.name] = k.tensor
}

// any returns a tensor that fits, more often a recent one; nil if none does.
func (a *author) any(fits func(k *kind) bool) *kind {
	list := slices.DeleteFunc(slices.Clone(a.have), func(name string) bool {
		return !fits(a.known[name])
	})
	if len(list) == 0 {
		return nil
	}
	if a.chance(2) && len(list) > 3 {
		list = list[len(list)-3:]
	}
	return a.known[pick(a.luck, list...)]
}

// on reports whether all of these ranks have a tensor.
func (k *kind) on(ranks []int) bool {
	return !slices.ContainsFunc(ranks, func(rank int) bool { return !k.has[rank] })
}

// where chooses a group, and returns its name and teams.
func (a *author) where() (string, [][]int) {
	if len(a.groups) == 0 || a.chance(2) {
		return "", a.teams("")
	}
	g := pick(a.luck, a.groups...)
	return g.name, g.teams
}

// begin returns an op with a name, a stream and perhaps a predecessor.
func (a *author) begin() op {
	o := op{name: fmt.Sprintf("op%d", len(a.ops)),
		stream: pick(a.luck, "", "", "", "s1", "s2")}
	if len(a.ops) > 0 && a.chance(5) {
		if before := pick(a.luck, a.ops...); before.wait == nil {
			o.after = []string{before.name}
		}
	}
	return o
}

// result returns the tensor that an op writes: a new one, perhaps declared, or an existing one. It
// is inPlace if that is allowed, which may be given.
func (a *author) result(shape []int64, typ string, inPlace *kind) string {
	same := func(k *kind) bool {
		return !k.ragged && k.typ == typ && slices.Equal(k.shape, shape)
	}
	if inPlace != nil && same(inPlace) && !a.gradient && a.chance(3) {
		return inPlace.name
	}
	written := func(k *kind) bool { return k.written && same(k) }
	if k := a.any(written); k != nil && !a.gradient && a.chance(8) {
		return k.name
	}
	name := fmt.Sprintf("t%d", len(a.known))
	if a.chance(4) {
		a.tensors = append(a.tensors, tensor{name: name, typ: typ, shape: shape,
			memory: pick(a.luck, "private", "symmetric"), keep: a.chance(2)})
	}
	return name
}

// end adds an op that writes a tensor of a shape on these ranks.
func (a *author) end(o op, shape []int64, typ string, ranks []int, ragged bool) {
	a.ops = append(a.ops, o)
	name := o.out[len(o.out)-1]
	a.learn(tensor{name: name, typ: typ, shape: shape, memory: "private"}, ranks, ragged, true)
}

// some adds an op, or a group of ops that passes look for.
func (a *author) some() {
	switch a.luck.IntN(15) {
	case 0:
		a.gatherThenMultiply()
	case 1:
		a.multiplyThenScatter()
	case 2, 3:
		a.sums()
	case 4:
		a.list()
	case 5, 6, 7:
		a.kernel()
	case 8:
		a.rootOnly()
	case 9:
		a.experts()
	case 10:
		a.wait()
	default:
		a.call(pick(a.luck, collective.Kinds()...))
	}
}

// wait adds a wait for an op, if there is one.
func (a *author) wait() {
	if len(a.ops) == 0 {
		return
	}
	if of := pick(a.luck, a.ops...); of.wait == nil {
		a.ops = append(a.ops, op{name: fmt.Sprintf("op%d", len(a.ops)), wait: []string{of.name},
			stream: pick(a.luck, "", "", "comm", "s1")})
	}
}

// algorithm returns a random algorithm of a kind, or none.
func (a *author) algorithm(k collective.Kind) string {
	list := algos.ForKind(k)
	if a.chance(3) || len(list) == 0 {
		return ""
	}
	return pick(a.luck, list...).Name
}
