package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// TestSame: what all ranks do the same is written once, and reads as if each had written it.
func TestSame(t *testing.T) {
	const ranks = 4
	plan := func(same bool) (text string, called int) {
		none := make([]int64, ranks)
		s, err := schedule.Build(schedule.Plan{Name: "wait", Same: same,
			Tensors: []schedule.Tensor{{Name: "nothing", Type: dtype.Uint8,
				Shape: collective.Shape{0}, Role: schedule.Defined}},
			Spec: collective.Spec{Kind: collective.Custom, Type: dtype.Uint8, Ranks: ranks,
				Splits: [][]int64{none, none}},
			Lane: func(l *schedule.Lane) {
				called++
				l.Compute(*schedule.Opaque(1000), schedule.Region{})
			}})
		require.NoError(t, err)
		for rank := range ranks {
			require.Equal(t, 1, s.Program(rank).Lanes())
		}
		return s.String(), called
	}
	once, calls := plan(true)
	each, _ := plan(false)
	require.Equal(t, each, once)
	require.Equal(t, 1, calls)
}
