package reference

import (
	"testing"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"

	"github.com/stretchr/testify/require"
)

// TestSampleFindsDamage: of a ring that leaves ranks' blocks out in one round, or adds others,
// every element that is sampled is wrong.
func TestSampleFindsDamage(t *testing.T) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 6, Count: 36}
	for name, damage := range map[string]func(l *schedule.Lane, i int){
		"left out": func(l *schedule.Lane, i int) { l.CopySend(l.Rank-1, l.Rank+1, l.Chunk(l.Rank-i)) },
		"wrong block": func(l *schedule.Lane, i int) {
			l.ReduceSend(l.Rank-1, l.Rank+1, l.Chunk(l.Rank-i+1))
		},
	} {
		plan := func() schedule.Plan {
			p := ring()
			p.Lane = func(l *schedule.Lane) {
				r, prev, next := l.Rank, l.Rank-1, l.Rank+1
				l.Send(next, l.Chunk(r))
				for i := 1; i < l.Ranks-1; i++ {
					if i == 2 {
						damage(l, i)
						continue
					}
					l.ReduceSend(prev, next, l.Chunk(r-i))
				}
				l.ReduceCopySend(prev, next, l.Chunk(r+1))
				for i := range l.Ranks - 2 {
					l.CopySend(prev, next, l.Chunk(r-i))
				}
				l.Recv(prev, l.Chunk(r+2))
			}
			return p
		}
		s := build(t, spec, plan)
		require.Empty(t, Samples(s))
		r, err := Check(s, CheckOptions{Sample: 40})
		require.NoError(t, err)
		require.Equal(t, NumbersMismatch, r.Numbers, name)
		require.EqualValues(t, r.Sampled, r.Wrong, "%s: every element lacks an input", name)
	}
	uneven := build(t, collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.Float32, Ranks: 6, Count: 37}, ring)
	require.Equal(t, "blocks are not of one size", Samples(uneven))
}
