package sim

import (
	"testing"

	"collsim/schedule"
	"collsim/sim/simtest"
)

// All links carry 1 GB/s, 1000 bytes in 1000 ns, and take 100 ns, unless a test says otherwise.

// TestTwoSenders: ranks 0 and 1 send 1000 bytes each to rank 2, over a switch.
//
//	fluid   the down-link gives each 0.5 GB/s: drained at 2000, there 200 later
//	fifo    both heads reach the down-link at 100; the port of rank 0 goes first.
//	        0: carried 100…1100, there at 1200. 1: carried 1100…2100, there at 2200.
//	        A busy link further on does not hold a lane: both end at 1000.
//	stored  both reach the down-link at 1000 + 100: carried …2100 and …3100, there 100 later
func TestTwoSenders(t *testing.T) {
	s := script(t, 3, 1, func(l *schedule.Lane) {
		if l.Rank < 2 {
			l.Send(2, l.In(0).Blocks(10))
			return
		}
		l.Recv(0, l.Out(0).Blocks(10))
		l.Recv(1, l.Out(10).Blocks(10))
	})
	check(t, s, simtest.OnSwitch(t, 3, gbs, 100*ns), want{
		fluid:  []float64{2000, 2000, 2200},
		fifo:   []float64{1000, 1000, 2200},
		stored: []float64{1000, 1000, 3200},
	})
}

// TestGather: ranks 1, 2 and 3 send 1000 bytes each to rank 0, over a switch.
//
//	fluid   each has ⌊10⁹·2²⁰/3⌋ units of 2⁻²⁰ B/s, a third of a unit less than its third: at 3000 ns
//	        it lacks 3·10⁻⁹ ps of work, and so is drained a picosecond later, and there 200 ns later
//	fifo    as above, carried one after the other from 100 on: the last is there at 3100 + 100
//	stored  carried from 1100 on: the last is there at 4100 + 100
func TestGather(t *testing.T) {
	s := script(t, 4, 1, func(l *schedule.Lane) {
		if l.Rank > 0 {
			l.Send(0, l.In(0).Blocks(10))
			return
		}
		for from := 1; from < 4; from++ {
			l.Recv(from, l.Out(from*10).Blocks(10))
		}
	})
	check(t, s, simtest.OnSwitch(t, 4, gbs, 100*ns), want{
		fluid:  []float64{3200.001, 3000.001, 3000.001, 3000.001},
		fifo:   []float64{3200, 1000, 1000, 1000},
		stored: []float64{4200, 1000, 1000, 1000},
	})
}

// TestSlowFirstLink: rank 0 sends 1000 bytes over a first link of 0.5 GB/s, rank 2 over a fast one;
// both go on over the same link.
//
//	fluid   both have 0.5 GB/s, the first for its link, the second for what the first leaves it:
//	        drained at 2000, there at 2200
//	fifo    0: leaves at 2000; the second link owes it 100…1100, but its last byte comes over the
//	        first at 2000 + 100: tail = max(1100, 2100), there at 2200.
//	        2: carried 1100…2100, there at 2200.
//	stored  2: at the second link at 1100, carried …2100, there at 2200.
//	        0: at the second link at 2100, carried …3100, there at 3200.
func TestSlowFirstLink(t *testing.T) {
	s := script(t, 3, 1, func(l *schedule.Lane) {
		if l.Rank != 1 {
			l.Send(1, l.In(0).Blocks(10))
			return
		}
		l.Recv(0, l.Out(0).Blocks(10))
		l.Recv(2, l.Out(10).Blocks(10))
	})
	env := wires(t, "gpu0->a 0.5 GB/s", "gpu2->a", "a->gpu1", "gpu1->a", "a->gpu0", "a->gpu2")
	check(t, s, env, want{
		fluid:  []float64{2000, 2200, 2000},
		fifo:   []float64{2000, 2200, 1000},
		stored: []float64{2000, 3200, 1000},
	})
}

// TestSlowMiddleLink: rank 0 sends 1000 bytes twice, over links of 1, 0.25 and 1 GB/s and 10 ns.
// The slow link holds the lane: a step ends when its last byte has left, at the pace of the
// slowest.
//
//	fluid   0.25 GB/s: drained at 4000 and 8000, there 30 later
//	fifo    first: leaves at 4000; at the slow link 10…4010; at the last link from 20 on, tail
//	        max(1020, 4010 + 10), there at 4030. second: from 4000 on, the slow link is free at 4010,
//	        when it comes: 4010…8010, there at 8030.
//	stored  first: at the slow link 1010…5010, at the last 5020…6020, there at 6030.
//	        second: from 4000 on, at the slow link at 5010, …9010, at the last 9020…10020.
func TestSlowMiddleLink(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		for i := range 2 {
			if l.Rank == 0 {
				l.Send(1, l.In(i*10).Blocks(10))
			} else {
				l.Recv(0, l.Out(i*10).Blocks(10))
			}
		}
	})
	env := wires(t, "gpu0->a 1 GB/s, 10 ns", "a->b 0.25 GB/s, 10 ns", "b->gpu1 1 GB/s, 10 ns",
		"gpu1->gpu0")
	check(t, s, env, want{
		fluid:  []float64{8000, 8030},
		fifo:   []float64{8000, 8030},
		stored: []float64{8000, 10030},
	})
}

// TestChannels: two lanes of rank 0 send 1000 and 500 bytes to rank 1 over one link, at once.
//
//	fluid   0.5 GB/s each until the shorter is drained, at 1000; the longer has 500 left: 1500
//	fifo    lane 0 first: …1000, then lane 1: …1500. With a single link, stored is the same.
func TestChannels(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		n := 10 - 5*l.Index
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(n))
		} else {
			l.Recv(0, l.Out(0).Blocks(n))
		}
	})
	check(t, s, wires(t, "gpu0->gpu1", "gpu1->gpu0"), want{
		fluid:  []float64{1500, 1000, 1600, 1100},
		fifo:   []float64{1000, 1500, 1100, 1600},
		stored: []float64{1000, 1500, 1100, 1600},
	})
}

// TestThreeOnTwo is the textbook case of max-min fairness: of three flows of 1000 bytes, the first
// takes both links (1 and 2 GB/s), the second the narrow one, the third the wide one.
//
//	narrow: first = second = 0.5; wide: third = 2 − 0.5 = 1.5, drained at 666.667 (⌈1000/1.5⌉ in
//	picoseconds). The other two are drained at 2000, whatever the third leaves.
func TestThreeOnTwo(t *testing.T) {
	s := script(t, 5, 1, func(l *schedule.Lane) {
		for _, pair := range [][2]int{{0, 4}, {1, 3}, {2, 4}} {
			if l.Rank == pair[0] {
				l.Send(pair[1], l.In(0).Blocks(10))
			} else if l.Rank == pair[1] && pair[0] != 0 {
				l.Recv(pair[0], l.Out(0).Blocks(10))
			}
		}
		if l.Rank == 4 {
			l.Recv(0, l.Out(10).Blocks(10))
		}
	})
	fast := " 100 GB/s, 100 ns"
	env := wires(t, "gpu0->a"+fast, "gpu1->a"+fast, "a->b", "b->gpu3"+fast, "b->c 2 GB/s, 100 ns",
		"gpu2->b"+fast, "c->gpu4"+fast,
		"gpu3->gpu0", "gpu4->gpu0", "a->gpu1", "gpu3->gpu2")
	check(t, s, env, want{fluid: []float64{2000, 2000, 666.667, 2300, 2400}})
}
