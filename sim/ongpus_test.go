package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/model"
	"collsim/sim/simtest"
)

// onGPUs is a random run of another kind, on GPUs.
func onGPUs(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
	kinds := []string{"algorithms", "halvings", "symmetric", "translated", "translated", "networks"}
	s, env := agreementKinds[kinds[rng.IntN(len(kinds))]](t, rng)
	if rng.IntN(8) > 0 {
		env.Sharing, env.Start, env.Slowdown = model.Fluid, nil, nil
	}
	if rng.IntN(3) == 0 {
		d, err := device.Lookup([]string{"h100-sxm", "a100-80gb"}[rng.IntN(2)])
		require.NoError(t, err)
		env.Device = d
	} else {
		simtest.GPU(rng, &env)
	}
	return s, env
}

// TestFoldsOnGPUs: ranks of GPUs that stand for others tell what all ranks tell.
func TestFoldsOnGPUs(t *testing.T) {
	var a agreement
	runs := tier.Of(80, 800)
	for i := range runs {
		s, env := onGPUs(t, rand.New(rand.NewPCG(uint64(i), 44)))
		a.compare(t, fmt.Sprint("run ", i), s, &env)
	}
	t.Logf("%+v", a)
	require.Greater(t, a.gpus, runs/10, "the generator has lost its bite")
}

// TestIdleLanesOnGPUs: a lane without steps ends when its rank begins, on ranks that stand for
// others too.
func TestIdleLanesOnGPUs(t *testing.T) {
	s, err := schedule.Build(schedule.Plan{Name: "idle", Lanes: 2, Group: schedule.Rotations(8),
		Spec: collective.Spec{Kind: collective.AllGather, Type: dtype.Float32, Ranks: 8, Count: 1000},
		Lane: func(l *schedule.Lane) {
			if l.Index == 0 {
				l.KeepSend(1, l.Chunk(0))
				for i := 1; i < 7; i++ {
					l.CopySend(-1, 1, l.Chunk(-i))
				}
				l.Recv(-1, l.Chunk(1))
			}
		}})
	require.NoError(t, err)
	var a agreement
	for i := range 60 {
		rng := rand.New(rand.NewPCG(uint64(i), 45))
		env := simtest.SymmetricEnv(t, rng, 8)
		env.Sharing, env.Start, env.Slowdown = model.Fluid, nil, nil
		simtest.GPU(rng, &env)
		a.compare(t, fmt.Sprint("run ", i), s, &env)
	}
	require.Greater(t, a.gpus, 3)
}
