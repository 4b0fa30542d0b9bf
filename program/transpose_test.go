package program_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/program"
)

// The gradient of a program of collectives, which is a linear map A of all ranks' tensors, is the
// transposed map: ⟨A x, y⟩ = ⟨x, Aᵀ y⟩. These tests hold every element of it on every rank against
// the columns of A, which an evaluator of their own finds from unit vectors. It knows neither the
// package under test nor package collective.

// program is the same one for the package under test.
func (l *linear) program(rows map[string]int) *program.Program {
	p := &program.Program{Name: "linear", Ranks: l.ranks, Gradient: true, Ops: slices.Clone(l.ops)}
	for i := range p.Ops {
		p.Ops[i].Name = fmt.Sprint("op", i)
	}
	for _, name := range sortedKeys(rows) {
		p.Tensors = append(p.Tensors, f64(name, int64(rows[name]), columns))
	}
	for _, name := range sortedKeys(l.groups) {
		p.Groups = append(p.Groups, program.Group{Name: name, Teams: l.groups[name]})
	}
	return p
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// transposes holds the gradients of a program against its transpose; rows is how many of its given
// tensors there are on each rank. A rank may have no gradient only where it is 0.
func (l *linear) transposes(t *testing.T, rows map[string]int, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 4))
	given := func(of string, rank, element int) map[string]values {
		is := map[string]values{}
		for name, n := range rows {
			for range l.ranks {
				is[name] = append(is[name], make([]float64, n*columns))
			}
		}
		if of != "" {
			is[of][rank][element] = 1
		}
		return is
	}
	// The gradients of results are given: on ranks that have none of a result, too, where they must
	// not be used.
	weights, data := map[string]values{}, map[string][][]float64{}
	zero := l.evaluate(given("", 0, 0))
	for _, name := range sortedKeys(zero) {
		if rows[name] > 0 || slices.ContainsFunc(l.ops, func(o program.Op) bool {
			return slices.Contains(o.In, name)
		}) {
			continue
		}
		most := 0
		for _, v := range zero[name] {
			most = max(most, len(v))
		}
		weights[name] = make(values, l.ranks)
		for rank, v := range zero[name] {
			full := slices.Repeat([]float64{1 << 20}, most)
			for i := range v {
				full[i] = float64(r.IntN(9) - 4)
			}
			weights[name][rank] = full[:len(v)]
			data[program.GradientName(name)] = append(data[program.GradientName(name)], full)
		}
	}
	for name, v := range given("", 0, 0) {
		data[name] = v
	}
	p := l.program(rows)
	got := evaluated(t, p, data)
	for _, name := range sortedKeys(rows) {
		for rank := range l.ranks {
			for i := range rows[name] * columns {
				want := 0.0
				for of, y := range l.evaluate(given(name, rank, i)) {
					if weights[of] != nil {
						want += inner(y, weights[of])
					}
				}
				is := math.NaN()
				if grad := got[program.GradientName(name)]; grad != nil {
					is = grad[rank][i]
				}
				if math.IsNaN(is) {
					is = 0
				}
				require.InDelta(t, want, is, 1e-9, "element %d of the gradient of %s on rank %d of\n%v",
					i, name, rank, l)
			}
		}
	}
}

// String lists the ops.
func (l *linear) String() string {
	var b strings.Builder
	for _, o := range l.ops {
		fmt.Fprintf(&b, "%s%s %v: %s -> %s\n", o.Call, o.Kernel, l.teams(o.Group),
			strings.Join(o.In, " "), o.Out)
	}
	return b.String()
}

// someTeams are groups of four ranks: all of them, some, one.
func someTeams() map[string][][]int {
	return map[string][][]int{"pairs": {{0, 1}, {2, 3}}, "across": {{2, 0}, {3, 1}},
		"pair": {{2, 1}}, "three": {{3, 0, 2}}, "turned": {{2, 3, 0, 1}},
		"r0": {{0}}, "r1": {{1}}, "r2": {{2}}, "r3": {{3}}, "low": {{0}, {1}}, "odd": {{1}, {3}}}
}

// callsOf are calls of a team of n, each with its first rank and its last as root.
func callsOf(n int) (calls []string) {
	for _, kind := range []string{"broadcast", "reduce", "reduce avg", "gather", "scatter"} {
		calls = append(calls, kind, fmt.Sprintf("%s root %d", kind, n-1))
	}
	calls = append(calls, "all_reduce", "all_reduce avg", "all_reduce premulsum factor 0.5",
		"all_gather", "reduce_scatter", "reduce_scatter avg", "all_to_all")
	if n > 1 {
		calls = append(calls, "send_recv")
	}
	return calls
}

// TestTransposeOfCalls: of every kind, in groups that cover all ranks and some, where all, some or
// one of the ranks use what it gives, and with another use of what it takes, and without.
func TestTransposeOfCalls(t *testing.T) {
	for _, group := range []string{"", "pairs", "across", "pair", "three", "turned", "r1"} {
		l := &linear{ranks: 4, groups: someTeams()}
		for _, call := range callsOf(len(l.teams(group)[0])) {
			t.Run(group+" "+call, func(t *testing.T) {
				for _, user := range []string{"all", "r0", "r1", "r2", "r3", "low", "odd"} {
					for _, other := range tier.Of([]string{"", "odd"}, []string{"", "r1", "r2", "odd"}) {
						l.used(t, call, group, user, other)
					}
				}
			})
		}
	}
}

