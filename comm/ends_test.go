package comm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/comm"
	"collsim/schedule"
)

const sum = "all_reduce int32 sum shape 2"

// TestContextWhileWaiting: a rank whose context ends takes the post with it: who waits hears of it,
// and so does who comes later. The next post is another one.
func TestContextWhileWaiting(t *testing.T) {
	w, why := world(t, 3), errors.New("the job was stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	first := w.Member(0, "x", parse(t, sum)).Post(context.Background(), one(1, 2))
	second := w.Member(1, "x", parse(t, sum)).Post(ctx, one(1, 2))
	again := w.Member(1, "x", parse(t, sum)).Post(context.Background(), one(1, 2))
	cancel(why)
	_, err := second.Wait()
	require.ErrorIs(t, err, why)
	late := w.Member(2, "x", parse(t, sum)).Post(context.Background(), one(1, 2))
	for _, h := range []*comm.Handle{first, late} {
		_, err := h.Wait()
		require.ErrorIs(t, err, why)
		require.ErrorContains(t, err, `group "x#0": `)
	}
	_, errs := together(3, func(rank int) *comm.Handle {
		if rank == 1 {
			return again
		}
		return w.Member(rank, "x", parse(t, sum)).Post(context.Background(), one(1, 2))
	})
	require.NoError(t, errors.Join(errs...))
}

// TestContextWhileQueued: a post that waits for the one before it ends with its context, touches
// nothing afterwards, and the others are told when its turn comes.
func TestContextWhileQueued(t *testing.T) {
	w, why := world(t, 2), errors.New("no more")
	m := w.Member(0, "x", parse(t, sum))
	first := m.Post(context.Background(), one(1, 2))
	ctx, cancel := context.WithCancelCause(context.Background())
	tensors := one(1, 2)
	queued := m.Post(ctx, tensors)
	cancel(why)
	_, err := queued.Wait()
	require.EqualError(t, err, `"x": rank 0: an earlier post is not over: no more`)
	other := w.Member(1, "x", parse(t, sum))
	_, err = other.Post(context.Background(), one(3, 4)).Wait()
	require.NoError(t, err)
	_, err = first.Wait()
	require.NoError(t, err)
	_, err = other.Post(context.Background(), one(3, 4)).Wait()
	require.ErrorIs(t, err, why)
	require.Equal(t, []int32{0, 0}, flat(tensors.Out))
}

// TestExecutorFails: an error, a panic, and outputs that are none are told to all ranks; outputs
// are as they were, and the next post goes well.
func TestExecutorFails(t *testing.T) {
	broken := errors.New("link down")
	type bytes = [][]byte
	for want, execute := range map[string]comm.Execute{
		`"x": link down`: func(context.Context, *schedule.Schedule, bytes) (bytes, error) {
			return nil, broken
		},
		`"x": panic: boom`: func(context.Context, *schedule.Schedule, bytes) (bytes, error) {
			panic("boom")
		},
		`"x": the executor returns outputs of 1 ranks: 2 are expected`: func(
			_ context.Context, _ *schedule.Schedule, in bytes) (bytes, error) {
			return in[:1], nil
		},
		`"x": the executor returns 7 bytes of output for the rank at place 1: 8 are expected`: func(
			_ context.Context, _ *schedule.Schedule, in bytes) (bytes, error) {
			return bytes{in[0], in[1][:7]}, nil
		},
	} {
		fails := true
		w, err := comm.New(2, func(ctx context.Context, s *schedule.Schedule, in bytes) (bytes, error) {
			if fails {
				fails = false
				return execute(ctx, s, in)
			}
			return interpreter(ctx, s, in)
		}, comm.Algorithm("ring"))
		require.NoError(t, err)
		tensors := []comm.Tensors{one(1, 2), one(3, 4)}
		post := func(rank int) *comm.Handle {
			return w.Member(rank, "x", parse(t, sum)).Post(context.Background(), tensors[rank])
		}
		_, errs := together(2, post)
		require.EqualError(t, errs[0], want)
		require.Equal(t, errs[0], errs[1])
		require.Equal(t, []int32{0, 0}, flat(tensors[1].Out))
		outcomes, errs := together(2, post)
		require.NoError(t, errors.Join(errs...))
		require.Equal(t, []int32{4, 6}, flat(tensors[1].Out))
		require.Equal(t, "ring", outcomes[1].Executed.Name)
	}
}

// TestContextWhilePlaying: whichever rank's context ends while the executor works, it is told to
// stop, and all ranks hear why.
func TestContextWhilePlaying(t *testing.T) {
	why := errors.New("that is enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	w, err := comm.New(2, func(executing context.Context, _ *schedule.Schedule, _ [][]byte) ([][]byte,
		error) {
		cancel(why)
		<-executing.Done()
		return nil, errors.New("stopped")
	}, nil)
	require.NoError(t, err)
	_, errs := together(2, func(rank int) *comm.Handle {
		c := []context.Context{context.Background(), ctx}[rank]
		return w.Member(rank, "x", parse(t, sum)).Post(c, one(1, 2))
	})
	require.ErrorIs(t, errs[0], why)
	require.Equal(t, errs[0], errs[1])
}

// TestWrongSchedule: what an algorithm gets wrong is found before it moves anything.
func TestWrongSchedule(t *testing.T) {
	text := `schedule hopeful
collective all_reduce int32 sum
ranks 2
count 2
rank 0
  lane 0
    send in to 1 @0
    recvReduceCopy from 1, in into out @0
rank 1
  lane 0
    send in to 0 @0
    recv from 0 into out @0
`
	for want, build := range map[string]comm.Build{
		`the schedule of hopeful is wrong, and is not executed: missing: rank 1`: func(
			collective.Spec) (*schedule.Schedule, error) {
			return schedule.Parse(text)
		},
		`all_reduce has no algorithm "rign"; nearest: ring`: comm.Algorithm("rign"),
	} {
		w, err := comm.New(2, interpreter, build)
		require.NoError(t, err)
		_, errs := together(2, func(rank int) *comm.Handle {
			return w.Member(rank, "x", parse(t, sum)).Post(context.Background(), one(1, 2))
		})
		require.ErrorContains(t, errs[0], want)
		require.Equal(t, errs[0], errs[1])
	}
}

// bomb is a context that panics when it is asked.
type bomb struct{ context.Context }

func (bomb) Done() <-chan struct{} { panic("done") }

// TestForeignContext: a context that panics is an error of its rank, and the others are told.
func TestForeignContext(t *testing.T) {
	w := world(t, 2)
	for range 2 { // also of a post that waits for another
		_, errs := together(2, func(rank int) *comm.Handle {
			var ctx context.Context = bomb{context.Background()}
			if rank == 1 {
				ctx = context.Background()
			}
			return w.Member(rank, "x", parse(t, sum)).Post(ctx, one(1, 2))
		})
		require.ErrorContains(t, errs[0], "panic: done")
		require.ErrorContains(t, errs[1], "rank 0 cannot take part: panic: done")
	}
}
