package extern

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim"
	"collsim/collective"
	"collsim/dtype"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
)

// TestTopology: a network of one's own is one like any other: points on it are proven, computed and
// timed. CSV calls it by its name.
func TestTopology(t *testing.T) {
	g, err := Petersen(25_000_000_000, unit.Microsecond)
	require.NoError(t, err)
	network, err := scenarios.TopologyOf("petersen", g)
	require.NoError(t, err)
	p := scenarios.NewPoint(collective.Spec{Kind: collective.AllToAll, Type: dtype.Float32, Ranks: 10,
		Count: 2500}, network)
	p.Algorithm.Name = "direct"
	s, err := collsim.New("ten", p)
	require.NoError(t, err)
	r, err := collsim.Run(context.Background(), s, collsim.RunOptions{Links: true})
	require.NoError(t, err)
	result := r.Results[0]
	require.Equal(t, run.Proved, result.Proof)
	require.Equal(t, "exact", result.Numbers)
	require.Contains(t, report.Table(r), "# 10 ranks on 30 links by hand")

	text, err := report.CSV(r)
	require.NoError(t, err)
	require.Contains(t, string(text), ",petersen,")

	// Blocks of 10 kB: 30 of the 90 cross one link, 60 two. No link ends before all of its own.
	carried := unit.Bytes(0)
	for _, l := range result.Links {
		carried += l.Bytes
	}
	require.Equal(t, unit.Bytes((30+2*60)*10_000), carried)

	cut, err := topology.Links(10, []topology.Wire{{From: "gpu0", To: "gpu1", Bandwidth: 1}})
	require.NoError(t, err)
	_, err = scenarios.TopologyOf("cut", cut)
	require.Error(t, err)
}
