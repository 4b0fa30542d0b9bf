package model_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/sim/fold"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestSecondEngineFolded: the engine of TestSecondEngine, which simulates all ranks, agrees with
// the one that simulates a rank of each class.
func TestSecondEngineFolded(t *testing.T) {
	folded := 0
	simtest.Law(t, 900, "engines agree", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Symmetric(t, rng, false)
		env := simtest.SymmetricEnv(t, rng, s.Spec.Ranks)
		got, err := fold.Run(s, &env)
		if err != nil {
			var not *fold.NotFolded
			return errors.As(err, &not) || s.Slots+env.Slots > 0 // it stalls, with few slots
		}
		folded++
		x := newEngine(s, &env)
		x.run()
		got.Unfold()
		ends := make([]unit.Time, len(x.lanes))
		for i, l := range x.lanes {
			require.True(t, l.cursor.Done())
			ends[i] = l.end.T
		}
		require.Equal(t, ends, got.LaneEnd)
		require.Equal(t, x.load, got.LinkLoad)
		return true
	})
	require.Greater(t, folded, tier.Raced(10, 30, 30))
}
