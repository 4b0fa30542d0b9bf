package sweep

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestAgreement: of random schedules on random networks and devices, some jumbled so that they
// stall, this engine tells what sim/event does, lane by lane and link by link, or that it does not
// simulate them.
func TestAgreement(t *testing.T) {
	kinds := []struct {
		name  string
		least int // of 100 that are simulated
		of    func(rng *rand.Rand) (*schedule.Schedule, model.Env)
	}{
		{"without sense", 25, func(rng *rand.Rand) (*schedule.Schedule, model.Env) {
			s := simtest.Schedule(rng, rng.IntN(4) == 0)
			env := simtest.Env(t, rng, s.Spec.Ranks)
			return twoSided(t, rng, s), plain(rng, env)
		}},
		{"extended", 20, func(rng *rand.Rand) (*schedule.Schedule, model.Env) {
			s := simtest.Schedule(rng, false)
			env := simtest.Env(t, rng, s.Spec.Ranks)
			return twoSided(t, rng, simtest.Extended(t, rng, s, env.Graph)), plain(rng, env)
		}},
		{"symmetric", 10, func(rng *rand.Rand) (*schedule.Schedule, model.Env) {
			s := simtest.Symmetric(t, rng, rng.IntN(4) == 0)
			return s, plain(rng, simtest.SymmetricEnv(t, rng, s.Spec.Ranks))
		}},
		{"symmetric, ranks differ", 10, func(rng *rand.Rand) (*schedule.Schedule, model.Env) {
			s := simtest.Symmetric(t, rng, rng.IntN(8) == 0)
			return s, plain(rng, simtest.Env(t, rng, s.Spec.Ranks))
		}},
	}
	for k, kind := range kinds {
		runs, simulated, periods, why := tier.Raced(150, 150, 4_000), 0, 0, map[string]int{}
		for i := range runs {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(k)))
			s, env := kind.of(rng)
			require.NoError(t, env.Validate(s))
			e, err := simulate(s, &env)
			var not *NotSwept
			if errors.As(err, &not) {
				why[not.Why]++
				continue
			}
			require.NoError(t, err)
			simulated++
			got := e.finished()
			periods += min(e.periods, 1)
			want, err := event.Run(s, &env, nil)
			require.NoError(t, err, "%s %d: %v on %s", kind.name, i, s, env.Graph.Preset)
			require.Equal(t, want, got, "%s %d: %v on %s", kind.name, i, s, env.Graph.Preset)
		}
		t.Logf("%s: %d of %d simulated, %d with periods; not:", kind.name, simulated, runs, periods)
		for _, w := range slices.Sorted(maps.Keys(why)) {
			t.Logf("  %5d %s", why[w], w)
		}
		require.GreaterOrEqual(t, 100*simulated, kind.least*runs, kind.name)
	}
}

// TestPeriods: schedules with long loops, on networks where no two ranks are equal, end when
// sim/event says, lane by lane. Most of them are replayed by periods.
func TestPeriods(t *testing.T) {
	runs, byPeriods := tier.Raced(60, 150, 1_500), 0
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		ranks := 9 + rng.IntN(24)
		p := simtest.RingPlan(ranks, int64(ranks*(1+rng.IntN(300))+rng.IntN(2)*rng.IntN(ranks)))
		p.Slices, p.Slots = 1+rng.IntN(3), rng.IntN(2)*(6+rng.IntN(4))
		if rng.IntN(3) == 0 { // a group says less than the programs themselves
			p.Group = nil
		}
		s := simtest.Build(t, p)
		env := model.Env{Device: device.Ideal(), Slots: []int{0, 8, 11}[rng.IntN(3)]}
		if rng.IntN(3) == 0 {
			env.Slots = 5
		}
		g, err := simtest.Network([]string{"switch", "full-mesh", "ring"}[rng.IntN(3)], ranks,
			simtest.GBs, unit.Microsecond)
		require.NoError(t, err)
		for l := range g.Links() {
			g.Links()[l].Latency = unit.Time(1 + rng.IntN(2_000_000))
			g.Links()[l].Bandwidth += unit.Rate(rng.Int64N(1_000_000_000))
		}
		env.Graph = g
		for range ranks {
			env.Start = append(env.Start, unit.Time(rng.IntN(10_000_000)))
			env.Slowdown = append(env.Slowdown, unit.Share(500_000+rng.IntN(1_000_000)))
		}
		d := &env.Device
		if rng.IntN(2) == 0 {
			d.Overhead, d.ReduceRate = unit.Time(rng.IntN(100_000)), 2*simtest.GBs
			d.LaneRate, d.SlotLatency = simtest.GBs, unit.Time(rng.IntN(500_000))
			d.Own = device.Message{Latency: unit.Time(rng.IntN(300_000)), Efficiency: 900_000}
		}
		if env.Sharing = model.Sharing(rng.IntN(2)); env.Sharing == model.FIFO {
			env.Switching = model.Switching(rng.IntN(2))
		}
		e, err := simulate(s, &env)
		require.NoError(t, err, "%d: %v on %s", i, s, g.Preset)
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err)
		require.Equal(t, want, e.finished(), "%d: %v on %s", i, s, g.Preset)
		byPeriods += min(e.periods, 1)
	}
	t.Logf("%d of %d with periods", byPeriods, runs)
	require.Greater(t, byPeriods, runs/2)
}

