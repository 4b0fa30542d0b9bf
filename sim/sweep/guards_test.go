package sweep

import (
	"fmt"
	"math"
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

// TestServedBefore: of what asks for a link at one time the earlier wave comes first, then the
// lower lane or port.
func TestServedBefore(t *testing.T) {
	of := func(at unit.Time, wave int32, by uint64) *packet {
		return &packet{at: model.Moment{T: at, Wave: wave}, by: by}
	}
	inOrder := []*packet{of(1, 7, 9), of(2, 0, 5), of(2, 0, 6), of(2, 1, 2), of(2, 3, 0), of(3, 0, 0)}
	for i, a := range inOrder {
		for j, b := range inOrder {
			require.Equal(t, i < j, a.before(b), "%d and %d", i, j)
			l := link{last: a.at, lastBy: a.by}
			require.Equal(t, i <= j, l.follows(b.at, b.by), "%d after %d", j, i)
		}
	}
}

// TestActorIsBack: a lane is where it began only in the same iterations of the outer loops, and in
// the same slice.
func TestActorIsBack(t *testing.T) {
	s := simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(2, 400), Chunks: 40, Slices: 2,
		Lane: func(l *schedule.Lane) {
			for range 9 {
				l.Copy(l.Out(0), l.In(0))
				for range 5 {
					l.Send(1-l.Rank, l.Chunk(0))
					l.Recv(1-l.Rank, l.Chunk(0))
				}
			}
		}})
	p := s.Program(0)
	steps := func(n, slice int) schedule.Cursor { // after so many steps
		c := p.Walk(0)
		for int(c.Step) < n || int(c.Slice()) < slice {
			c.Next(2)
		}
		return c
	}
	const outer = 1 + 2*5 // steps of an iteration
	a := actor{at: steps(3, 0)}
	for _, x := range []struct{ steps, slice, want int }{
		{3, 0, 0}, {5, 0, 1}, {9, 0, 3}, {5, 1, 0}, {6, 0, 0}, {1, 0, 0}, {outer + 5, 0, 0},
		{2*outer + 9, 0, 0},
	} {
		c := steps(x.steps, x.slice)
		require.EqualValues(t, x.want, a.iterations(&c), "%+v", x)
	}
}

// exchanges is a loop in which all ranks send to the next.
func exchanges(t *testing.T) *schedule.Schedule {
	spec := simtest.AllReduce(4, 400)
	spec.Type = dtype.Int8
	return simtest.Build(t, schedule.Plan{Spec: spec, Chunks: 40, Lane: func(l *schedule.Lane) {
		for range 60 {
			l.Send(l.Rank+1, l.Chunk(0))
			l.Recv(l.Rank+3, l.Chunk(0))
		}
	}})
}

// TestNoPeriods: messages in segments, and messages that a link stores and forwards in no time, are
// simulated without periods.
func TestNoPeriods(t *testing.T) {
	noLimit := func(env *model.Env) { // of the last link of each route
		for rank := range 4 {
			route := env.Graph.Route(rank, (rank+1)%4, nil)
			env.Graph.Links()[route[1]].Bandwidth = unit.Unlimited
		}
	}
	for name, change := range map[string]func(env *model.Env){
		"":         func(*model.Env) {},
		"segments": func(env *model.Env) { env.Switching, env.Segment = model.StoreForward, 7 },
		"stored": func(env *model.Env) {
			env.Switching = model.StoreForward
			noLimit(env)
		},
	} {
		s, env := exchanges(t), simtest.OnSwitch(t, 4, simtest.GBs, unit.Microsecond)
		env.Sharing = model.FIFO
		change(&env)
		e, err := simulate(s, &env)
		require.NoError(t, err, name)
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err)
		require.Equal(t, want, e.finished(), name)
		require.Equal(t, name == "", e.periods > 0, name)
	}
}

