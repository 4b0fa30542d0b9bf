package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/trace"
	"collsim/unit"
)

// TestOffloadInOrder: rank 0 posts four messages of 1000 bytes at once to rank 1, which posts each
// on to rank 2 when it has come. They leave one after the other: message i (from 1) at 1000·i, is
// there at 1000·i + 100, passed on until 1000·(i + 1) + 100 and there 100 later. Side by side all
// would come at 4100, and rank 2 would have them at 8200.
func TestOffloadInOrder(t *testing.T) {
	s := script(t, 3, 1, func(l *schedule.Lane) {
		for i := range 4 {
			at := l.Out(i * 10).Blocks(10)
			switch l.Rank {
			case 0:
				l.Send(1, l.In(i*10).Blocks(10))
			case 1:
				l.CopySend(0, 2, at)
			default:
				l.Recv(1, at)
			}
		}
	})
	env := meshOf(t, 3)
	env.Device.Offload, env.Device.Queue = true, 8
	ends := []float64{0, 4100, 5200}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	env.Segment = 250
	check(t, s, env, want{fifo: ends, stored: ends})
}

// TestOffloadSegmentsInOrder: 1000 bytes and 100, posted at once to the same rank. In segments of
// 250 the second message would ask for the link at 0, too, and pass after the first segment: there
// at 350 + 100. It asks when the first has left, at 1000. What goes to another lane does pass.
func TestOffloadSegmentsInOrder(t *testing.T) {
	for lane, there := range []unit.Time{1200 * ns, 450 * ns} {
		s := script(t, 2, 2, func(l *schedule.Lane) {
			switch {
			case l.Rank == 0 && l.Index == 0:
				l.Send(1, l.In(0).Blocks(10))
				l.Facing(lane)
				l.Send(1, l.In(0))
			case l.Rank == 1:
				l.Facing(0)
				if l.Index == 0 {
					l.Recv(0, l.Out(0).Blocks(10))
				}
				if l.Index == lane {
					l.Recv(0, l.Out(10))
				}
			}
		})
		env := meshOf(t, 2)
		env.Device.Offload, env.Device.Queue, env.Segment = true, 8, 250
		env.Sharing = FIFO
		r, err := Run(s, env, Options{Trace: true})
		require.NoError(t, err)
		require.Len(t, r.Trace.Messages, 2)
		require.Equal(t, there, slices.MinFunc(r.Trace.Messages, func(a, b trace.Message) int {
			return int(a.Bytes - b.Bytes)
		}).Arrived)
	}
}

// TestSilentPostsInOrder: two silent puts of 1000 bytes to rank 1, a signal after each: the first
// put has left at 1000, its signal is there at 1100, and the second at 2100. Side by side both
// puts would end at 2000, and the first signal would come at 2100.
func TestSilentPostsInOrder(t *testing.T) {
	s := written(t, 2, `
rank 0
  lane 0
    put in[0 x10] to 1 at out[0 x10] silent @0
    signal to 1 @0
    put in[10 x10] to 1 at out[10 x10] silent @0
    signal to 1/1 @0
rank 1
  lane 0
    wait from 0 @0
  lane 1
    wait from 0/0 @0`)
	env := meshOf(t, 2)
	env.Device.Offload, env.Device.Queue = true, 8
	check(t, s, env, want{fluid: []float64{0, 1100, 2100}, fifo: []float64{0, 1100, 2100}})
}

// inOrder reports whether the messages between each two lanes arrive in the order of their sending.
func inOrder(t testing.TB, r *Result) bool {
	t.Helper()
	last := map[[2]int32]unit.Time{}
	for _, m := range r.Trace.Messages { // by when they were sent
		lanes := [2]int32{m.From, m.To}
		if m.Arrived < last[lanes] {
			t.Logf("%+v comes before %v", m, last[lanes])
			return false
		}
		last[lanes] = m.Arrived
	}
	return true
}

// TestInOrder: the messages of a connection arrive in the order in which they were sent, however
// links are shared and lanes run ahead. Signals and puts are other connections; they are left out.
func TestInOrder(t *testing.T) {
	simtest.Law(t, 1000, "messages arrive in order", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		// Messages of two sizes may have two latencies, and so leave in order and come in another.
		env.Device.Own, env.Device.Ranges = device.Message{}, nil
		if env.Device.SendBuffer == 0 {
			env.Device.Offload, env.Device.Queue = true, 1+rng.IntN(6)
		}
		r, err := Run(twoSided(t, s), env, Options{Trace: true})
		require.NoError(t, err)
		return inOrder(t, r)
	})
}

// twoSided is a schedule in which nothing but its sends and receives is left, and events.
func twoSided(t testing.TB, s *schedule.Schedule) *schedule.Schedule {
	t.Helper()
	return simtest.Rewritten(t, s, func(_, _ int, step schedule.Step, add func(schedule.Step)) {
		other := func(c schedule.Class) bool { return c != schedule.FIFO }
		for _, d := range step.Send {
			if other(d.Peer.Class) {
				step.Send, step.From, step.To = nil, nil, nil
				break
			}
		}
		for _, f := range step.From {
			if f.Kind == schedule.Message && other(f.Peer.Class) {
				step.From, step.To = nil, nil
				break
			}
		}
		add(step)
	})
}

// TestBufferWithoutEnd: with a buffer for all, a lane goes on when it has handed its bytes over, as
// on a device that offloads and has a place for every post.
func TestBufferWithoutEnd(t *testing.T) {
	simtest.Law(t, 600, "a buffer without end is a queue without end", func(t testing.TB,
		rng *rand.Rand) bool {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		env.Device.Offload, env.Device.Queue, env.Device.SendBuffer = false, 0, unit.GiB
		env.Device.EagerLimit = 0 // a lane that offloads does not wait for the answer
		// Under FIFO what is posted is handed over while it waits for its link.
		env.Device.LaneRate = unit.Unlimited
		buffered, err := Run(s, env, Options{})
		require.NoError(t, err)
		env.Device.Offload, env.Device.Queue, env.Device.SendBuffer = true, 1<<20, 0
		posted, err := Run(s, env, Options{})
		require.NoError(t, err)
		require.Equal(t, posted, buffered)
		return true
	})
}
