package sweep

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// looped is a schedule of loops, each lane with others of its own: bodies of several steps, blocks
// one by one and several at once, of one size or two, passed on or not, signals, copies.
func looped(t testing.TB, rng *rand.Rand) *schedule.Schedule {
	t.Helper()
	ranks, lanes := 2+rng.IntN(6), 1+rng.IntN(2)*rng.IntN(3)
	chunks := 1 + rng.IntN(12)
	var group schedule.Group
	switch {
	case rng.IntN(3) > 0:
		group = schedule.Group{int32(ranks)}
		if chunks = ranks; ranks%2 == 0 && ranks > 2 && rng.IntN(2) == 0 {
			group = schedule.Group{2, int32(ranks / 2)}
		}
	}
	type exchange struct{ kind, peer, at, stride, blocks int }
	bodies, outer, inner := make([][]exchange, lanes), make([]int, lanes), make([]int, lanes)
	for lane := range lanes {
		for range 1 + rng.IntN(3) {
			bodies[lane] = append(bodies[lane], exchange{rng.IntN(10), 1 + rng.IntN(ranks-1),
				rng.IntN(chunks), rng.IntN(3) - 1, 1 + rng.IntN(min(chunks, 3))*rng.IntN(2)})
		}
		outer[lane], inner[lane] = 1+rng.IntN(2)*rng.IntN(3), 40+60*rng.IntN(2)
	}
	spec := simtest.AllReduce(ranks, int64(20*ranks*chunks))
	if spec.Type = dtype.Int8; rng.IntN(3) == 0 {
		spec.Count += rng.Int64N(40)
	}
	mod := func(a int) int { return (a%ranks + ranks) % ranks }
	add := func(l *schedule.Lane, g int) int { return mod(l.Rank + g) }
	if len(group) == 2 {
		half := ranks / 2
		add = func(l *schedule.Lane, g int) int {
			g = mod(g)
			return (l.Rank/half+g/half)%2*half + (l.Rank%half+g%half)%half
		}
	}
	back := func(g int) int {
		if half := ranks / 2; len(group) == 2 {
			return g/half*half + (half-g%half)%half
		}
		return ranks - g
	}
	return simtest.Build(t, schedule.Plan{Spec: spec, Group: group, Chunks: chunks, Lanes: lanes,
		Slices: 1 + rng.IntN(2)*rng.IntN(3), Slots: 2 + rng.IntN(4), Lane: func(l *schedule.Lane) {
			body := bodies[l.Index]
			for o := range outer[l.Index] {
				for i := range inner[l.Index] {
					for _, x := range body {
						to, from := add(l, x.peer), add(l, back(x.peer))
						at := l.Out(x.at + o + i*x.stride).Blocks(x.blocks)
						switch x.kind {
						case 0:
							l.Signal(to)
							l.Wait(from)
						case 1:
							l.Copy(at, l.In(x.at).Blocks(x.blocks))
						case 2:
							l.Send(to, at)
							l.ReduceSend(from, to, at)
							l.Recv(from, at)
						case 3:
							l.Put(to, at, l.In(x.at+i*x.stride).Blocks(x.blocks))
							l.WaitPut(from)
						default:
							l.Send(to, at)
							l.Recv(from, at)
						}
					}
				}
			}
		}})
}

// TestLoops: schedules of loops end when sim/event says.
func TestLoops(t *testing.T) {
	runs, simulated, byPeriods, why := tier.Raced(150, 150, 8_000), 0, 0, map[string]int{}
	times := []unit.Time{0, 100 * unit.Nanosecond, 100 * unit.Nanosecond, 333 * unit.Nanosecond}
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 11))
		s := looped(t, rng)
		ranks := s.Spec.Ranks
		g, err := simtest.Network([]string{"full-mesh", "full-mesh", "switch", "ring"}[rng.IntN(4)],
			ranks, simtest.GBs, times[1+rng.IntN(3)])
		require.NoError(t, err)
		for l := range g.Links() {
			if rng.IntN(3) == 0 {
				g.Links()[l].Latency = times[max(rng.IntN(4), rng.IntN(2))]
				g.Links()[l].Bandwidth = simtest.GBs / unit.Rate(1+rng.IntN(3))
			}
		}
		env := model.Env{Graph: g, Device: device.Ideal(), Sharing: model.Sharing(rng.IntN(2))}
		for range ranks {
			env.Start = append(env.Start, unit.Time(rng.IntN(3_000_000)*rng.IntN(2)))
		}
		if rng.IntN(2) == 0 {
			env.Device.Overhead, env.Device.SlotLatency = times[rng.IntN(4)], times[rng.IntN(4)]
			env.Device.CopyRate = simtest.GBs
		}
		if rng.IntN(3) == 0 {
			env.Device.LaneRate = simtest.GBs
		}
		if env.Sharing == model.FIFO {
			env.Switching = model.Switching(rng.IntN(2))
			if rng.IntN(4) == 0 {
				env.Segment = 7
			}
		}
		e, err := simulate(s, &env)
		var not *NotSwept
		if errors.As(err, &not) {
			why[not.Why]++
			continue
		}
		require.NoError(t, err)
		simulated++
		byPeriods += min(e.periods, 1)
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err, "%d: %v on %s", i, s, g.Preset)
		require.Equal(t, want, e.finished(), "%d: %v on %s", i, s, g.Preset)
	}
	t.Logf("%d of %d simulated, %d with periods; not: %v", simulated, runs, byPeriods, why)
	require.Greater(t, byPeriods, runs/20)
}

