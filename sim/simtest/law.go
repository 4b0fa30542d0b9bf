package simtest

import (
	"math/rand/v2"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"collsim/internal/tier"
)

// Law checks a property of random inputs, each made from a seed. It runs the given number of times
// in the long tier, and a twelfth of that in the short one.
func Law(t *testing.T, runs int, name string, holds func(t testing.TB, rng *rand.Rand) bool) {
	t.Helper()
	parameters := gopter.DefaultTestParametersWithSeed(20260731)
	parameters.MinSuccessfulTests = tier.Raced(runs/20, runs/12, runs)
	properties := gopter.NewProperties(parameters)
	properties.Property(name, prop.ForAll(func(seed uint64) bool {
		return holds(t, rand.New(rand.NewPCG(seed, 1)))
	}, gen.UInt64()))
	properties.TestingRun(t)
}
