package sim_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// TestTrees: of double and binomial trees on a switch, of whatever size, root, segments, slices,
// channels, slots and device, sim/fold, which simulates a rank of each class, tells what sim/event
// does of every lane and link, and so does the naive engine.
func TestTrees(t *testing.T) {
	trees := []struct {
		kind collective.Kind
		name string
	}{{collective.AllReduce, "double-binary-tree"}, {collective.AllReduce, "binomial"},
		{collective.Broadcast, "binomial"}, {collective.Reduce, "binomial"},
		{collective.Gather, "binomial"}, {collective.Scatter, "binomial"}}
	runs, refused := tier.Of(150, 1500), 0
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 19))
		ranks := 2 + rng.IntN(70)
		if rng.IntN(3) == 0 {
			ranks = 2 << rng.IntN(7)
		}
		which := trees[rng.IntN(len(trees))]
		tree, err := algos.Find(which.kind, which.name)
		require.NoError(t, err)
		spec := specOf(which.kind, ranks)
		if which.kind.Rooted() {
			spec.Root = rng.IntN(ranks)
		}
		spec.Count = 1 + rng.Int64N(5000)
		o := algos.Options{Slices: 1 + rng.IntN(2)*rng.IntN(3), Channels: 1 + rng.IntN(4)/3}
		if rng.IntN(2) == 0 && len(tree.Params) > 0 {
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
		if errors.As(err, new(*sim.NotFolded)) {
			require.ErrorContains(t, err, "too many ranks do what no other does")
			refused++
			continue
		}
		require.NoError(t, err, name)
		require.NotNil(t, got.Folded, name)
		got.Unfold()
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
		if ranks <= 20 {
			ends, load, isBad := runNaive(s, &env)
			require.False(t, isBad, name)
			require.Equal(t, want.LaneEnd, ends, name)
			require.Equal(t, want.LinkLoad, load, name)
		}
	}
	require.Less(t, refused, runs/10)
}

// treeEnv is a switch, and a device on which all sorts of things cost time.
func treeEnv(t testing.TB, rng *rand.Rand, ranks int) sim.Env {
	isFIFO, latency := rng.IntN(2) == 0, unit.Time(rng.IntN(2)*rng.IntN(3_000_000))
	if isFIFO {
		latency++
	}
	rate := unit.Rate(1e8 + rng.Int64N(1e10))
	if rng.IntN(5) == 0 {
		rate = unit.Unlimited
	}
	g, err := simtest.Network("switch", ranks, rate, latency)
	require.NoError(t, err)
	if rng.IntN(2) == 0 { // peers come by ports in any order
		for i, at := range rng.Perm(ranks) {
			g.Ranks[i] = int32(at)
		}
	}
	if rng.IntN(3) == 0 {
		changeSome(t, rng, g)
	}
	env := sim.Env{Graph: g, Device: device.Ideal(), Slots: rng.IntN(3) * 4}
	if isFIFO {
		env.Sharing, env.Segment = sim.FIFO, unit.Bytes(rng.IntN(2)*rng.IntN(2)*(1+rng.IntN(3000)))
		if rng.IntN(3) == 0 {
			env.Switching = sim.StoreForward
		}
	}
	for _, rate := range []*unit.Rate{&env.Device.ReduceRate, &env.Device.CopyRate,
		&env.Device.LaneRate} {
		if rng.IntN(3) == 0 {
			*rate = unit.Rate(1e9 + rng.Int64N(1e10))
		}
	}
	env.Device.Overhead = unit.Time(rng.IntN(2) * rng.IntN(1_000_000))
	env.Device.Launch = unit.Time(rng.IntN(2) * rng.IntN(1_000_000))
	env.Device.SlotLatency = unit.Time(rng.IntN(2) * rng.IntN(1_000_000))
	if rng.IntN(3) == 0 {
		env.Slowdown = slices.Repeat([]unit.Share{1_000_000}, ranks)
		env.Slowdown[rng.IntN(ranks)] += unit.Share(rng.IntN(2_000_000))
	}
	if rng.IntN(4) == 0 {
		env.Start = make([]unit.Time, ranks)
		for range 1 + rng.IntN(3) {
			env.Start[rng.IntN(ranks)] = unit.Time(rng.IntN(4)) * unit.Microsecond
		}
	}
	return env
}

// changeSome has a few links be slower or longer than others, or faster or shorter.
func changeSome(t testing.TB, rng *rand.Rand, g *topology.Graph) {
	for range 1 + rng.IntN(6) {
		c, latency := topology.Change{}, unit.Time(1+rng.IntN(3_000_000))
		if rng.IntN(3) > 0 && g.Link(0).Bandwidth != unit.Unlimited {
			c.Share = unit.Share(100_000 + rng.IntN(2_000_000))
		}
		if rng.IntN(2) == 0 || c.Share == 0 {
			c.Latency = &latency
		}
		require.NoError(t, g.Override(g.LinkName(int32(rng.IntN(g.NumLinks()))), c))
	}
}

