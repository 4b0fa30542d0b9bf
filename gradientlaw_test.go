package collsim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
)

// TestMaskIsChecked: ranks that keep to themselves are their own transpose, so the law of sums
// cannot tell them from an all_reduce. The mask of max can: each takes its own for the largest.
func TestMaskIsChecked(t *testing.T) {
	s, err := schedule.Parse(`schedule aloof
collective all_reduce float32 max
ranks 2
count 64
rank 0
  lane 0
    copy in into out @0
rank 1
  lane 0
    copy in into out @0
`)
	require.NoError(t, err)
	holds, err := adjoint(s, s, false, 1)
	require.NoError(t, err)
	require.True(t, holds)
	holds, err = adjoint(s, s, true, 1)
	require.NoError(t, err)
	require.False(t, holds)
}
