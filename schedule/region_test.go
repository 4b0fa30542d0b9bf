package schedule

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// TestSettleRegion: a region that is translated names the translated blocks, in order, and keeps
// its shape where these have it, and a run of as many as some last bits count stays in order; it
// is as large as its blocks are together, of one size or not.
func TestSettleRegion(t *testing.T) {
	groups := []Group{{12}, {4, 3}, {3, 4}, {2, 2, 3}, {1, 12}, {12, 1}, {2, 6}, {3, 2, 2},
		{2, 2, 2}, {2, 3, 2}, {2, 2, 2, 2}}
	kept, whole := 0, 0
	for i := range 20_000 {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		g := groups[rng.IntN(len(groups))]
		n := int32(g.Order())
		s := &Schedule{Spec: collective.Spec{Kind: collective.AllGather, Type: dtype.Int8,
			Ranks: int(n), Count: rng.Int64N(3*24) + rng.Int64N(2)*24}, Group: g, Slices: 1 + rng.IntN(2)}
		s.Cuts[Input] = Cut{{Axis: Block, N: int64(n), ByRank: true,
			Mirrored: i%3 == 0 && mirrors(g, Cut{{Axis: Block, Mirrored: true}}) == nil}}
		if rng.IntN(2) == 0 {
			s.Cuts[Input] = append(Cut{{Axis: Channel, N: 2}}, s.Cuts[Input]...)
		}
		require.NoError(t, s.settle())
		p := &Program{schedule: s, rank: rng.Int32N(n)}
		r := Region{First: rng.Int32N(3*n) - n, Run: 1 + rng.Int32N(4)/3, Period: rng.Int32N(2*n) - n,
			Times: 1 + rng.Int32N(n)}
		if rng.IntN(3) == 0 {
			r.Run, r.Times = min(n, 2<<rng.Int32N(4)), 1
		}
		got, by := r, p.rank
		if s.Mirrored(Input) {
			by = g.Mirror(by)
		}
		if last := wholeRun(g, r); last > 1 {
			by -= by % last
			require.Nil(t, got.List)
			whole++
		}
		p.settleRegion(&got)
		where, total := Spot{Rank: int(p.rank)}, int64(0)
		var each []int64 // elements, in order
		elements := func(spans []Span) (list []int64) {
			for _, x := range spans {
				for i := range x.Len {
					list = append(list, x.Off+i)
				}
			}
			return list
		}
		require.Equal(t, r.count(), got.count())
		for k := range r.count() {
			require.Equal(t, g.Add(mod(r.block(k), n), by), mod(got.block(k), n),
				"%v of %v from rank %d", r, g, p.rank)
			spans := s.Spans(nil, where, &Region{First: got.block(k), Run: 1, Times: 1})
			each = append(each, elements(spans)...)
			for _, x := range spans {
				total += x.Len
			}
		}
		require.Equal(t, each, elements(s.Spans(nil, where, &got)), "%v of %v", got, g)
		require.Equal(t, total, s.Elements(where, &got))
		if len(g) > 1 && got.List == nil && r.count() > 1 && p.rank > 0 {
			kept++
		}
	}
	require.Greater(t, kept, 1000)
	require.Greater(t, whole, 300)
}

// wholeRun is the length of a run that stays in order, told digit by digit; 0 of others.
func wholeRun(g Group, r Region) int32 {
	bits := int32(1)
	for i := len(g) - 1; i >= 0 && g[i] == 2; i-- {
		if bits *= 2; bits == r.Run && r.Times == 1 && len(g) > 1 && r.First%bits == 0 {
			return bits
		}
	}
	return 0
}