// TestTreesThatMeet: where the trees of a rank share a link, as those of one that is inside both
// do, and of all whose segments follow one another, ranks that do so are told from others, and the
// best engine folds them nevertheless: into fewer classes than there are ranks.
func TestTreesThatMeet(t *testing.T) {
	tree, err := algos.Find(collective.AllReduce, "double-binary-tree")
	require.NoError(t, err)
	for ranks := 2; ranks <= 40; ranks++ {
		spec := specOf(collective.AllReduce, ranks)
		spec.Count = 1 << (18 + ranks%3)
		s, err := tree.Build(spec, algos.Options{})
		require.NoError(t, err)
		counts, err := schedule.ExecuteClasses(schedule.ClassesOf(s), 8, schedule.Hooks{})
		require.NoError(t, err, "%d ranks: ranks of a class have their peers at other places", ranks)
		require.Equal(t, counts.Rounds, s.Rounds(), "%d ranks", ranks)
		run := func(engine sim.Engine, isFolded bool) *sim.Result {
			g, err := simtest.Network("switch", ranks, 125e8, 500*unit.Nanosecond)
			require.NoError(t, err)
			r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal()},
				sim.Options{Engine: engine, Folded: isFolded})
			require.NoError(t, err)
			return r
		}
		best, event := run(sim.Best, false), run(sim.Event, false)
		require.Equal(t, "fold", best.Engine)
		require.Equal(t, event.LaneEnd, best.LaneEnd, "%d ranks", ranks)
		f := run(sim.Fold, true).Folded
		require.LessOrEqual(t, len(f.Ends)/f.Lanes, ranks)
		if ranks > 32 && ranks%3 == 0 { // a segment a tree
			require.Less(t, len(f.Ends)/f.Lanes, ranks)
		}
	}
}

// TestTreesOfManySegments: what would take classes longer than simulating all ranks is not
// simulated by them.
func TestTreesOfManySegments(t *testing.T) {
	tree, err := algos.Find(collective.AllReduce, "double-binary-tree")
	require.NoError(t, err)
	for count, engine := range map[int64]string{1 << 20: "fold", 1 << 24: "event"} {
		spec := specOf(collective.AllReduce, 512)
		spec.Count = count
		s, err := tree.Build(spec, algos.Options{})
		require.NoError(t, err)
		g, err := simtest.Network("switch", 512, 25e9, 500*unit.Nanosecond)
		require.NoError(t, err)
		r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal()}, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, engine, r.Engine, "%d elements", count)
	}
}

// TestRolesThatStall: ranks that wait for each other, and messages that nobody receives, are what
// sim/event says that they are, also where they are of one role.
func TestRolesThatStall(t *testing.T) {
	for name, lane := range map[string]func(l *schedule.Lane, peer int){
		"a message is missing": func(l *schedule.Lane, peer int) {
			l.Recv(peer, l.Out(0))
			l.Send(peer, l.In(0))
		},
		"is never received": func(l *schedule.Lane, peer int) {
			l.Send(peer, l.In(0))
			l.Send(peer, l.In(0))
			l.Recv(peer, l.Out(0))
		},
		"nobody is there": func(l *schedule.Lane, peer int) {
			if l.Rank%2 == 0 {
				l.Send(peer, l.In(0))
			}
		},
	} {
		s, err := schedule.Build(schedule.Plan{Name: name, Spec: specOf(collective.AllReduce, 8),
			Roles: func(rank int, peers []int32) (int64, []int32) {
				return int64(rank % 2), append(peers, int32(rank^1))
			},
			Lane: func(l *schedule.Lane) { lane(l, l.Rank^1) }})
		require.NoError(t, err)
		for _, sharing := range []sim.Sharing{sim.Fluid, sim.FIFO} {
			g, err := simtest.Network("switch", 8, 125e8, 500*unit.Nanosecond)
			require.NoError(t, err)
			env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: sharing}
			_, err = fold.Run(s, &env)
			require.ErrorContains(t, err, "never received", name)
			_, want := sim.Run(s, env, sim.Options{Engine: sim.Event})
			_, got := sim.Run(s, env, sim.Options{})
			require.Error(t, want, name)
			require.Equal(t, want, got, name)
		}
	}
}

// TestTreesThatNothingShares: over links without limit all that a step sends sets out at one time,
// however long its lane takes for each peer.
func TestTreesThatNothingShares(t *testing.T) {
	tree, err := algos.Find(collective.AllReduce, "double-binary-tree")
	require.NoError(t, err)
	for ranks := 2; ranks <= 20; ranks++ {
		s, err := tree.Build(specOf(collective.AllReduce, ranks), algos.Options{})
		require.NoError(t, err)
		g, err := simtest.Network("switch", ranks, unit.Unlimited, 500*unit.Nanosecond)
		require.NoError(t, err)
		env := sim.Env{Graph: g, Device: device.Ideal()}
		env.Device.LaneRate = 1e9
		got, err := fold.Run(s, &env)
		require.NoError(t, err)
		got.Unfold()
		ends, load, isBad := runNaive(s, &env)
		require.False(t, isBad)
		require.Equal(t, ends, got.LaneEnd, "%d ranks", ranks)
		require.Equal(t, load, got.LinkLoad, "%d ranks", ranks)
	}
}
