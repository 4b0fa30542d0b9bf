package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMulticasts: a node's ranks hang on a switch that multicasts where the network says so, and
// not where they are of several nodes, have links each to each, or only the network between them
// multicasts.
func TestMulticasts(t *testing.T) {
	const work = "[[collective]]\nkind = \"broadcast\"\nalgorithm = \"chain\"\nbytes = 64\n"
	node := func(keys string) string {
		return "[topology]\nnodes = 2\n[topology.node]\nranks = 4\nbandwidth = \"1 GB/s\"\n" +
			"latency = \"0 s\"\n" + keys + "[topology.network]\npreset = \"switch\"\n" +
			"bandwidth = \"1 GB/s\"\nlatency = \"0 s\"\n"
	}
	const flat = "[topology]\npreset = \"switch\"\nranks = 4\nbandwidth = \"1 GB/s\"\n" +
		"latency = \"0 s\"\n"
	for _, tt := range []struct {
		topology string
		ranks    []int
		perNode  int
		want     bool
	}{
		{node("preset = \"switch\"\nmultimem = true\n"), nil, 4, true},
		{node("preset = \"switch\"\nmultimem = true\n"), nil, 0, false},
		{node("preset = \"switch\"\nmultimem = true\n"), []int{6, 7}, 0, true},
		{node("preset = \"switch\"\nmultimem = true\n"), []int{3, 4}, 0, false},
		{node("preset = \"switch\"\n"), nil, 4, false},
		{node("preset = \"switch\"\n") + "multimem = true\n", nil, 4, false},
		{node("preset = \"full-mesh\"\n") + "multimem = true\n", nil, 4, false},
		{node("preset = \"fat-tree\"\nk = 4\nmultimem = true\n"), []int{0, 1}, 0, true},
		{node("preset = \"fat-tree\"\nk = 4\nmultimem = true\n"), nil, 4, false},
		{flat + "multimem = true\n", nil, 0, true},
		{flat, nil, 0, false},
		{"[topology]\npreset = \"dgx-h100\"\nnodes = 2\n", nil, 8, true},
		{"[topology]\npreset = \"dgx-a100\"\nnodes = 2\n", nil, 8, false},
	} {
		s, err := load("s.toml", []byte(tt.topology+work), testOptions())
		require.NoError(t, err, tt.topology)
		require.Equal(t, tt.want, s.Points[0].Topology.Multicasts(tt.ranks, tt.perNode), "%+v", tt)
	}
}

// TestAggregates: the ranks at one place of every node hang on switches that multicast and reduce,
// where the network between nodes says so; not those of one node, nor where only that node's do.
func TestAggregates(t *testing.T) {
	const work = "[[collective]]\nkind = \"broadcast\"\nalgorithm = \"chain\"\nbytes = 64\n"
	network := func(preset, keys string) string {
		return "[topology]\nnodes = 3\n[topology.node]\npreset = \"switch\"\nranks = 4\n" +
			"bandwidth = \"1 GB/s\"\nlatency = \"0 s\"\nmultimem = true\n[topology.network]\n" +
			"preset = \"" + preset + "\"\nbandwidth = \"1 GB/s\"\nlatency = \"0 s\"\n" + keys
	}
	for _, tt := range []struct {
		topology string
		ranks    []int
		perNode  int
		want     bool
	}{
		{network("switch", "multimem = true\n"), nil, 4, true},
		{network("rails", "multimem = true\n"), nil, 4, true},
		{network("rails", "multimem = true\n"), []int{0, 1, 4, 5}, 2, true},
		{network("rails", "multimem = true\n"), []int{0, 1, 6, 7}, 2, false}, // on other rails
		{network("leaf-spine", "multimem = true\n"), nil, 4, true},
		{network("leaf-spine", ""), nil, 4, false},
		{network("full-mesh", ""), nil, 4, false},
		{network("switch", "multimem = true\n"), []int{0, 1, 2, 3}, 4, false},
		{network("switch", "multimem = true\n"), nil, 0, false},
		{network("switch", "multimem = true\n"), nil, 5, false},
	} {
		s, err := load("s.toml", []byte(tt.topology+work), testOptions())
		require.NoError(t, err, tt.topology)
		require.Equal(t, tt.want, s.Points[0].Topology.Aggregates(tt.ranks, tt.perNode), "%+v", tt)
	}
}
