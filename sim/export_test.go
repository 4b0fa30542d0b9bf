package sim

import (
	"math/rand/v2"
	"testing"

	"collsim/schedule"
)

// RandomSchedule is for tests outside the package, which may import what imports it.
func RandomSchedule(t testing.TB, rng *rand.Rand) *schedule.Schedule {
	return randomSchedule(t, rng, true)
}
