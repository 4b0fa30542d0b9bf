package sim_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/internal/tier"
	"collsim/sim"
	"collsim/sim/event"
	"collsim/sim/sweep"
	"collsim/topology"
	"collsim/unit"
)

// TestSweptAlgorithms: of all algorithms, on networks whose ranks begin together or apart,
// sim/sweep tells what sim/event does, and it plays most of them where links serve one message
// after the other.
func TestSweptAlgorithms(t *testing.T) {
	type tally struct{ played, runs int }
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
					for _, preset := range topology.Presets() {
						g, err := topology.New(preset, ranks, 3e9, 700*unit.Nanosecond)
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
							byName[n].played++
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
		t.Log(n, x.played, "of", x.runs)
	}
	t.Log(why)
	most := byName["fifo switch"]
	require.Greater(t, most.played, most.runs/2)
}

// TestBestSweeps: of many ranks that are not alike the best engine is sim/sweep, where its guess is
// right, or else sim/event; a few are always played by that.
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
			g, err := topology.New("switch", c.ranks, 125e8, 500*unit.Nanosecond)
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
