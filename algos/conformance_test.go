package algos_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"

	"github.com/stretchr/testify/require"
)

// TestMain is tier.Main.
func TestMain(m *testing.M) { os.Exit(tier.Main(m)) }

// TestConformance holds every algorithm to the suite.
func TestConformance(t *testing.T) {
	for _, a := range append(algos.Table(), algos.Further()...) {
		t.Run(fmt.Sprintf("%v/%s", a.Kinds[0], a.Name), func(t *testing.T) {
			algostest.Test(t, a)
		})
	}
}

var everyRank = flag.Bool("every", false, "TestAllRanks tries every algorithm on every number of "+
	"ranks, which takes 8 minutes of processor time with the tag long")

// TestAllRanks holds the algorithms that are used by name to the suite at all numbers of ranks up
// to 33, and a few beyond. Of those above 12, each takes a third unless every one is asked for.
func TestAllRanks(t *testing.T) {
	for i, a := range algos.Further() {
		numbers := []int{7, 9, 10, 11, 12, 16}
		if tier.Long {
			numbers = nil
			for at, ranks := range append(upTo(33), 64, 100, 128) {
				if ranks <= 12 || (i+at)%3 == 0 || *everyRank {
					numbers = append(numbers, ranks)
				}
			}
		}
		t.Run(fmt.Sprintf("%v/%s", a.Kinds[0], a.Name), func(t *testing.T) {
			algostest.Test(t, a, numbers...)
		})
	}
}

// upTo lists the numbers from 1 on.
func upTo(last int) (list []int) {
	for n := range last {
		list = append(list, n+1)
	}
	return list
}

// TestNonPowersOf2 names the folds of Rabenseifner's all_reduce.
func TestNonPowersOf2(t *testing.T) {
	a, err := algos.Find(collective.AllReduce, "rabenseifner")
	require.NoError(t, err)
	for _, ranks := range []int{3, 5, 6, 12} {
		algostest.TestAt(t, a, ranks)
	}
}

// TestRingOrders names the orders that are not the default.
func TestRingOrders(t *testing.T) {
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	for _, order := range []string{"nccl", "gloo"} {
		for _, ranks := range []int{1, 2, 3, 4, 5, 8, 13} {
			algostest.TestAt(t, a, ranks, algos.Param{Name: "order", Value: order})
		}
	}
}

// TestHierarchies names the groups that clusters have, and those at the ends of what is possible.
func TestHierarchies(t *testing.T) {
	a, err := algos.Find(collective.AllReduce, "hierarchical")
	require.NoError(t, err)
	for _, c := range []struct{ groups, inner int }{{2, 8}, {4, 8}, {3, 5}, {1, 6}, {6, 1}} {
		inner := algos.Param{Name: "inner", Value: fmt.Sprint(c.inner)}
		algostest.TestAt(t, a, c.groups*c.inner, inner)
	}
}

// TestSkipsEmpty has direct all_to_all leave empty messages out.
func TestSkipsEmpty(t *testing.T) {
	a, err := algos.Find(collective.AllToAllV, "direct")
	require.NoError(t, err)
	skip := algos.Param{Name: "empty", Value: "skip"}
	for _, ranks := range []int{1, 2, 3, 4, 5, 8, 13} {
		b, err := a.Bound(ranks, algos.Options{Params: []algos.Param{skip}})
		require.NoError(t, err)
		algostest.TestAt(t, b, ranks, skip)
	}
	spec := collective.Spec{Kind: collective.AllToAllV, Type: dtype.Float32, Ranks: 3,
		Splits: [][]int64{{0, 2, 0}, {0, 0, 2}, {0, 0, 2}}} // a chain, and what its end keeps
	all := algostest.Amount{Lanes: 2, Steps: 5, Messages: 2}
	for value, want := range map[string][3]algostest.Amount{"send": {all, all, all},
		"skip": {{Lanes: 1, Steps: 1, Messages: 1},
			{Lanes: 1, Steps: 2, Messages: 1}, {Lanes: 1, Steps: 2}}} {
		s, err := a.Build(spec, algos.Options{Params: []algos.Param{{Name: "empty", Value: value}}})
		require.NoError(t, err)
		for rank := range want {
			require.Equal(t, want[rank], algostest.AmountOf(s, rank), "%s: rank %d", value, rank)
		}
	}
	_, err = a.Build(spec, algos.Options{Params: []algos.Param{{Name: "empty", Value: "no"}}})
	require.EqualError(t, err, `direct: empty = "no": send or skip is expected`)
}
