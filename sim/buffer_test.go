package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/unit"
)

// to sends blocks to ranks one after the other, n·100 bytes each.
func to(n int, ranks ...int) func(l *schedule.Lane) {
	return func(l *schedule.Lane) {
		for i, rank := range ranks {
			at := i * n
			switch l.Rank {
			case 0:
				l.Send(rank, l.In(at).Blocks(n))
			case rank:
				l.Recv(0, l.Out(at).Blocks(n))
			}
		}
	}
}

// TestSendBuffer: three messages of 1000 bytes to rank 1 at 1 GB/s, and a buffer of 500. With C
// bytes sent, the step ends when byte C − 500 has left: 500, 1500, 2500; the last is there at 3100.
//
//	of 2500   C − 2500 is below 0 for two, 500 for the third
//	of 1000   a step ends when the message before it has left: 0, 1000, 2000
//	κ = 0.5   a message needs 2000 to be handed over and on the wire alike: 2000, 4000, 6000
func TestSendBuffer(t *testing.T) {
	s := script(t, 2, 1, to(10, 1, 1, 1))
	for _, tt := range []struct {
		buffer        unit.Bytes
		rate          unit.Rate
		sender, there float64
	}{{0, unit.Unlimited, 3000, 3100}, {500, unit.Unlimited, 2500, 3100},
		{1000, unit.Unlimited, 2000, 3100}, {2500, unit.Unlimited, 500, 3100},
		{1 << 40, unit.Unlimited, 0, 3100}, {500, gbs / 2, 6000, 6100}} {
		env := meshOf(t, 2)
		env.Device.SendBuffer, env.Device.LaneRate = tt.buffer, tt.rate
		ends := []float64{tt.sender, tt.there}
		check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	}
}

// TestSendBufferTwoPeers: 1000 bytes to rank 1, then to rank 2, over one up-link, and a buffer of
// 500: the first step ends at 500, and what is left of its message meets the second.
//
//	fluid   0.5 GB/s each: the first is drained at 500 + 1000, when 500 of the second have left, too,
//	        so the second step ends. The rest alone until 2000: there at 1700 and 2200.
//	fifo    the first goes until 1000, the second begins: 500 have left at 1500
//	stored  the same, and each comes down in another 1000
func TestSendBufferTwoPeers(t *testing.T) {
	s := script(t, 3, 1, to(10, 1, 2))
	env := simtest.OnSwitch(t, 3, gbs, 100*ns)
	env.Device.SendBuffer = 500
	check(t, s, env, want{
		fluid:  []float64{1500, 1700, 2200},
		fifo:   []float64{1500, 1200, 2200},
		stored: []float64{1500, 2200, 3200},
	})
}

// TestSendBufferSegments: lane 0 sends 1000 bytes in segments of 250, lane 1 200 to the same rank
// at once: 0…250, lane 1 …450, …700, …950, …1200. Byte 500 leaves at 700, byte 600 at 700 + 100.
func TestSendBufferSegments(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		n := 10 - 8*l.Index
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(n))
		} else {
			l.Recv(0, l.Out(0).Blocks(n))
		}
	})
	for _, tt := range []struct {
		buffer unit.Bytes
		ends   float64
	}{{500, 700}, {400, 800}} {
		env := meshOf(t, 2)
		env.Device.SendBuffer, env.Segment = tt.buffer, 250
		check(t, s, env, want{fifo: []float64{tt.ends, 0, 1300, 550}})
	}
}

// TestSendBufferSlots: a message in the buffer has its slot. With one slot, and messages of 100
// bytes, rank 1 ends each step when its message is there, 200 after it was sent; so that is the
// pace.
func TestSendBufferSlots(t *testing.T) {
	s := script(t, 2, 1, to(1, 1, 1, 1))
	env := meshOf(t, 2)
	env.Device.SendBuffer, env.Slots = unit.MiB, 1
	ends := []float64{400, 600}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestSendBufferFlush: two puts of 1000 bytes are in the buffer at 0, and have left at 2000, when
// the flush ends.
func TestSendBufferFlush(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		for i := range 2 {
			if l.Rank == 0 {
				l.Put(1, l.Out(i*10).Blocks(10), l.In(i*10).Blocks(10))
			} else {
				l.WaitPut(0)
			}
		}
		if l.Rank == 0 {
			l.Flush()
		}
	})
	env := meshOf(t, 2)
	env.Device.SendBuffer = unit.MiB
	ends := []float64{2000, 2100}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestSendBufferSignal: a silent put of 1000 bytes is in the buffer at 0; the signal behind it sets
