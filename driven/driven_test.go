package driven

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// ring is TFRT's ring all-reduce, as its kernels.cc has it: 2n−1 callbacks, of which the first only
// sends, those before the n-th add what comes to what is there, and the others copy; callback i of
// rank r concerns chunk (r − i) mod n. In place.
func ring(t *testing.T, ranks int, count int64, op collective.Op) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Build(schedule.Plan{
		Name: "ring",
		Spec: collective.Spec{Kind: collective.AllReduce, Op: op, Avg: collective.AvgPost,
			Type: dtype.Float32, Ranks: ranks, Count: count, InPlace: true},
		Group:  schedule.Group{int32(ranks)},
		Chunks: ranks,
		Lane: func(l *schedule.Lane) {
			n, next, prev := l.Ranks, l.Rank+1, l.Rank-1
			l.Send(next, l.Chunk(l.Rank))
			for i := 1; i < n-1; i++ {
				l.ReduceSend(prev, next, l.Chunk(l.Rank-i))
			}
			l.Completes()
			l.ReduceCopySend(prev, next, l.Chunk(l.Rank-n+1))
			for i := n; i < 2*n-2; i++ {
				l.CopySend(prev, next, l.Chunk(l.Rank-i))
			}
			l.Recv(prev, l.Chunk(l.Rank-2*n+2))
		},
	})
	require.NoError(t, err)
	_, found := schedule.Verify(s, schedule.VerifyOptions{})
	require.Empty(t, found)
	return s
}

func inputs(ranks int, count int64, seed uint64) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	in := make([][]float32, ranks)
	for rank := range in {
		for range count {
			in[rank] = append(in[rank], float32(r.NormFloat64()))
		}
	}
	return in
}

// expected is the ring's sum of an element by hand: chunk c starts at rank c and goes round, and
// each rank adds what comes (on the left) to its own.
func expected(in [][]float32, chunk, i int) float32 {
	n := len(in)
	total := in[chunk][i]
	for k := 1; k < n; k++ {
		total += in[(chunk+k)%n][i]
	}
	return total
}

// chunkOf is the chunk of element i of 7 in 4: 2, 2, 2, 1.
func chunkOf(i int) int { return []int{0, 0, 1, 1, 2, 2, 3}[i] }

// TestRing: whatever the order of arrival, the bits are those of the ring, and 2n−1 callbacks have
// run on every rank; the mean divides before the copy.
func TestRing(t *testing.T) {
	for _, op := range []collective.Op{collective.Sum, collective.Avg} {
		in := inputs(4, 7, 1)
		for seed := range uint64(50) {
			r := rand.New(rand.NewPCG(seed, 2))
			ran := make([]int, 4)
			done := make([]int, 4)
			out, err := Run(ring(t, 4, 7, op), in, Options{Group: "grads", Next: r.IntN,
				Ran: func(rank, lane, number int) {
					require.Equal(t, ran[rank], number)
					require.Zero(t, lane)
					ran[rank]++
				},
				Done: func(rank int, err error) { require.NoError(t, err); done[rank]++ }})
			require.NoError(t, err)
			require.Equal(t, []int{7, 7, 7, 7}, ran)
			require.Equal(t, []int{1, 1, 1, 1}, done)
			for rank := range out {
				for i, got := range out[rank] {
					want := expected(in, chunkOf(i), i)
					if op == collective.Avg {
						want /= 4
					}
					require.Equal(t, want, got, "rank %d element %d", rank, i)
				}
			}
		}
	}
}

// TestAlone: a group of one copies, divides by one and sends nothing.
func TestAlone(t *testing.T) {
	in := inputs(1, 5, 3)
	out, err := Run(ring(t, 1, 5, collective.Avg), in, Options{
		Fail: func(k Key) error { return fmt.Errorf("no message is expected: %v", k) }})
	require.NoError(t, err)
	require.Equal(t, in, out)
}

func TestFewerElementsThanRanks(t *testing.T) {
	in := inputs(4, 3, 4)
	s := ring(t, 4, 3, collective.Sum)
	_, err := Run(s, in, Options{Short: Refuse})
	require.EqualError(t, err, "driven: 3 elements for 4 ranks: some would have none")
	out, err := Run(s, in, Options{})
	require.NoError(t, err)
	for rank := range out {
		for i := range 3 {
			require.Equal(t, expected(in, i, i), out[rank][i])
		}
	}
}

// TestFailure: whichever send fails, every rank completes once with the same error.
func TestFailure(t *testing.T) {
	s, in, broken := ring(t, 4, 7, collective.Sum), inputs(4, 7, 5), errors.New("link down")
	for fails := range 24 {
		sends, done := 0, make([]int, 4)
		_, err := Run(s, in, Options{Group: "g", Instance: 2,
			Fail: func(Key) error {
				if sends++; sends == fails+1 {
					return broken
				}
				return nil
			},
			Done: func(rank int, err error) {
				require.ErrorIs(t, err, broken)
				done[rank]++
			}})
		var failure *Failure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, "g", failure.Key.Group)
		require.Contains(t, err.Error(), "driven: send of g#2 ")
		require.Equal(t, []int{1, 1, 1, 1}, done, "send %d fails", fails)
	}
}

// TestStuck: what never comes is named, and every rank completes with it.
func TestStuck(t *testing.T) {
	s, err := schedule.Parse(`schedule stuck
collective broadcast float32
ranks 2
root 0
count 4
rank 0
  lane 0
    copy in into out @0
rank 1
  lane 0
    recv from 0 into out @0
`)
	require.NoError(t, err)
	done := 0
	_, err = Run(s, [][]float32{{1, 2, 3, 4}, {}}, Options{Group: "g",
		Done: func(int, error) { done++ }})
	require.EqualError(t, err,
		"driven: rank 1 lane 0 waits for g#0 0/0→1/0 message 0, which never comes")
	require.Equal(t, 2, done)
}

// TestPosts: a lane waits for as many posts as it says, each of which is one step's however many
// slices it has. Lane 1 is to take what the second message brings, not what was there before.
func TestPosts(t *testing.T) {
	for _, slices := range []string{"", "slices 2\n"} {
		s, err := schedule.Parse(`schedule posts
collective broadcast float32
ranks 2
root 0
count 4
scratch 8
cut scratch block even 2
` + slices + `rank 0
  lane 0
    copy in into out @0
    send in to 1 @0
    send in to 1 @0
rank 1
  lane 0
    recv from 0 into scratch[0] post @0
    recv from 0 into scratch[1] post @0
  lane 1
    copy scratch[1] into out after 0#2 @0
`)
		require.NoError(t, err)
		_, found := schedule.Verify(s, schedule.VerifyOptions{})
		require.Empty(t, found)
		in := [][]float32{{1, 2, 3, 4}, {}}
		out, err := Run(s, in, Options{})
		require.NoError(t, err)
		require.Equal(t, in[0], out[1], slices)
	}
}

func TestWrongInputs(t *testing.T) {
	s := ring(t, 2, 4, collective.Sum)
	_, err := Run(s, [][]float64{{}, {}}, Options{})
	require.EqualError(t, err, "driven: elements of float64 for a collective of float32")
	_, err = Run(s, [][]float32{{}}, Options{})
	require.EqualError(t, err, "driven: inputs of 1 ranks for 2")
	_, err = Run(s, [][]float32{{1, 2, 3, 4}, {1}}, Options{})
	require.EqualError(t, err, "driven: rank 1 has 1 elements of input, 4 are needed")
}
