package libraries

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
)

// callOf returns a call of a kind: size is in bytes of one rank's vector, or block.
func callOf(kind collective.Kind, ranks int, size int64) collective.Spec {
	spec := collective.Spec{Kind: kind, Type: dtype.Uint8, Ranks: ranks, Count: size}
	if kind.Reduces() {
		spec.Op = collective.Sum
	}
	if kind == collective.Barrier {
		spec.Type, spec.Count = 0, 0
	}
	rows := 0
	if kind == collective.AllToAllV {
		rows = ranks
	} else if kind.Splits() {
		rows = 1
	}
	for range rows {
		row := make([]int64, ranks)
		for i := range row {
			row[i] = size
		}
		spec.Count, spec.Splits = 0, append(spec.Splits, row)
	}
	return spec
}

// TestChoices: what the libraries' sources say at the borders of their rules.
func TestChoices(t *testing.T) {
	const kb, mb = 1 << 10, 1 << 20
	for _, c := range []struct {
		library      string
		kind         collective.Kind
		ranks        int
		size         int64
		theirs, ours string
	}{
		{"mpich", collective.Broadcast, 7, mb, "binomial", "binomial"},
		{"mpich", collective.Broadcast, 8, 12 * kb, "binomial", "binomial"},
		{"mpich", collective.Broadcast, 8, 12*kb + 1, "scatter_recursive_doubling_allgather",
			"scatter-doubling"},
		{"mpich", collective.Broadcast, 8, 512 * kb, "scatter_recursive_doubling_allgather",
			"scatter-doubling"},
		{"mpich", collective.Broadcast, 8, 512*kb + 1, "scatter_ring_allgather", "scatter-allgather"},
		{"mpich", collective.Broadcast, 9, 12*kb + 1, "scatter_ring_allgather", "scatter-allgather"},
		{"mpich", collective.AllReduce, 4, 8, "recursive_doubling", "recursive-doubling"},
		{"mpich", collective.AllReduce, 4, 9, "reduce_scatter_allgather", "rabenseifner"},
		{"mpich", collective.AllReduce, 31, 15, "recursive_doubling", "recursive-doubling"},
		{"mpich", collective.AllReduce, 31, 16, "reduce_scatter_allgather", "rabenseifner"},
		{"mpich", collective.AllGather, 8, 64*kb - 1, "recursive_doubling", "recursive-doubling"},
		{"mpich", collective.AllGather, 8, 64 * kb, "ring", "ring"},
		{"mpich", collective.AllGather, 5, 16*kb - 1, "brucks", "bruck"},
		{"mpich", collective.AllGather, 5, 16 * kb, "ring", "ring"},
		{"mpich", collective.Reduce, 4, 2 * kb, "binomial", "binomial"},
		{"mpich", collective.Reduce, 4, 2*kb + 1, "reduce_scatter_gather", "rabenseifner"},
		{"mpich", collective.ReduceScatter, 4, 128*kb - 1, "recursive_halving", "recursive-halving"},
		{"mpich", collective.ReduceScatter, 4, 128 * kb, "pairwise", "pairwise"},
		{"mpich", collective.AllToAll, 7, 256, "scattered", "scattered"},
		{"mpich", collective.AllToAll, 8, 256, "brucks", "bruck"},
		{"mpich", collective.AllToAll, 8, 257, "scattered", "scattered"},
		{"mpich", collective.AllToAll, 8, 32*kb + 1, "pairwise", "pairwise"},
		{"mpich", collective.Barrier, 8, 0, "k_dissemination of 2", "dissemination"},
		{"oneccl", collective.AllReduce, 4, 8 * kb, "recursive_doubling", "recursive-doubling"},
		{"oneccl", collective.AllReduce, 4, 8*kb + 1, "nreduce", "two-shot"},
		{"oneccl", collective.AllReduce, 4, mb, "nreduce", "two-shot"},
		{"oneccl", collective.AllReduce, 4, mb + 1, "ring", "ring"},
		{"oneccl", collective.AllReduce, 10000, 9000, "ring", "ring"},
		{"oneccl", collective.AllGather, 4, 32 * kb, "naive", "direct"},
		{"oneccl", collective.AllGather, 4, 32*kb + 1, "ring", "ring"},
		{"oneccl", collective.Broadcast, 4, 8 * kb, "double_tree", "double-binary-tree"},
		{"oneccl", collective.Broadcast, 4, 8*kb + 1, "naive", "flat"},
		{"gloo", collective.AllReduce, 4, mb, "ring", "ring"},
		{"gloo", collective.Broadcast, 5, kb, "binomial, nearest ranks first", "doubling"},
		{"gloo", collective.Reduce, 5, kb, "ring reduce_scatter and linear gather", "ring"},
		{"ucc", collective.AllReduce, 16, 4*kb - 1, "knomial of 4", "recursive-multiplying"},
		{"ucc", collective.AllReduce, 16, 4 * kb, "sra_knomial of 4", "k-nomial"},
		{"ucc", collective.AllReduce, 3, 4 * kb, "sra_knomial of 4", "k-nomial"},
		{"ucc", collective.AllReduce, 8, 4 * kb, "sra_knomial of 4 on no power of 4", ""},
		{"ucc", collective.AllGather, 6, kb, "neighbor", "neighbor-exchange"},
		{"ucc", collective.AllGather, 7, kb, "ring", "ring"},
		{"ucc", collective.AllGather, 4, 1023, "knomial of 4", "recursive-multiplying"},
		{"ucc", collective.AllGather, 8, 511, "knomial of 4 on no power of 4", ""},
		{"ucc", collective.Broadcast, 2, mb, "knomial of 4", "k-nomial"},
		{"ucc", collective.Broadcast, 3, 32 * kb, "sag_knomial of 4", ""},
		{"ucc", collective.Reduce, 3, 32 * kb, "srg_knomial of 4", ""},
		{"ucc", collective.AllToAll, 8, 128, "bruck", "bruck"},
		{"ucc", collective.AllToAll, 8, 129, "pairwise, all at once", "direct"},
		{"ucc", collective.AllToAll, 32, 2100, "pairwise, all at once", "direct"},
		{"ucc", collective.AllToAll, 33, 2001, "pairwise, one by one", "pairwise"},
		{"ucc", collective.AllToAll, 33, 2000, "pairwise, all at once", "direct"},
	} {
		where := fmt.Sprintf("%s %v of %d ranks, %d bytes", c.library, c.kind, c.ranks, c.size)
		a, err := algos.FindIn(Table(), c.kind, c.library+":auto")
		require.NoError(t, err, where)
		spec := callOf(c.kind, c.ranks, c.size)
		want := fmt.Sprintf("%s (%s)", c.theirs, c.ours)
		require.Equal(t, want, a.Picked(spec, algos.Options{}).What, where)
		if c.ranks > 100 {
			continue
		}
		_, err = a.Build(spec, algos.Options{})
		var unfit *algos.Unfit
		if c.ours == "" {
			require.ErrorAs(t, err, &unfit, where)
			require.ErrorContains(t, err, c.theirs, where)
			continue
		}
		require.NoError(t, err, where)
	}
}

