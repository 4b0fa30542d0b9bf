package mpi

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
)

// TestNames: the algorithms have the names and numbers that Open MPI lists.
func TestNames(t *testing.T) {
	out, err := exec.Command("ompi_info", "--param", "coll", "tuned", "--level", "9",
		"--parsable").Output()
	if err != nil {
		t.Skipf("Open MPI's ompi_info: %v", err)
	}
	for _, f := range functions() {
		for i, name := range f.algorithms {
			require.Contains(t, string(out), fmt.Sprintf(
				":coll_tuned_%s_algorithm:enumerator:value:%d:%s\n", f.name, i+1, name))
		}
	}
}

// TestVariables: what a choice sets, in the library's words.
func TestVariables(t *testing.T) {
	set, err := Choice{Function: "reduce", Algorithm: "chain", Fanout: 2, Segment: 64}.variables()
	require.NoError(t, err)
	require.Equal(t, []variable{{"coll_tuned_reduce_algorithm", 2},
		{"coll_tuned_reduce_algorithm_segmentsize", 64},
		{"coll_tuned_reduce_algorithm_chain_fanout", 2}}, set)
	set, err = Choice{Function: "reduce_scatter", Algorithm: "non-overlapping",
		Inner: "binary"}.variables()
	require.NoError(t, err)
	require.Equal(t, []variable{{"coll_tuned_reduce_scatter_algorithm", 1},
		{"coll_tuned_reduce_algorithm", 4}, {"coll_tuned_reduce_algorithm_segmentsize", 0},
		{"coll_tuned_reduce_algorithm_chain_fanout", 4}}, set)
	require.Equal(t, []Choice{{Function: "gather", Algorithm: "basic_linear"},
		{Function: "gather", Algorithm: "binomial"}, {Function: "gather", Algorithm: "linear_sync"}},
		Choices(collective.Gather))
}