// TestInstantLinks: on networks of which some links are without latency, and some without limit, so
// that much happens at one time because of something else, loops are simulated by periods, and what
// follows them finds the same waves as in sim/event.
func TestInstantLinks(t *testing.T) {
	runs, simulated, byPeriods := tier.Raced(200, 600, 8_000), 0, 0
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 11))
		s, env := loopsAndBursts(t, rng), model.Env{Device: device.Ideal(), Sharing: model.FIFO,
			Graph: instant(t, rng), Slots: rng.IntN(3) * 6}
		for range s.Spec.Ranks {
			env.Start = append(env.Start, unit.Time(rng.IntN(3)*1000))
		}
		if rng.IntN(2) == 0 {
			env.Device.Overhead = unit.Time(rng.IntN(2) * 1000)
			env.Device.SlotLatency = unit.Time(rng.IntN(2) * 1000)
			env.Device.LaneRate = simtest.GBs
		}
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err)
		e, err := simulate(s, &env)
		if err != nil {
			continue
		}
		simulated++
		require.Equal(t, want, e.finished(), "%d: %v on %s", i, s, env.Graph.Preset)
		byRows := newEngine(s, &env)
		byRows.wait = math.MaxInt // for the first period
		byRows.run()
		require.Equal(t, moments(byRows), moments(e), "%d: %v on %s", i, s, env.Graph.Preset)
		byPeriods += min(e.periods, 1)
	}
	t.Logf("%d of %d, %d with periods", simulated, runs, byPeriods)
	require.Greater(t, simulated, runs/4)
	require.Greater(t, byPeriods, runs/8)
}

// moments are all that a run has left behind: when lanes have ended, slots were freed and links
// asked, and by whom.
func moments(e *engine) map[string]any {
	all := map[string]any{}
	for i := range e.lanes {
		all[fmt.Sprint("lane ", i)] = e.lanes[i].end
	}
	for i := range e.conns {
		c, free := &e.conns[i], []model.Moment{}
		c.slots.Each(&e.marks, func(at model.Moment) { free = append(free, at) })
		all[fmt.Sprint("slots ", c.src, c.dst)] = free
	}
	for i := range e.links {
		l := &e.links[i]
		all[fmt.Sprint("link ", l.number)] = []any{l.last, l.lastBy, l.free}
	}
	return all
}

// loopsAndBursts is loops in which all ranks of six send to others, in one step with what they
// receive or not, and some messages ahead; each is followed by a few messages of some of them.
func loopsAndBursts(t *testing.T, rng *rand.Rand) *schedule.Schedule {
	spec := simtest.AllReduce(6, 6*int64(1+rng.IntN(3)))
	spec.Type = dtype.Int8
	type phase struct{ times, far, ahead, burst, from, to int }
	phases := make([]phase, 1+rng.IntN(3))
	for i := range phases {
		phases[i] = phase{6 + rng.IntN(20), 1 + rng.IntN(5), rng.IntN(6), rng.IntN(3), rng.IntN(6),
			rng.IntN(6)}
	}
	isFused := rng.IntN(2) == 0
	return simtest.Build(t, schedule.Plan{Spec: spec, Chunks: 6, Lane: func(l *schedule.Lane) {
		for _, p := range phases {
			to, from := (l.Rank+p.far)%6, (l.Rank+6-p.far)%6
			for range p.ahead {
				l.Send(to, l.Chunk(0))
			}
			for range p.times {
				if isFused && p.ahead > 0 {
					l.CopySend(from, to, l.Chunk(0))
				} else {
					l.Send(to, l.Chunk(0))
					l.Recv(from, l.Chunk(0))
				}
			}
			for range p.ahead {
				l.Recv(from, l.Chunk(0))
			}
			for d := 1; d <= p.burst; d++ {
				if l.Rank%2 == p.from%2 && l.Rank != p.to {
					l.Send(p.to, l.Chunk(d))
				}
			}
			for from := range 6 {
				if l.Rank == p.to && from%2 == p.from%2 && from != p.to {
					for d := 1; d <= p.burst; d++ {
						l.Recv(from, l.Chunk(d))
					}
				}
			}
		}
	}})
}

// instant is a network of six ranks with such links.
func instant(t *testing.T, rng *rand.Rand) *topology.Graph {
	latency, rate := unit.Time(rng.IntN(2)*1000), simtest.GBs
	p := topology.Params{Preset: []string{"switch", "full-mesh", "ring"}[rng.IntN(3)], Ranks: 6,
		Bandwidth: rate, Latency: latency}
	if rng.IntN(2) == 0 {
		p = topology.Params{Nodes: 3,
			Node: &topology.Params{Preset: "full-mesh", Ranks: 2, Bandwidth: rate, Latency: latency},
			Network: &topology.Params{Preset: "rails", Bandwidth: rate,
				Latency: []unit.Time{1000, 9000, 90_000}[rng.IntN(3)]}}
	}
	g, err := topology.Build(p)
	require.NoError(t, err)
	for i := range g.Links() {
		l := &g.Links()[i]
		if rng.IntN(4) == 0 {
			l.Latency = unit.Time(rng.IntN(3) * 1000)
		}
		if rng.IntN(8) == 0 && p.Preset == "switch" && l.To < 6 {
			l.Bandwidth = unit.Unlimited
		} else if rng.IntN(8) == 0 && l.Bandwidth != unit.Unlimited {
			l.Bandwidth /= 2
		}
	}
	return g
}