// out when it has left, and the lane has long gone on.
func TestSendBufferSignal(t *testing.T) {
	s := written(t, 2, `
rank 0
  lane 0
    put in[0 x10] to 1 at out[0 x10] silent @0
    signal to 1 @0
rank 1
  lane 0
    wait from 0 @0`)
	env := meshOf(t, 2)
	env.Device.SendBuffer = unit.MiB
	ends := []float64{0, 1100}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestSendBufferCritical: with a buffer of 500, rank 0 sends 1000 bytes to rank 1, then 100 to rank
// 2 at 500, there at 700: the end, 1100, is the first message's. With 2000 to rank 2 it is the
// second's, and its step had to wait for the buffer: 500 bytes over the link to rank 1.
func TestSendBufferCritical(t *testing.T) {
	s := script(t, 3, 1, func(l *schedule.Lane) {
		switch l.Rank {
		case 0:
			l.Send(1, l.In(0).Blocks(10))
			l.Send(2, l.In(0).Blocks(20))
		case 1:
			l.Recv(0, l.Out(0).Blocks(10))
		default:
			l.Recv(0, l.Out(0).Blocks(20))
		}
	})
	env := meshOf(t, 3)
	env.Device.SendBuffer = 500
	for _, sharing := range []Sharing{Fluid, FIFO} {
		env.Sharing = sharing
		r, err := Run(s, env, Options{Critical: true})
		require.NoError(t, err)
		to1, to2 := linkOf(env, "gpu0->gpu1"), linkOf(env, "gpu0->gpu2")
		require.Equal(t, []Piece{
			{What: SendBuffer, Link: to1, To: 500 * ns},
			{What: Transfer, Link: to2, Step: 1, From: 500 * ns, To: 2500 * ns},
			{What: Latency, Link: to2, Step: 1, From: 2500 * ns, To: 2600 * ns},
		}, r.Critical)
	}
}

// linkOf is the index of the link of that name.
func linkOf(env Env, name string) int32 {
	for i := range env.Graph.Links() {
		if env.Graph.Links()[i].Name == name {
			return int32(i)
		}
	}
	return -1
}

// TestAheadBySize: with figures by size, the buffer holds what crosses the links: 100 bytes are
// 200 there, so that with a buffer of 150 the step ends at 50. A message of 200 that is asked for
// has its own 1000 ns more, the request and the answer none: 200, sent …400, there at
// 400 + 100 + 1000.
func TestAheadBySize(t *testing.T) {
	env := bySize(t)
	env.Device.SendBuffer = 150
	ends := []float64{50, 200 + 100 + 50}
	check(t, script(t, 2, 1, to(1, 1)), env, want{fluid: ends, fifo: ends, stored: ends})
	env.Device.SendBuffer, env.Device.EagerLimit = 0, 150
	ends = []float64{400, 1500}
	check(t, script(t, 2, 1, to(2, 1)), env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestSendBufferTwice: one step puts the same 1000 bytes into two places of rank 1, silently; both
// are of one stream. It ends when all but 500 of both have left, at 1500; with a buffer of 1500,
// when 500 have. The signal behind both is there at 2100.
func TestSendBufferTwice(t *testing.T) {
	s := written(t, 2, `
rank 0
  lane 0
    put in[0 x10] to 1 at out[0 x10] silent, 1 at out[20 x10] silent @0
    signal to 1 @0
rank 1
  lane 0
    wait from 0 @0`)
	for _, tt := range []struct {
		buffer unit.Bytes
		ends   float64
	}{{500, 1500}, {1500, 500}, {unit.MiB, 0}} {
		env := meshOf(t, 2)
		env.Device.SendBuffer = tt.buffer
		all := []float64{tt.ends, 2100}
		check(t, s, env, want{fluid: all, fifo: all, stored: all})
	}
}
