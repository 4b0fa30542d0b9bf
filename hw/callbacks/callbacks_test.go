package callbacks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/proof"
	"collsim/schedule"
)

// execute has an executor execute a schedule on numbers.
func execute[T dtype.Number](s *schedule.Schedule, in [][]T, c Config, env hw.Env) ([][]T, error) {
	e := New(c)
	result, err := e.Run(context.Background(), &hw.Job{Schedule: s, Inputs: toBytes(in), Env: env})
	if err != nil {
		return nil, err
	}
	out := make([][]T, len(result.Outputs))
	for rank, b := range result.Outputs {
		out[rank] = make([]T, len(b)/dtype.Of[T]().Width())
		dtype.Get(out[rank], b)
	}
	return out, e.Close()
}

func toBytes[T dtype.Number](x [][]T) [][]byte {
	all := make([][]byte, len(x))
	for rank := range x {
		all[rank] = make([]byte, len(x[rank])*dtype.Of[T]().Width())
		dtype.Put(all[rank], x[rank])
	}
	return all
}

// ring is TFRT's ring all-reduce, as its kernels.cc has it: 2n−1 callbacks, of which the first only
// sends, those before the n-th add what comes to what is there, and the others copy; callback i of
// rank r concerns chunk (r − i) mod n. In place.
func ring(t *testing.T, ranks int, count int64, op collective.Op) *schedule.Schedule {
	t.Helper()
	post := collective.AvgNCCL
	if op == collective.Avg {
		post = collective.AvgPost
	}
	s, err := schedule.Build(schedule.Plan{
		Name: "ring",
		Spec: collective.Spec{Kind: collective.AllReduce, Op: op, Avg: post,
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
	_, found := proof.Verify(s, proof.Options{})
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
			out, err := execute(ring(t, 4, 7, op), in, Config{Name: "grads", Next: r.IntN,
				Ran: func(rank, lane, number int) {
					require.Equal(t, ran[rank], number)
					require.Zero(t, lane)
					ran[rank]++
				},
				Done: func(rank int, err error) { require.NoError(t, err); done[rank]++ }}, hw.Env{})
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
	out, err := execute(ring(t, 1, 5, collective.Avg), in, Config{
		Fail: func(k Key) error { return fmt.Errorf("no message is expected: %v", k) }}, hw.Env{})
	require.NoError(t, err)
	require.Equal(t, in, out)
}

func TestFewerElementsThanRanks(t *testing.T) {
	in := inputs(4, 3, 4)
	s := ring(t, 4, 3, collective.Sum)
	_, err := execute(s, in, Config{Short: Refuse}, hw.Env{})
	require.EqualError(t, err, "3 elements for 4 ranks: some would have none")
	out, err := execute(s, in, Config{}, hw.Env{})
	require.NoError(t, err)
	for rank := range out {
		for i := range 3 {
			require.Equal(t, expected(in, i, i), out[rank][i])
		}
	}
}

// TestFailure: whichever send fails, in whichever repetition, every rank completes once with the
// same error, which names the place; the executor can be used again.
func TestFailure(t *testing.T) {
	s, in, broken := ring(t, 4, 7, collective.Sum), inputs(4, 7, 5), errors.New("link down")
	for fails := range 48 {
		sends, done := 0, make([]int, 4)
		e := New(Config{Name: "g",
			Fail: func(Key) error {
				if sends++; sends == fails+1 {
					return broken
				}
				return nil
			},
			Done: func(rank int, err error) {
				if err != nil {
					require.ErrorIs(t, err, broken)
					done[rank]++
				}
			}})
		job := &hw.Job{Schedule: s, Inputs: toBytes(in), Env: hw.Env{Repetitions: 2}}
		_, err := e.Run(context.Background(), job)
		var failure *Failure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, "g", failure.Key.Collective)
		require.Equal(t, fails/24, failure.Key.Instance)
		var where *hw.Error
		require.ErrorAs(t, err, &where)
		require.Equal(t, [2]string{"send", "failed"}, [2]string{where.Call, where.Code})
		require.Equal(t, int(failure.Key.Connection.From), where.Rank)
		require.ErrorContains(t, err, fmt.Sprintf("send: failed: g#%d ", fails/24))
		require.Equal(t, []int{1, 1, 1, 1}, done, "send %d fails", fails)
		_, err = e.Run(context.Background(), job)
		require.NoError(t, err)
	}
}

// crossing has two ranks send two messages each before they receive.
const crossing = `schedule crossing
collective send_recv float32
ranks 2
count 2
cut in block even 2
cut out block even 2
group 2
rank *
  lane 0
    send in[0] to 1 @0
    send in[1] to 1 @0
    recv from 1 into out[0] @1
    recv from 1 into out[1] @1
`

// TestSlots: a send waits for a slot, where connections have as many as it takes.
func TestSlots(t *testing.T) {
	s, err := schedule.Parse(crossing)
	require.NoError(t, err)
	for _, slots := range []int{0, 2, 3} {
		out, err := execute(s, [][]float32{{1, 2}, {3, 4}}, Config{}, hw.Env{Slots: slots, Iterations: 2})
		require.NoError(t, err)
		require.Equal(t, [][]float32{{3, 4}, {1, 2}}, out)
	}
	held, most := 0, 0 // messages of rank 0 that rank 1 has not taken: two messages, one slot
	s, err = schedule.Parse(`schedule one by one
collective broadcast float32
ranks 2
count 2
slots 1
cut in block even 2
cut out block even 2
rank 0
  lane 0
    send in[0] to 1 @0
    send in[1] to 1 @0
    copy in into out @0
rank 1
  lane 0
    recv from 0 into out[0] @0
    recv from 0 into out[1] @0
`)
	require.NoError(t, err)
	var order []int
	out, err := execute(s, [][]float32{{1, 2}, {}}, Config{Ran: func(rank, _, number int) {
		order = append(order, 10*rank+number)
		if rank == 0 && number < 2 {
			held++
		} else if rank == 1 {
			held--
		}
		most = max(most, held)
	}}, hw.Env{Slots: 9})
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2}, out[1])
	require.Equal(t, 1, most, "%v", order)
}