// TestLoopsByHand: loops in which something changes though all steps are the same.
func TestLoopsByHand(t *testing.T) {
	spec := simtest.AllReduce(4, 400)
	spec.Type = dtype.Int8
	of := func(lanes int, lane func(*schedule.Lane)) *schedule.Schedule {
		return simtest.Build(t, schedule.Plan{Spec: spec, Chunks: 40, Lanes: lanes, Lane: lane})
	}
	cases := map[string]*schedule.Schedule{
		// Rank 0 sends faster than rank 1, which goes to rank 2 and back in between, receives.
		"more and more lies there": of(1, func(l *schedule.Lane) {
			for range 60 {
				switch l.Rank {
				case 0:
					l.Send(1, l.Chunk(0))
				case 1:
					l.Recv(0, l.Chunk(0))
					l.Send(2, l.Chunk(0))
					l.Recv(2, l.Chunk(0))
				case 2:
					l.Recv(1, l.Chunk(0))
					l.Send(1, l.Chunk(0))
				}
			}
		}),
		// Lane 1 awaits another event of lane 0 each time, and that is late.
		"events": of(2, func(l *schedule.Lane) {
			for i := range 60 {
				if l.Index == 0 {
					l.Copy(l.Out(0).Blocks(1+i%7), l.In(0).Blocks(1+i%7))
					l.Post()
					continue
				}
				l.After(0, i+1)
				l.Send(l.Rank+1, l.Chunk(0))
				l.Recv(l.Rank+3, l.Chunk(0))
			}
		}),
		// Sizes that rank 1 and 2 are only told by the messages.
		"sizes": of(1, func(l *schedule.Lane) {
			for i := range 60 {
				at := l.Out(0).Blocks(1 + i/20)
				switch l.Rank {
				case 0:
					l.Send(1, at)
				case 3:
					l.Recv(2, at)
				default:
					l.Combine(nil, []int{l.Rank + 1}, l.From(l.Rank-1))
				}
			}
		}),
	}
	for name, s := range cases {
		for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
			for _, slots := range []int{0, 9} {
				g, err := topology.FullMesh(4, simtest.GBs, unit.Microsecond)
				require.NoError(t, err)
				env := model.Env{Graph: g, Device: device.Ideal(), Sharing: sharing, Slots: slots}
				env.Device.CopyRate = simtest.GBs
				want, err := event.Run(s, &env, nil)
				require.NoError(t, err)
				got, err := Run(s, &env)
				require.NoError(t, err, "%s, %v", name, sharing)
				require.Equal(t, want, got, "%s, %v", name, sharing)
			}
		}
	}
}

// TestDrift: two lanes of a rank send over one link, one a little more often than the other. At
// first they take turns, and do not meet; that rows repeat themselves does not say that times do.
func TestDrift(t *testing.T) {
	spec := simtest.AllReduce(2, 400)
	spec.Type = dtype.Int8
	for slow := range 2 {
		s := simtest.Build(t, schedule.Plan{Spec: spec, Chunks: 40, Lanes: 2,
			Lane: func(l *schedule.Lane) {
				if l.Index == slow && l.Rank == 0 {
					l.Copy(l.Out(0).Blocks(5), l.In(0).Blocks(5))
				}
				for range 60 {
					if l.Rank == 1 {
						l.Recv(0, l.Chunk(0))
						continue
					}
					n := 10
					if l.Index == slow {
						n = 11
					}
					l.Copy(l.Out(0).Blocks(n), l.In(0).Blocks(n))
					l.Send(1, l.Chunk(0))
				}
			}})
		for sharing, why := range map[model.Sharing]string{model.Fluid: "flows share a link",
			model.FIFO: "links are asked in another order than was guessed"} {
			env := simtest.OnSwitch(t, 2, simtest.GBs, unit.Microsecond)
			env.Sharing, env.Slots, env.Device.CopyRate = sharing, 0, simtest.GBs
			e, err := simulate(s, &env)
			want, wrong := event.Run(s, &env, nil)
			require.NoError(t, wrong)
			if err == nil { // they meet, and from then on the one waits for the other each time
				require.Equal(t, model.FIFO, sharing)
				require.Equal(t, want, e.finished())
				continue
			}
			require.EqualError(t, err, "not swept: "+why)
		}
	}
}
