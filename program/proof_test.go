package program_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/program"
	"collsim/proof"
	"collsim/schedule"
)

// TestRepairedPipelinesAreProven: for 1 to 8 ranks, over three calls on one workspace.
func TestRepairedPipelinesAreProven(t *testing.T) {
	for ranks := 1; ranks <= 8; ranks++ {
		for name, s := range pipelines(t, ranks, program.Repaired) {
			_, found := proof.Verify(s, proof.Options{Iterations: 3})
			require.Empty(t, found, "%s, %d ranks", name, ranks)
		}
	}
}

// TestSeedPipelinesRace: what was published is rejected from the number of ranks on from which it
// races, naming the pull and what overwrites the workspace meanwhile; below it is proven.
func TestSeedPipelinesRace(t *testing.T) {
	for ranks := 1; ranks <= 8; ranks++ {
		for name, s := range pipelines(t, ranks, program.Seed) {
			isGather := strings.HasPrefix(name, "gather")
			races := map[int]bool{1: !isGather && ranks >= 4, 2: isGather && ranks >= 3 ||
				!isGather && ranks >= 2}
			for calls := 1; calls <= 2; calls++ {
				_, found := proof.Verify(s, proof.Options{Iterations: calls})
				require.Equal(t, races[calls], len(found) > 0, "%s, %d ranks, %d calls", name, ranks,
					calls)
				for _, v := range found {
					require.Equal(t, schedule.Race, v.Kind)
					require.Contains(t, v.Text, "workspace")
					require.Contains(t, v.Text, "reads and rank")
				}
			}
		}
	}
	s := pipelines(t, 3, program.Seed)["gather"]
	_, found := proof.Verify(s, proof.Options{Iterations: 2})
	require.Equal(t, "rank 1 lane 0 step 2 in call 1 reads and rank 0 lane 1 step 0 in call 2 writes "+
		"workspace element 0 of rank 0; nothing orders them", found[0].Text)
	s = pipelines(t, 4, program.Seed)["scatter"]
	_, found = proof.Verify(s, proof.Options{Iterations: 1})
	require.Equal(t, "rank 1 lane 1 step 7 reads and rank 0 lane 1 step 8 writes workspace element 0 "+
		"of rank 0; nothing orders them", found[0].Text)
}
