package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// meshOf is a full mesh of 1 GB/s and 100 ns.
func meshOf(t testing.TB, ranks int) Env {
	t.Helper()
	g, err := topology.FullMesh(ranks, gbs, 100*ns)
	require.NoError(t, err)
	env := simtest.OnSwitch(t, ranks, gbs, 0)
	env.Graph = g
	return env
}

// TestSlowForwarder: rank 0 sends 20 messages of 100 bytes to rank 1 at 1 GB/s, which passes each
// on to rank 2 at 0.5 GB/s, without latency. Message i (from 1) is there at 100 at the earliest,
// and passed on at 100 + 200·i: rank 1 ends at 4100, and rank 2 with it.
//
//	unlimited  rank 0 ends at 20·100
//	2 slots    message i needs the slot of i − 2, free at 100 + 200·(i − 2), and ends 100 later:
//	           200·i − 200; the last at 3800
//	8 slots    the first 12 go without waiting (the slot of 12 − 8 = 4 is free at 900, before 1100);
//	           message 20 needs that of 12, free at 2500: 2600
//	λ = 50 ns  each slot is seen free 50 later: with 2, the last at 3850
func TestSlowForwarder(t *testing.T) {
	s := script(t, 3, 1, func(l *schedule.Lane) {
		for i := range 20 {
			switch l.Rank {
			case 0:
				l.Send(1, l.In(i))
			case 1:
				l.CopySend(0, 2, l.Out(i))
			default:
				l.Recv(1, l.Out(i))
			}
		}
	})
	env := wires(t, "gpu0->gpu1 1 GB/s, 0 s", "gpu1->gpu2 0.5 GB/s, 0 s", "gpu2->gpu0")
	for _, tt := range []struct {
		slots  int
		lambda unit.Time
		sender float64
	}{{0, 0, 2000}, {2, 0, 3800}, {8, 0, 2600}, {2, 50 * ns, 3850}} {
		env.Slots, env.Device.SlotLatency = tt.slots, tt.lambda
		ends := []float64{tt.sender, 4100, 4100}
		check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
	}
}

// TestSegments: lane 0 of rank 0 sends 1000 bytes, lane 1 200 bytes, over one link, at once.
//
//	whole     0: …1000. 1: 1000…1200.
//	segments  of 250: the first …250; then the second asks, but lane 1 has asked at 0: 250…450. The
//	          others 450…700…950…1200.
//	of 300    …300, lane 1 …500, then 300, 300 and the last 100: …1200
func TestSegments(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		n := 10 - 8*l.Index
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(n))
		} else {
			l.Recv(0, l.Out(0).Blocks(n))
		}
	})
	env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
	for _, tt := range []struct {
		segment     unit.Bytes
		zero, other float64
	}{{0, 1000, 1200}, {250, 1200, 450}, {300, 1200, 500}, {1000, 1000, 1200}} {
		env.Segment = tt.segment
		ends := []float64{tt.zero, tt.other, tt.zero + 100, tt.other + 100}
		check(t, s, env, want{fifo: ends, stored: ends})
	}
}

// TestSegmentsTelescope: 1000 bytes in segments of 7 take on a link of 3 GB/s what the whole takes,
// ⌈1000/3⌉ ns in picoseconds, over two links: the last segment, of 6 bytes, is there latest.
//
//	fifo    its head leaves at ⌈994/3⌉ = 331.334, is at the second link 100 later, which then takes
//	        ⌈1000/3⌉ − ⌈994/3⌉ = 333.334 − 331.334 = 2: there at 433.334 + 100
//	stored  it has left at 333.334, begins at 433.334 or when the second link has carried the 142
//	        before it, the first of which came at 100 + ⌈7/3⌉ = 102.334: ⌈994/3⌉ later is 433.668.
//	        2 more and 100: 535.668
func TestSegmentsTelescope(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(10))
		} else {
			l.Recv(0, l.Out(0).Blocks(10))
		}
	})
	env := wires(t, "gpu0->a 3 GB/s, 100 ns", "a->gpu1 3 GB/s, 100 ns", "gpu1->gpu0")
	env.Segment = 7
	check(t, s, env, want{
		fifo:   []float64{333.334, 533.334},
		stored: []float64{333.334, 535.668},
	})
}

// TestSegmentsOfNoTime: 100 bytes a byte at a time, κ = 14 and b = 10 TB/s. Segments begin at
// ⌈o/10⌉ ps, the last two at 10 ps. The last but one needs ⌈99/14⌉ − ⌈98/14⌉ = 1 ps of the lane's
// pace and ends at 11; the last needs none and ends at 10. The message is there with its last. In
// segments of 7 the last are two bytes, which need ⌈100/14⌉ − ⌈98/14⌉ = 1 ps: 11.
func TestSegmentsOfNoTime(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0))
		} else {
			l.Recv(0, l.Out(0))
		}
	})
	env := wires(t, "gpu0->a 10 TB/s, 100 ns", "a->gpu1 10 TB/s, 100 ns", "gpu1->gpu0")
	env.Device.LaneRate = 14_000 * gbs
	for _, tt := range []struct {
		segment unit.Bytes
		there   float64
	}{{0, 200.010}, {1, 200.010}, {7, 200.011}} {
		env.Segment = tt.segment
		check(t, s, env, want{fifo: []float64{0.010, tt.there}})
	}
}

