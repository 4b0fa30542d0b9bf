package mpi

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos/openmpi"
	"collsim/algos/openmpi/openmpitest"
	"collsim/collective"
)

// TestNames: the algorithms have the names and numbers that Open MPI lists.
func TestNames(t *testing.T) {
	t.Parallel() // it waits for ompi_info
	out, err := exec.Command("ompi_info", "--param", "coll", "tuned", "--level", "9",
		"--parsable").Output()
	if err != nil {
		t.Skipf("Open MPI's ompi_info: %v", err)
	}
	for _, f := range openmpi.Functions() {
		for i, a := range f.Algorithms {
			require.Contains(t, string(out), fmt.Sprintf(
				":coll_tuned_%s_algorithm:enumerator:value:%d:%s\n", f.Name, i+1, a.Name))
		}
	}
}

// TestVariables: what a choice sets, in the library's words.
func TestVariables(t *testing.T) {
	set, err := variablesOf(openmpi.Choice{Function: "reduce", Algorithm: "chain", Fanout: 2,
		Segment: 64})
	require.NoError(t, err)
	require.Equal(t, []variable{{"coll_tuned_reduce_algorithm", 2},
		{"coll_tuned_reduce_algorithm_segmentsize", 64},
		{"coll_tuned_reduce_algorithm_chain_fanout", 2}}, set)
	set, err = variablesOf(openmpi.Choice{Function: "reduce_scatter", Algorithm: "non-overlapping",
		Inner: "binary"})
	require.NoError(t, err)
	require.Equal(t, []variable{{"coll_tuned_reduce_scatter_algorithm", 1},
		{"coll_tuned_reduce_algorithm", 4}, {"coll_tuned_reduce_algorithm_segmentsize", 0},
		{"coll_tuned_reduce_algorithm_chain_fanout", 4}}, set)
	require.Equal(t, []openmpi.Choice{{Function: "gather", Algorithm: "basic_linear"},
		{Function: "gather", Algorithm: "binomial"}, {Function: "gather", Algorithm: "linear_sync"}},
		openmpitest.Choices(collective.Gather))
}

// TestComponents: what opens libpsm2 is kept from ranks only where no machine of theirs can have an
// adapter, and where the user has not said what to use.
func TestComponents(t *testing.T) {
	dir := t.TempDir()
	here, none := []string{dir + "/*", dir}, []string{dir + "/*"}
	require.Equal(t, []string{"OMPI_MCA_mtl=^ofi,psm,psm2"}, new(Config).components(none))
	require.Nil(t, new(Config).components(here))
	require.Nil(t, (&Config{Listen: "10.0.0.1:7000"}).components(none))
	t.Setenv("OMPI_MCA_mtl", "psm2")
	require.Nil(t, new(Config).components(none))
}
