package fold

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/symmetry"
	"collsim/topology"
	"collsim/unit"
)

// TestAgreement: of random schedules whose ranks do the same, on random networks on which they are
// alike or are not, some jumbled so that they stall, this engine tells what sim/event does, lane by
// lane and link by link, or the same stall, or that it does not simulate them.
func TestAgreement(t *testing.T) {
	simulated, stalled, jumped, numbered, why := 0, 0, 0, 0, map[string]int{}
	runs := tier.Raced(200, 200, 5_000)
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		s := simtest.Symmetric(t, rng, rng.IntN(4) == 0)
		env := simtest.SymmetricEnv(t, rng, s.Spec.Ranks)
		require.NoError(t, env.Validate(s))
		e, err := simulate(s, &env, nil, math.MaxInt64)
		var not *NotFolded
		if errors.As(err, &not) {
			why[not.Why]++
			continue
		}
		simulated++
		if e != nil && e.net.moves {
			numbered++
		}
		want, wanted := event.Run(s, &env, nil)
		require.Equal(t, wanted, err, "%d: %v on %s", i, s, env.Graph.Preset)
		if err == nil {
			require.Equal(t, want, unfolded(e.finished()), "%d: %v on %s", i, s, env.Graph.Preset)
			jumped += min(e.jumps, 1)
			counts, err := schedule.Execute(s, schedule.Limits{}, schedule.Hooks{})
			require.NoError(t, err)
			require.Equal(t, counts.Rounds, s.Rounds(), "%d: %v", i, s)
		}
		var stall *schedule.StallError
		if errors.As(err, &stall) {
			stalled++
		}
	}
	t.Logf("%d of %d simulated, %d on numbered networks, %d stalls, %d jumps; not: %v", simulated,
		runs, numbered, stalled, jumped, why)
	require.Greater(t, numbered, runs/6)
	require.Greater(t, simulated, runs/3)
	require.Greater(t, jumped, runs/100)
}

// TestSteady: rings that are long enough to be steady, on networks of nodes where ranks differ by
// place, end when sim/event says; and of these the greater part is left out.
func TestSteady(t *testing.T) {
	for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
		for _, network := range []string{"switch", "rails"} {
			for _, slices := range []int{1, 3} {
				node := topology.Params{Preset: "full-mesh", Ranks: 4, Bandwidth: 4 * simtest.GBs,
					Latency: 200 * unit.Nanosecond}
				between := topology.Params{Preset: network, Bandwidth: simtest.GBs,
					Latency: unit.Microsecond}
				g, err := topology.Build(topology.Params{Nodes: 16, Node: &node, Network: &between})
				require.NoError(t, err)
				p := simtest.RingPlan(64, 64*2*3*1000)
				p.Channels, p.Slices = 2, slices
				s := simtest.Build(t, p)
				env := model.Env{Graph: g, Device: device.Ideal(), Slots: 8, Sharing: sharing}
				env.Device.Overhead = 70 * unit.Nanosecond
				e, err := simulate(s, &env, nil, math.MaxInt64)
				require.NoError(t, err)
				want, err := event.Run(s, &env, nil)
				require.NoError(t, err)
				require.Equal(t, want, unfolded(e.finished()))
				require.Len(t, e.sym.Reps, 4)
				require.True(t, e.net.moves)
				require.Positive(t, e.jumps)
			}
		}
	}
}

// TestTwoHalfRings: two rings of half of the ranks each, one beside the other, are not one ring of
// all, though each rank's program is that of the one, neighbour by neighbour.
func TestTwoHalfRings(t *testing.T) {
	const ranks = 16
	halves := func(group schedule.Group, next, prev int) *schedule.Schedule {
		return simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(ranks, 16_000), Group: group,
			Chunks: ranks, Lane: func(l *schedule.Lane) {
				l.Send(next, l.Chunk(0))
				for i := range 20 {
					l.ReduceSend(prev, next, l.Chunk(1+i))
				}
				l.Recv(prev, l.Chunk(2))
			}})
	}
	one := halves(schedule.Group{ranks}, 1, ranks-1)
	two := halves(schedule.Group{2, ranks / 2}, 1, ranks/2-1)
	start := make([]unit.Time, ranks) // a rank of the first half is late: only its ring waits for it
	start[3] = unit.Second
	for _, late := range [][]unit.Time{nil, start} {
		for i, s := range []*schedule.Schedule{one, two} {
			env := simtest.OnSwitch(t, ranks, simtest.GBs, unit.Microsecond)
			env.Start = late
			want, err := event.Run(s, &env, nil)
			require.NoError(t, err)
			got, err := Run(s, &env)
			if late != nil {
				var not *NotFolded
				require.ErrorAs(t, err, &not)
				require.Equal(t, i == 0, want.LaneEnd[ranks-1] > unit.Second)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, unfolded(got))
		}
	}
	// One late rank in each half: of the two rings the halves are still alike, and folded.
	start[3+ranks/2] = unit.Second
	for _, s := range []*schedule.Schedule{one, two} {
		env := simtest.OnSwitch(t, ranks, simtest.GBs, unit.Microsecond)
		env.Start = start
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err)
		e, err := simulate(s, &env, nil, math.MaxInt64)
		require.NoError(t, err)
		require.Equal(t, want, unfolded(e.finished()))
		require.Len(t, e.sym.Reps, ranks/2)
	}
}