// TestParameters: a choice is the schedule of ours with these options, under the library's name.
func TestParameters(t *testing.T) {
	around := [][]int32{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}}
	for _, c := range []struct {
		library string
		kind    collective.Kind
		ranks   int
		ours    string
		o       algos.Options
	}{
		{"gloo", collective.AllReduce, 5, "ring", algos.Options{Slices: 2,
			Params: []algos.Param{{Name: "order", Value: "gloo"}}}},
		{"gloo", collective.AllGather, 5, "ring", algos.Options{Slices: 2}},
		{"mpich", collective.AllToAll, 40, "scattered", algos.Options{
			Params: []algos.Param{{Name: "batch", Value: "32"}}}},
		{"oneccl", collective.AllReduce, 5, "ring", algos.Options{
			Params: []algos.Param{{Name: "order", Value: "nccl"}}}},
		{"ucc", collective.AllReduce, 16, "k-nomial", algos.Options{
			Params: []algos.Param{{Name: "radix", Value: "4"}}}},
		{"ucc", collective.Gather, 3, "k-nomial", algos.Options{
			Params: []algos.Param{{Name: "radix", Value: "3"}}}},
		{"ucc", collective.ReduceScatter, 5, "ring", algos.Options{Channels: 2, Rings: around}},
	} {
		size := int64(10000)
		if c.library == "oneccl" {
			size = 2 << 20
		}
		spec := callOf(c.kind, c.ranks, size)
		a, err := algos.FindIn(Table(), c.kind, c.library+":auto")
		require.NoError(t, err)
		got, err := a.Build(spec, algos.Options{})
		require.NoError(t, err)
		ours, err := algos.Find(c.kind, c.ours)
		require.NoError(t, err)
		want, err := ours.Build(spec, c.o)
		require.NoError(t, err)
		want.Name = a.Name
		require.Equal(t, want.String(), got.String(), "%s %v", a.Name, c.kind)
	}
}

