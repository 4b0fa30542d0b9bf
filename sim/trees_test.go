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
	"collsim/topology"
	"collsim/unit"
)

// TestTrees: of double trees on a switch, of whatever size, segments, slices, channels, slots and
// device, sim/fold, which plays a part of a rank of each class, tells what sim/event does of every
// lane and link, and so does the naive engine; or it refuses, where parts of a rank are in each
// other's way.
func TestTrees(t *testing.T) {
	tree, err := algos.Find(collective.AllReduce, "double-binary-tree")
	require.NoError(t, err)
	played, runs, why := 0, tier.Of(40, 3000), map[string]int{}
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 19))
		ranks := 2 + rng.IntN(70)
		if rng.IntN(3) == 0 {
			ranks = 2 << rng.IntN(7)
		}
		spec := specOf(collective.AllReduce, ranks)
		spec.Count = 1 + rng.Int64N(5000)
		o := algos.Options{Slices: 1 + rng.IntN(2)*rng.IntN(3), Channels: 1 + rng.IntN(4)/3}
		if rng.IntN(2) == 0 {
			o.Params = []algos.Param{{Name: "segment", Value: fmt.Sprint(4 * (1 + rng.IntN(3000)))}}
		}
		s, err := tree.Build(spec, o)
		require.NoError(t, err)
		env := treeEnv(t, rng, ranks)
		name := fmt.Sprintf("%d: %v, %+v", i, s, env.Device)
		if i%2 == 0 { // who runs first is not to matter
			env.Graph.Links()
		}
		got, err := fold.Run(s, &env)
		var not *sim.NotFolded
		if errors.As(err, &not) {
			why[not.Why]++
			continue
		}
		require.NoError(t, err, name)
		require.NotNil(t, got.Folded, name)
		got.Unfold()
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
		played++
		if ranks <= 20 {
			ends, load, err := runNaive(s, &env)
			require.NoError(t, err, name)
			require.Equal(t, want.LaneEnd, ends, name)
			require.Equal(t, want.LinkLoad, load, name)
		}
	}
	t.Logf("%d of %d played; not: %v", played, runs, why)
	require.Greater(t, played, runs/4)
	require.Greater(t, why["parts of a rank share a link at one time"], runs/20)
	require.Positive(t, why["a connection carries more messages than it has slots"])
}

// treeEnv is a switch, and a device on which all sorts of things cost time.
func treeEnv(t testing.TB, rng *rand.Rand, ranks int) sim.Env {
	g, err := topology.New("switch", ranks, unit.Rate(1e8+rng.Int64N(1e10)),
		unit.Time(rng.IntN(2)*rng.IntN(3_000_000)))
	require.NoError(t, err)
	env := sim.Env{Graph: g, Device: device.Ideal(), Slots: rng.IntN(3) * 4}
	for _, rate := range []*unit.Rate{&env.Device.ReduceRate, &env.Device.CopyRate,
		&env.Device.LaneRate} {
		if rng.IntN(3) == 0 {
			*rate = unit.Rate(1e9 + rng.Int64N(1e10))
		}
	}
	env.Device.Overhead = unit.Time(rng.IntN(2) * rng.IntN(1_000_000))
	env.Device.Launch = unit.Time(rng.IntN(2) * rng.IntN(1_000_000))
	env.Device.SlotLatency = unit.Time(rng.IntN(2) * rng.IntN(1_000_000))
	return env
}

// TestTreesThatMeet: a rank that is inside both trees, as one is where their number is odd, and
// segments that follow one another, may have parts share a link; then the best engine is sim/event.
func TestTreesThatMeet(t *testing.T) {
	tree, err := algos.Find(collective.AllReduce, "double-binary-tree")
	require.NoError(t, err)
	engines := map[string]int{}
	for ranks := 2; ranks <= 40; ranks++ {
		spec := specOf(collective.AllReduce, ranks)
		spec.Count = 1 << 18
		s, err := tree.Build(spec, algos.Options{})
		require.NoError(t, err)
		counts, err := schedule.ExecuteClasses(schedule.ClassesOf(s), 8, schedule.Hooks{})
		require.NoError(t, err, "%d ranks: ranks of a class have their peers at other places", ranks)
		require.Equal(t, counts.Rounds, s.Rounds(), "%d ranks", ranks)
		run := func(engine sim.Engine) *sim.Result {
			g, err := topology.New("switch", ranks, 125e8, 500*unit.Nanosecond)
			require.NoError(t, err)
			r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal()}, sim.Options{Engine: engine})
			require.NoError(t, err)
			return r
		}
		best, event := run(sim.Best), run(sim.Event)
		engines[best.Engine]++
		require.Equal(t, event.LaneEnd, best.LaneEnd, "%d ranks", ranks)
	}
	require.Greater(t, engines["fold"], 10)
	require.Greater(t, engines["event"], 3)
}
