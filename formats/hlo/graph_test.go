package hlo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
)

// TestOrdered: a call waits for the last one before it that is in order, and for asynchronous ones
// whose result it needs, through kernels too, unless one that it waits for has waited for them.
func TestOrdered(t *testing.T) {
	call := func(async bool, after ...int) Op {
		return Op{Call: &collective.Communication{Kind: collective.AllReduce}, Async: async, After: after}
	}
	calls, waits := ordered(&Program{Ops: []Op{
		call(true),        // call 0
		call(false),       // call 1
		{After: []int{0}}, // a kernel that needs call 0
		call(true, 2),     // call 2: in order behind 1, needs 0
		call(false, 2),    // call 3 as well
		call(true, 2, 3),  // call 4: 3 has waited for 0, but not for 2
		call(false),       // call 5
	}})
	require.Len(t, calls, 6)
	require.Equal(t, [][]int{nil, nil, {0, 1}, {0, 1}, {2, 3}, {3}}, waits)
}
