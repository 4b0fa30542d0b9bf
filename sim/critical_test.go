package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/unit"
)

// path prints a critical path, a line a piece: what, on which link ("-": none), from when to when
// in nanoseconds, and whose step it is as rank.lane.step.
func path(env Env, pieces []Piece) []string {
	var lines []string
	for _, p := range pieces {
		link := "-"
		if p.Link >= 0 {
			link = env.Graph.Links()[p.Link].Name
		}
		lines = append(lines, fmt.Sprintf("%v %s %v-%v %d.%d.%d", p.What, link,
			float64(p.From)/1000, float64(p.To)/1000, p.Rank, p.Lane, p.Step))
	}
	return lines
}

// leads checks the critical path in the modes that are given, in the order of modes; nil: not.
func leads(t *testing.T, s *schedule.Schedule, env Env, expected ...[]string) {
	t.Helper()
	for i, lines := range expected {
		if lines == nil {
			continue
		}
		env.Sharing, env.Switching = modes[i].sharing, modes[i].switching
		r, err := Run(s, env, Options{Critical: true})
		require.NoError(t, err, modes[i].name)
		require.Equal(t, lines, path(env, r.Critical), modes[i].name)
	}
}

// TestCriticalContention: TestTwoSenders. Under fluid sharing both come at 2200, and rank 0's is
// received first; each needs 1000 alone and loses 1000 at the down-link. Under FIFO rank 1's waits
// there, and is carried there; stored, it is carried twice.
func TestCriticalContention(t *testing.T) {
	s := script(t, 3, 1, func(l *schedule.Lane) {
		if l.Rank < 2 {
			l.Send(2, l.In(0).Blocks(10))
			return
		}
		l.Recv(0, l.Out(0).Blocks(10))
		l.Recv(1, l.Out(10).Blocks(10))
	})
	leads(t, s, simtest.OnSwitch(t, 3, gbs, 100*ns), []string{
		"contention switch->gpu2 0-1000 0.0.0",
		"transfer gpu0->switch 1000-2000 0.0.0",
		"latency gpu0->switch 2000-2100 0.0.0",
		"latency switch->gpu2 2100-2200 0.0.0",
	}, []string{
		"latency gpu1->switch 0-100 1.0.0",
		"contention switch->gpu2 100-1100 1.0.0",
		"transfer switch->gpu2 1100-2100 1.0.0",
		"latency switch->gpu2 2100-2200 1.0.0",
	}, []string{
		"transfer gpu1->switch 0-1000 1.0.0",
		"latency gpu1->switch 1000-1100 1.0.0",
		"contention switch->gpu2 1100-2100 1.0.0",
		"transfer switch->gpu2 2100-3100 1.0.0",
		"latency switch->gpu2 3100-3200 1.0.0",
	})
}

// TestCriticalSlowLink: TestSlowMiddleLink. The slow link holds the lane of the first message, and
// carries the second.
func TestCriticalSlowLink(t *testing.T) {
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
	leads(t, s, env, []string{
		"transfer a->b 0-4000 0.0.0",
		"transfer a->b 4000-8000 0.0.1",
		"latency gpu0->a 8000-8010 0.0.1",
		"latency a->b 8010-8020 0.0.1",
		"latency b->gpu1 8020-8030 0.0.1",
	}, []string{
		"transfer a->b 0-4000 0.0.0",
		"latency gpu0->a 4000-4010 0.0.1",
		"transfer a->b 4010-8010 0.0.1",
		"latency a->b 8010-8020 0.0.1",
		"latency b->gpu1 8020-8030 0.0.1",
	}, []string{
		"transfer a->b 0-4000 0.0.0",
		"transfer gpu0->a 4000-5000 0.0.1",
		"latency gpu0->a 5000-5010 0.0.1",
		"transfer a->b 5010-9010 0.0.1",
		"latency a->b 9010-9020 0.0.1",
		"transfer b->gpu1 9020-10020 0.0.1",
		"latency b->gpu1 10020-10030 0.0.1",
	})
}

// TestCriticalSegments: TestSegments, of 250 bytes. Lane 1's 200 bytes come between the first
// segment and the second.
func TestCriticalSegments(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		n := 10 - 8*l.Index
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(n))
		} else {
			l.Recv(0, l.Out(0).Blocks(n))
		}
	})
	env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
	env.Segment = 250
	lines := []string{
		"transfer gpu0->gpu1 0-250 0.0.0",
		"contention gpu0->gpu1 250-450 0.0.0",
		"transfer gpu0->gpu1 450-1200 0.0.0",
		"latency gpu0->gpu1 1200-1300 0.0.0",
	}
	leads(t, s, env, nil, lines, lines)
}