// TestNotFolded: what cannot be proven is not simulated, and says why.
func TestNotFolded(t *testing.T) {
	s := simtest.Build(t, simtest.RingPlan(6, 600))
	env := simtest.OnSwitch(t, 6, simtest.GBs, unit.Microsecond)
	refused := func(why string, s *schedule.Schedule, change func(env *model.Env)) {
		other := env
		other.Graph = env.Graph.Clone()
		change(&other)
		_, err := Run(s, &other)
		require.EqualError(t, err, "not folded: "+why)
	}
	refused("routes of ranks differ", s, func(env *model.Env) { env.Graph.Links()[2].Latency++ })
	refused("the device is none that it knows", s, func(env *model.Env) { env.Device.SendBuffer = 1 })
	refused("no two ranks are alike", s, func(env *model.Env) {
		env.Start = []unit.Time{1, 0, 0, 0, 0, 0}
	})
	refused("blocks are not of one size", simtest.Build(t, simtest.RingPlan(6, 601)),
		func(*model.Env) {})
	alone := simtest.RingPlan(6, 600)
	alone.Group = nil
	refused("the schedule declares no group", simtest.Build(t, alone), func(*model.Env) {})
	// Two signals come to the link down to each rank at one time, over different wires: who is
	// first is a matter of ports, which are numbered by ranks. On links of their own they do not
	// meet.
	signals := simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(6, 600),
		Group: schedule.Group{6}, Chunks: 6, Lanes: 2, Lane: func(l *schedule.Lane) {
			l.Signal(1 + l.Index)
			l.Wait(5 - l.Index)
		}})
	fifo := func(env *model.Env) { env.Sharing = model.FIFO }
	refused("what comes by different ports asks for a link at one time", signals, fifo)
	mesh, err := topology.FullMesh(6, simtest.GBs, unit.Microsecond)
	require.NoError(t, err)
	env.Graph, env.Sharing = mesh, model.FIFO
	want, err := event.Run(signals, &env, nil)
	require.NoError(t, err)
	got, err := Run(signals, &env)
	require.NoError(t, err)
	require.Equal(t, want, unfolded(got))
}

// unfolded tells of every rank and link; the first link of each orbit is that.
func unfolded(r *model.Totals) *model.Totals {
	f := r.Folded
	r.Unfold()
	firsts := map[int32]bool{}
	f.Members(func(orbit, link int) {
		o := &f.Orbits[orbit]
		if int32(link) < o.First {
			panic("a link comes before the first of its orbit")
		}
		firsts[o.First] = firsts[o.First] || int32(link) == o.First
	})
	for _, there := range firsts {
		if !there {
			panic("the first link of an orbit is not in it")
		}
	}
	return r
}

// TestNumberedOrbits: what a network knows of its symmetry by formula is what a look at all links
// and routes finds: the same orbits, numbers in them, and ports.
func TestNumberedOrbits(t *testing.T) {
	known := 0
	for i := range tier.Raced(100, 150, 1_500) {
		rng := rand.New(rand.NewPCG(uint64(i), 29))
		ranks := []int{4, 6, 8, 12, 16}[rng.IntN(5)]
		env := simtest.SymmetricEnv(t, rng, ranks)
		if env.Graph.IsListed() {
			continue
		}
		half := int32(ranks / 2)
		group := []schedule.Group{{int32(ranks)}, {2, half}, {half, 2}}[rng.IntN(3)]
		for _, mods := range Subgroups(schedule.AllOf(group)) {
			sym := symmetry.NewSubgroup(group, mods)
			net := newLinks(sym, env.Graph, isMoved(env.Graph, sym, env.Graph.Moves))
			if !net.moves {
				continue
			}
			known++
			listed := env.Graph.Clone()
			listed.Links()
			all := newLinks(sym, listed, isMoved(listed, sym, listed.Moves))
			require.False(t, all.moves)
			for range 20 {
				class, dst := int32(rng.IntN(len(sym.Reps))), int32(rng.IntN(ranks))
				if sym.Reps[class] == dst {
					continue
				}
				require.True(t, net.holds(class, dst))
				require.True(t, all.holds(class, dst), "%v %v", group, mods)
				r := net.route(class, dst)
				require.Equal(t, r, all.route(class, dst))
				require.Equal(t, all.network.Routes[r], net.network.Routes[r])
				require.Equal(t, all.path, net.path)
			}
			require.Equal(t, all.orbits, net.orbits)
			require.Equal(t, len(all.hops), len(net.hops))
			for h := range net.hops {
				a, b := &all.hops[h], &net.hops[h]
				require.Equal(t, [2]int32{a.orbit, a.from}, [2]int32{b.orbit, b.from})
				for n := range int32(len(sym.Elements)) {
					link := net.at(b.orbit, n)
					orbit, number := net.place(link, place{})
					require.Equal(t, [2]int32{b.orbit, n}, [2]int32{orbit, number})
					require.Equal(t, all.at(a.orbit, sym.Add(a.number, sym.Sub(n, b.number))), link)
				}
				if b.from >= 0 { // the link before this one's number 0, and its port
					require.Equal(t, net.port(b.from, b.before), b.port)
					zero := sym.Sub(0, b.number)
					require.Equal(t, all.at(a.from, sym.Add(sym.Add(a.before, a.number), zero)),
						net.at(b.from, b.before))
				}
			}
		}
	}
	require.Greater(t, known, 30)
}