// TestEndOfTime: a period is not simulated past the last time that is counted.
func TestEndOfTime(t *testing.T) {
	env := simtest.OnSwitch(t, 4, simtest.GBs, unit.Microsecond)
	env.Sharing = model.FIFO
	env.Device.Overhead = unit.Forever / 28 // 60 rounds of two steps are beyond 63 bits
	_, err := Run(exchanges(t), &env)
	require.EqualError(t, err, "not swept: time is counted no further")
}

// TestStateBeforeAPeriod: what a period finds when it begins matters in it: a link that is still
// busy for others, sizes of messages that lie far back in a connection, and events that come late.
func TestStateBeforeAPeriod(t *testing.T) {
	spec := simtest.AllReduce(4, 40_000)
	spec.Type = dtype.Int8
	of := func(lanes int, lane func(*schedule.Lane)) *schedule.Schedule {
		return simtest.Build(t, schedule.Plan{Spec: spec, Chunks: 400, Lanes: lanes, Lane: lane})
	}
	for name, s := range map[string]*schedule.Schedule{
		"a busy link": of(2, func(l *schedule.Lane) {
			switch {
			case l.Rank == 2 && l.Index == 1:
				l.Send(1, l.Chunk(0).Blocks(300))
			case l.Rank == 1 && l.Index == 1:
				l.Recv(2, l.Chunk(0).Blocks(300))
			case l.Rank == 0 && l.Index == 0:
				for range 60 {
					l.Send(1, l.Chunk(0))
				}
			case l.Rank == 1 && l.Index == 0:
				for range 60 {
					l.Recv(0, l.Chunk(0))
				}
			}
		}),
		"a size far back": of(1, func(l *schedule.Lane) {
			switch l.Rank {
			case 0:
				for range 150 {
					l.Send(1, l.Chunk(0))
				}
				l.Send(1, l.Chunk(0).Blocks(30))
				for range 400 {
					l.Send(1, l.Chunk(0))
				}
			case 1:
				for range 170 {
					l.Send(2, l.Chunk(0))
				}
				for range 551 {
					l.Combine(nil, []int{2}, l.From(0))
				}
			case 2:
				for range 721 {
					l.Recv(1, l.Chunk(0))
				}
			}
		}),
		"late events": of(2, func(l *schedule.Lane) {
			for i := range 60 {
				if l.Index == 0 {
					l.Copy(l.Out(0).Blocks(60), l.In(0).Blocks(60))
					l.Post()
					continue
				}
				if l.After(0, i+1); l.Rank%2 == 0 {
					l.Send(l.Rank+1, l.Chunk(0))
				} else {
					l.Recv(l.Rank-1, l.Chunk(0))
				}
			}
		}),
	} {
		for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
			if name == "a busy link" && sharing == model.Fluid {
				continue // they share it
			}
			g, err := topology.Switch(4, simtest.GBs, unit.Microsecond)
			require.NoError(t, err)
			env := model.Env{Graph: g, Device: device.Ideal(), Sharing: sharing}
			env.Device.CopyRate = simtest.GBs
			want, err := event.Run(s, &env, nil)
			require.NoError(t, err)
			e, err := simulate(s, &env)
			require.NoError(t, err, "%s, %v", name, sharing)
			require.Equal(t, want, e.finished(), "%s, %v", name, sharing)
			t.Logf("%s, %v: %d periods", name, sharing, e.periods)
		}
	}
}

// TestAfterAPeriod: a period that ends in the midst of steps leaves nothing of those that it began
// with: here one block of three is larger than the others, and the last slices are not of the
// sizes that the first were of.
func TestAfterAPeriod(t *testing.T) {
	s, err := schedule.Parse(`schedule
collective all_reduce int8 sum
ranks 3
count 604
group 3
slices 2
cut in block even 3 by rank
cut out block even 3 by rank
rank *
  lane 0
    loop 27
      recv from 1/1 into out[i] @i
  lane 1
    loop 27
      send out[i] to 2/0 @i
`)
	require.NoError(t, err)
	for late := range 40 {
		env := model.Env{Device: device.Ideal(), Slots: 8}
		env.Device.Overhead = unit.Nanosecond
		env.Graph, err = simtest.Network("switch", 3, simtest.GBs, unit.Microsecond)
		require.NoError(t, err)
		env.Start = []unit.Time{0, unit.Time(late) * 100 * unit.Nanosecond, 0}
		e, err := simulate(s, &env)
		require.NoError(t, err)
		require.Positive(t, e.periods)
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err)
		require.Equal(t, want, e.finished(), "%d", late)
	}
}
