package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// TestChangedLinks: what is told of a network with a changed link is the same whether its links are
// listed or not, and whether ranks stand for others or all are executed: the line at the top, the
// link that limits, and what each link did.
func TestChangedLinks(t *testing.T) {
	flat := func(preset string, ranks int, bandwidth unit.Rate) *topology.Params {
		return &topology.Params{Preset: preset, Ranks: ranks, Bandwidth: bandwidth,
			Latency: unit.Microsecond}
	}
	nodes := topology.Params{Nodes: 5, Node: flat("switch", 4, 400e9), Network: flat("rails", 0, 50e9)}
	folded := 0
	for _, c := range []struct {
		params  topology.Params
		pattern string
		share   unit.Share
	}{
		{*flat("switch", 20, 1e9), "gpu5->switch", 500_000},
		{*flat("switch", 20, 1e9), "switch->gpu5", 2_000_000},
		{*flat("switch", 20, 1e9), "gpu1* <-> switch", 500_000},
		{*flat("switch", 300, 1e9), "gpu5->switch", 500_000}, // not all pairs are looked at
		{*flat("full-mesh", 16, 1e9), "gpu3->gpu4", 250_000},
		{*flat("ring", 16, 1e9), "gpu3->gpu4", 250_000},
		{topology.Params{Preset: "torus", Shape: []int{4, 4}, Bandwidth: 1e9}, "gpu0->gpu1", 500_000},
		{nodes, "node3/gpu0->node3/switch", 100_000},
		{nodes, "node2/nic1->rail1", 500_000},
		{nodes, "rail1->node2/nic1", 3_000_000},
	} {
		g, err := topology.Build(c.params)
		require.NoError(t, err)
		require.NoError(t, g.Override(c.pattern, topology.Change{Share: c.share}))
		require.False(t, g.IsListed())
		listed := g.Clone()
		listed.Links()
		here, there := newNetwork(g, nil), newNetwork(listed, nil)
		require.Equal(t, there.String(), here.String())
		spec := collective.Spec{Kind: collective.AllReduce, Ranks: len(g.Ranks),
			Count: int64(len(g.Ranks)) << 8, Type: dtype.Float32, Op: collective.Sum}
		a, err := algos.Find(spec.Kind, "ring")
		require.NoError(t, err)
		s, err := a.Build(spec, algos.Options{})
		require.NoError(t, err)
		for _, sharing := range []sim.Sharing{sim.FIFO, sim.Fluid} {
			env := sim.Env{Device: device.Ideal(), Graph: listed, Sharing: sharing}
			want, err := sim.Run(s, env, sim.Options{Engine: sim.Event})
			require.NoError(t, err)
			limit := there.limit(want)
			env.Graph = g.Clone()
			got, err := sim.Run(s, env, sim.Options{Engine: sim.Event})
			require.NoError(t, err)
			require.Equal(t, limit, here.limit(got), "%s %s", g.Preset, c.pattern)
			env.Graph = g
			if got, err = sim.Run(s, env, sim.Options{Engine: sim.Fold, Folded: true}); err != nil {
				t.Log(g.Preset, c.pattern, sharing, err)
				continue
			}
			folded++
			require.False(t, g.IsListed(), "%s %s", g.Preset, c.pattern)
			require.Equal(t, limit, here.limit(got), "%s %s", g.Preset, c.pattern)
			got.Unfold()
			other := here
			other.graph = g.Clone()
			require.Equal(t, there.uses(want), other.uses(got), "%s %s", g.Preset, c.pattern)
		}
	}
	require.GreaterOrEqual(t, folded, 14)
}
