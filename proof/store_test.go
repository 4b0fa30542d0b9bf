package proof

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
)

// TestStore: whatever spans are read and written in whatever order, a memory that is divided as far
// as it is used holds what a list of its elements does, and no cell reaches from one part into
// another one that has been used.
func TestStore(t *testing.T) {
	for seed := range uint64(tier.Of(300, 20_000)) {
		rng := rand.New(rand.NewPCG(seed, 37))
		size := int64(1 + rng.IntN(200))
		table := []int64{0}
		for at := int64(0); ; {
			if at += int64(1 + rng.IntN(20)); at >= size {
				break
			}
			table = append(table, at)
		}
		whole := []int64{0}
		m := &store{size: size, starts: whole, cells: make([]cell, 1),
			divide: func() []int64 { return table[:len(table):len(table)] }}
		want := make([]seg, size)
		for i := range want {
			want[i].off = int64(i) // as that of the cell is
		}
		reach := int64(0)
		for range 1 + rng.IntN(12) {
			s := schedule.Span{Off: rng.Int64N(size)}
			s.Len = 1 + rng.Int64N(size-s.Off)
			if rng.IntN(2) == 0 { // parts, from the beginning on
				i := rng.IntN(min(len(table), 1+int(seed%4)))
				s.Off, s.Len = table[i], size-table[i]
				if i+1 < len(table) {
					s.Len = table[i+1] - table[i]
				}
			}
			if s.Len < size {
				reach = max(reach, s.Off+s.Len)
			}
			if v := inputOf(int32(rng.IntN(3))); rng.IntN(2) == 0 {
				from := rng.Int64N(100)
				m.write(s, []seg{{s.Len, v, from}})
				for i := range s.Len {
					want[s.Off+i] = seg{1, v, from + i}
				}
			}
			at := s.Off
			for _, g := range m.read(nil, s) {
				for i := range g.n {
					require.Equal(t, want[at].v, g.v, "seed %d", seed)
					require.Equal(t, want[at].off, g.off+i, "seed %d", seed)
					at++
				}
			}
			require.Equal(t, s.Off+s.Len, at)
			require.Equal(t, len(m.starts), len(m.cells))
			for i := 1; i < len(m.starts); i++ {
				require.Less(t, m.starts[i-1], m.starts[i], "seed %d", seed)
			}
		}
		used := 0
		for _, start := range table {
			if reach > 0 && start <= reach {
				require.Contains(t, m.starts, start, "seed %d", seed)
				used++
			}
		}
		divided := 0
		for _, start := range m.starts {
			if start > reach {
				divided++
			}
		}
		require.LessOrEqual(t, divided, used, "seed %d", seed)
		require.Equal(t, []int64{0}, whole)
	}
}
