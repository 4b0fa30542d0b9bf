package algos_test

import (
	"fmt"
	"testing"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/collective"

	"github.com/stretchr/testify/require"
)

// TestLattices names levels and tori that clusters have, and those at the ends of what is possible.
func TestLattices(t *testing.T) {
	for _, c := range []struct {
		kind              collective.Kind
		name, param, text string
		ranks             int
	}{
		{collective.AllReduce, "multi-level", "levels", "4x3x2", 24},
		{collective.AllReduce, "multi-level", "levels", "1x6x1", 6},
		{collective.AllReduce, "multi-level", "levels", "2x2x3x2", 24},
		{collective.AllGather, "multi-level", "levels", "3x4x2", 24},
		{collective.ReduceScatter, "multi-level", "levels", "2x3x2", 12},
		{collective.AllReduce, "torus", "dims", "3x3x3", 27},
		{collective.AllReduce, "torus", "dims", "4x2x3", 24},
		{collective.AllReduce, "torus", "dims", "2x2x2x2", 16},
		{collective.AllReduce, "torus", "dims", "7", 7},
		{collective.AllReduce, "swing", "dims", "4x4", 16},
		{collective.AllReduce, "swing", "dims", "8x2x1", 16},
		{collective.AllReduce, "swing", "dims", "6x4", 24},
		{collective.AllReduce, "swing", "dims", "2x2x2x2", 16},
		{collective.AllReduce, "swing", "dims", "10", 10},
		{collective.AllReduce, "swing-latency", "dims", "4x8", 32},
		{collective.AllReduce, "bine", "dims", "4x8x2", 64},
		{collective.AllReduce, "bine", "dims", "6x2", 12},
		{collective.AllGather, "swing", "dims", "2x6x2", 24},
		{collective.AllGather, "bine", "dims", "4x2x4", 32},
		{collective.ReduceScatter, "bine", "dims", "8x4", 32},
		{collective.ReduceScatter, "swing", "dims", "balanced", 20},
		{collective.AllReduce, "leader", "inner", "6", 24},
		{collective.AllReduce, "leader", "inner", "5", 15},
		{collective.AllReduce, "leader", "inner", "1", 6},
		{collective.Broadcast, "hierarchical", "inner", "5", 15},
		{collective.Reduce, "hierarchical", "inner", "6", 18},
		{collective.Scatter, "hierarchical", "inner", "6", 18},
		{collective.Gather, "hierarchical", "inner", "3", 12},
		{collective.AllToAll, "hierarchical", "inner", "6", 12},
		{collective.AllToAll, "hierarchical", "inner", "1", 5},
		{collective.AllToAllV, "hierarchical", "inner", "5", 15},
	} {
		a, err := algos.Find(c.kind, c.name)
		require.NoError(t, err)
		algostest.TestAt(t, a, c.ranks, algos.Param{Name: c.param, Value: c.text})
	}
}

// TestRadices names radices that are not the default.
func TestRadices(t *testing.T) {
	for _, a := range algos.Further() {
		for _, p := range a.Params {
			for radix := 2; p.Name == "radix" && radix < 7; radix++ {
				for _, ranks := range []int{1, 2, 7, 9, 16} {
					value := algos.Param{Name: "radix", Value: fmt.Sprint(radix)}
					algostest.TestAt(t, a, ranks, value)
				}
			}
		}
	}
}

// TestLatticeErrors: sizes that are no numbers, or whose product is not the number of ranks, are
// refused by name.
func TestLatticeErrors(t *testing.T) {
	for _, c := range []struct{ name, param, text, want string }{
		{"multi-level", "levels", "4x0",
			`multi-level: levels = "4x0": sizes as in 8x4, or balanced, are expected`},
		{"multi-level", "levels", "fast",
			`multi-level: levels = "fast": sizes as in 8x4, or balanced, are expected`},
		{"multi-level", "levels", "4x4", `multi-level: levels = "4x4" has 16 ranks; there are 12`},
		{"multi-level", "levels", "balanced", ""}, {"multi-level", "levels", "2x6", ""},
		{"multi-level", "levels", "12", ""},
		{"swing", "dims", "4x3", `swing: dims = "4x3": even sizes are expected; 12 is all ranks as ` +
			`one ring`},
		{"bine", "dims", "2x4", `bine: dims = "2x4" has 8 ranks; there are 12`},
		{"swing", "dims", "even-shape", ""}, {"torus", "dims", "shape", ""}, {"torus", "dims", "4x3", ""},
	} {
		a, err := algos.Find(collective.AllReduce, c.name)
		require.NoError(t, err)
		_, err = a.Build(specOf(collective.AllReduce, 12, 24),
			algos.Options{Params: []algos.Param{{Name: c.param, Value: c.text}}})
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, c.want)
	}
}
