package schedule

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCachedParts: programs are written once as long as there is room for them, by what their steps
// name, and as often as they are wanted beyond that.
func TestCachedParts(t *testing.T) {
	sends, written := []int{maxCachedParts - 11, 10, 9}, 0 // and the step itself: room for 10 is left
	k := newProgramCache(len(sends), func(rank int32) *code {
		written++
		return &code{leaves: []leaf{{step: Step{Send: make([]Dest, sends[rank])}}}}
	})
	first, _, last := k.code(0), k.code(1), k.code(2)
	require.Equal(t, 3, written)
	require.Same(t, first, k.code(0))
	require.Same(t, last, k.code(2))
	require.Equal(t, 3, written)
	k.code(1) // for which there is none
	require.Equal(t, 4, written)
}
