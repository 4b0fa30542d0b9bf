package sim_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/event"
	"collsim/sim/fold"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/sim/sweep"
	"collsim/topology"
	"collsim/unit"
)

// TestUneven: with a few slow or late ranks and links, classes that are played with a time for each
// rank tell what sim/event does.
func TestUneven(t *testing.T) {
	played, runs := 0, tier.Raced(30, 300, 6000)
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 71))
		s, env := agreementKinds["uneven"](t, rng)
		got, err := fold.RunUneven(s, &env)
		var not *sim.NotFolded
		if errors.As(err, &not) {
			continue
		}
		require.NoError(t, err)
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err)
		got.Unfold()
		require.Equal(t, want, got, "run %d: %v on %s, %v", i, s, env.Graph.Preset, env.Sharing)
		played++
	}
	require.Greater(t, played, runs/4)
}

// slowed is a ring, or whatever else, of so many ranks in nodes of eight, or on a switch, of which
// one rank is slow or, without any, one link.
func slowed(t testing.TB, name string, ranks, slow int) (*schedule.Schedule, sim.Env) {
	t.Helper()
	node := topology.Params{Preset: "switch", Ranks: 8, Bandwidth: 450 * simtest.GBs, Latency: 200_000}
	p := topology.Params{Nodes: ranks / 8, Node: &node,
		Network: &topology.Params{Preset: "rails", Bandwidth: 50 * simtest.GBs,
			Latency: unit.Microsecond}}
	if name == "ring" {
		p = topology.Params{Preset: "switch", Ranks: ranks, Bandwidth: 50 * simtest.GBs,
			Latency: 500 * unit.Nanosecond}
	}
	g, err := topology.Build(p)
	require.NoError(t, err)
	env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: model.FIFO, Slots: 8}
	env.Device.Overhead, env.Device.LaneRate = unit.Microsecond, 20*simtest.GBs
	if slow < 0 {
		require.NoError(t, g.Override("*gpu5->*switch", topology.Change{Share: 300_000}))
	} else {
		env.Slowdown = make([]unit.Share, ranks)
		for i := range env.Slowdown {
			env.Slowdown[i] = 1_000_000
		}
		env.Slowdown[slow] = 3_500_000
	}
	of, err := algos.Find(collective.AllReduce, name)
	require.NoError(t, err)
	s, err := of.Build(simtest.AllReduce(ranks, int64(64*ranks)), algos.Options{PerNode: 8})
	require.NoError(t, err)
	return s, env
}

// TestOneIsSlow: of a thousand ranks one of which is slow, or has a slow link, a few are played,
// and the times are those of every rank.
func TestOneIsSlow(t *testing.T) {
	for _, c := range []struct {
		name        string
		ranks, slow int
	}{{"ring", 1024, 5}, {"ring", 1024, -1}, {"hierarchical", 2048, 13}} {
		s, env := slowed(t, c.name, c.ranks, c.slow)
		got, err := sim.Run(s, env, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, "fold", got.Engine, "%+v", c)
		want, err := sweep.Run(s, &env)
		require.NoError(t, err)
		require.Equal(t, *want, got.Totals, "%+v", c)
		_, err = sim.Run(s, env, sim.Options{Engine: sim.Fold, Critical: true})
		require.ErrorContains(t, err, "critical path is of every rank")
	}
}

// BenchmarkOneIsSlow is a run of a million ranks of which one is slow.
func BenchmarkOneIsSlow(b *testing.B) {
	for _, name := range []string{"ring", "hierarchical"} {
		b.Run(name, func(b *testing.B) {
			s, env := slowed(b, name, 1<<20, 5)
			for b.Loop() {
				r, err := sim.Run(s, env, sim.Options{Folded: true})
				require.NoError(b, err)
				require.Equal(b, "fold", r.Engine)
			}
		})
	}
}
