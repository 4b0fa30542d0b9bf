package reference_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/reference"
)

// TestOrderOfEveryAlgorithm holds the bits of each algorithm to the order of additions that
// docs/numbers.md says it has, written out by hand: chunk by chunk, from the first on, or once
// where
// all chunks have the same.
func TestOrderOfEveryAlgorithm(t *testing.T) {
	for _, c := range []struct {
		kind      collective.Kind
		algorithm string
		ranks     int
		root      int
		orders    string
	}{
		{collective.AllReduce, "ring", 4, 0,
			"((0+1)+2)+3 ((1+2)+3)+0 ((2+3)+0)+1 ((3+0)+1)+2"},
		{collective.AllReduce, "ring(order=openmpi)", 4, 0,
			"((0+1)+2)+3 ((1+2)+3)+0 ((2+3)+0)+1 ((3+0)+1)+2"},
		{collective.AllReduce, "ring(order=nccl)", 4, 0,
			"((1+2)+3)+0 ((2+3)+0)+1 ((3+0)+1)+2 ((0+1)+2)+3"},
		{collective.AllReduce, "ring(order=gloo)", 4, 0,
			"((3+2)+1)+0 ((0+3)+2)+1 ((1+0)+3)+2 ((2+1)+0)+3"},
		{collective.ReduceScatter, "ring", 4, 0,
			"((1+2)+3)+0 ((2+3)+0)+1 ((3+0)+1)+2 ((0+1)+2)+3"},
		{collective.AllReduce, "recursive-doubling", 8, 0, "((0+1)+(2+3))+((4+5)+(6+7))"},
		// Folded: 0 with 1 and 2 with 3, then four numbers are doubled.
		{collective.AllReduce, "recursive-doubling", 6, 0, "((0+1)+(2+3))+(4+5)"},
		{collective.AllReduce, "rabenseifner", 8, 0, "((0+1)+(2+3))+((4+5)+(6+7))"},
		{collective.AllReduce, "rabenseifner", 6, 0, "((0+1)+(2+3))+(4+5)"},
		{collective.AllReduce, "one-shot", 5, 0, "(((0+1)+2)+3)+4"},
		{collective.AllReduce, "two-shot", 5, 0, "(((0+1)+2)+3)+4"},
		{collective.ReduceScatter, "direct", 5, 0, "(((0+1)+2)+3)+4"},
		{collective.ReduceScatter, "recursive-halving", 4, 0, "(0+2)+(1+3)"},
		// Folded, all blocks of 0 with 1 and of 2 with 3; then 01 with 4, 23 with 5.
		{collective.ReduceScatter, "recursive-halving", 6, 0, "((0+1)+4)+((2+3)+5)"},
		{collective.ReduceScatter, "recursive-halving", 7, 0, "((0+1)+(4+5))+((2+3)+6)"},
		{collective.ReduceScatter, "pairwise", 4, 0,
			"((0+3)+2)+1 ((1+0)+3)+2 ((2+1)+0)+3 ((3+2)+1)+0"},
		{collective.AllReduce, "binomial", 6, 0, "((0+1)+(2+3))+(4+5)"},
		{collective.AllReduce, "hierarchical", 4, 0, "(0+1)+(2+3)"},
		// A rank, its first child, its second one: 0 has 2, which has 1 and 3. The second tree is the
		// mirror image, so that 1 adds 2 before 0; of an odd number, the first one moved on.
		{collective.AllReduce, "double-binary-tree", 4, 0, "0+((2+1)+3) 3+((1+2)+0)"},
		{collective.AllReduce, "double-binary-tree", 7, 0,
			"0+((4+((2+1)+3))+(6+5)) 1+((5+((3+2)+4))+(0+6))"},
		{collective.AllReduce, "double-binary-tree", 8, 0,
			"0+((4+((2+1)+3))+((6+5)+7)) 7+((3+((5+6)+4))+((1+2)+0))"},
		{collective.Reduce, "flat", 5, 2, "((0+(1+2))+3)+4"},
		{collective.Reduce, "linear", 5, 2, "0+(1+(2+(3+4)))"},
		{collective.Reduce, "chain", 4, 1, "((0+3)+2)+1"},
		{collective.Reduce, "binomial", 6, 0, "((0+1)+(2+3))+(4+5)"},
	} {
		spec := collective.Spec{Kind: c.kind, Op: collective.Sum, Ranks: c.ranks, Root: c.root,
			Count: 20}
		if c.kind != collective.ReduceScatter {
			spec.Count *= int64(c.ranks)
		}
		orders := strings.Fields(c.orders)
		inOrder[float32](t, spec, c.algorithm, orders)
		inOrder[dtype.BF16](t, spec, c.algorithm, orders)
		inOrder[dtype.E4M3](t, spec, c.algorithm, orders)
	}
}

