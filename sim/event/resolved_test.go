package event

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
)

// TestKept: what is kept of a step says what the step does in every iteration. A run that loads all
// of them has the same ends, and the same log: causes, blocks, rounds and peers. There is room for
// the log before the first step.
func TestKept(t *testing.T) {
	kept, uneven, runs := 0, 0, 0
	simtest.Law(t, 300, "kept steps", func(t testing.TB, rng *rand.Rand) bool {
		var s *schedule.Schedule
		switch rng.IntN(4) {
		case 0:
			s = simtest.Schedule(t, rng, rng.IntN(4) == 0)
		case 1:
			s = simtest.Symmetric(t, rng, rng.IntN(4) == 0)
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
		loads.keepSteps = false
		require.Equal(t, loads.run(), e.run())
		if e.unfinished > 0 {
			return true
		}
		require.Equal(t, loads.finished(), e.finished())
		log.Read()
		other.Read()
		require.Equal(t, other.Steps, log.Steps)
		require.Equal(t, other.Messages, log.Messages)
		require.Equal(t, other.Spans, log.Spans)
		require.Equal(t, other.Details, log.Details)
		kept += min(1, count(e, func(k *resolved) bool { return len(k.sizes) > 0 }))
		uneven += min(1, count(e, func(k *resolved) bool { return len(k.cuts) > 0 }))
		return true
	})
	t.Logf("%d of %d with kept steps, %d of several sizes", kept, runs, uneven)
	require.Greater(t, kept, runs/4)
	require.Greater(t, uneven, runs/20)
}

// count is of how many lanes what is kept is such.
func count(e *engine, such func(k *resolved) bool) (n int) {
	for i := range e.lanes {
		if such(&e.lanes[i].step) {
			n++
		}
	}
	return n
}
