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
	for seed := range uint64(tier.Of(100, 4_000)) {
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
				m.write(s, []seg{{s.Len, v, from}}, 0)
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

// TestJoined: a memory that joins its cells holds what one does that keeps them apart, in few of
// them, before and after there are so many that it divides them.
func TestJoined(t *testing.T) {
	divided, few := 0, 0
	for seed := range uint64(tier.Of(100, 4_000)) {
		rng := rand.New(rand.NewPCG(seed, 41))
		part := int64(1 + rng.IntN(3))
		parts := int64(1 + rng.IntN(3*mostJoined))
		var table []int64
		for i := range parts {
			table = append(table, i*part)
		}
		var stores [2]*store
		for i := range stores {
			stores[i] = &store{joins: i == 0, size: parts * part, starts: whole,
				cells: make([]cell, 1), divide: func() []int64 { return table[:len(table):len(table)] }}
		}
		joined, plain := stores[0], stores[1]
		values := []*value{inputOf(0), inputOf(1), nil, spoilt}
		at, way := rng.Int64N(parts), []int64{-1, 1, 1 + rng.Int64N(parts)}[rng.IntN(3)]
		for range rng.Int64N(2 * parts) {
			if at = (at + way + parts) % parts; rng.IntN(50) == 0 {
				at = rng.Int64N(parts)
			}
			s := schedule.Span{Off: at * part, Len: part}
			if rng.IntN(20) == 0 { // not a part
				s.Off = rng.Int64N(parts * part)
				s.Len = 1 + rng.Int64N(min(parts*part-s.Off, 5))
			}
			n := 1 + rng.Int64N(s.Len)
			segs := []seg{{2 + n, values[rng.IntN(9)/6], s.Off - 2}}
			if n < s.Len {
				segs = append(segs, seg{s.Len - n, values[rng.IntN(4)], rng.Int64N(9)})
			}
			for _, m := range stores {
				left, from := m.write(s, segs, 2)
				require.Empty(t, left)
				require.Zero(t, from)
			}
			if rng.IntN(30) == 0 {
				s = schedule.Span{Off: rng.Int64N(s.Off + 1), Len: s.Len}
			}
			require.Equal(t, plain.read(nil, s), joined.read(nil, s), "seed %d", seed)
			require.Equal(t, len(joined.starts), len(joined.cells))
			require.True(t, !joined.joins || len(joined.cells) <= mostJoined, "seed %d", seed)
			for i := 1; joined.joins && i < len(joined.cells); i++ {
				next := joined.cells[i-1]
				next.off += joined.starts[i] - joined.starts[i-1]
				require.NotEqual(t, next, joined.cells[i], "seed %d", seed)
			}
		}
		all := schedule.Span{Len: parts * part}
		require.Equal(t, plain.read(nil, all), joined.read(nil, all), "seed %d", seed)
		switch {
		case !joined.joins:
			divided++
		case len(joined.cells) < len(plain.cells)/8:
			few++
		}
		require.Equal(t, []int64{0}, whole)
	}
	require.Positive(t, divided)
	require.Positive(t, few)
}

// TestStoreOfManyParts: a memory of some 100,000 parts that are accessed in any order is divided at
// all their ends at once. One by one, each would move the cells behind it.
func TestStoreOfManyParts(t *testing.T) {
	s := mustParse(t, `schedule whole
collective send_recv int32
ranks 2
count 300000
cut in block even 100000
cut out block even 100000
rank 0
  lane 0
    send in to 1
rank 1
  lane 0
    recv from 0 into out
`)
	m := newStores(s, 1, 2).in(memory{0, schedule.Input})
	m.cover(schedule.Span{Off: 3 * 99_998, Len: 3})
	require.Len(t, m.starts, 100_000)
	require.False(t, m.owned)
}
