package scenarios

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInProportion: parts are as large as their weights say, to one, and all of it together. What
// has no weight gets none, unless nothing has.
func TestInProportion(t *testing.T) {
	require.Equal(t, []int64{25, 75}, inProportion(100, []int64{1, 3}))
	require.Equal(t, []int64{1 << 49, 1 << 49}, inProportion(1<<50, []int64{0, 0}))
	require.Equal(t, []int64{4, 0, 3}, inProportion(7, []int64{1, 0, 1}))
	require.Equal(t, []int64{3, 2}, inProportion(5, []int64{0, 0}))
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		weights, total := make([]int64, 1+r.IntN(9)), int64(0)
		for i := range weights {
			weights[i] = r.Int64N(5)
			total += weights[i]
		}
		count, sum := r.Int64N(1000), int64(0)
		for i, part := range inProportion(count, weights) {
			sum += part
			if total > 0 {
				require.InDelta(t, float64(count)*float64(weights[i])/float64(total), part, 1)
			}
		}
		require.Equal(t, count, sum, weights)
	}
}
