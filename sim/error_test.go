package sim

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

func TestBadEnvironments(t *testing.T) {
	tests := []struct {
		change func(*Env)
		want   string
	}{
		{func(e *Env) { e.Graph = nil }, "a network is needed"},
		{func(e *Env) { e.Graph, _ = topology.Switch(2, gbs, 0) },
			"the network has 2 ranks; the schedule needs 3"},
		{func(e *Env) {
			e.Graph, _ = topology.Links(3, []topology.Wire{{From: "gpu0", To: "gpu1", Bandwidth: gbs}})
		}, "no route from gpu1 to gpu0"},
		{func(e *Env) { e.Sharing = 2 }, "sharing 2, switching 0: there are 2 of each"},
		{func(e *Env) { e.Slots = -1 },
			"segment = 0, slots = -1: neither can be negative"},
		{func(e *Env) { e.Switching = StoreForward }, "switching = store-and-forward: a fluid " +
			"flow takes all its links at once and is never stored; it needs sharing = fifo"},
		{func(e *Env) { e.Segment = 64 * unit.KiB },
			"segment = 64 KiB: fluid sharing has none; they need sharing = fifo"},
		{func(e *Env) { e.Device.LaneRate = 0 },
			"lane_rate = 0 B/s: a rate above zero is expected"},
		{func(e *Env) { e.Start = make([]unit.Time, 2) },
			"start has 2 times; the schedule has 3 ranks"},
		{func(e *Env) { e.Start = []unit.Time{0, -1, 0} },
			"start of rank 1 = -1 ps: a time from 0 s on is expected"},
		{func(e *Env) { e.Slowdown = make([]unit.Share, 1) },
			"slowdown has 1 factors; the schedule has 3 ranks"},
		{func(e *Env) { e.Slowdown = []unit.Share{1, 1, 0} },
			"slowdown of rank 2 = 0 millionths: more than 0 is expected"},
		{func(e *Env) { e.Graph, _ = topology.Switch(3, model.MaxFluidRate+1, 0) },
			"link gpu0->switch: fluid sharing counts bandwidths up to 17.592186044415 TB/s, not " +
				"17.592186044416 TB/s; use sharing = fifo, or unlimited"},
	}
	s := simtest.Build(t, simtest.RingPlan(3, 30))
	for _, tt := range tests {
		env := simtest.OnSwitch(t, 3, gbs, 0)
		tt.change(&env)
		_, err := Run(s, env, Options{})
		require.EqualError(t, err, tt.want)
	}
}

// TestStall: a ring of two slices needs three slots. The words are those of the untimed executor.
func TestStall(t *testing.T) {
	p := simtest.RingPlan(4, 400)
	p.Slices, p.Slots = 2, 2
	s := simtest.Build(t, p)
	_, want := schedule.Execute(s, schedule.Limits{}, schedule.Hooks{})
	for _, sharing := range []Sharing{Fluid, FIFO} {
		env := simtest.OnSwitch(t, 4, gbs, ns)
		env.Sharing = sharing
		_, err := Run(s, env, Options{})
		var stall *StallError
		require.True(t, errors.As(err, &stall))
		require.Equal(t, want, err)
		require.True(t, stall.Cycle)
		require.True(t, stall.NeedsSlots)
		require.Len(t, stall.Waits, 4)
		require.Equal(t, schedule.Waiting{Rank: 2, Step: 1, Name: "recvReduceSend", Chunk: 1,
			For: "a slot", OnRank: 3}, stall.Waits[2])
	}
}

// TestBroken schedules are refused in the words of the untimed executor.
func TestBroken(t *testing.T) {
	tests := []struct {
		rank0 func(l *schedule.Lane)
		want  string
	}{
		{func(l *schedule.Lane) { l.Recv(1, l.Out(0)) },
			"waits for a message from rank 1 lane 0, which has come to its end"},
		{func(l *schedule.Lane) { l.Send(1, l.In(0)) },
			"unmatched: rank 0 lane 0: 1 messages to rank 1 lane 0 are never received"},
	}
	for _, tt := range tests {
		s := script(t, 2, 1, func(l *schedule.Lane) {
			if l.Rank == 0 {
				tt.rank0(l)
			} else {
				l.Copy(l.Out(0), l.In(0))
			}
		})
		_, want := schedule.Execute(s, schedule.Limits{Slots: 8}, schedule.Hooks{})
		for _, sharing := range []Sharing{Fluid, FIFO} {
			env := simtest.OnSwitch(t, 2, gbs, ns)
			env.Sharing = sharing
			_, err := Run(s, env, Options{})
			require.Equal(t, want, err)
			require.ErrorContains(t, err, tt.want)
		}
	}
}

// TestForever: 27 days are as far as time goes.
func TestForever(t *testing.T) {
	s := simtest.Build(t, simtest.RingPlan(2, 1<<40))
	env := simtest.OnSwitch(t, 2, 1_000_000, 0)
	for _, sharing := range []Sharing{Fluid, FIFO} {
		env.Sharing = sharing
		_, err := Run(s, env, Options{})
		require.EqualError(t, err, "rank 0 lane 0 step 1 does not end within 26 days; time is "+
			"counted no further")
	}
}

// TestTooSlow: a pace of 1 B/s among two peers and a slowdown of 2²⁰ is less than a unit of rate.
func TestTooSlow(t *testing.T) {
	s := script(t, 3, 1, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Combine(nil, []int{1, 2}, l.Local(l.In(0)))
		} else {
			l.Recv(0, l.Out(0))
		}
	})
	env := simtest.OnSwitch(t, 3, gbs, 0)
	env.Device.LaneRate = 1
	env.Slowdown = []unit.Share{1_000_000 << 20, 1_000_000, 1_000_000}
	_, err := Run(s, env, Options{})
	require.EqualError(t, err, "rank 0 lane 0: what it sends, or a link on its way, is too slow "+
		"to give each of its messages 2^-20 B/s; use sharing = fifo")
}
