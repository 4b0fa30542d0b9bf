package bounds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// TestWhereSwitchesAdd: 4 ranks of 4 KiB around a switch, 80 ps a byte. Ranks that do all
// themselves send 2·3/4 of the data each, 6144 bytes. With a switch that adds and multicasts,
// 4096 must leave each rank and come to it, and additions cost nobody anything. A two-shot
// all-reduce beats the former bound: its links carry 4096 + 1024 bytes each way, one after the
// other.
func TestWhereSwitchesAdd(t *testing.T) {
	spec := specOf(collective.AllReduce, 4, 1024)
	options := Options{ReduceRate: unit.Rate(unit.GB), Lanes: 1}
	build := func(multimem bool) *topology.Graph {
		g, err := topology.Build(topology.Params{Preset: "switch", Ranks: 4, Bandwidth: rate,
			Latency: hop, Multimem: multimem})
		require.NoError(t, err)
		return g
	}
	ranks, err := For(spec, build(false), options)
	require.NoError(t, err)
	require.Equal(t, unit.Time(6144*80), ranks.Bandwidth)
	require.Positive(t, ranks.Reduction)
	adding := build(true)
	switches, err := For(spec, adding, options)
	require.NoError(t, err)
	require.Equal(t, unit.Time(4096*80), switches.Bandwidth)
	require.Zero(t, switches.Reduction)

	s, err := schedule.Parse(`schedule two-shot
collective all_reduce float32 sum
ranks 4
count 1024
group 4
cut in block even 4 by rank
cut out block even 4 by rank
rank *
  lane 0
    reduceSend multimem{0,1,2,3} in[0] to multimem{0,1,2,3} at out[0] @0
`)
	require.NoError(t, err)
	for _, sharing := range []sim.Sharing{sim.FIFO, sim.Fluid} {
		r, err := sim.Run(s, sim.Env{Graph: adding, Device: device.Ideal(), Sharing: sharing, Slots: 8},
			sim.Options{})
		require.NoError(t, err)
		for _, busy := range r.LinkBusy {
			require.Equal(t, unit.Time((4096+1024)*80), busy)
		}
		require.GreaterOrEqual(t, r.Time, switches.Lower)
		require.Less(t, r.Time-6*hop, ranks.Bandwidth)
	}
}

// TestSwitchesInsideNodes: between nodes that have a switch that adds, nothing adds: of every
// element 2 (k-1) values leave k nodes, and no fewer.
func TestSwitchesInsideNodes(t *testing.T) {
	spec := specOf(collective.AllReduce, 12, 1024)
	build := func(multimem bool) *topology.Graph {
		g, err := topology.Build(topology.Params{Nodes: 3, Node: &topology.Params{Preset: "switch",
			Ranks: 4, Bandwidth: 100 * rate, Latency: hop, Multimem: multimem},
			Network: &topology.Params{Preset: "switch", NICs: 1, Bandwidth: rate,
				Latency: hop}})
		require.NoError(t, err)
		return g
	}
	without, err := For(spec, build(false), Options{})
	require.NoError(t, err)
	with, err := For(spec, build(true), Options{})
	require.NoError(t, err)
	require.Equal(t, without.Bandwidth, with.Bandwidth)
	require.InDelta(t, 4*4096*80/3, float64(with.Bandwidth), 1)
}
