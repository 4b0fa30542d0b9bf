package event

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestAhead: lanes that go on before their time end when those do that wait for it, whatever number
// of messages they may have before them, in whatever order they are looked at.
func TestAhead(t *testing.T) {
	runs, ahead, mixed, queued := tier.Raced(100, 500, 2_500), 0, 0, 0
	expressed, uneven := 0, 0
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 17))
		s, env := aheadCase(t, rng)
		waits := newEngine(s, &env)
		wanted := waits.run()

		e := newEngine(s, &env)
		if e.findUncontended(); !e.links.isAhead() {
			continue
		}
		ahead++
		sole := 0
		for l := range e.links.len() {
			if e.links.at(l).isUncontended {
				sole++
			}
		}
		if sole > 0 && sole < int(e.links.len()) {
			mixed++
		}
		if rng.IntN(2) == 0 {
			e.conns.mostAhead = rng.IntN(8)
		}
		shuffle(rng, e.lanes.ready)
		got := e.run()
		require.Equal(t, wanted == nil, got == nil, "%d: %v, %v", i, wanted, got)
		if wanted == nil {
			require.Equal(t, waits.finished(), e.finished(), "%d: %v on %s", i, s, env.Graph.Preset)
		}
		queued += min(len(e.links.requests.held), 1)
		expressed += min(1, count(e, func(l *lane) bool { return l.step.isAlone }))
		uneven += min(1, count(e, func(l *lane) bool {
			return l.step.isAlone && len(l.step.cuts) > 0
		}))
	}
	t.Logf("%d of %d ahead, %d of them with links of both kinds, %d with requests in the queue, %d "+
		"with steps in one go, %d of several sizes", ahead, runs, mixed, queued, expressed, uneven)
	for what, n := range map[string]int{"ahead": ahead / 4, "mixed": mixed, "queued": queued,
		"expressed": expressed, "uneven": uneven} {
		require.Greater(t, n, runs/20, what)
	}
}

// aheadCase is a random run in which lanes may go on before their time.
func aheadCase(t testing.TB, rng *rand.Rand) (*schedule.Schedule, model.Env) {
	var s *schedule.Schedule
	switch rng.IntN(4) {
	case 0:
		s = simtest.Schedule(rng, rng.IntN(4) == 0)
	case 1:
		s = simtest.Symmetric(t, rng, rng.IntN(4) == 0)
	case 2:
		s = simtest.Build(t, simtest.VariedRing(rng, 4+rng.IntN(8)))
	default:
		ranks := 4 + rng.IntN(12)
		p := simtest.RingPlan(ranks, int64(ranks)*12*(1+rng.Int64N(300))+rng.Int64N(2)*rng.Int64N(20))
		p.Slices, p.Channels, p.Slots = 1+rng.IntN(3), 1+rng.IntN(4)/3, rng.IntN(6)
		if p.Slots%2 == 0 {
			p.Lanes, p.Lane = 2, posting
		}
		s = simtest.Build(t, p)
	}
	env := simtest.Env(t, rng, s.Spec.Ranks)
	env.Device.Offload, env.Device.SendBuffer, env.Device.EagerLimit = false, 0, 0
	env.Segment, env.Switching = 0, model.CutThrough
	if rng.IntN(3) > 0 {
		env.Graph = simtest.OnSwitch(t, s.Spec.Ranks, simtest.GBs, 100*unit.Nanosecond).Graph
		for l := range env.Graph.Links() {
			env.Graph.Links()[l].Latency += unit.Time(rng.IntN(1000)) * unit.Nanosecond
		}
	}
	if rng.IntN(3) > 0 {
		env.Device.Own, env.Device.Ranges = device.Message{}, nil
	}
	return s, env
}

// posting goes round a ring twice, and posts each step that passes something on; a lane beside it
// awaits every other.
func posting(l *schedule.Lane) {
	if l.Index == 1 {
		for posted := 1; posted < 2*l.Ranks; posted += 2 {
			l.After(0, posted)
			l.Copy(l.Out(posted%l.Ranks), l.In(posted%l.Ranks))
		}
		return
	}
	before, behind := l.Rank-1, l.Rank+1
	l.Send(behind, l.Chunk(l.Rank))
	for i := 1; i < 2*l.Ranks; i++ {
		l.ReduceSend(before, behind, l.Chunk(l.Rank-i))
		l.Post()
	}
	l.Recv(before, l.Chunk(l.Rank))
}

// TestUncontended: which links are asked in order. Ranks 0 and 1 send to 2: its down-link has what
// two up-links bring. Under fluid sharing a lane has a link for itself only if it sends one message
// at a time.
func TestUncontended(t *testing.T) {
	of := func(sharing model.Sharing, lane func(*schedule.Lane)) (sole []string) {
		spec := simtest.AllReduce(3, 300)
		s := simtest.Build(t, schedule.Plan{Spec: spec, Chunks: 3, Lane: lane})
		env := simtest.OnSwitch(t, 3, simtest.GBs, unit.Microsecond)
		env.Sharing = sharing
		e := newEngine(s, &env)
		e.findUncontended()
		for i := range e.links.len() {
			if e.links.at(i).isUncontended {
				sole = append(sole, env.Graph.LinkName(int32(i)))
			}
		}
		return sole
	}
	toTwo := func(l *schedule.Lane) {
		if l.Rank < 2 {
			l.Send(2, l.Chunk(0))
			return
		}
		l.Recv(0, l.Chunk(0))
		l.Recv(1, l.Chunk(1))
	}
	atOnce := func(l *schedule.Lane) {
		if l.Rank > 0 {
			l.Recv(0, l.Chunk(0))
			return
		}
		l.Combine([]schedule.Region{l.Chunk(0)}, []int{1, 2}, l.Local(l.Chunk(0)))
	}
	for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
		require.Equal(t, []string{"gpu0->switch", "gpu1->switch"}, of(sharing, toTwo))
	}
	require.Equal(t, []string{"gpu0->switch", "switch->gpu1", "switch->gpu2"},
		of(model.FIFO, atOnce))
	require.Empty(t, of(model.Fluid, atOnce))
}
