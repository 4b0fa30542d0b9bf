package sim

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestRendezvous: rank 0 sends 1000 bytes, to be asked for above 500, over 1 GB/s and 100 ns; rank
// 1 begins late. The request is there at 100, the answer sets out when rank 1 has come to its
// receive and is there 100 later; 1000 bytes and 100 ns follow.
//
//	late  0: granted at 100, sent 200…1200, there at 1300
//	      1000: granted at 1000, sent 1100…2100, there at 2200
//
// Below the limit, and one-sided, nobody asks.
func TestRendezvous(t *testing.T) {
	for _, tt := range []struct {
		limit         unit.Bytes
		late          unit.Time
		sender, there float64
	}{{500, 0, 1200, 1300}, {500, 1000 * ns, 2100, 2200}, {999, 0, 1200, 1300},
		{1000, 0, 1000, 1100}, {0, 0, 1000, 1100}} {
		env := meshOf(t, 2)
		env.Device.EagerLimit, env.Start = tt.limit, []unit.Time{0, tt.late}
		ends := []float64{tt.sender, tt.there}
		check(t, script(t, 2, 1, to(10, 1)), env, want{fluid: ends, fifo: ends, stored: ends})
	}
	put := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Put(1, l.Out(0).Blocks(10), l.In(0).Blocks(10))
		} else {
			l.WaitPut(0)
		}
	})
	env := meshOf(t, 2)
	env.Device.EagerLimit = 1
	ends := []float64{1000, 1100}
	check(t, put, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestRendezvousInOrder: three messages of 1000 bytes, each asked for: 200 for the question, 1000,
// and the lane is held: 1200, 2400, 3600. With a buffer of 500 a step ends when 500 of its own have
// left, and the next request sets out when all have: 700, 1000 + 200 + 200 + 500 = 1900, 3100.
// A buffer for all holds a step until it is granted: 200, 1400, 2600. Rank 1 has them when they
// have come: 3700.
func TestRendezvousInOrder(t *testing.T) {
	s := script(t, 2, 1, to(10, 1, 1, 1))
	for _, tt := range []struct {
		buffer unit.Bytes
		sender float64
	}{{0, 3600}, {500, 3100}, {unit.MiB, 2600}} {
		env := meshOf(t, 2)
		env.Device.EagerLimit, env.Device.SendBuffer = 500, tt.buffer
		// Rank 1 posts its receive when it has the message before, 100 after that has left: the request,
		// which comes then, need not wait.
		ends := []float64{tt.sender, 3700}
		check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	}
	env := meshOf(t, 2) // a lane that offloads asks in the background
	env.Device.EagerLimit, env.Device.Offload, env.Device.Queue = 500, true, 8
	ends := []float64{0, 3700}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	env.Device.Queue = 1 // and waits for the post before to have left
	ends = []float64{2400, 3700}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// exchange sends 1000 bytes to the other rank, then receives as many.
func exchange(l *schedule.Lane) {
	l.Send(1-l.Rank, l.In(0).Blocks(10))
	l.Recv(1-l.Rank, l.Out(0).Blocks(10))
}

// TestRendezvousStalls: of an exchange both send first. Eager, both end at 1100; asked for, both
// wait for a receive that neither comes to, unless it is posted before the send: then the answers
// are there at 200, and both end at 1300.
func TestRendezvousStalls(t *testing.T) {
	s := script(t, 2, 1, exchange)
	env := meshOf(t, 2)
	ends := []float64{1100, 1100}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	env.Device.EagerLimit = 500
	for _, device := range []string{"plain", "buffer", "offload"} {
		switch device {
		case "buffer":
			env.Device.SendBuffer = unit.MiB
		case "offload": // its lane goes on to the receive
			env.Device.SendBuffer, env.Device.Offload, env.Device.Queue = 0, true, 1
			ends := []float64{1300, 1300}
			check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
			continue
		}
		for _, m := range modes {
			env.Sharing, env.Switching = m.sharing, m.switching
			_, err := Run(s, env, Options{Trace: true, Critical: true})
			require.EqualError(t, err, `2 lanes wait in a circle
  rank 0 lane 0 step 0  send chunk 0  waits for a receive from rank 1 lane 0
  rank 1 lane 0 step 0  send chunk 0  waits for a receive from rank 0 lane 0, above`)
			var stall *StallError
			require.ErrorAs(t, err, &stall)
			require.True(t, stall.Cycle)
		}
	}
	env = meshOf(t, 2)
	env.Device.EagerLimit, env.Device.ReceivesAhead = 500, 1
	ends = []float64{1300, 1300}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestRendezvousNobody: the receiver ends without a receive of its own. It is no circle.
func TestRendezvousNobody(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(10))
		}
	})
	env := meshOf(t, 2)
	env.Device.EagerLimit = 500
	_, err := Run(s, env, Options{})
	var stall *StallError
	require.ErrorAs(t, err, &stall)
	require.False(t, stall.Cycle)
}

