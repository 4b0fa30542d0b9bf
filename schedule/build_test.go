package schedule

import (
	"testing"

	"collsim/collective"
	"collsim/dtype"

	"github.com/stretchr/testify/require"
)

func ringLane(l *Lane) {
	r, p := l.Rank, l.Ranks
	prev, next := r-1, r+1
	l.Send(next, l.Chunk(r))
	for i := 1; i < p-1; i++ {
		l.ReduceSend(prev, next, l.Chunk(r-i))
	}
	l.Completes()
	l.ReduceCopySend(prev, next, l.Chunk(r+1))
	for i := range p - 2 {
		l.CopySend(prev, next, l.Chunk(r-i))
	}
	l.Recv(prev, l.Chunk(r+2))
}

func allReduce(ranks int, count int64) collective.Spec {
	return collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: ranks, Count: count}
}

func TestRing(t *testing.T) {
	s, err := Build(Plan{Name: "ring", Spec: allReduce(8, 1000), Group: Group{8}, Chunks: 8, Channels: 2, Slices: 2, Lane: ringLane})
	require.NoError(t, err)
	t.Log("\n" + s.String())
	q, err := Parse(s.String())
	require.NoError(t, err)
	require.Equal(t, s.String(), q.String())
	require.True(t, Equal(s, q))
	u, err := Build(Plan{Name: "ring", Spec: allReduce(4, 1000), Chunks: 4, Lane: ringLane})
	require.NoError(t, err)
	t.Log("\n" + u.String())
}
