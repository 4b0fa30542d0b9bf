package sim

import (
	"math/rand/v2"
	"testing"

	"collsim/schedule"
	"collsim/topology"
	"collsim/trace"
)

// These are for tests outside the package, which may import what imports it.

// RandomSchedule may stall.
func RandomSchedule(t testing.TB, rng *rand.Rand) *schedule.Schedule {
	return randomSchedule(t, rng, true)
}

// RandomEnv has every kind of coincidence.
func RandomEnv(t testing.TB, rng *rand.Rand, ranks int) Env { return randomEnv(t, rng, ranks) }

// Dressed has tags, packets, silent puts, kernels, and on a switch multimem.
func Dressed(t testing.TB, rng *rand.Rand, s *schedule.Schedule,
	g *topology.Graph) *schedule.Schedule {
	t.Helper()
	return dressed(t, rng, s, g)
}

// Law checks a property of what is made from a random number.
func Law(t *testing.T, runs int, name string, holds func(t testing.TB, rng *rand.Rand) bool) {
	t.Helper()
	law(t, runs, name, holds)
}

// Arrows counts the arrows that a viewer shows.
func Arrows(t testing.TB, tr *trace.Trace) int {
	t.Helper()
	return arrows(t, tr)
}
