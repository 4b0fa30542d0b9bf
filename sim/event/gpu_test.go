package event

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/sim/critical"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/sim/timeline"
	"collsim/unit"
)

// TestOrderDoesNotMatterOnGPU: whatever order lanes are looked at, brackets, kernels and copies
// begin and end at the same times; in the log too, which changes none; what stalls does so in the
// same words. What is sent is what an ideal device sends.
func TestOrderDoesNotMatterOnGPU(t *testing.T) {
	stalls, runs := 0, 0
	simtest.Law(t, 2000, "any order gives the same", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		ideal := env
		simtest.GPU(rng, &env)
		s = simtest.Extended(t, rng, s, env.Graph)
		if rng.IntN(4) > 0 {
			s = simtest.Marked(t, rng, s)
		}
		runs++
		want, err := Run(s, &env, nil)
		log, other := model.NewLog(&env, true), model.NewLog(&env, true)
		again, sameErr := Run(s, &env, log)
		require.Equal(t, err, sameErr)
		e := newEngine(s, &env)
		e.logTo(other)
		shuffle(rng, e.lanes.ready)
		sameErr = e.run()
		if err != nil {
			stalls++
			require.EqualError(t, sameErr, err.Error())
			return true
		}
		require.NoError(t, sameErr)
		require.Equal(t, want, again)
		require.Equal(t, want, e.finished())
		log.Read()
		other.Read()
		path, trace := critical.Path(&env, log), timeline.Of(&env, log)
		require.NoError(t, trace.Validate())
		require.Equal(t, path, critical.Path(&env, other))
		require.Equal(t, trace, timeline.Of(&env, other))
		require.Len(t, trace.Intervals, int(want.Steps))
		require.Equal(t, want.Time, path[len(path)-1].To)
		for _, r := range e.gpu.ranks {
			for _, free := range r.each() {
				require.Equal(t, model.WholeSM, free, "all places are free again")
			}
			require.NotContains(t, r.engines, true)
		}
		free, err := Run(s, &ideal, nil)
		require.NoError(t, err)
		require.Equal(t, []unit.Bytes{free.BytesSent, free.LinkBytes},
			[]unit.Bytes{want.BytesSent, want.LinkBytes})
		require.Equal(t, []int64{free.Steps, free.Messages}, []int64{want.Steps, want.Messages})
		return true
	})
	require.Less(t, stalls, tier.Raced(runs, runs/2, runs/2), "too many stall to tell anything")
}