// TestStuck: what never comes is named at once, and every rank completes with it.
func TestStuck(t *testing.T) {
	comes, before, after := hwtest.NeverComes(t)
	received, want := hwtest.NeverReceived(t)
	cross, err := schedule.Parse(crossing)
	require.NoError(t, err)
	for _, c := range []struct {
		s     *schedule.Schedule
		want  string
		slots int
	}{
		{comes, before + "no message is on its way" + after, 0},
		{received, want, 0},
		{cross, "rank 0 lane 0 step 1: wait: stall: no message is on its way: 2 lanes wait in a " +
			"circle; FIFO depth 1\n  rank 0 lane 0 step 1  send chunk 1  waits for a slot from rank 1 " +
			"lane 0\n  rank 1 lane 0 step 1  send chunk 1  waits for a slot from rank 0 lane 0, above", 1},
	} {
		done := 0
		in := [][]float32{make([]float32, c.s.Spec.In(0)), make([]float32, c.s.Spec.In(1))}
		_, err := execute(c.s, in, Config{Name: "g",
			Done: func(int, error) { done++ }}, hw.Env{Slots: c.slots})
		require.EqualError(t, err, c.want)
		require.Equal(t, 2, done)
	}
}

// TestEnded: a context that ends is an end of the run, also in the middle of it and of a kernel.
func TestEnded(t *testing.T) {
	why := errors.New("that is enough")
	for after := range 28 {
		ctx, cancel := context.WithCancelCause(context.Background())
		ran, reported := 0, 0
		e := New(Config{Ran: func(int, int, int) {
			if ran++; ran == after {
				cancel(why)
			}
		}, Done: func(_ int, err error) {
			if errors.Is(err, why) {
				reported++
			}
		}})
		if after == 0 {
			cancel(why)
		}
		_, err := e.Run(ctx, &hw.Job{Schedule: ring(t, 4, 7, collective.Sum),
			Inputs: toBytes(inputs(4, 7, 5))})
		if after < 25 { // later, nothing is left to be done
			require.ErrorIs(t, err, why)
			require.Positive(t, reported)
		}
		cancel(nil)
	}
	s, err := schedule.Parse(`schedule long
collective barrier
ranks 1
rank 0
  lane 0
    compute 3600000000000000ps @0
`)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(context.Background())
	e := New(Config{Ran: func(int, int, int) { go cancel(why) }})
	_, err = e.Run(ctx, &hw.Job{Schedule: s, Inputs: [][]byte{nil}})
	require.ErrorIs(t, err, why)
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
		_, found := proof.Verify(s, proof.Options{})
		require.Empty(t, found)
		in := [][]float32{{1, 2, 3, 4}, {}}
		out, err := execute(s, in, Config{}, hw.Env{})
		require.NoError(t, err)
		require.Equal(t, in[0], out[1], slices)
	}
}

func TestWrongInputs(t *testing.T) {
	s := ring(t, 2, 4, collective.Sum)
	_, err := execute(s, [][]float32{{}}, Config{}, hw.Env{})
	require.EqualError(t, err, "inputs of 1 ranks: 2 are expected")
	_, err = execute(s, [][]float32{{1, 2, 3, 4}, {1}}, Config{}, hw.Env{})
	require.EqualError(t, err, "rank 1 has 4 bytes of input: 16 are expected")
}
