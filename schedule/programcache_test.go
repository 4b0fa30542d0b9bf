package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// TestCachedPrograms: every rank runs what its author wrote for it, whether Build has written and
// cached all ranks, all and cached only the first, or only two.
func TestCachedPrograms(t *testing.T) {
	for _, c := range []struct {
		ranks, blocks int
		even          bool
	}{{9, 3, false}, {100, 100, false}, {100, 250, false}, {100, 3, true}} {
		s, err := schedule.Build(schedule.Plan{Name: "few", Even: c.even, Chunks: 1000,
			Spec: collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
				Ranks: c.ranks, Count: 1000},
			Lane: func(l *schedule.Lane) {
				for i := range c.blocks { // no two steps roll up
					into := []schedule.Region{}
					for k := range 10 {
						into = append(into, l.Out((i*i+l.Rank+k)%1000))
					}
					l.Combine(into, nil, l.Local(l.In(i*i%1000)))
				}
			}})
		require.NoError(t, err)
		for rank := range c.ranks {
			var got, want []int32
			var step schedule.Step
			p := s.Program(rank)
			for cursor := p.Walk(0); !cursor.Done(); cursor.Next(1) {
				p.Load(&cursor, &step)
				want = append(want, int32((len(want)*len(want)+rank)%1000))
				got = append(got, step.To[0].First)
			}
			require.Len(t, got, c.blocks)
			require.Equal(t, want, got, "rank %d of %d", rank, c.ranks)
		}
	}
}
