package sim_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/event"
	"collsim/sim/simtest"
	"collsim/sim/sweep"
	"collsim/topology"
	"collsim/unit"
)

// TestSweptAlgorithms: of all algorithms, on networks whose ranks begin together or apart,
// sim/sweep tells what sim/event does, and it simulates most of them where links serve one message
// after the other.
func TestSweptAlgorithms(t *testing.T) {
	type tally struct{ simulated, runs int }
	turn := 0
	byName, why := map[string]*tally{}, map[string]int{}
	for _, kind := range collective.Kinds() {
		for _, a := range algos.ForKind(kind) {
			for ranks := 2; ranks <= tier.Of(8, 17); ranks += 3 {
				for _, o := range []algos.Options{{}, {Slices: 3}, {Channels: 2, Slices: 2}} {
					if turn++; !tier.Long && turn%2 != 0 { // in the short tier they take turns
						continue
					}
					s, err := a.Build(specOf(kind, ranks), o)
					if err != nil {
						continue
					}
					for _, preset := range simtest.Presets() {
						g, err := simtest.Network(preset, ranks, 3e9, 700*unit.Nanosecond)
						require.NoError(t, err)
						for _, sharing := range []sim.Sharing{sim.Fluid, sim.FIFO} {
							env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: sharing, Slots: 8}
							if ranks%2 == 0 {
								for i := range ranks {
									env.Start = append(env.Start, unit.Time(i*i*37%101)*unit.Nanosecond)
								}
							}
							n := fmt.Sprintf("%v %s", sharing, preset)
							if byName[n] == nil {
								byName[n] = &tally{}
							}
							byName[n].runs++
							got, err := sweep.Run(s, &env)
							var not *sweep.NotSwept
							if errors.As(err, &not) {
								why[not.Why]++
								continue
							}
							byName[n].simulated++
							want, err := event.Run(s, &env, nil)
							require.NoError(t, err)
							require.Equal(t, want, got, "%s %v %d %v %s", a.Name, kind, ranks, o, n)
						}
					}
				}
			}
		}
	}
	for n, x := range byName {
		t.Log(n, x.simulated, "of", x.runs)
	}
	t.Log(why)
	most := byName["fifo switch"]
	require.Greater(t, most.simulated, most.runs/2)
}

// TestBestSweeps: of many ranks that are not alike the best engine is sim/sweep, where its guess is
// right, or else sim/event; a few are always simulated by that.
func TestBestSweeps(t *testing.T) {
	for _, c := range []struct {
		ranks             int
		algorithm, engine string
	}{{1023, "ring", "event"}, {1024, "ring", "sweep"}, {1024, "bruck", "event"}} {
		a, err := algos.Find(collective.AllGather, c.algorithm)
		require.NoError(t, err)
		s, err := a.Build(specOf(collective.AllGather, c.ranks), algos.Options{})
		require.NoError(t, err)
		run := func(engine sim.Engine) *sim.Result {
			g, err := simtest.Network("switch", c.ranks, 125e8, 500*unit.Nanosecond)
			require.NoError(t, err)
			for i := range c.ranks {
				g.Links()[i].Bandwidth -= unit.Rate(i * 7919 % 64)
			}
			g.Links()[77].Bandwidth = 1e9
			r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal()}, sim.Options{Engine: engine})
			require.NoError(t, err)
			return r
		}
		best, event := run(sim.Best), run(sim.Event)
		require.Equal(t, c.engine, best.Engine)
		require.Equal(t, event.Totals, best.Totals)
	}
}

// TestBestSweepsRatherThanFolds: where a quarter of the ranks stand for all, it is long until what
// they do repeats itself, and a sweep is quicker; if that refuses, as where channels share links,
// ranks are folded all the same. A 32nd of them are folded at once, and so are ranks with other
// peers in each step, or in each lane, which take long to sweep (Brief).
func TestBestSweepsRatherThanFolds(t *testing.T) {
	built := func(kind collective.Kind, algorithm string, channels int) *schedule.Schedule {
		a, err := algos.Find(kind, algorithm)
		require.NoError(t, err)
		spec := specOf(kind, 1024)
		spec.Count = 1 << 20
		s, err := a.Build(spec, algos.Options{Channels: channels})
		require.NoError(t, err)
		return s
	}
	for _, c := range []struct {
		k, channels int
		engine      string
	}{{4, 1, "sweep"}, {4, 2, "fold"}, {32, 1, "fold"}} {
		g, err := topology.Build(topology.Params{Preset: "tree", Ranks: 1024, K: c.k, Bandwidth: 125e8,
			Latency: 500 * unit.Nanosecond})
		require.NoError(t, err)
		s := built(collective.AllGather, "ring", c.channels)
		env := sim.Env{Graph: g, Device: device.Ideal(), Slots: 8}
		run := func(engine sim.Engine) *sim.Result {
			r, err := sim.Run(s, env, sim.Options{Engine: engine})
			require.NoError(t, err)
			return r
		}
		best := run(sim.Best)
		require.Equal(t, c.engine, best.Engine, "%+v", c)
		if c.channels == 1 { // which sim/event simulates quickly, too
			require.Equal(t, run(sim.Event).Totals, best.Totals, "%+v", c)
		}
	}
	require.Equal(t, int64(1<<14), sim.Brief(built(collective.AllGather, "ring", 1)))
	require.Equal(t, int64(math.MaxInt64), sim.Brief(built(collective.AllToAll, "pairwise", 1)))
	require.Equal(t, int64(math.MaxInt64), sim.Brief(built(collective.AllToAll, "direct", 1)))
}
