package schedule

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExecuteCounts(t *testing.T) {
	s := Ring(t, 8, 1000, nil)
	counts, err := Execute(s, Limits{Slots: 2}, Hooks{})
	require.NoError(t, err)
	require.Equal(t, Counts{Steps: 8 * 15, Messages: 8 * 14, Rounds: 14, InFlight: 2}, counts)
}

// Handles are of one message at a time, and what is received is what was sent first.
func TestExecuteHandles(t *testing.T) {
	type sent struct{ rank, number int32 }
	flying := map[int32]sent{}
	next := map[int32]int32{} // rank → step whose message its neighbour receives next
	err := func() error {
		_, err := Execute(Ring(t, 5, 100, nil), Limits{}, Hooks{Step: func(v *Visit) error {
			for i, h := range v.In {
				if v.Step.From[i].Kind != Message {
					require.Equal(t, int32(-1), h)
					continue
				}
				from := v.Step.From[i].Peer.Rank
				require.Equal(t, sent{from, next[from]}, flying[h])
				next[from]++
			}
			for _, h := range v.Out {
				flying[h] = sent{v.Rank, v.Number}
			}
			return nil
		}})
		return err
	}()
	require.NoError(t, err)
	require.Equal(t, map[int32]int32{0: 8, 1: 8, 2: 8, 3: 8, 4: 8}, next)
}

func TestStallNamesTheCircle(t *testing.T) {
	_, err := Execute(Ring(t, 3, 30, nil), Limits{Slots: 1}, Hooks{})
	var stalled *StallError
	require.ErrorAs(t, err, &stalled)
	require.True(t, stalled.Cycle)
	require.EqualError(t, err, `3 lanes wait in a circle; FIFO depth 1
  rank 0 lane 0 step 1  recvReduceSend chunk 2  waits for a slot from rank 1 lane 0
  rank 1 lane 0 step 1  recvReduceSend chunk 0  waits for a slot from rank 2 lane 0
  rank 2 lane 0 step 1  recvReduceSend chunk 1  waits for a slot from rank 0 lane 0, above`)
}

// Steps that move data are cut into slices, signals are not.
func TestSignalsAreWhole(t *testing.T) {
	s := MustParse(t, `schedule
collective send_recv int32
ranks 2
count 8
group 2
slices 4
rank *
  lane 0
    signal to 1 @0
    wait from 1 @0
    send in to 1 @0
    recv from 1 into out @0
`)
	counts, err := Execute(s, Limits{}, Hooks{})
	require.NoError(t, err)
	require.Equal(t, Counts{Steps: 2 * (1 + 1 + 4 + 4), Messages: 2 * (1 + 4), Rounds: 1,
		InFlight: 4}, counts)
}

func TestHookErrorEndsExecution(t *testing.T) {
	stop := errors.New("stop")
	_, err := Execute(Ring(t, 3, 30, nil), Limits{}, Hooks{Step: func(*Visit) error { return stop }})
	require.ErrorIs(t, err, stop)
}

func BenchmarkExecuteRing1024(b *testing.B) {
	s := Ring(b, 1024, 1<<20, nil)
	steps := int64(0)
	for b.Loop() {
		counts, err := Execute(s, Limits{Slots: 2}, Hooks{})
		require.NoError(b, err)
		steps += counts.Steps
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
}
