package schedule

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMarks compares a set of runs of numbers with one of single numbers, across words and pages.
func TestMarks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var m marks
		var one [3000]bool
		for range 20 {
			from := random.Int64N(3000)
			to := from + random.Int64N(min(3000-from, 1<<random.IntN(12))+1)
			want := 0
			for _, is := range one[from:to] {
				if is {
					want++
				}
			}
			require.Equal(t, want, m.count(from, to), "%d of %d to %d", want, from, to)
			is, change := true, m.add
			switch random.IntN(3) {
			case 0:
				continue
			case 1:
				is, change = false, m.remove
			}
			change(from, to)
			for k := from; k < to; k++ {
				one[k] = is
			}
		}
	}
}
