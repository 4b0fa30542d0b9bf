package event

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestKept: what is kept of a step says what the step does in every iteration. A run that loads all
// of them has the same ends, and the same log: causes, blocks, rounds and peers. There is room for
// the log before the first step.
func TestKept(t *testing.T) {
	kept, uneven, tiled, aside, runs := 0, 0, 0, 0, 0
	simtest.Law(t, 300, "kept steps", func(t testing.TB, rng *rand.Rand) bool {
		var s *schedule.Schedule
		switch rng.IntN(5) {
		case 0:
			s = simtest.Schedule(rng, rng.IntN(4) == 0)
		case 1:
			s = simtest.Symmetric(t, rng, rng.IntN(4) == 0)
		case 2:
			s = simtest.Build(t, simtest.VariedRing(rng, 4+rng.IntN(8)))
		default:
			ranks := 4 + rng.IntN(8)
			p := simtest.RingPlan(ranks, int64(ranks)*12*(1+rng.Int64N(300))+rng.Int64N(2)*rng.Int64N(12))
			p.Slices, p.Channels, p.Slots = 1+rng.IntN(3), 1+rng.IntN(3), 2*rng.IntN(5)
			s = simtest.Build(t, p)
		}
		env := simtest.Env(t, rng, s.Spec.Ranks)
		env.Device.Offload, env.Device.SendBuffer, env.Device.EagerLimit = false, 0, 0
		if rng.IntN(2) == 0 {
			env.Device.Own, env.Device.Ranges = device.Message{}, nil
		}
		runs++
		log, other := model.NewLog(&env, true), model.NewLog(&env, true)
		e, loads := newEngine(s, &env), newEngine(s, &env)
		e.logTo(log)
		loads.logTo(other)
		loads.repeats.isOff = true
		require.Equal(t, loads.run(), e.run())
		if e.lanes.unfinished > 0 {
			return true
		}
		require.Equal(t, loads.finished(), e.finished())
		log.Read()
		other.Read()
		require.Equal(t, other.Steps, log.Steps)
		require.Equal(t, other.Messages, log.Messages)
		require.Equal(t, other.Spans, log.Spans)
		require.Equal(t, other.Details, log.Details)
		kept += min(1, count(e, func(l *lane) bool { return len(l.step.sizes) > 0 }))
		uneven += min(1, count(e, func(l *lane) bool { return len(l.step.cuts) > 0 }))
		tiled += min(1, count(e, func(l *lane) bool { return l.step.walk.isTiled }))
		aside += min(1, count(e, func(l *lane) bool { return len(l.aside) > 0 }))
		return true
	})
	t.Logf("%d of %d with kept steps, %d of several sizes, %d from tile to tile, %d of bodies of "+
		"several", kept, runs, uneven, tiled, aside)
	require.Greater(t, kept, runs/4)
	require.Greater(t, min(uneven, aside), runs/20)
	require.Greater(t, tiled, runs/60)
}

// TestKeptByRank: where blocks are of other sizes on other ranks, each moves its own: inputs of 40,
// 80, … elements go from rank to rank, tile by tile.
func TestKeptByRank(t *testing.T) {
	counts := []int64{40, 80, 120, 160}
	s := simtest.Build(t, schedule.Plan{Spec: collective.Spec{Kind: collective.AllGatherV,
		Type: dtype.Int8, Ranks: len(counts), Splits: [][]int64{counts}}, Segment: 7,
		Lane: func(l *schedule.Lane) {
			for tile := range l.Tiles() {
				l.Tile(tile)
				l.Send(l.Rank+1, l.In(0))
			}
			for tile := range l.Tiles() {
				l.Tile(tile)
				l.Recv(l.Rank-1, l.Out(l.Rank-1))
			}
		}})
	env := simtest.OnSwitch(t, len(counts), unit.Rate(simtest.GBs), 0)
	env.Slots = 0
	for _, keeps := range []bool{false, true} {
		e := newEngine(s, &env)
		e.repeats.isOff = !keeps
		require.NoError(t, e.run())
		require.Equal(t, unit.Bytes(400), e.finished().BytesSent)
	}
}

// count is how many lanes are such.
func count(e *engine, such func(l *lane) bool) (n int) {
	for i := range e.lanes.len() {
		if such(e.lanes.at(i)) {
			n++
		}
	}
	return n
}
