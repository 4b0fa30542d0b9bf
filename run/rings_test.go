package run_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// TestRingsOfTeams: rings in the order of a node's links are right for teams of any kind: those of
// a node, along rails, of some GPUs of a node, and of teams that differ in size.
func TestRingsOfTeams(t *testing.T) {
	for _, teams := range []string{`"node"`, `"rail"`, `"all"`, "[[0, 1, 2, 3], [4, 5, 6]]",
		"[[4, 5, 6], [0, 1, 2, 3]]", "[[1, 3, 5, 9, 11, 13]]", "[[2, 0, 1, 7, 8, 15]]"} {
		for _, machine := range []string{"mi300x-8", "dgx-1v", "lumi", "pcie-8"} {
			s, err := run.Load("s.toml", []byte(fmt.Sprintf(`topology.preset = %q
topology.nodes = 2
[[collective]]
kind = ["all_reduce", "all_gather"]
algorithm = ["ring", "nccl:ring(machine=dgx-h100)"]
count = 1000
teams = %s
`, machine, teams)), run.LoadOptions{})
			require.NoError(t, err, teams)
			report, err := s.Run(context.Background(), run.RunOptions{})
			require.NoError(t, err, "%s %s", machine, teams)
			for _, r := range report.Results {
				require.Equal(t, run.Proved, r.Proof, "%s %s %v", machine, teams, r.Algorithm)
				require.Zero(t, r.Wrong, "%s %s %v", machine, teams, r.Algorithm)
			}
		}
	}
}
