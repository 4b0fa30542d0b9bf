package cuda

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTangled: a step is tangled if one of its bytes is stored where another one is read, byte by
// byte, of random runs.
func TestTangled(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	runs := func() (list []run, bytes []uint64) {
		for range 1 + r.IntN(2) {
			w := run{at: uint64(r.IntN(12)), n: int64(1 + r.IntN(4))}
			list = append(list, w)
			for i := range w.n {
				bytes = append(bytes, w.at+uint64(i))
			}
		}
		return list, bytes
	}
	met := map[bool]int{}
	for range 2000 {
		from, reads := runs()
		to, writes := runs()
		if r.IntN(3) == 0 {
			to, writes = from, reads // in place
		}
		want := false
		for i, w := range writes {
			for j, x := range reads {
				want = want || w == x && i != j
			}
		}
		met[want]++
		require.Equal(t, want, tangled([]operand{{from, whole}}, [][]run{to}), "%v to %v", from, to)
	}
	require.Greater(t, min(met[false], met[true]), 500)
}
