package sim

import (
	"testing"

	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestOffload: the device takes a send over at κ = 2 GB/s, 500 ns for 1000 bytes, and keeps at most
// 2. Rank 0 posts 4 to rank 1, over a link of 1 GB/s.
//
//	fifo   1: 0…500, on the wire …1000. 2: 500…1000, …2000. 3: a place is free at 1000: …1500, …3000.
//	       4: the place of 2, at 2000: …2500, wire …4000, there at 4100.
//	fluid  the same: messages of a connection leave one after the other.
func TestOffload(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		for i := range 4 {
			if l.Rank == 0 {
				l.Send(1, l.In(i*10).Blocks(10))
			} else {
				l.Recv(0, l.Out(i*10).Blocks(10))
			}
		}
	})
	env := meshOf(t, 2)
	env.Device.Offload, env.Device.Queue, env.Device.LaneRate = true, 2, 2*gbs
	check(t, s, env, want{
		fluid:  []float64{2500, 4100},
		fifo:   []float64{2500, 4100},
		stored: []float64{2500, 4100},
	})
}

// TestOffloadSlowly: κ = 0.5 GB/s is slower than the link: a post is taken over in 2000 ns,
// whatever the link does. Two lanes post 1000 bytes each at 0: lane 1's begins on the link at 1000
// and has been taken over at 2000, so that its last byte is on the wire then, and there at 2100.
// Without offloading it would leave at its own pace: 1000 + 2000, there at 3100.
func TestOffloadSlowly(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(10))
		} else {
			l.Recv(0, l.Out(10*l.Index).Blocks(10))
		}
	})
	env := meshOf(t, 2)
	env.Device.LaneRate = gbs / 2
	check(t, s, env, want{
		fluid: []float64{2000, 2000, 2100, 2100}, fifo: []float64{2000, 3000, 2100, 3100},
	})
	env.Device.Offload, env.Device.Queue = true, 1
	check(t, s, env, want{
		fluid: []float64{2000, 2000, 2100, 2100}, fifo: []float64{2000, 2000, 2100, 2100},
	})
}

// TestOffloadFlush: with κ unlimited and a queue of 2, two puts of 1000 bytes are handed over at
// once and have left at 2000, when the flush ends. A third put goes at 2000 and has left at 3000:
// only then are there places for a step with two peers, whose messages have left at 4000, when the
// last flush ends.
func TestOffloadFlush(t *testing.T) {
	s := script(t, 3, 1, func(l *schedule.Lane) {
		switch l.Rank {
		case 0:
			for i := range 3 {
				l.Put(1, l.Out(i*10).Blocks(10), l.In(i*10).Blocks(10))
				if i == 1 {
					l.Flush()
				}
			}
			l.Combine(nil, []int{1, 2}, l.Local(l.In(0).Blocks(10)))
			l.Flush()
		case 1:
			for range 3 {
				l.WaitPut(0)
			}
			l.Recv(0, l.Out(50).Blocks(10))
		case 2:
			l.Recv(0, l.Out(50).Blocks(10))
		}
	})
	env := meshOf(t, 3)
	env.Device.Offload, env.Device.Queue = true, 2
	check(t, s, env, want{
		fifo:   []float64{4000, 4100, 4100},
		stored: []float64{4000, 4100, 4100},
		// The two puts share the link: both have left at 2000, and so has the rest.
		fluid: []float64{4000, 4100, 4100},
	})
	// A queue of 1 is emptied before a step with two peers, too.
	env.Device.Queue = 1
	ends := []float64{4000, 4100, 4100}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestPace: a lane of κ = 1 GB/s sends 1000 bytes to two ranks in one step, each at 0.5 GB/s over
// its own link of 1 GB/s: it ends at 2000, the messages are there at 2100. Under FIFO each link is
// taken for 1000 only: lane 1's 1000 bytes to rank 2, of their own pace, go 1000…2000. Under fluid
// sharing they have the 0.5 GB/s that are left until 2000 and are drained then.
func TestPace(t *testing.T) {
	s := script(t, 3, 2, func(l *schedule.Lane) {
		switch {
		case l.Rank == 0 && l.Index == 0:
			l.Combine(nil, []int{1, 2}, l.Local(l.In(0).Blocks(10)))
		case l.Rank == 0:
			l.Send(2, l.In(0).Blocks(10))
		case l.Index == 0 || l.Rank == 2:
			l.Recv(0, l.Out(10*l.Index).Blocks(10))
		}
	})
	env := meshOf(t, 3)
	env.Device.LaneRate = gbs
	ends := []float64{2000, 2000, 2100, 0, 2100, 2100}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestPaceOverTwoLinks: what comes slowly is not made faster: 1000 bytes at κ = 0.5 GB/s over two
// links of 1 GB/s. The tail leaves the first at 2000 and is there at 2200; stored, the second link
// begins when all has come, at 2100, and takes 1000.
func TestPaceOverTwoLinks(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(10))
		} else {
			l.Recv(0, l.Out(0).Blocks(10))
		}
	})
	env := simtest.OnSwitch(t, 2, gbs, 100*ns)
	env.Device.LaneRate = gbs / 2
	check(t, s, env, want{
		fluid: []float64{2000, 2200}, fifo: []float64{2000, 2200}, stored: []float64{2000, 3200},
	})
}

