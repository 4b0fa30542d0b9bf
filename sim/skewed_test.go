package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// skewed is hierarchical all_reduce on nodes of 8 with a rail a GPU, of which one link is slow.
func skewed(t testing.TB, nodes int) (*schedule.Schedule, sim.Env) {
	a, err := algos.Find(collective.AllReduce, "hierarchical")
	require.NoError(t, err)
	spec := specOf(collective.AllReduce, 8*nodes)
	spec.Count = 1 << 24
	s, err := a.Build(spec, algos.Options{PerNode: 8})
	require.NoError(t, err)
	g, err := topology.Build(topology.Params{Nodes: nodes,
		Node: &topology.Params{Preset: "full-mesh", Ranks: 8, Bandwidth: 300e9,
			Latency: 500 * unit.Nanosecond},
		Network: &topology.Params{Preset: "rails", Bandwidth: 50e9, Latency: unit.Microsecond}})
	require.NoError(t, err)
	for i := range g.Links() {
		if l := &g.Links()[i]; l.Name == "node3/nic5->rail5" {
			l.Bandwidth /= 2
		}
	}
	return s, sim.Env{Graph: g, Device: device.Ideal(), Sharing: sim.FIFO}
}

// TestSkewed: the best engine sweeps it, and tells what sim/event does.
func TestSkewed(t *testing.T) {
	s, env := skewed(t, 128)
	best, err := sim.Run(s, env, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, "sweep", best.Engine)
	event, err := sim.Run(s, env, sim.Options{Engine: sim.Event})
	require.NoError(t, err)
	require.Equal(t, event.Totals, best.Totals)
}

func BenchmarkSkewed(b *testing.B) {
	for _, engine := range []sim.Engine{sim.Sweep, sim.Event} {
		b.Run(engine.String(), func(b *testing.B) {
			s, env := skewed(b, 256)
			sends := int64(0)
			for b.Loop() {
				r, err := sim.Run(s, env, sim.Options{Engine: engine})
				require.NoError(b, err)
				sends += r.Messages
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sends), "ns/send")
		})
	}
}
