package sim

import (
	"testing"

	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestTieLocalFirst: rank 0's 1000 bytes for rank 2 pass rank 1 at 100, just when lane 1 of rank 1
// sends as much to rank 2: what starts at a node goes before its wires, whatever its lane.
//
//	fifo    1: 100…1100, there at 1200. 0: 1100…2100, there at 2200.
//	stored  0 comes at 1100, when 1 has just been carried: the same
//	fluid   0 has the last link for itself until 100, then they share: 0 is drained at 1900 (900 left
//	        at 100), there at 2100; 1 then has 100 left: 2000, there at 2100
func TestTieLocalFirst(t *testing.T) {
	s := script(t, 3, 2, func(l *schedule.Lane) {
		switch {
		case l.Rank < 2 && l.Index == l.Rank:
			l.Send(2, l.In(0).Blocks(10))
		case l.Rank == 2:
			l.Recv(l.Index, l.Out(10*l.Index).Blocks(10))
		}
	})
	env := wires(t, "gpu0->gpu1", "gpu1->gpu2", "gpu2->gpu0")
	env.Start = []unit.Time{0, 100 * ns, 0}
	check(t, s, env, want{
		fluid:  []float64{1900, 0, 100, 2000, 2100, 2100},
		fifo:   []float64{1000, 0, 100, 1100, 2200, 1200},
		stored: []float64{1000, 0, 100, 1100, 2200, 1200},
	})
}

// TestTieReply: a get's request comes to rank 1 at 200, just when lane 1 of rank 1 sends 1000
// bytes: the reply uses the port of the request, and so comes after what starts there.
//
//	fifo    send 200…1200; the data 1200…2200, there at 2400
//	stored  the data is at the switch at 2300 and there at 3400
//	fluid   0.5 GB/s each, to different ranks: both drained at 2200, the data there at 2400
func TestTieReply(t *testing.T) {
	s := script(t, 3, 2, func(l *schedule.Lane) {
		switch {
		case l.Rank == 0 && l.Index == 0:
			l.Combine([]schedule.Region{l.Out(0).Blocks(10)}, nil, l.Get(1, l.In(0).Blocks(10)))
		case l.Rank == 1 && l.Index == 1:
			l.Send(2, l.In(0).Blocks(10))
		case l.Rank == 2 && l.Index == 1:
			l.Recv(1, l.Out(0).Blocks(10))
		}
	})
	env := simtest.OnSwitch(t, 3, gbs, 100*ns)
	env.Start = []unit.Time{0, 200 * ns, 0}
	check(t, s, env, want{
		fluid:  []float64{2400, 0, 200, 2200, 0, 2400},
		fifo:   []float64{2400, 0, 200, 1200, 0, 1400},
		stored: []float64{3400, 0, 200, 1200, 0, 2400},
	})
}

// TestTieWaves: at 100, rank 0 (port 0 of the switch, over a link without latency) and rank 1 (port
// 1, a message on its way since 0) reach the down-link. Rank 0's request follows from a service at
// 100 and so is of the second wave: rank 1 goes first, though its port is higher.
//
//	fifo    1: 100…1100, there at 1200. 0: 1100…2100, there at 2200.
//	stored  both come at 1100, when they have been carried since 100 and 0: both are of wave 0, so
//	        the port decides. 0: 1100…2100, there at 2200. 1: …3100, there at 3200.
//	fluid   1 has the down-link for itself until 100, then they share: 1 has 900 left and is drained
//	        at 1900, there at 2100; 0 then has 100 left: 2000, there at 2100
func TestTieWaves(t *testing.T) {
	s := script(t, 3, 2, func(l *schedule.Lane) {
		switch {
		case l.Rank < 2 && l.Index == 0:
			l.Facing(l.Rank)
			l.Send(2, l.In(0).Blocks(10))
		case l.Rank == 2:
			l.Facing(0)
			l.Recv(l.Index, l.Out(l.Index*10).Blocks(10))
		}
	})
	env := wires(t, "gpu0->a 1 GB/s, 0 s", "gpu1->a", "a->gpu2", "gpu2->gpu0", "gpu2->gpu1")
	env.Start = []unit.Time{100 * ns, 0, 0}
	check(t, s, env, want{
		fluid:  []float64{2000, 100, 1900, 0, 2100, 2100},
		fifo:   []float64{1100, 100, 1000, 0, 2200, 1200},
		stored: []float64{1100, 100, 1000, 0, 2200, 3200},
	})
}

// TestTieChain: without any latency, an empty message and what follows from it happen at one time.
// Rank 0 signals rank 1, which thereupon sends 1000 bytes to rank 2 over the switch, at 0 but in a
// later wave than rank 3's 1000 bytes, whose port is higher.
//
//	fifo    the signal is of wave 0 on the up-link and of wave 1 on the down-link; rank 1's send is
//	        of wave 2, and of wave 3 on the down-link of rank 2. Rank 3's is of waves 0 and 1, and so
//	        goes first: 0…1000, and rank 1's 1000…2000.
//	stored  both come to the down-link at 1000, in wave 0: the ports decide. 1: …2000, 3: …3000.
func TestTieChain(t *testing.T) {
	s := script(t, 4, 4, func(l *schedule.Lane) {
		l.Facing(0)
		switch {
		case l.Rank == 2 && l.Index%2 == 1:
			l.Recv(l.Index, l.Out(10*l.Index).Blocks(10))
		case l.Index > 0:
		case l.Rank == 0:
			l.Signal(1)
		case l.Rank == 1:
			l.Wait(0)
			l.Facing(1)
			l.Send(2, l.In(0).Blocks(10))
		case l.Rank == 3:
			l.Facing(3)
			l.Send(2, l.In(0).Blocks(10))
		}
	})
	env := simtest.OnSwitch(t, 4, gbs, 0)
	check(t, s, env, want{
		fluid:  []float64{0, 0, 0, 0, 2000, 0, 0, 0, 0, 2000, 0, 2000, 2000, 0, 0, 0},
		fifo:   []float64{0, 0, 0, 0, 1000, 0, 0, 0, 0, 2000, 0, 1000, 1000, 0, 0, 0},
		stored: []float64{0, 0, 0, 0, 1000, 0, 0, 0, 0, 2000, 0, 3000, 1000, 0, 0, 0},
	})
}

// TestTieBusy: what a link serves when it gets free, later than it was asked, begins afresh: it
// does not follow from a service of that time. No latency; rank 0 sends rank 4 1000 bytes and then
// signals, which waits for the link until 1000. At 1000 rank 3 signals rank 1. Who is signalled
// sends 1000 bytes to rank 2.
//
//	rank 4  the signal is served by the up-link at 1000, having asked at 0: then it asks the
//	        down-link in wave 0, is there in wave 1, and rank 4 asks for links in waves 1 and 2
//	rank 1  the signal is of waves 0 and 1, and rank 1 asks for links in waves 2 and 3
//
// So rank 4 goes first, 1000…2000, though its port is higher, and rank 1 2000…3000.
func TestTieBusy(t *testing.T) {
	s := script(t, 5, 2, func(l *schedule.Lane) {
		switch {
		case l.Rank == 0 && l.Index == 0:
			l.Send(4, l.In(0).Blocks(10))
		case l.Rank == 4 && l.Index == 0:
			l.Recv(0, l.Out(0).Blocks(10))
		case l.Rank == 0:
			l.Signal(4)
		case l.Rank == 3 && l.Index == 0:
			l.Signal(1)
		case l.Rank == 4:
			l.Wait(0)
			l.Send(2, l.In(0).Blocks(10))
		case l.Rank == 1 && l.Index == 0:
			l.Wait(3)
			l.Send(2, l.In(0).Blocks(10))
		case l.Rank == 2:
			l.Recv(1+3*l.Index, l.Out(10*l.Index).Blocks(10))
		}
	})
	env := simtest.OnSwitch(t, 5, gbs, 0)
	env.Start = []unit.Time{0, 0, 0, 1000 * ns, 0}
	check(t, s, env, want{
		fifo: []float64{1000, 1000, 2000, 0, 3000, 2000, 1000, 1000, 1000, 2000},
	})
}

// TestTieOrderOfLeaving: two messages of a lane that come by the same port at the same time keep
// their order. Rank 0's one step sends 500 bytes to ranks 1 and 2 over one up-link.
//
//	fifo    1: up 0…500, down from 100: there at 700. 2: up 500…1000, down from 600, there at 1200.
//	        The step ends when both have left, at 1000.
//	fluid   0.5 GB/s each: 1000, there at 1200
//	stored  1: down 600…1100, there at 1200; 2: down 1100…1600, there at 1700
func TestTieOrderOfLeaving(t *testing.T) {
	s := script(t, 3, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Combine(nil, []int{1, 2}, l.Local(l.In(0).Blocks(5)))
			return
		}
		l.Recv(0, l.Out(0).Blocks(5))
	})
	check(t, s, simtest.OnSwitch(t, 3, gbs, 100*ns), want{
		fluid:  []float64{1000, 1200, 1200},
		fifo:   []float64{1000, 700, 1200},
		stored: []float64{1000, 1200, 1700},
	})
}
