package sim_test

import (
	"errors"
	"fmt"
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

// TestUneven: with a few slow or late ranks and links, classes that are simulated with a time for
// each rank tell what sim/event does.
func TestUneven(t *testing.T) {
	simulated, runs := 0, tier.Raced(100, 400, 6_000)
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 71))
		s, env := agreementKinds[[]string{"uneven", "ties"}[i%2]](t, rng)
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
		simulated++
	}
	require.Greater(t, simulated, runs/6)
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

// TestOneIsSlow: of a thousand ranks one of which is slow, or has a slow link, a few are simulated,
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
		_, err = fold.RunUneven(s, &env)
		require.NoError(t, err)
		want, err := sweep.Run(s, &env)
		require.NoError(t, err)
		require.Equal(t, *want, got.Totals, "%+v", c)
		_, err = sim.Run(s, env, sim.Options{Engine: sim.Fold, Critical: true})
		require.ErrorContains(t, err, "critical path is of every rank")
	}
}

// TestUnevenRefusesExchanges: an exchange brings what is late to everybody, in as many ways.
func TestUnevenRefusesExchanges(t *testing.T) {
	s, env := slowed(t, "ring", 1024, 5)
	of, err := algos.Find(collective.AllToAll, "pairwise")
	require.NoError(t, err)
	s, err = of.Build(collective.Spec{Kind: collective.AllToAll, Ranks: 1024, Count: 8,
		Type: s.Spec.Type}, algos.Options{})
	require.NoError(t, err)
	_, err = fold.RunUneven(s, &env)
	require.ErrorContains(t, err, "in another order")
	env.Slowdown = nil
	_, err = fold.RunUneven(s, &env)
	require.ErrorContains(t, err, "all ranks and links are alike")
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

// TestUnevenWaves: where things take no time, so that who comes first by its lane does not by its
// wave (docs/time.md), ranks are not simulated as if it did.
func TestUnevenWaves(t *testing.T) {
	const ns = unit.Nanosecond
	for _, c := range []struct {
		name, lanes string
		latency     unit.Time
		last        unit.Rate // of the links from the switch
		switching   model.Switching
	}{
		// At 400 ns lane 0 signals, which takes no time, and then sends; lane 1 just sends.
		{"a signal leaves at once", `
  lane 0
    copy in[0 x4] into out[0 x4] @0
    signal to 1/3 @0
    send out[0] to 1/3 @0
  lane 1
    recv from 3/2 into out[8] @0
    copy in[4] into out[4] @0
    send out[4] to 1/4 @0
  lane 2
    send in[8] to 1/1 @0
  lane 3
    wait from 3/0 @0
    recv from 3/0 into out[16] @0
  lane 4
    recv from 3/1 into out[24] @0
`, 100 * ns, simtest.GBs, model.CutThrough},
		// At 200 ns the switch lets through at once what it has stored until then, and lane 0
		// answers; lane 1 just sends, after two messages that take another way.
		{"what was stored comes at once", `
  lane 0
    recv from 3/2 into out[8 x2] @0
    send out[8] to 1/3 @0
  lane 1
    send in[0] to 2/5 @0
    send in[0] to 2/5 @0
    send in[0] to 1/4 @0
  lane 2
    send in[8 x2] to 1/0 @0
  lane 3
    recv from 3/0 into out[16] @0
  lane 4
    recv from 3/1 into out[24] @0
  lane 5
    recv from 2/1 into out[32] @0
    recv from 2/1 into out[33] @0
`, 0, unit.Unlimited, model.StoreForward},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := schedule.Parse("schedule waves\ncollective all_reduce int8 sum\nranks 4\n" +
				"count 10000\ngroup 4\ncut in block even 100\ncut out block even 100\nrank *" + c.lanes)
			require.NoError(t, err)
			var wires []topology.Wire
			for i := range 4 {
				me, other := fmt.Sprint("gpu", i), fmt.Sprint("gpu", (i+2)%4)
				wires = append(wires, topology.Wire{From: me, To: "switch", Bandwidth: simtest.GBs},
					topology.Wire{From: "switch", To: me, Bandwidth: c.last},
					topology.Wire{From: me, To: other, Bandwidth: simtest.GBs})
			}
			for i := range wires {
				wires[i].Latency = c.latency
			}
			g, err := topology.Links(4, wires)
			require.NoError(t, err)
			env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: model.FIFO, Slots: 8,
				Switching: c.switching}
			env.Device.CopyRate = simtest.GBs
			want, err := event.Run(s, &env, nil)
			require.NoError(t, err)
			lanes := len(want.LaneEnd) / 4
			require.Equal(t, want.LaneEnd[0], want.LaneEnd[1]+100*ns, "%v", want.LaneEnd[:lanes])
			_, err = fold.RunUneven(s, &env)
			require.ErrorContains(t, err, "in another order")
		})
	}
}

// TestUnevenForever: time is counted no further by ranks that are simulated with a time for each.
func TestUnevenForever(t *testing.T) {
	s, env := slowed(t, "ring", 64, 5)
	env.Device.Overhead = unit.Forever / 1000
	_, err := fold.RunUneven(s, &env)
	require.NoError(t, err)
	env.Device.Overhead *= 10
	_, err = fold.RunUneven(s, &env)
	require.ErrorContains(t, err, "time is counted no further")
}
