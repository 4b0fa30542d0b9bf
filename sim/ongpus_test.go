package sim_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
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