// inOrder compares all outputs with what the orders give, of chunks of equal size.
func inOrder[T dtype.Number](t *testing.T, spec collective.Spec, name string, orders []string) {
	t.Helper()
	spec.Type = dtype.Of[T]()
	base, params, given := strings.Cut(strings.TrimSuffix(name, ")"), "(")
	a, err := algos.Find(spec.Kind, base)
	require.NoError(t, err)
	var o algos.Options
	if given {
		key, value, _ := strings.Cut(params, "=")
		o.Params = []algos.Param{{Name: key, Value: value}}
	}
	s, err := a.Build(spec, o)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	inputs := make([][]T, spec.Ranks)
	total := spec.In(0)
	for rank := range inputs {
		for range total {
			inputs[rank] = append(inputs[rank], dtype.From[T](r.NormFloat64()))
		}
	}
	outputs, err := reference.Run(s, inputs)
	require.NoError(t, err)
	sensitive := 0 // of the sums, that would have other bits from the first rank up, or the last down
	for rank, out := range outputs {
		for i, got := range out {
			at := int64(i)
			if spec.Kind == collective.ReduceScatter {
				at += int64(rank) * spec.Count
			}
			leaves := make([]T, spec.Ranks)
			for q := range leaves {
				leaves[q] = inputs[q][at]
			}
			up, down := []T{leaves[0]}, []T{leaves[spec.Ranks-1]}
			for q := 1; q < spec.Ranks; q++ {
				dtype.Sum(up, leaves[q:q+1])
				dtype.Sum(down, leaves[spec.Ranks-1-q:spec.Ranks-q])
			}
			order := orders[at*int64(len(orders))/total]
			want := evaluate(&order, leaves)
			require.Equal(t, dtype.Bits(want), dtype.Bits(got), "%s %v of %v: rank %d element %d: %v",
				name, spec.Kind, spec.Type, rank, i, leaves)
			if dtype.Bits(up[0]) != dtype.Bits(got) || dtype.Bits(down[0]) != dtype.Bits(got) {
				sensitive++
			}
		}
	}
	require.Positive(t, sensitive, "the data do not depend on the order")
}

// evaluate computes a sum as it is written, from its front, and cuts it off: sum = term "+" term …,
// term = rank | "(" sum ")".
func evaluate[T dtype.Number](text *string, leaves []T) T {
	term := func() T {
		if (*text)[0] == '(' {
			*text = (*text)[1:]
			x := evaluate(text, leaves)
			*text = (*text)[1:]
			return x
		}
		x := leaves[(*text)[0]-'0']
		*text = (*text)[1:]
		return x
	}
	sum := []T{term()}
	for *text != "" && (*text)[0] == '+' {
		*text = (*text)[1:]
		dtype.Sum(sum, []T{term()})
	}
	return sum[0]
}

// TestDoublingAgreesEverywhere: recursive doubling is one tree, whatever the type.
func TestDoublingAgreesEverywhere(t *testing.T) {
	for _, name := range []string{"recursive-doubling", "rabenseifner", "ring", "one-shot"} {
		for _, dt := range dtype.All() {
			a, err := algos.Find(collective.AllReduce, name)
			require.NoError(t, err)
			s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.OpsOf(dt)[0],
				Type: dt, Ranks: 7, Count: 500}, algos.Options{})
			require.NoError(t, err)
			for _, acc := range []reference.Accumulate{reference.Native, reference.InFloat32} {
				r, err := reference.Check(s, reference.CheckOptions{Data: reference.Normal,
					Accumulate: acc})
				require.NoError(t, err)
				require.True(t, r.RanksAgree, "%s %v", name, dt)
				require.Zero(t, r.Wrong, fmt.Sprint(name, dt, r.First))
			}
		}
	}
}
