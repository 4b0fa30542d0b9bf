package openmpi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDecisions: every function has a decision for any number of ranks and bytes, in rising order,
// of an algorithm that there is.
func TestDecisions(t *testing.T) {
	require.Len(t, decisions(), len(Functions()))
	for _, d := range decisions() {
		f, err := FunctionOf(d.function)
		require.NoError(t, err)
		ranks := 2
		for i, s := range d.sizes {
			require.Equal(t, i == len(d.sizes)-1, s.ranks == 0, d.function)
			if s.ranks > 0 {
				require.Greater(t, s.ranks, ranks, d.function)
				ranks = s.ranks
			}
			bytes := int64(0)
			for j, l := range s.limits {
				require.Equal(t, j == len(s.limits)-1, l.bytes == 0, "%s below %d", d.function, s.ranks)
				if l.bytes > 0 {
					require.Greater(t, l.bytes, bytes, "%s below %d", d.function, s.ranks)
					bytes = l.bytes
				}
				require.True(t, 1 <= l.algorithm && l.algorithm <= len(f.Algorithms), d.function)
			}
		}
	}
}

// TestTrees: the trees by hand, of 7 ranks, as their parents.
func TestTrees(t *testing.T) {
	require.Equal(t, []int{-1, 0, 1, 0, 3, 0, 5}, chains(7, 0, 3).parent)
	require.Equal(t, []int{-1, 0, 1, 2, 0, 4, 5}, chains(7, 0, 2).parent)
	require.Equal(t, []int{6, 0, -1, 2, 3, 4, 5}, chains(7, 2, 1).parent)
	require.Equal(t, []int{-1, 0, 0, 1, 2, 1, 2}, twoWay(7, 0).parent)
	require.Equal(t, []int{-1, 0, 0, 2, 0, 4, 4}, binomial(7, 0).parent)
	require.Equal(t, []int{6, 6, -1, 2, 2, 4, 2}, binomial(7, 2).parent)
	require.Equal(t, []int{2, 2, 6, 5, 5, 6, -1}, inOrder(7).parent)
	require.Equal(t, [][]int{nil, nil, {1, 0}, nil, nil, {4, 3}, {5, 2}}, inOrder(7).children)
}
