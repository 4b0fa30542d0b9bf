package schedule

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
)

// TestRepeat: a lane that repeats iterations is the one that calls them all, whatever they do.
func TestRepeat(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		ranks, count := 2+rng.IntN(4), int64(400+rng.IntN(4000))
		kinds, isOdd := make([]int, 1+rng.IntN(4)), rng.IntN(4) == 0
		for i := range kinds {
			kinds[i] = rng.IntN(5)
		}
		body := func(l *Lane, tile int) {
			next, prev := l.Rank+1, l.Rank-1
			for _, kind := range kinds {
				l.Tile(tile)
				switch kind {
				case 0:
					l.Send(next, l.In(0))
					l.Recv(prev, l.Out(0))
				case 1:
					for i := range ranks {
						l.Send(next, l.In(i))
						l.Recv(prev, l.Out(i-1))
					}
				case 2:
					l.Combine([]Region{l.Out(0)}, []int{next}, l.Local(l.In(0)), l.Local(l.In(1)))
					l.Recv(prev, l.Out(1))
				case 3:
					l.Copy(l.Out(tile%2), l.In(0)) // no constant stride: all iterations are called
				case 4:
					l.Round(3 * tile)
					l.Send(next, l.In(1))
					l.Recv(prev, l.Out(1))
				}
			}
		}
		plan := Plan{Name: "repeat", Chunks: ranks, Segment: 1 + rng.Int64N(20),
			Spec: collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
				Ranks: ranks, Count: count}}
		if rng.IntN(2) == 0 {
			plan.Group = Group{int32(ranks)}
		}
		build := func(each func(l *Lane, times int, do func(i int))) *Schedule {
			plan.Lane = func(l *Lane) {
				if isOdd {
					l.Send(l.Rank+1, l.In(0))
					l.Recv(l.Rank-1, l.Out(0))
				}
				each(l, l.Tiles(), func(i int) { body(l, i) })
				l.Copy(l.Out(0), l.In(1))
			}
			s, err := Build(plan)
			require.NoError(t, err)
			return s
		}
		want := build(func(_ *Lane, times int, do func(int)) {
			for i := range times {
				do(i)
			}
		})
		got := build(func(l *Lane, times int, do func(int)) { l.Repeat(times, do) })
		require.Equal(t, want.String(), got.String(), "seed %d", seed)
	}
}

// TestRepeatOfWorkingCopy: what the iterations store in the working copy is in the output
// afterwards, also what those have stored that are not called.
func TestRepeatOfWorkingCopy(t *testing.T) {
	const chunks = 30
	build := func(each func(l *Lane, times int, do func(i int))) string {
		s, err := Build(Plan{Name: "repeat", Spec: collective.Spec{Kind: collective.AllReduce,
			Op: collective.Sum, Type: dtype.Float32, Ranks: 2, Count: 600}, Chunks: chunks,
			Lane: func(l *Lane) {
				each(l, chunks, func(i int) {
					l.Send(l.Rank+1, l.Chunk(i))
					l.Reduce(l.Rank-1, l.Chunk(i))
				})
				l.Send(l.Rank+1, l.Chunk(17))
				l.Recv(l.Rank-1, l.Chunk(17))
			}})
		require.NoError(t, err)
		return s.String()
	}
	want := build(func(_ *Lane, times int, do func(int)) {
		for i := range times {
			do(i)
		}
	})
	require.Equal(t, want, build(func(l *Lane, times int, do func(int)) { l.Repeat(times, do) }))
}

// TestRepeatMisused: a last iteration that does something else is an error.
func TestRepeatMisused(t *testing.T) {
	_, err := Build(Plan{Name: "repeat", Spec: collective.Spec{Kind: collective.AllReduce,
		Op: collective.Sum, Type: dtype.Float32, Ranks: 2, Count: 100}, Chunks: 2,
		Lane: func(l *Lane) {
			l.Repeat(20, func(i int) {
				l.Send(l.Rank+1, l.In(0))
				l.Recv(l.Rank-1, l.Out(i/19))
			})
		}})
	require.ErrorContains(t, err,
		"lane 0 step 40: the last iteration of Repeat does not continue the first ones")
}

// TestRoundsOfRanks: Rounds is what Execute counts, also where each rank has a program of its own
// and the highest round is not that of the first.
func TestRoundsOfRanks(t *testing.T) {
	const ranks = 5
	s, err := Build(Plan{Name: "chain", Chunks: 1, Spec: collective.Spec{Kind: collective.Broadcast,
		Type: dtype.Float32, Ranks: ranks, Count: 100}, Segment: 7, Lane: func(l *Lane) {
		l.Repeat(l.Tiles(), func(tile int) {
			l.Tile(tile)
			l.Round(3*tile + l.Rank)
			switch {
			case l.Rank == 0:
				l.Send(1, l.In(0))
			case l.Rank == ranks-1:
				l.Recv(l.Rank-1, l.Out(0))
			default:
				l.CopySend(l.Rank-1, l.Rank+1, l.Out(0))
			}
		})
	}})
	require.NoError(t, err)
	counts, err := Execute(s, Limits{}, Hooks{})
	require.NoError(t, err)
	require.Equal(t, counts.Rounds, s.Rounds())
	require.Equal(t, 1+3*14+ranks-2, s.Rounds()) // rank 3 sends last, tile 14
}