// TestGet: rank 0 gets 1000 bytes from rank 1, over a switch, while rank 1 sends 1000 to rank 2.
//
//	alone   200 for the request, 200 + 1000 for the data: 1400; stored 1000 more
//	fifo    the up-link of rank 1 is busy until 1000: the data goes …2000, there at 2200
//	stored  down from 2100, there at 3200
//	fluid   the send has 800 left at 200, when the data begins: 0.5 GB/s each, so it is drained at
//	        1800. The data then has 200 left: 2000, there at 2200.
func TestGet(t *testing.T) {
	get := func(busy bool) *schedule.Schedule {
		return script(t, 3, 1, func(l *schedule.Lane) {
			switch {
			case l.Rank == 0:
				l.Combine([]schedule.Region{l.Out(0).Blocks(10)}, nil, l.Get(1, l.In(0).Blocks(10)))
			case busy && l.Rank == 1:
				l.Send(2, l.In(0).Blocks(10))
			case busy:
				l.Recv(1, l.Out(0).Blocks(10))
			}
		})
	}
	env := simtest.OnSwitch(t, 3, gbs, 100*ns)
	check(t, get(false), env, want{
		fluid: []float64{1400, 0, 0}, fifo: []float64{1400, 0, 0}, stored: []float64{2400, 0, 0},
	})
	check(t, get(true), env, want{
		fluid:  []float64{2200, 1800, 2000},
		fifo:   []float64{2200, 1000, 1200},
		stored: []float64{2200 + 1000, 1000, 2200},
	})
}

// TestGetThenSend: a step that gets 1000 bytes and passes them on sends when it has them: asked at
// 0, there at 1200, sent …2200, there at 2300.
func TestGetThenSend(t *testing.T) {
	s := script(t, 3, 1, func(l *schedule.Lane) {
		switch l.Rank {
		case 0:
			l.Combine(nil, []int{2}, l.Get(1, l.In(0).Blocks(10)))
		case 2:
			l.Recv(0, l.Out(0).Blocks(10))
		}
	})
	ends := []float64{2200, 0, 2300}
	check(t, s, meshOf(t, 3), want{fluid: ends, fifo: ends, stored: ends})
}

// TestPads: rank 0 signals twice, rank 1 begins at 1000. The pad holds one signal: the second is
// set when the first wait has ended, at 1000, and seen at 1100.
func TestPads(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		for range 2 {
			if l.Rank == 0 {
				l.Signal(1)
			} else {
				l.Wait(0)
			}
		}
	})
	env := meshOf(t, 2)
	env.Start = []unit.Time{0, 1000 * ns}
	ends := []float64{1000, 1100}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestSignalBesideData: a signal of lane 1 goes the way of lane 0's 1000 bytes. Under FIFO it waits
// behind them and holds its lane; flows leave it alone.
func TestSignalBesideData(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		switch {
		case l.Rank == 0 && l.Index == 0:
			l.Send(1, l.In(0).Blocks(10))
		case l.Rank == 0:
			l.Signal(1)
		case l.Index == 0:
			l.Recv(0, l.Out(0).Blocks(10))
		default:
			l.Wait(0)
		}
	})
	check(t, s, meshOf(t, 2), want{
		fluid:  []float64{1000, 0, 1100, 100},
		fifo:   []float64{1000, 1000, 1100, 1100},
		stored: []float64{1000, 1000, 1100, 1100},
	})
}

// TestPuts: 20 puts of 100 bytes go out without waiting for anybody, 2000; rank 1, which begins
// at 5000, observes them at once.
func TestPuts(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		for i := range 20 {
			if l.Rank == 0 {
				l.Put(1, l.Out(i), l.In(i))
			} else {
				l.WaitPut(0)
			}
		}
	})
	env := meshOf(t, 2)
	env.Start = []unit.Time{0, 5000 * ns}
	ends := []float64{2000, 5000}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestEvents: lane 1 sends when lane 0 has posted twice: after its sends of 100 and 200 bytes, at
// 300, although lane 0 has sent another 300 bytes to another rank by the time it is asked. Lane 2
// awaits the first post only, and goes to a third rank: 100 + 100.
func TestEvents(t *testing.T) {
	s := script(t, 4, 3, func(l *schedule.Lane) {
		peer := l.Index + 1
		switch {
		case l.Rank == 0 && l.Index == 0:
			for i := 1; i <= 3; i++ {
				l.Send(1, l.In(0).Blocks(i))
				l.Post()
			}
		case l.Rank == 0:
			l.After(0, 3-l.Index)
			l.Send(peer, l.In(0))
		case l.Index == 0 && l.Rank == 1:
			for i := 1; i <= 3; i++ {
				l.Recv(0, l.Out(0).Blocks(i))
			}
		case l.Index == l.Rank-1:
			l.Recv(0, l.Out(0))
		}
	})
	ends := []float64{600, 400, 200, 700, 0, 0, 0, 500, 0, 0, 0, 300}
	check(t, s, meshOf(t, 4), want{fluid: ends, fifo: ends, stored: ends})
}
