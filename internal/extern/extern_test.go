package extern

import (
	"testing"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/random"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
)

// TestConformance holds the algorithm to all that collsim's own are held to.
func TestConformance(t *testing.T) { algostest.Test(t, TwoWayRing()) }

// TestHalfTheRounds is a property of the algorithm's own, on random collectives.
func TestHalfTheRounds(t *testing.T) {
	properties := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(1))
	properties.Property("half the rounds of a ring, and every byte once a rank", prop.ForAll(
		func(spec collective.Spec) bool {
			s, err := TwoWayRing().Build(spec, algos.Options{})
			if err != nil {
				return false
			}
			proven, violations := proof.Verify(s, proof.Options{})
			if len(violations) > 0 || spec.Empty() {
				return len(violations) == 0
			}
			others := int64(spec.Ranks - 1)
			return proven.Rounds == spec.Ranks/2 &&
				proven.BytesSent == int64(spec.Ranks)*others*spec.Count*int64(spec.Type.Width())
		}, random.Specs(collective.AllGather)))
	properties.TestingRun(t)
}

// gather is an all_gather that is no schedule: it doubles what everybody has, as Bruck's algorithm
// does, and turns the result at the end.
func gather[T float32 | int64](inputs [][]T) [][]T {
	ranks, have := len(inputs), make([][]T, len(inputs))
	for r, in := range inputs {
		have[r] = append([]T(nil), in...)
	}
	for d := 1; d < ranks; d *= 2 {
		next := make([][]T, ranks)
		for r := range have {
			next[r] = append(append(next[r], have[r]...), have[(r+d)%ranks]...)
			next[r] = next[r][:min(len(next[r]), ranks*len(inputs[r]))]
		}
		have = next
	}
	outputs := make([][]T, ranks)
	for r := range have { // have[r] begins with r's own block
		turn := (ranks - r) % ranks * len(inputs[r])
		outputs[r] = append(append(outputs[r], have[r][turn:]...), have[r][:turn]...)
	}
	return outputs
}

// TestOracle holds an algorithm that is no schedule to the definition.
func TestOracle(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 8, 13} {
		spec := collective.Spec{Kind: collective.AllGather, Type: dtype.Float32, Ranks: ranks, Count: 5}
		algostest.Oracle(t, spec, gather[float32])
		spec.Type = dtype.Int64
		algostest.Oracle(t, spec, gather[int64])
	}
}