// TestCriticalLimits: rank 0 sends 1000 bytes to rank 2 and 500 to rank 3, at once; rank 1 sends
// 1000 to rank 2 from 1000 on; rank 2 then copies what rank 0 sent, in 1000. Under fluid sharing
// that has half of the up-link until the 500 are drained, at 1000, and then half of the down-link
// until 2000: each costs it 500.
func TestCriticalLimits(t *testing.T) {
	s, env := limitsCase(t)
	leads(t, s, env, []string{
		"contention gpu0->switch 0-500 0.0.0",
		"contention switch->gpu2 500-1000 0.0.0",
		"transfer gpu0->switch 1000-2000 0.0.0",
		"latency gpu0->switch 2000-2100 0.0.0",
		"latency switch->gpu2 2100-2200 0.0.0",
		"copy - 2200-3200 2.0.1",
	})
}

func limitsCase(t testing.TB) (*schedule.Schedule, Env) {
	s := script(t, 4, 2, func(l *schedule.Lane) {
		switch {
		case l.Rank == 0:
			l.Send(2+l.Index, l.In(0).Blocks(10-5*l.Index))
		case l.Rank == 1 && l.Index == 1:
			l.Send(2, l.In(0).Blocks(10))
		case l.Rank == 2:
			l.Recv(l.Index, l.Out(10*l.Index).Blocks(10))
			if l.Index == 0 {
				l.Copy(l.Out(20).Blocks(10), l.Out(0).Blocks(10))
			}
		case l.Rank == 3 && l.Index == 1:
			l.Recv(0, l.Out(0).Blocks(5))
		}
	})
	env := simtest.OnSwitch(t, 4, gbs, 100*ns)
	env.Device.CopyRate = gbs
	env.Start = []unit.Time{0, 1000 * ns, 0, 0}
	return s, env
}

// TestCriticalTies: of links that are equally full, and of messages that leave at the same time,
// the first is named; and of a link that is as slow as the lane, the link.
func TestCriticalTies(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		if n := 10 - 5*l.Index; l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(n)) // half of both links, until 1000; then the longer has all
		} else {
			l.Recv(0, l.Out(10*l.Index).Blocks(n))
		}
	})
	leads(t, s, wires(t, "gpu0->a", "a->gpu1", "gpu1->gpu0"), []string{
		"contention gpu0->a 0-500 0.0.0",
		"transfer gpu0->a 500-1500 0.0.0",
		"latency gpu0->a 1500-1600 0.0.0",
		"latency a->gpu1 1600-1700 0.0.0",
	})

	s = script(t, 3, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Combine(nil, []int{2, 1}, l.Local(l.In(0).Blocks(10)))
			l.Copy(l.Out(10).Blocks(10), l.In(10).Blocks(10))
		} else {
			l.Recv(0, l.Out(0).Blocks(10))
		}
	})
	env := meshOf(t, 3)
	env.Device.CopyRate, env.Device.LaneRate = gbs, 2*gbs
	lines := []string{"transfer gpu0->gpu2 0-1000 0.0.0", "copy - 1000-2000 0.0.1"}
	leads(t, s, env, lines, lines, lines)
	env.Device.CopyRate = unit.Unlimited // then it is rank 1 that ends last
	lines = []string{"transfer gpu0->gpu1 0-1000 0.0.0", "latency gpu0->gpu1 1000-1100 0.0.0"}
	leads(t, s, env, lines, lines, lines)
}

// TestCriticalRounding: TestGather. A third of the rate leaves a picosecond, which is contention.
func TestCriticalRounding(t *testing.T) {
	s := script(t, 4, 1, func(l *schedule.Lane) {
		if l.Rank > 0 {
			l.Send(0, l.In(0).Blocks(10))
			return
		}
		for from := 1; from < 4; from++ {
			l.Recv(from, l.Out(from*10).Blocks(10))
		}
	})
	leads(t, s, simtest.OnSwitch(t, 4, gbs, 100*ns), []string{
		"contention switch->gpu0 0-2000.001 1.0.0",
		"transfer gpu1->switch 2000.001-3000.001 1.0.0",
		"latency gpu1->switch 3000.001-3100.001 1.0.0",
		"latency switch->gpu0 3100.001-3200.001 1.0.0",
	})
}

// TestCriticalSlot: rank 1 copies for 1000 before it receives, which frees the only slot; rank 0
// sees that 50 later and sends the second message.
func TestCriticalSlot(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0))
			l.Send(1, l.In(1))
			return
		}
		l.Copy(l.Out(10).Blocks(10), l.In(10).Blocks(10))
		l.Recv(0, l.Out(0))
		l.Recv(0, l.Out(1))
	})
	env := meshOf(t, 2)
	env.Slots, env.Device.SlotLatency, env.Device.CopyRate = 1, 50*ns, gbs
	lines := []string{
		"copy - 0-1000 1.0.0",
		"slot-latency - 1000-1050 1.0.1",
		"transfer gpu0->gpu1 1050-1150 0.0.1",
		"latency gpu0->gpu1 1150-1250 0.0.1",
	}
	leads(t, s, env, lines, lines, lines)
}