// TestNotSwept: a schedule that cannot be verified is refused with its reason.
func TestNotSwept(t *testing.T) {
	s := simtest.Build(t, simtest.RingPlan(6, 600))
	env := simtest.OnSwitch(t, 6, simtest.GBs, unit.Microsecond)
	refused := func(why string, s *schedule.Schedule, change func(env *model.Env)) {
		t.Helper()
		other := env
		change(&other)
		_, err := Run(s, &other)
		require.EqualError(t, err, "not swept: "+why)
	}
	same := func(*model.Env) {}
	fifo := func(env *model.Env) { env.Sharing = model.FIFO }
	refused("the device is none that it knows", s, func(env *model.Env) { env.Device.SendBuffer = 1 })
	refused("it stalls", simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(2, 2), Chunks: 2,
		Lane: func(l *schedule.Lane) { l.Recv(1-l.Rank, l.Chunk(0)); l.Send(1-l.Rank, l.Chunk(0)) }}),
		same)
	refused("a message is never received", simtest.Build(t, schedule.Plan{
		Spec: simtest.AllReduce(2, 2), Chunks: 2,
		Lane: func(l *schedule.Lane) { l.Send(1-l.Rank, l.Chunk(0)) }}), same)
	refused("a step is one-sided", simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(2, 2),
		Chunks: 2, Lane: func(l *schedule.Lane) {
			l.Combine([]schedule.Region{l.Out(0)}, nil, l.Get(1-l.Rank, l.In(0)))
		}}), same)
	both, err := schedule.Compose("both", 6, nil, []schedule.Part{{Schedule: s}})
	require.NoError(t, err)
	refused("the schedule is composed of others", both, same)
	// Two ranks send to a third at once: fluid, they share the link down to it.
	gather := func(late bool) *schedule.Schedule {
		return simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(3, 3000), Chunks: 3,
			Lanes: 2, Lane: func(l *schedule.Lane) {
				switch {
				case l.Rank < 2 && l.Index == 0:
					if late && l.Rank == 1 { // in its second row
						l.Send(0, l.Chunk(0))
					}
					l.Send(2, l.Chunk(l.Rank))
				case l.Rank == 2 && l.Index < 2:
					l.Facing(0)
					l.Recv(l.Index, l.Chunk(l.Index))
				case late && l.Rank == 0:
					l.Facing(0)
					l.Recv(1, l.Chunk(0))
				}
			}})
	}
	refused("flows share a link", gather(false), same)
	// Rank 1 sends to it in its second row, and rank 0, which begins later, in its first.
	refused("links are asked in another order than was guessed", gather(true),
		func(env *model.Env) {
			fifo(env)
			env.Start = []unit.Time{unit.Second, 0, 0, 0, 0, 0}[:3]
		})
}

// plain takes from most environments what the engine refuses at once.
func plain(rng *rand.Rand, env model.Env) model.Env {
	if rng.IntN(10) > 0 {
		env.Device.Offload, env.Device.SendBuffer, env.Device.EagerLimit = false, 0, 0
	}
	return env
}

// twoSided takes from most schedules the one-sided steps, which the engine refuses.
func twoSided(t testing.TB, rng *rand.Rand, s *schedule.Schedule) *schedule.Schedule {
	if rng.IntN(20) == 0 {
		return s
	}
	return simtest.Rewritten(t, s, func(_, _ int, step schedule.Step, add func(schedule.Step)) {
		var own []schedule.Source
		for _, f := range step.From {
			if f.Kind == schedule.Local || f.Kind == schedule.Message {
				own = append(own, f)
			}
		}
		var messages []schedule.Dest
		for _, d := range step.Send {
			if d.Message() {
				messages = append(messages, d)
			}
		}
		if len(own) < len(step.From) && len(own) == 0 {
			return
		}
		step.From, step.Send = own, messages
		add(step)
	})
}
