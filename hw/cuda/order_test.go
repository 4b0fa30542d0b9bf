package cuda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/reference"
	"collsim/schedule"
)

// ring is an all-reduce on four ranks, with as few slots as will do.
func ring(t *testing.T) *schedule.Schedule {
	t.Helper()
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.Float32, Ranks: 4, Count: 10}, algos.Options{})
	require.NoError(t, err)
	return s
}

// lanes is one in which lanes of a rank wait for each other's events, and messages for slots.
func lanes(t *testing.T) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(`schedule lanes
collective broadcast float32
ranks 2
root 0
count 4
scratch 4
cut in block even 2
cut out block even 2
cut scratch block even 2
slots 1
rank 0
  lane 0
    copy in into out @0
    send in[0] to 1 @0
    send in[1] to 1 @0
rank 1
  lane 0
    recv from 0 into scratch[0] post @0
    recv from 0 into scratch[1] post @0
  lane 1
    copy scratch[0] into out[0] after 0#2 @0
    copy scratch[1] into out[1] @0
`)
	require.NoError(t, err)
	return s
}

// TestDroppedEvents: whichever wait for another stream is left out, either the result is wrong, or
// the two are ordered by other waits all the same. The stand-in then has what was to be waited for
// happen last.
func TestDroppedEvents(t *testing.T) {
	for _, c := range []struct {
		s     *schedule.Schedule
		wrong int
	}{{ring(t), 24}, {lanes(t), 5}} {
		count, _ := standin(t, "seed=1")
		e := executor(t)
		r := rand.New(rand.NewPCG(3, 4))
		in := hwtest.AnyInputs(c.s, r)
		for _, b := range in {
			for i := range b {
				b[i] = 0x30 | b[i]&0x0f // no NaN
			}
		}
		want, err := reference.RunBytes(c.s, in, reference.RunOptions{})
		require.NoError(t, err)
		execute := func() (got [][]byte) {
			result, err := e.Run(context.Background(), &hw.Job{Schedule: c.s, Inputs: in})
			require.NoError(t, err)
			for _, out := range result.Outputs {
				got = append(got, append([]byte{}, out...))
			}
			return got
		}
		require.Equal(t, want, execute())
		waits, wrong := count(), 0
		for drop := 1; drop <= waits; drop++ {
			_, inverted := standin(t, fmt.Sprintf("seed=%d drop=%d", drop, drop))
			got := execute()
			if inverted() == 0 {
				require.Equal(t, want, got, "wait %d of %d", drop, waits)
				continue
			}
			require.NotEqual(t, want, got, "wait %d of %d", drop, waits)
			wrong++
		}
		t.Logf("%s: %d waits, of which %d alone keep two things in order", c.s.Name, waits, wrong)
		require.GreaterOrEqual(t, wrong, c.wrong)
	}
}

// TestOverlap: a step that stores where it reads other elements reads all of them first; a copy
// engine copies as kernels do.
func TestOverlap(t *testing.T) {
	standin(t, "seed=5")
	e := executor(t)
	for _, launch := range []string{"", "launch(copy) "} {
		s, err := schedule.Parse(`schedule overlap
collective broadcast float32
ranks 2
root 0
count 4
scratch 6
cut scratch block even 6
rank 0
  lane 0
    copy in into scratch[0 x4] ` + launch + `@0
    copy scratch[0 x4] into scratch[1 x4] @0
    copy scratch[1 x4] into out @0
    send in to 1 @0
rank 1
  lane 0
    recv from 0 into out @0
`)
		require.NoError(t, err)
		agrees(t, e, s, hw.Env{}, rand.New(rand.NewPCG(1, 1)))
	}
}
