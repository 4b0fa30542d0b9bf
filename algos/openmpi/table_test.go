package openmpi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/openmpi"
	"collsim/algos/openmpi/openmpitest"
	"collsim/collective"
	"collsim/dtype"
	"collsim/reference"
)

// TestTable: every choice has a row of its own, which builds the schedule that Build does, and from
// whose name the choice is found again.
func TestTable(t *testing.T) {
	table := openmpi.Table()
	var all []openmpi.Choice
	for _, kind := range collective.Kinds() {
		for _, f := range openmpi.Functions() {
			if f.Kind == kind {
				all = append(all, openmpi.Choice{Function: f.Name})
				for _, a := range f.Algorithms {
					all = append(all, openmpi.Choice{Function: f.Name, Algorithm: a.Name})
				}
			}
		}
	}
	require.Len(t, table, len(all))
	seen := map[string]bool{}
	for i, a := range table {
		require.Regexp(t, `^openmpi:[a-z-]+$`, a.Name)
		id := fmt.Sprint(a.Kinds[0], " ", a.Name)
		require.False(t, seen[id], id)
		seen[id] = true
		for _, text := range []string{a.About, a.When, a.Source} {
			require.NotEmpty(t, text, id)
		}
		spec := openmpitest.SpecOf(t, all[i], 2, 1, 100)
		s, err := a.Build(spec, algos.Options{})
		require.NoError(t, err, id)
		want, err := openmpi.Build(all[i], spec)
		require.NoError(t, err, id)
		want.Name = s.Name
		require.Equal(t, want.String(), s.String(), id)
		c, ok := openmpi.Of(spec.Kind, s.Name)
		require.True(t, ok, id)
		if c.Algorithm == "chain" { // it has its default
			require.Equal(t, all[i].Chains(), c.Fanout)
			c.Fanout = 0
		}
		require.Equal(t, all[i], c, id)
	}
}

// TestParameters: what a scenario sets is what the library would be told, and is in the schedule's
// name; what is out of range is refused.
func TestParameters(t *testing.T) {
	for _, test := range []struct {
		base   openmpi.Choice
		name   string
		params string // name and value by turns
		want   openmpi.Choice
		called string
		refuse string
	}{
		{openmpi.Choice{Function: "bcast"}, "pipeline", "segment 64B",
			openmpi.Choice{Function: "bcast", Algorithm: "pipeline", Segment: 64},
			"openmpi:pipeline(segment=64)", ""},
		{openmpi.Choice{Function: "reduce"}, "chain", "fanout 2 segment 64",
			openmpi.Choice{Function: "reduce", Algorithm: "chain", Segment: 64, Fanout: 2},
			"openmpi:chain(segment=64,fanout=2)", ""},
		{openmpi.Choice{Function: "allreduce"}, "nonoverlapping", "reduce in-order-binary",
			openmpi.Choice{Function: "allreduce", Algorithm: "nonoverlapping", Inner: "in-order_binary"},
			"openmpi:nonoverlapping(reduce=in-order-binary)", ""},
		{base: openmpi.Choice{Function: "reduce"}, name: "chain", params: "fanout 33",
			refuse: "openmpi:chain: fanout=33: 1 to 32 is expected"},
		{base: openmpi.Choice{Function: "reduce"}, name: "binary", params: "segment 2GiB",
			refuse: "openmpi:binary: reduce binary(segment=2147483648): segments of 0 to 2³⁰ " +
				"bytes and a fan-out of 0 to 32 are expected"},
		{base: openmpi.Choice{Function: "allreduce"}, name: "nonoverlapping", params: "reduce ring",
			refuse: "openmpi:nonoverlapping: reduce=ring: one of tuned, linear, chain, " +
				"pipeline, binary, binomial, in-order-binary, rabenseifner is expected"},
		{base: openmpi.Choice{Function: "allreduce"}, name: "ring", params: "segment 64",
			refuse: `openmpi:ring has no parameter "segment"; it has none`},
	} {
		spec := openmpitest.SpecOf(t, test.base, 6, 2, 100)
		a, err := algos.FindIn(openmpi.Table(), spec.Kind, openmpi.Prefix+test.name)
		require.NoError(t, err)
		var o algos.Options
		words := strings.Fields(test.params)
		for i := 0; i < len(words); i += 2 {
			o.Params = append(o.Params, algos.Param{Name: words[i], Value: words[i+1]})
		}
		s, err := a.Build(spec, o)
		if test.refuse != "" {
			require.EqualError(t, err, test.refuse)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, test.called, s.Name)
		c, ok := openmpi.Of(spec.Kind, s.Name)
		require.True(t, ok)
		require.Equal(t, test.want, c)
		want, err := openmpi.Build(test.want, spec)
		require.NoError(t, err)
		want.Name = s.Name
		require.Equal(t, want.String(), s.String())
	}
}

