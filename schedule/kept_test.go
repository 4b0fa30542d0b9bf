package schedule

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKept: programs are written once as long as there is room for them, by what their steps name,
// and as often as they are wanted beyond that.
func TestKept(t *testing.T) {
	of := func(sends int) *code {
		return &code{leaves: []leaf{{step: Step{Send: make([]Dest, sends)}}}}
	}
	k, written := newKept(3), 0
	write := func(sends int) func() *code {
		return func() *code {
			written++
			return of(sends)
		}
	}
	small := k.code(0, write(KeptParts-11)) // and the step itself: room for 10 is left
	k.code(1, write(10))
	last := k.code(2, write(9))
	require.Equal(t, 3, written)
	require.Same(t, small, k.code(0, write(0)))
	require.Same(t, last, k.code(2, write(0)))
	require.Equal(t, 3, written)
	k.code(1, write(10)) // for which there is none
	require.Equal(t, 4, written)
}