// TestCosts: o = 100 ns, 1/γ = 2 GB/s, copies at 4 GB/s; rank 1 is half as slow again and begins at
// 50.
//
//	rank 0  copies 1000 bytes: 100 + 250 = 350; sends them: D = 450, …1450, there at 1550
//	rank 1  adds them and a second local operand, three sources in all: S = 1550, then
//	        1.5·(100 + 2·1000/2) = 1650: 3200; adds two local operands: 1.5·(100 + 500 + 250) = 1275
func TestCosts(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		a, b := l.In(0).Blocks(10), l.In(10).Blocks(10)
		if l.Rank == 0 {
			l.Copy(l.Out(0).Blocks(10), a)
			l.Send(1, a)
			return
		}
		into := []schedule.Region{l.Out(0).Blocks(10)}
		l.Combine(into, nil, l.From(0), l.Local(a), l.Local(b))
		l.Combine(into, nil, l.Local(a), l.Local(b))
	})
	env := meshOf(t, 2)
	env.Device.Overhead, env.Device.ReduceRate, env.Device.CopyRate = 100*ns, 2*gbs, 4*gbs
	env.Slowdown = []unit.Share{1_000_000, 1_500_000}
	env.Start = []unit.Time{0, 50 * ns}
	ends := []float64{1450, 4475}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestEventsAhead: what a lane has posted by the time that another asks does not matter, only when
// it posted what is awaited. Lane 2 copies 100, 200 and 300 bytes at 1 GB/s: 100, 300, 600. Lane 0
// awaits its second post, lane 1 its first.
func TestEventsAhead(t *testing.T) {
	s := script(t, 2, 3, func(l *schedule.Lane) {
		switch {
		case l.Rank == 0 && l.Index == 2:
			for i := 1; i <= 3; i++ {
				l.Copy(l.Out(10*i).Blocks(i), l.In(0).Blocks(i))
				l.Post()
			}
		case l.Rank == 0:
			l.After(2, 2-l.Index)
			l.Copy(l.Out(l.Index), l.In(0))
		}
	})
	env := meshOf(t, 2)
	env.Device.CopyRate = gbs
	ends := []float64{400, 200, 600, 0, 0, 0}
	check(t, s, env, want{fluid: ends, fifo: ends, stored: ends})
}

// TestSlowPace: a slowdown of 3 makes κ = 1 GB/s a third of it. Under FIFO 1000 bytes take 3000 ns
// to the picosecond; a flow has ⌊2²⁰·10⁹/3⌋ units of rate and takes a picosecond longer.
func TestSlowPace(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(10))
		} else {
			l.Recv(0, l.Out(0).Blocks(10))
		}
	})
	env := meshOf(t, 2)
	env.Device.LaneRate = gbs
	env.Slowdown = []unit.Share{3_000_000, 1_000_000}
	check(t, s, env, want{
		fluid: []float64{3000.001, 3100.001},
		fifo:  []float64{3000, 3100}, stored: []float64{3000, 3100},
	})
}

// TestUnlimited: links without limit cost their latency alone, and pace is all that holds a lane.
func TestUnlimited(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(10))
		} else {
			l.Recv(0, l.Out(0).Blocks(10))
		}
	})
	env := wires(t, "gpu0->a unlimited, 30 ns", "a->gpu1 unlimited, 70 ns", "gpu1->gpu0")
	check(t, s, env, want{
		fluid: []float64{0, 100}, fifo: []float64{0, 100}, stored: []float64{0, 100},
	})
	env.Device.LaneRate = gbs
	check(t, s, env, want{
		fluid: []float64{1000, 1100}, fifo: []float64{1000, 1100}, stored: []float64{1000, 1100},
	})
}