// used tries a call whose result some ranks use, and whose operand others do.
func (l *linear) used(t *testing.T, call, group, user, other string) {
	l.ops = []program.Op{{Call: call, Group: group, In: []string{"x"}, Out: "y"}}
	zero := values{}
	for range l.ranks {
		zero = append(zero, make([]float64, 12*columns))
	}
	has := l.evaluate(map[string]values{"x": zero})["y"]
	if user != "all" {
		for _, team := range l.groups[user] {
			if has[team[0]] == nil {
				return
			}
		}
		l.ops = append(l.ops, program.Op{Kernel: "scale by=-3", Group: user, In: []string{"y"},
			Out: "z"})
	}
	if other != "" {
		l.ops = append(l.ops, program.Op{Kernel: "scale by=5", Group: other, In: []string{"x"},
			Out: "own"})
	}
	l.transposes(t, map[string]int{"x": 12}, uint64(len(call)))
}

// TestTransposeOfSplits: of kinds that say how much every rank has. Where a rank sends less than it
// has, the gradient of what it sends cannot be added to that of another use.
func TestTransposeOfSplits(t *testing.T) {
	for _, c := range []struct {
		call, group string
		rows        int
	}{
		{"all_gatherv splits 3,1", "pairs", 3},
		{"all_gatherv splits 0,2,3", "three", 3},
		{"reduce_scatterv splits 3,1", "across", 4},
		{"reduce_scatterv splits 0,2,1", "three", 3},
		{"all_to_allv splits 1,3/2,2", "pair", 4},
		{"all_to_allv splits 0,2/1,1", "pairs", 2},
		{"all_to_allv splits 1,0,0,0/0,0,2,0/1,0,0,1/1,1,1,1", "", 4},
	} {
		l := &linear{ranks: 4, groups: someTeams(), ops: []program.Op{
			{Call: c.call, Group: c.group, In: []string{"x"}, Out: "y"}}}
		l.transposes(t, map[string]int{"x": c.rows}, 5)
		l.ops = append(l.ops, program.Op{Kernel: "scale by=5", Group: "odd", In: []string{"x"},
			Out: "z"})
		l.transposes(t, map[string]int{"x": c.rows}, 5)
	}
}

// TestTransposeOfPingPong: what rank 0 has spread, rank 1 spreads: nothing comes back to rank 1's
// own, which nobody has used, and what it has sent on is not left there.
func TestTransposeOfPingPong(t *testing.T) {
	l := &linear{ranks: 2, groups: map[string][][]int{"back": {{1, 0}}}, ops: []program.Op{
		{Call: "broadcast", In: []string{"w"}, Out: "a"},
		{Call: "broadcast", Group: "back", In: []string{"a"}, Out: "b"}}}
	l.transposes(t, map[string]int{"w": 1}, 6)
}

// TestTransposeOfAny: of random programs of calls, sums and products.
func TestTransposeOfAny(t *testing.T) {
	tried := 0
	for seed := range uint64(tier.Of(60, 3000)) {
		r := rand.New(rand.NewPCG(seed, 41))
		l := &linear{ranks: 4, groups: someTeams()}
		zero := map[string]values{"x": nil, "w": nil}
		for range l.ranks {
			zero["x"] = append(zero["x"], make([]float64, 24*columns))
			zero["w"] = append(zero["w"], make([]float64, 24*columns))
		}
		names := []string{"x", "w"}
		for range 2 + r.IntN(6) {
			l.any(r, zero, &names)
		}
		rows := map[string]int{"x": 24, "w": 24}
		forward := l.program(rows)
		forward.Gradient = false
		if forward.Validate() == nil { // of tensors of one length on all ranks, where calls read them
			l.transposes(t, rows, seed)
			tried++
		}
	}
	require.Greater(t, tried, tier.Of(20, 1000))
}

// any adds an op of which every rank has what it reads.
func (l *linear) any(r *rand.Rand, zero map[string]values, names *[]string) {
	of := append(sortedKeys(l.groups), "")
	o := program.Op{Group: of[r.IntN(len(of))], In: []string{(*names)[r.IntN(len(*names))]},
		Out: fmt.Sprint("t", len(l.ops))}
	calls := append(callsOf(len(l.teams(o.Group)[0])), "", "")
	switch o.Call = calls[r.IntN(len(calls))]; {
	case o.Call == "" && r.IntN(2) == 0:
		o.Kernel = "scale by=-2"
	case o.Call == "":
		o.Kernel, o.In = "add", append(o.In, (*names)[r.IntN(len(*names))])
	}
	is := l.evaluate(zero)
	rows := -1
	for _, team := range l.teams(o.Group) {
		for _, rank := range team {
			for _, name := range o.In {
				if v := is[name][rank]; v == nil || rows >= 0 && len(v) != rows {
					return
				}
				rows = len(is[name][rank])
			}
		}
	}
	if n := len(l.teams(o.Group)[0]); rows%(n*columns) != 0 || rows > 64*columns {
		return
	}
	l.ops = append(l.ops, o)
	*names = append(*names, o.Out)
}
