package cycle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCycle: whatever comes before it and however long it is, a cycle is found, and a multiple of
// its length away from the kept state.
func TestCycle(t *testing.T) {
	for before := range 20 {
		for length := 1; length < 12; length++ {
			s := Search{WordsPerStep: 1}
			s.Begin()
			kept, found := -1, -1
			for i := 0; i < 200 && found < 0; i++ {
				x := int64(i)
				if i >= before {
					x = int64(before + (i-before)%length)
				}
				if s.Add(append(s.Empty(), x, -x)) {
					found = i
				} else if s.IsOld() {
					s.Keep()
					kept = i
				}
			}
			require.GreaterOrEqual(t, kept, before)
			require.Zero(t, (found-kept)%length)
			require.Positive(t, found-kept)
		}
	}
}

// TestCost: states are written as far as the steps of the run allow.
func TestCost(t *testing.T) {
	s := Search{WordsPerStep: 2}
	s.Begin()
	require.True(t, s.Affords(0))
	s.Add(make([]int64, freeWords+10))
	require.False(t, s.Affords(4))
	require.True(t, s.Affords(5))
	s.Forgive()
	require.True(t, s.Affords(0))
}
