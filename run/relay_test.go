package run_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// TestNCCLRelaysThroughMembers: NCCL is refused where the network joins two GPUs of a team only
// through one of another, with all three by name; our own algorithms are not.
func TestNCCLRelaysThroughMembers(t *testing.T) {
	for _, c := range []struct{ topology, teams, refused string }{
		{"preset = 'ring'\nranks = 8", "[[0, 2]]", "gpu0 and gpu2 are joined only through gpu1"},
		{"preset = 'ring'\nranks = 8", "[[0, 1, 2, 3, 4]]", ""}, // 4 reaches 0 by 3, 2 and 1
		{"preset = 'ring'\nranks = 8", "'all'", ""},
		{"preset = 'torus'\nshape = [4, 4]", "[[0, 5]]", "gpu0 and gpu5 are joined only through gpu"},
		{"preset = 'torus'\nshape = [4, 4]", "[[0, 1, 2, 3]]", ""},
		{"preset = 'switch'\nranks = 8", "[[0, 2]]", ""},
		{"preset = 'full-mesh'\nranks = 8", "[[0, 2]]", ""},
	} {
		for _, algorithm := range []string{"nccl:ring", "ring"} {
			s, err := run.Load("relay.toml", fmt.Appendf(nil, `[topology]
%s
bandwidth = '10 GB/s'
latency = '1 us'
[[collective]]
kind = 'all_reduce'
algorithm = '%s'
bytes = '64 KiB'
teams = %s
`, c.topology, algorithm, c.teams), run.LoadOptions{})
			require.NoError(t, err)
			_, err = s.Run(context.Background(), run.RunOptions{})
			if c.refused == "" || algorithm == "ring" {
				require.NoError(t, err, "%v %s", c, algorithm)
				continue
			}
			require.ErrorContains(t, err, c.refused)
			require.ErrorContains(t, err, "which takes no part")
		}
	}
}
