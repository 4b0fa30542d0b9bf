package diagnose_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/diagnose"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
)

// causes returns the causes of two nodes of four GPUs, by their names.
func causes(t *testing.T, algorithm string, kind collective.Kind) map[string]diagnose.Cause {
	t.Helper()
	preset := topology.Params{Preset: "switch", Bandwidth: 1e10, Latency: unit.Microsecond}
	node := preset
	node.Ranks, node.Bandwidth = 4, 1e11
	g, err := topology.Build(topology.Params{Nodes: 2, Node: &node, Network: &preset})
	require.NoError(t, err)
	p := &scenarios.Point{Topology: &scenarios.Topology{Nodes: 2, Ranks: 8}}
	p.Algorithm.Name, p.Spec.Kind = algorithm, kind
	list := diagnose.Causes(p, g)
	require.Equal(t, diagnose.AsIs, list[0].Name())
	byName := map[string]diagnose.Cause{}
	for _, c := range list {
		require.NotContains(t, byName, c.Name())
		byName[c.Name()] = c
	}
	return byName
}

// TestCauses: changes name the links and NICs that there are; those of NCCL's variables are for its
// algorithms alone.
func TestCauses(t *testing.T) {
	ours := causes(t, "ring", collective.AllReduce)
	nccl := causes(t, "nccl:auto", collective.AllToAll)
	require.Equal(t, `link = [{ match = "node0/gpu0 <-> node0/switch", bandwidth = "50 %" }]`,
		ours["one link gpu–switch at half rate (node0/gpu0–switch)"].Change)
	require.Equal(t, `link = [{ match = "node1/nic3 <-> switch", bandwidth = "50 %" }]`,
		ours["one NIC at half rate (node1/nic3)"].Change)
	require.Equal(t, `set = { "topology.absent" = ["node*/nic0", "node*/nic2"] }`,
		ours["2 of 4 NICs of each node"].Change)
	require.Equal(t, `link = [{ match = "node*/nic* <-> switch", latency = "6.00 us" }]`,
		ours["10 us more between nodes"].Change)
	require.Contains(t, ours, "channels = 4")
	require.NotContains(t, ours, "NCCL_PXN_DISABLE = 1")
	require.Contains(t, nccl, "NCCL_PXN_DISABLE = 1")
	require.NotContains(t, nccl, "channels = 4")
}

// TestOverlay: a cause is a variant, and the scenario as it is none.
func TestOverlay(t *testing.T) {
	slow := causes(t, "ring", collective.AllReduce)["all NICs at half rate"]
	text := string(diagnose.Overlay(&slow, "slow.log", []unit.Bytes{8, 1024}))
	require.Contains(t, text, "bytes = [8, 1024]\n")
	require.Contains(t, text, "[measured]\nfile = \"slow.log\"\n")
	require.Contains(t, text, "[[variant]]\nname = \"all NICs at half rate\"\nlink = ")
	asIs := diagnose.Cause{Group: diagnose.AsIs}
	require.NotContains(t, string(diagnose.Overlay(&asIs, "", []unit.Bytes{8})), "[[variant]]")
}
