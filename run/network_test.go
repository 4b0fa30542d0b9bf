package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/prose"
	"collsim/topology"
	"collsim/unit"
)

// TestNetworkText: what is printed of a network is what a message meets in it.
func TestNetworkText(t *testing.T) {
	for _, c := range []struct {
		preset string
		ranks  int
		want   string
	}{
		{"switch", 8, "8 ranks on a switch: 2 links a message, 2.00 us + n / 1 GB/s"},
		{"full-mesh", 2, "2 ranks on a full mesh: 1 link a message, 1.00 us + n / 1 GB/s"},
		{"ring", 5, "5 ranks on a ring: 1 to 2 links a message, 1.00…2.00 us + n / 1 GB/s"},
		{"ring", 1, "1 rank: nothing goes over a link"},
		{"switch", 300, "300 ranks on a switch: 2 links a message, 2.00 us + n / 1 GB/s"},
		{"ring", 300, "300 ranks on a ring: 1 to 150 links a message, " +
			"1.00…150 us + n / 1 GB/s"},
	} {
		g, err := topology.Build(topology.Params{Preset: c.preset, Ranks: c.ranks,
			Bandwidth: unit.Rate(unit.GB), Latency: unit.Microsecond})
		require.NoError(t, err)
		n := newNetwork(g, nil)
		require.Equal(t, c.want, n.String())
	}
	require.Equal(t, "500 ns…1.50 us", prose.Between(500*unit.Nanosecond, 1500*unit.Nanosecond, "…"))
}

// TestExtremes: of networks whose ends are joined two routes tell what all routes do.
func TestExtremes(t *testing.T) {
	for _, p := range []topology.Params{{Preset: "ring", Ranks: 2}, {Preset: "ring", Ranks: 9},
		{Preset: "ring", Ranks: 12}, {Preset: "hypercube", Ranks: 32},
		{Preset: "torus", Shape: []int{4, 1, 3}}, {Preset: "torus", Shape: []int{2, 5}},
		{Preset: "torus", Shape: []int{1, 6, 2}}} {
		p.Bandwidth, p.Latency = unit.Rate(unit.GB), unit.Microsecond
		g, err := topology.Build(p)
		require.NoError(t, err)
		_, _, ok := g.Extremes()
		require.True(t, ok, "%v", p)
		got := newNetwork(g, nil)
		g.Links() // from now on it is listed, and all routes are looked at
		_, _, ok = g.Extremes()
		require.False(t, ok)
		want := newNetwork(g, nil)
		require.Equal(t, [3]any{want.links, want.latency, want.rate},
			[3]any{got.links, got.latency, got.rate}, "%v", p)
	}
}