// TestRendezvousEvent: a receive that awaits an event is posted when that is there. Lane 1 of rank
// 1 receives from rank 0 after lane 0 has copied 400 bytes at 1 GB/s: granted at 400, sent
// 500…1500. It is not posted ahead of the event either, nor is what follows: the same with receives
// ahead.
func TestRendezvousEvent(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		switch {
		case l.Rank == 0 && l.Index == 1:
			l.Send(1, l.In(0).Blocks(10))
		case l.Rank == 1 && l.Index == 0:
			l.Copy(l.Out(20).Blocks(4), l.In(0).Blocks(4))
			l.Post()
		case l.Rank == 1:
			l.After(0, 1)
			l.Recv(0, l.Out(0).Blocks(10))
		}
	})
	for ahead := range 3 {
		env := meshOf(t, 2)
		env.Device.EagerLimit, env.Device.CopyRate, env.Device.ReceivesAhead = 500, gbs, ahead
		ends := []float64{0, 1500, 400, 1600}
		check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	}
}

// TestRendezvousSlowLink is why a rank that is ahead must ask: over a switch of 1 GB/s without
// latency rank 0 sends 1000 bytes to rank 2, which begins at 1000; rank 1 1000 to rank 2 from 1500
// on. Eager, rank 0's have come at 1000. Asked for, they set out at 1000, meet rank 1's from 1500
// on, and are there when 500 each have gone through half of the link: 2500. Rank 1's: 3000.
func TestRendezvousSlowLink(t *testing.T) {
	s := script(t, 3, 2, func(l *schedule.Lane) {
		switch {
		case l.Rank < 2 && l.Index == l.Rank:
			l.Send(2, l.In(0).Blocks(10))
		case l.Rank == 2:
			l.Recv(l.Index, l.Out(10*l.Index).Blocks(10))
		}
	})
	env := simtest.OnSwitch(t, 3, gbs, 0)
	env.Start = []unit.Time{0, 1500 * ns, 1000 * ns}
	check(t, s, env, want{fluid: []float64{1000, 0, 1500, 2500, 1000, 2500}})
	env.Device.EagerLimit = 500
	check(t, s, env, want{fluid: []float64{2500, 0, 1500, 3000, 2500, 3000}})
}

// TestRendezvousCritical: rank 1 copies 1000 bytes first, 1000 ns; then the answer, the transfer
// and its latency. If rank 1 is ready, the question and the answer are 200.
func TestRendezvousCritical(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 1 {
			l.Copy(l.Out(20).Blocks(10), l.In(0).Blocks(10))
		}
		to(10, 1)(l)
	})
	for _, sharing := range []Sharing{Fluid, FIFO} {
		env := meshOf(t, 2)
		env.Device.EagerLimit, env.Device.CopyRate, env.Sharing = 500, gbs, sharing
		link := linkOf(env, "gpu0->gpu1")
		r, err := Run(s, env, Options{Critical: true})
		require.NoError(t, err)
		require.Equal(t, []Piece{
			{What: Copy, Link: -1, Rank: 1, To: 1000 * ns},
			{What: Rendezvous, Link: -1, Rank: 1, From: 1000 * ns, To: 1100 * ns},
			{What: Transfer, Link: link, From: 1100 * ns, To: 2100 * ns},
			{What: Latency, Link: link, From: 2100 * ns, To: 2200 * ns},
		}, r.Critical)
		env.Device.CopyRate = unit.Unlimited
		r, err = Run(s, env, Options{Critical: true})
		require.NoError(t, err)
		require.Equal(t, []Piece{
			{What: Rendezvous, Link: -1, To: 200 * ns},
			{What: Transfer, Link: link, From: 200 * ns, To: 1200 * ns},
			{What: Latency, Link: link, From: 1200 * ns, To: 1300 * ns},
		}, r.Critical)
	}
}

// TestRendezvousStallsLikeTheProof: the untimed executor has a send end when its message is
// received, which is later than when it is granted. So what finishes there finishes here, and what
// is stuck here is stuck there; some of it would not be if nobody asked.
func TestRendezvousStallsLikeTheProof(t *testing.T) {
	alone := 0
	simtest.Law(t, 600, "rendezvous stalls no more than in the proof", func(t testing.TB,
		rng *rand.Rand) bool {
		s := simtest.Schedule(rng, true)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		env.Device.Offload, env.Device.Queue, env.Device.ReceivesAhead = false, 0, 0
		env.Device.EagerLimit = 0
		_, eager := Run(s, env, Options{})
		env.Device.EagerLimit = 1
		_, asked := Run(s, env, Options{})
		_, proof := schedule.Execute(s, schedule.Limits{Slots: env.Slots, Rendezvous: true},
			schedule.Hooks{})
		var stall *StallError
		if eager == nil && errors.As(asked, &stall) {
			alone++
		}
		require.False(t, eager != nil && asked == nil, "%v", eager)
		return asked == nil || proof != nil
	})
	require.Greater(t, alone, tier.Raced(0, 5, 50), "the generator has lost its bite")
}
