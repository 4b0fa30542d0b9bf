package event

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"collsim/sim/critical"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/sim/timeline"
	"collsim/unit"
)

// TestOrderDoesNotMatter: lanes may be looked at in any order, and links' flows be listed in any:
// nothing depends on it, to the picosecond.
func TestOrderDoesNotMatter(t *testing.T) {
	simtest.Law(t, 600, "any order gives the same", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		s = simtest.Fused(t, simtest.Extended(t, rng, s, env.Graph))
		log := model.NewLog(&env, true)
		want, err := Run(s, &env, log)
		require.NoError(t, err)
		log.Read()
		path, trace := critical.Path(&env, log), timeline.Of(&env, log)

		again := model.NewLog(&env, true)
		totals, err := Run(s, &env, again)
		require.NoError(t, err)
		require.Equal(t, want, totals)
		again.Read()
		require.Equal(t, log.Steps, again.Steps)
		require.Equal(t, log.Messages, again.Messages)

		other := model.NewLog(&env, true)
		e := newEngine(s, &env)
		e.logTo(other)
		shuffle(rng, e.lanes.ready)
		require.NoError(t, e.run())
		require.Equal(t, want, e.finished())
		other.Read()
		require.Equal(t, path, critical.Path(&env, other))
		require.Equal(t, trace, timeline.Of(&env, other))
		return true
	})
}

// TestLogSize: what the log says it takes.
func TestLogSize(t *testing.T) {
	require.EqualValues(t, 56, unsafe.Sizeof(model.StepRecord{}))
	require.EqualValues(t, 64, unsafe.Sizeof(model.MessageRecord{}))
	require.EqualValues(t, 20, unsafe.Sizeof(model.Detail{}))
	s := simtest.Build(t, simtest.RingPlan(8, 1<<20))
	for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
		env := simtest.OnSwitch(t, 8, simtest.GBs, 100*unit.Nanosecond)
		env.Sharing = sharing
		log := model.NewLog(&env, false)
		r, err := Run(s, &env, log)
		require.NoError(t, err)
		log.Read()
		require.Len(t, log.Steps, int(r.Steps))
		require.Len(t, log.Messages, int(r.Messages))
		require.Empty(t, log.Counters)
	}
}

// TestSlotsAreUsedAgain: of a connection with room for everything that is sent over it, no more is
// kept than what is under way.
func TestSlotsAreUsedAgain(t *testing.T) {
	s := simtest.Build(t, simtest.RingPlan(64, 1<<20))
	for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
		env := simtest.OnSwitch(t, 64, simtest.GBs, 100*unit.Nanosecond)
		env.Sharing, env.Slots = sharing, 1000
		e := newEngine(s, &env)
		require.NoError(t, e.run())
		require.EqualValues(t, 64*126, e.finished().Messages)
		require.LessOrEqual(t, e.conns.marks.Len(), 3*int(e.conns.len()))
	}
}

// TestNothingOvertakes: in random runs of devices that offload, no message of a lane sets out
// before the silent ones that the lane has posted before have left.
func TestNothingOvertakes(t *testing.T) {
	held := 0
	simtest.Law(t, 400, "messages follow silent puts", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		env.Device.Offload, env.Device.Queue = true, 8
		s = simtest.Extended(t, rng, s, env.Graph)
		log := model.NewLog(&env, false)
		e := newEngine(s, &env)
		e.logTo(log)
		require.NoError(t, e.run())
		log.Read()
		for i := range e.ahead.backlogs {
			require.Negative(t, e.ahead.backlogs[i].first, "all have left")
		}
		for _, m := range log.Messages {
			if !m.ByLeft {
				continue
			}
			held++
			before := &log.Messages[m.By]
			sender, silent := log.Steps[m.Step], log.Steps[before.Step]
			require.Equal(t, sender.Lane, silent.Lane)
			require.LessOrEqual(t, silent.Step, sender.Step)
			alone := before.Bytes.Over(log.Network.Routes[before.Route].Slowest)
			require.GreaterOrEqual(t, m.Since, before.Since+alone, "no sooner than it can have left")
		}
		return true
	})
	require.Greater(t, held, 100)
}

// BenchmarkJittered is fluid sharing at its worst: as many sizes as messages, all at once.
func BenchmarkJittered(b *testing.B) {
	for _, ranks := range []int{32, 64, 128, 256} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			s := simtest.Build(b, simtest.JitteredPlan(ranks))
			env := simtest.OnSwitch(b, ranks, 25*simtest.GBs/2, 500*unit.Nanosecond)
			visits := int64(0)
			for b.Loop() {
				e := newEngine(s, &env)
				require.NoError(b, e.run())
				visits += e.flows.Visits
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(visits), "ns/visit")
		})
	}
}

// shuffle puts a list in any order.
func shuffle(rng *rand.Rand, list []int32) {
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