// TestRulesAreReached: every rule is that of some call, and what it names is there.
func TestRulesAreReached(t *testing.T) {
	for _, l := range known() {
		reached := make([]bool, len(l.rules))
		for _, kind := range l.kinds() {
			for i := range 4000 {
				spec := callOf(kind, []int{2, 3, 4, 5, 8, 9, 16, 33, 40}[i%9], 1<<(i/9%24))
				spec.InPlace = i/216%2 == 1
				if !kind.Splits() && kind != collective.Barrier && i%7 == 0 { // many short vectors
					spec.Ranks, spec.Count, spec.Type = 600, 300, dtype.Float64
				}
				values := map[string]string{nodeParam: []string{nodeValue, "2"}[i/432%2],
					"transport": []string{"ofi", "mpi"}[i/864%2]}
				r, ok := l.ruleFor(spec, func(name string) string { return values[name] })
				require.True(t, ok, "%s %v", l.name, spec)
				for j := range l.rules {
					same := l.rules[j].theirs == r.theirs && l.rules[j].when == r.when
					reached[j] = reached[j] || same && l.rules[j].ours == r.ours
				}
			}
		}
		for i, r := range l.rules {
			require.True(t, reached[i], "%s: %s for %s", l.name, r.theirs, r.when.text())
			if r.ours != "" {
				for _, kind := range r.kinds {
					_, err := algos.Find(kind, r.ours)
					require.NoError(t, err, "%s", l.name)
				}
			}
		}
	}
}

// TestRefusals: wrong values, and channels, are refused, and so is what is not here.
func TestRefusals(t *testing.T) {
	reduce, barrier := callOf(collective.AllReduce, 4, 100), callOf(collective.Barrier, 8, 0)
	for _, c := range []struct {
		name  string
		spec  collective.Spec
		o     algos.Options
		error string
	}{
		{"oneccl:auto", reduce, algos.Options{Params: []algos.Param{{Name: "transport", Value: "tcp"}}},
			`oneccl:auto: transport = "tcp": one of [ofi mpi] is expected`},
		{"oneccl:auto", reduce, algos.Options{Params: []algos.Param{{Name: "transport", Value: "mpi"}}},
			"oneccl:auto: it chooses direct (transport=mpi), which is not here; choose an algorithm " +
				"by name"},
		{"mpich:auto", barrier, algos.Options{Params: []algos.Param{{Name: nodeParam, Value: "0"}}},
			`mpich:auto: ranks_per_node = "0": a whole number from 1 on is expected`},
		{"mpich:auto", reduce, algos.Options{Channels: 2},
			"mpich:auto: it has neither channels nor slices"},
		{"mpich:auto", barrier, algos.Options{PerNode: 4}, "mpich:auto: it chooses smp " +
			"(several nodes of several ranks), which is not here; choose an algorithm by name"},
		{"ucc:auto", reduce, algos.Options{Params: []algos.Param{{Name: "radix", Value: "2"}}},
			`ucc:auto has no parameter "radix"; it has none`},
	} {
		a, err := algos.FindIn(Table(), c.spec.Kind, c.name)
		require.NoError(t, err)
		_, err = a.Build(c.spec, c.o)
		require.EqualError(t, err, c.error)
	}
}