// TestUnfit: what the library does not do is said, and why.
func TestUnfit(t *testing.T) {
	for _, test := range []struct {
		base   openmpi.Choice
		name   string
		ranks  int
		change func(*collective.Spec, *algos.Options)
		want   string
	}{
		{openmpi.Choice{Function: "allreduce"}, "ring", 4,
			func(s *collective.Spec, _ *algos.Options) { s.Op = collective.Avg },
			"openmpi:ring: MPI has no operator avg"},
		{openmpi.Choice{Function: "allreduce"}, "ring", 4,
			func(_ *collective.Spec, o *algos.Options) { o.Channels = 2 },
			"openmpi:ring: it has neither channels nor slices"},
		{openmpi.Choice{Function: "allgather"}, "two-proc", 3,
			func(*collective.Spec, *algos.Options) {},
			"openmpi:two-proc: allgather two_proc is for 2 ranks, not 3"},
		{openmpi.Choice{Function: "reduce_scatter_block"}, "block-butterfly", 4,
			func(s *collective.Spec, _ *algos.Options) { s.InPlace = true },
			"openmpi:block-butterfly: in place MPI leaves the result at the beginning of the " +
				"buffer, not in this rank's block"},
	} {
		spec, o := openmpitest.SpecOf(t, test.base, test.ranks, 0, 10), algos.Options{}
		test.change(&spec, &o)
		a, err := algos.FindIn(openmpi.Table(), spec.Kind, openmpi.Prefix+test.name)
		require.NoError(t, err)
		_, err = a.Build(spec, o)
		var unfit *algos.Unfit
		require.ErrorAs(t, err, &unfit)
		require.EqualError(t, err, test.want)
		_, err = a.ClosedForm(spec, algos.Options{}, algos.Model{})
		require.Error(t, err) // none is published
	}
	_, ok := openmpi.Of(collective.AllReduce, "ring")
	require.False(t, ok)
}

// TestPicked: an algorithm that chooses by itself says what, one that leaves nothing open does not.
func TestPicked(t *testing.T) {
	spec := openmpitest.SpecOf(t, openmpi.Choice{Function: "allreduce"}, 200, 0, 250)
	for _, test := range []struct{ name, want string }{
		{"tuned", "allreduce nonoverlapping, reduce binomial, bcast binary_tree"},
		{"nonoverlapping", "reduce binomial, bcast binary_tree"},
		{"ring", ""},
	} {
		a, err := algos.FindIn(openmpi.Table(), spec.Kind, openmpi.Prefix+test.name)
		require.NoError(t, err)
		require.Equal(t, test.want, a.Picked(spec, algos.Options{}).String(), test.name)
	}
}

// TestBits: MPI has and, or and xor, of bools and of integers.
func TestBits(t *testing.T) {
	for _, typ := range []dtype.Type{dtype.Bool, dtype.Int64} {
		for _, op := range []collective.Op{collective.And, collective.Or, collective.Xor} {
			spec := collective.Spec{Kind: collective.AllReduce, Op: op, Type: typ, Ranks: 5, Count: 33}
			s, err := openmpi.Build(openmpi.Choice{Function: "allreduce", Algorithm: "ring"}, spec)
			require.NoError(t, err)
			r, err := reference.Check(s, reference.CheckOptions{})
			require.NoError(t, err)
			require.Equal(t, reference.NumbersExact, r.Numbers, "%v %v", typ, op)
		}
	}
}
