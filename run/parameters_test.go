package run_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// nodes are four of four ranks each, with a rail for each of these.
const nodes = `[topology]
nodes = 4
[topology.node]
preset = "full-mesh"
ranks = 4
bandwidth = "450 GB/s"
latency = "500 ns"
[topology.network]
preset = "rails"
nics = 4
bandwidth = "50 GB/s"
latency = "2 us"
[collective]
kind = "all_reduce"
algorithm = "hierarchical"
bytes = "16 MiB"
[check]
numbers = false
`

// TestNodesAreGroups: the groups of a hierarchical algorithm are the nodes, in every way to ask for
// it, where there are nodes that can be groups; and the result says so.
func TestNodesAreGroups(t *testing.T) {
	for _, tt := range []struct {
		what, set, want string
	}{
		{"by default", "topology.nodes=4", "hierarchical(inner=4)"},
		{"by name", "collective.algorithm=hierarchical(inner=node)", "hierarchical(inner=4)"},
		{"two nodes", "topology.nodes=2", "hierarchical(inner=4)"},
		{"something else", "collective.algorithm=hierarchical(inner=2)", "hierarchical(inner=2)"},
		{"not in order", "topology.order=round-robin", "hierarchical"},
		{"inside a node", "collective.teams=node", "hierarchical"},
		{"one of each node", "collective.teams=rail", "hierarchical"},
		{"half of each", "collective.teams=[[0,1,4,5],[8,9,12,13]]", "hierarchical(inner=2)"},
		{"uneven", "collective.teams=[[0,1,2,4],[8,9,12,13]]", "hierarchical"},
	} {
		s, err := run.Load("nodes.toml", []byte(nodes), run.LoadOptions{Set: []string{tt.set}})
		require.NoError(t, err, tt.what)
		r, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err, tt.what)
		require.Len(t, r.Results, 1, tt.what)
		require.Equal(t, tt.want, r.Results[0].Algorithm.String(), tt.what)
		require.Equal(t, run.Proved, r.Results[0].Proof, tt.what)
	}
}

// TestParametersAreCompared: "fastest" and "all" try the parameters that the time depends on, and
// none that was given; what is named is run as it is.
func TestParametersAreCompared(t *testing.T) {
	const wide = `[topology]
preset = "switch"
ranks = 16
bandwidth = "12.5 GB/s"
latency = "500 ns"
[collective]
kind = "broadcast"
bytes = "16 MiB"
[check]
numbers = false
`
	load := func(set ...string) []*run.Result {
		s, err := run.Load("wide.toml", []byte(wide), run.LoadOptions{Set: set})
		require.NoError(t, err)
		r, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err)
		return r.Results
	}
	var chain []string
	fastest := load("collective.algorithm=fastest")[0]
	for _, c := range fastest.Candidates {
		if c.Algorithm.Name == "chain" {
			chain = append(chain, c.Algorithm.String())
		}
	}
	require.Equal(t, []string{"chain", "chain(segment=64KiB)", "chain(segment=4MiB)"}, chain)
	require.Equal(t, "double-binary-tree(segment=64KiB)", fastest.Algorithm.String())

	plain := load("collective.algorithm=chain")[0]
	require.Equal(t, "chain", plain.Algorithm.String())
	one := load("collective.algorithm=chain(segment=64KiB)")[0]
	require.Less(t, one.Time, plain.Time)
	require.Less(t, fastest.Time, one.Time)
	found := false
	for _, r := range load("collective.algorithm=all") {
		if r.Algorithm.Name == "chain" {
			found = true
			require.Equal(t, "chain(segment=64KiB)", r.Algorithm.String())
			require.Equal(t, one.Time, r.Time)
			require.Empty(t, r.Candidates)
		}
	}
	require.True(t, found)

	// Of 64 KiB all segments are one.
	for _, c := range load("collective.algorithm=fastest", "collective.bytes=64 KiB")[0].Candidates {
		require.Empty(t, c.Algorithm.Params, c.Algorithm.String())
	}
}