// TestCriticalEvent: rank 0 starts at 30; lane 0 copies for 1000 once lane 1 has, for 100.
func TestCriticalEvent(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		switch {
		case l.Rank == 0 && l.Index == 1:
			l.Copy(l.Out(0), l.In(0))
			l.Post()
		case l.Rank == 0:
			l.After(1, 1)
			l.Copy(l.Out(10).Blocks(10), l.In(10).Blocks(10))
		}
	})
	env := meshOf(t, 2)
	env.Device.CopyRate, env.Start = gbs, []unit.Time{30 * ns, 0}
	lines := []string{"start - 0-30 0.1.-1", "copy - 30-130 0.1.0", "copy - 130-1130 0.0.0"}
	leads(t, s, env, lines, lines, lines)
}

// TestCriticalStart: a rank without steps, and a run without time.
func TestCriticalStart(t *testing.T) {
	s := script(t, 2, 1, func(*schedule.Lane) {})
	env := meshOf(t, 2)
	leads(t, s, env, []string(nil), nil)
	r, err := Run(s, env, Options{Critical: true})
	require.NoError(t, err)
	require.Empty(t, r.Critical)
	env.Start = []unit.Time{0, 70 * ns}
	lines := []string{"start - 0-70 1.0.-1"}
	leads(t, s, env, lines, lines, lines)
}

// TestCriticalDevice: a step of 10 overhead, additions at 2 GB/s, a lane that puts out 0.5 GB/s.
func TestCriticalDevice(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0))
		} else {
			l.Reduce(0, l.Chunk(0))
		}
	})
	env := meshOf(t, 2)
	d := &env.Device
	d.Overhead, d.ReduceRate, d.LaneRate = 10*ns, 2*gbs, gbs/2
	lines := []string{
		"overhead - 0-10 0.0.0",
		"transfer - 10-210 0.0.0",
		"latency gpu0->gpu1 210-310 0.0.0",
		"overhead - 310-320 1.0.0",
		"reduction - 320-370 1.0.0",
	}
	leads(t, s, env, lines, lines, lines)
}

// TestCriticalGet: rank 0 gets 1000 bytes of rank 1 and sends them back, all in one step.
func TestCriticalGet(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Combine(nil, []int{1}, l.Get(1, l.In(0).Blocks(10)))
		} else {
			l.Recv(0, l.Out(0).Blocks(10))
		}
	})
	env := wires(t, "gpu0->gpu1 2 GB/s, 30 ns", "gpu1->gpu0 1 GB/s, 70 ns")
	lines := []string{
		"latency gpu0->gpu1 0-30 0.0.0",
		"transfer gpu1->gpu0 30-1030 0.0.0",
		"latency gpu1->gpu0 1030-1100 0.0.0",
		"transfer gpu0->gpu1 1100-1600 0.0.0",
		"latency gpu0->gpu1 1600-1630 0.0.0",
	}
	leads(t, s, env, lines, lines, lines)
}

// TestCriticalPosts: with room for one post, the second message waits until the first has left.
// Then a lane that hands over 0.5 GB/s, and copies 100 bytes once it has; its message comes at the
// same time, to a later lane.
func TestCriticalPosts(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		for i := range 2 {
			if l.Rank == 0 {
				l.Send(1, l.In(10*i).Blocks(10))
			} else {
				l.Recv(0, l.Out(10*i).Blocks(10))
			}
		}
	})
	env := meshOf(t, 2)
	env.Device.Offload, env.Device.Queue = true, 1
	lines := []string{
		"transfer gpu0->gpu1 0-1000 0.0.0",
		"transfer gpu0->gpu1 1000-2000 0.0.1",
		"latency gpu0->gpu1 2000-2100 0.0.1",
	}
	leads(t, s, env, lines, lines, lines)

	s = script(t, 2, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(10))
			l.Copy(l.Out(0), l.In(0))
		} else {
			l.Recv(0, l.Out(0).Blocks(10))
		}
	})
	env.Device.LaneRate, env.Device.CopyRate = gbs/2, gbs
	lines = []string{"transfer - 0-2000 0.0.0", "copy - 2000-2100 0.0.1"}
	leads(t, s, env, lines, lines, lines)
}

// TestCriticalOfNothing: a schedule without lanes, as of a broadcast of nothing, has waited for
// nothing.
func TestCriticalOfNothing(t *testing.T) {
	s := simtest.Build(t, schedule.Plan{Name: "empty", Spec: simtest.AllReduce(2, 0)})
	env := simtest.OnSwitch(t, 2, simtest.GBs, unit.Microsecond)
	r, err := Run(s, env, Options{Critical: true, Trace: true})
	require.NoError(t, err)
	require.Zero(t, r.Time)
	require.Empty(t, r.Critical)
}
