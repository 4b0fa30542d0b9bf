package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/unit"
)

// bySize is a full mesh of two ranks, 1 GB/s and 100 ns, whose messages up to 100 bytes have half
// of the link and 50 ns more, and longer ones 1000 ns more.
func bySize(t *testing.T) Env {
	env := meshOf(t, 2)
	env.Device.Own.Latency = 1000 * ns
	env.Device.Ranges = []device.Range{{UpTo: 100,
		Message: device.Message{Latency: 50 * ns, Efficiency: 500_000}}}
	return env
}

// TestRanges: rank 0 sends 100, 200 and 100 bytes over one connection.
//
//	1   200 bytes on the link: 0…200, there at 200 + 100 + 50
//	2   200…400, there at 400 + 100 + 1000
//	3   400…600, there at 750, before 2, but received after it
func TestRanges(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		for i, n := range []int{1, 2, 1} {
			if l.Rank == 0 {
				l.Send(1, l.In(i*10).Blocks(n))
			} else {
				l.Recv(0, l.Out(i*10).Blocks(n))
			}
		}
	})
	ends := []float64{600, 1500}
	env := bySize(t)
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	r, err := Run(s, env, Options{Critical: true})
	require.NoError(t, err)
	require.Equal(t, unit.Bytes(400), r.BytesSent)
	require.Equal(t, unit.Bytes(600), r.LinkBytes)
	pieces := map[What]unit.Time{}
	for _, p := range r.Critical {
		pieces[p.What] += p.To - p.From
	}
	require.Equal(t, map[What]unit.Time{Transfer: 400 * ns, Latency: 100 * ns,
		MessageLatency: 1000 * ns}, pieces)
}

// TestRangesOfSlices: it is the slice that has a size: 200 bytes in two slices are two messages of
// 100, of which the second sets out when the first has left, at 200, and is there at 400 + 150.
func TestRangesOfSlices(t *testing.T) {
	s := simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(2, 100), Chunks: 2, Slices: 2,
		Lane: func(l *schedule.Lane) {
			if l.Rank == 0 {
				l.Send(1, l.In(0))
			} else {
				l.Recv(0, l.Out(0))
			}
		}})
	ends := []float64{400, 550}
	check(t, s, bySize(t), want{fluid: ends, fifo: ends, stored: ends})
}

// TestSignalWaitsForSlowPuts: a silent put of 200 bytes leaves at 200 and lands at 200 + 100 +
// 1000. The signal, of 0 bytes, has 50 ns of its own, but not before the put has landed; a relaxed
// one orders nothing. A get has no figures: 100 there, 200 bytes and 100 back.
func TestSignalWaitsForSlowPuts(t *testing.T) {
	const text = `
rank 0
  lane 0
    put in[0 x2] to 1 at out[0 x2] silent @0
    signal to 1 %s@0
rank 1
  lane 0
    wait from 0 @0`
	env := bySize(t)
	check(t, written(t, 2, fmt.Sprintf(text, "")), env, want{
		fluid: []float64{200, 1300}, fifo: []float64{200, 1300}, stored: []float64{200, 1300}})
	check(t, written(t, 2, fmt.Sprintf(text, "relaxed ")), env, want{
		fluid: []float64{200, 350}, fifo: []float64{200, 350}, stored: []float64{200, 350}})
	got := written(t, 2, `
rank 0
  lane 0
    copy get 1 in[0 x2] into out[0 x2] @0`)
	ends := []float64{400}
	check(t, got, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestLaunch: ranks begin at 0 and 500, rank 1 at half the speed: a call costs them 300 and 600.
// Rank 0's message leaves at 300 + 100 and is there at 500, rank 1 begins at 1100. A lane without
// steps has nothing to launch.
func TestLaunch(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		switch {
		case l.Index == 1:
		case l.Rank == 0:
			l.Send(1, l.In(0))
		default:
			l.Recv(0, l.Out(0))
			l.Send(0, l.In(1))
		}
		if l.Rank == 0 && l.Index == 0 {
			l.Recv(1, l.Out(1))
		}
	})
	env := meshOf(t, 2)
	env.Device.Launch = 300 * ns
	env.Start, env.Slowdown = []unit.Time{0, 500 * ns}, []unit.Share{1_000_000, 2_000_000}
	ends := []float64{1300, 0, 1200, 500}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	r, err := Run(s, env, Options{Critical: true})
	require.NoError(t, err)
	require.Equal(t, []Piece{
		{What: Start, Link: -1, Rank: 1, Step: -1, To: 500 * ns},
		{What: Launch, Link: -1, Rank: 1, Step: -1, From: 500 * ns, To: 1100 * ns},
	}, r.Critical[:2])
}

// TestTooManyBytesOnLinks: 2⁵⁰ bytes at 0.01 % are more than is counted: an error, not a wrong
// time.
func TestTooManyBytesOnLinks(t *testing.T) {
	spec := simtest.AllReduce(2, 1<<48)
	s := simtest.Build(t, schedule.Plan{Spec: spec, Chunks: 1, Lane: func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0))
		} else {
			l.Recv(0, l.Out(0))
		}
	}})
	env := meshOf(t, 2)
	env.Device.Own.Efficiency = device.LeastEfficiency
	for _, sharing := range []Sharing{Fluid, FIFO} {
		env.Sharing = sharing
		_, err := Run(s, env, Options{})
		require.EqualError(t, err, "rank 0 lane 0 step 0: a message of 1024 TiB puts more on its "+
			"links, at efficiency 0.01 %, than is counted")
	}
}
