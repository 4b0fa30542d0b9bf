package run_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// TestPeriodsOfNCCL: NCCL's algorithms take the same time, and load links the same, whether every
// step is simulated, as for a trace, or whole periods of their loops are left out. What check
// counts without a simulation is the same, too.
func TestPeriodsOfNCCL(t *testing.T) {
	const text = `
[topology]
preset = "dgx-h100"
nodes = 1
[check]
proof = false
numbers = false
[[collective]]
kind = "all_reduce"
algorithm = ["nccl:tree(protocol=ll)", "nccl:tree(protocol=ll128)", "nccl:tree(protocol=simple)",
	"nccl:ring(protocol=ll)", "nccl:ring(protocol=ll128)", "nccl:ring(protocol=simple)", "nccl:auto"]
bytes = ["3000000 B", "16 MiB"]
[[collective]]
kind = "broadcast"
algorithm = ["nccl:ring(protocol=ll)", "nccl:ring(protocol=ll128)"]
bytes = "12345678 B"
`
	for _, nodes := range []string{"1", "2"} {
		s, err := run.Load("x.toml", []byte(text), run.LoadOptions{
			Set: []string{"topology.nodes=" + nodes}})
		require.NoError(t, err)
		brief, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err)
		whole, err := s.Run(context.Background(), run.RunOptions{Trace: true})
		require.NoError(t, err)
		for i, want := range whole.Results {
			got := brief.Results[i]
			require.Equal(t, want.Time, got.Time, want.Point.ID)
			require.Equal(t, want.Limit, got.Limit, want.Point.ID)
			estimate, err := s.Estimate(want.Point)
			require.NoError(t, err)
			require.Equal(t, want.Steps, estimate.Steps, "counted: %s", want.Point.ID)
			require.Equal(t, []int64{want.Steps, want.Messages, int64(want.BytesSent),
				int64(want.LinkBytes)}, []int64{got.Steps, got.Messages, int64(got.BytesSent),
				int64(got.LinkBytes)}, want.Point.ID)
		}
	}
}
