package sweep

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/dtype"
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

// TestNoPeriods: what is in segments, and what may happen at one time because of something else, is
// played row by row.
func TestNoPeriods(t *testing.T) {
	for name, change := range map[string]func(env *model.Env){
		"":         func(*model.Env) {},
		"segments": func(env *model.Env) { env.Switching, env.Segment = model.StoreForward, 7 },
		"no latency": func(env *model.Env) {
			for l := range env.Graph.Links() {
				env.Graph.Links()[l].Latency = 0
			}
		},
		"no limit": func(env *model.Env) { // of the last link of each route
			for rank := range 4 {
				route := env.Graph.Route(rank, (rank+1)%4, nil)
				env.Graph.Links()[route[1]].Bandwidth = unit.Unlimited
			}
		},
	} {
		s, env := exchanges(t), simtest.OnSwitch(t, 4, simtest.GBs, unit.Microsecond)
		env.Sharing = model.FIFO
		change(&env)
		e, err := play(s, &env)
		require.NoError(t, err, name)
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err)
		require.Equal(t, want, e.finished(), name)
		require.Equal(t, name == "", e.periods > 0, name)
	}
}

// TestEndOfTime: a period is not played past the last time that is counted.
func TestEndOfTime(t *testing.T) {
	env := simtest.OnSwitch(t, 4, simtest.GBs, unit.Microsecond)
	env.Sharing = model.FIFO
	env.Device.Overhead = unit.Forever / 28 // 60 rounds of two steps are beyond 63 bits
	_, err := Run(exchanges(t), &env)
	require.EqualError(t, err, "sim: not swept: time is counted no further")
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
			e, err := play(s, &env)
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
		env.Graph, err = topology.New("switch", 3, simtest.GBs, unit.Microsecond)
		require.NoError(t, err)
		env.Start = []unit.Time{0, unit.Time(late) * 100 * unit.Nanosecond, 0}
		e, err := play(s, &env)
		require.NoError(t, err)
		require.Positive(t, e.periods)
		want, err := event.Run(s, &env, nil)
		require.NoError(t, err)
		require.Equal(t, want, e.finished(), "%d", late)
	}
}
