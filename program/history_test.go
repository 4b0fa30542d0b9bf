package program

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHistory holds intervals against one record for each element.
func TestHistory(t *testing.T) {
	const size, memories = 12, 2
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		h := history[int]{}
		var writers, readers [memories][size][]int
		for user := range 30 {
			from := r.Int64N(size)
			use := interval[int]{r.IntN(memories), from, from + r.Int64N(size-from+1), r.IntN(2) == 0}
			// Every third user writes on some ranks only: those before it remain.
			remains := func(was []int) []int {
				if user%3 == 0 {
					return slices.Clone(was)
				}
				return nil
			}
			var want []int
			for at := use.from; at < use.to; at++ {
				wrote, read := &writers[use.memory][at], &readers[use.memory][at]
				want = append(want, *wrote...)
				if use.writes {
					want = append(want, *read...)
					*wrote, *read = append(remains(*wrote), user), remains(*read)
				} else {
					*read = append(*read, user)
				}
			}
			got := h.before(use)
			h.add(use, []int{user}, remains)
			slices.Sort(want)
			slices.Sort(got)
			require.Equal(t, slices.Compact(want), slices.Compact(got))
			for m := range memories { // stretches are in order, and do not overlap
				list := h[m]
				for i := 1; i < len(list); i++ {
					require.LessOrEqual(t, list[i-1].to, list[i].from)
				}
			}
		}
	}
}
