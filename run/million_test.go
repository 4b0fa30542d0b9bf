package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
	"collsim/unit"
)

// TestMillion: of networks that follow a formula nothing is kept by rank or link that is not asked
// for, and what is expected of memory is of that order. What needs every link is refused.
func TestMillion(t *testing.T) {
	load := func(preset string, ranks int, kind, algorithm, more string) *run.Scenario {
		s, err := run.Load("s.toml", fmt.Appendf(nil, "[topology]\npreset = %q\nranks = %d\n"+
			"bandwidth = \"25 GB/s\"\nlatency = \"1 us\"\n[check]\nproof = false\nnumbers = false\n"+
			"[collective]\nkind = %q\nalgorithm = %q\nbytes = \"1 GiB\"\n[sim]\nsharing = \"fifo\"\n%s",
			preset, ranks, kind, algorithm, more), run.LoadOptions{})
		require.NoError(t, err)
		return s
	}
	ring := load("switch", 1<<20, "all_gather", "bruck", "")
	e, err := ring.Estimate(ring.Points[0])
	require.NoError(t, err)
	require.Less(t, e.Memory, 80*unit.MiB)
	report, err := ring.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	require.Equal(t, "fold", report.Results[0].Engine)
	require.Equal(t, 1<<20, report.Results[0].Limit.Like)
	require.False(t, report.Results[0].Bounds.Partial)

	mesh := load("full-mesh", 16384, "all_to_all", "pairwise", "")
	report, err = mesh.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	r := report.Results[0]
	require.Equal(t, "fold", r.Engine)
	require.Equal(t, r.ClosedForm, r.Time)
	require.Equal(t, 16384*16383, r.Limit.Like)
	require.Equal(t, "gpu0->gpu1", r.Limit.Name)
	const many = "a full-mesh of 16384 ranks has 268419072 links; at most 16777216 are listed"
	_, err = mesh.Run(context.Background(), run.RunOptions{Links: true})
	require.ErrorContains(t, err, many)
	mesh = load("full-mesh", 5000, "all_gather", "ring", "engine = \"event\"\n")
	_, err = mesh.Run(context.Background(), run.RunOptions{})
	require.ErrorContains(t, err, "a full-mesh of 5000 ranks has 24995000 links")
	mesh = load("full-mesh", 5000, "all_gather", "ring", "[[topology.rank]]\nmatch = \"0\"\n"+
		"start = \"1 us\"\n")
	report, err = mesh.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	require.Equal(t, "fold", report.Results[0].Engine)
	differ := ""
	for i, match := range strings.Fields("gpu1* gpu2* gpu3* gpu4* *0 *1 *2 *3 *4 *5 *6 *7") {
		differ += fmt.Sprintf("[[topology.rank]]\nmatch = %q\nstart = \"%d ns\"\n", match, i*i)
	}
	mesh = load("full-mesh", 5000, "all_gather", "ring", differ)
	_, err = mesh.Run(context.Background(), run.RunOptions{})
	require.ErrorContains(t, err, "no two ranks are alike; and a full-mesh of 5000 ranks has")
}
