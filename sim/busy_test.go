package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestBusy: when something moves, and for whom a rank waits before: on a switch of 1 GB/s, 1 us a
// link, so that 1000 bytes leave in 1 us, and arrive 2 us later. The late rank computes for 10 us
// before. Under FIFO and fluid sharing it is the same.
func TestBusy(t *testing.T) {
	const us = unit.Microsecond
	for name, c := range map[string]struct {
		late     int
		text     string
		eager    unit.Bytes
		moves    [2][]Span // of rank 0 and 1, in us
		waits    [2][]Wait
		ready    [2]unit.Time
		finished [2]unit.Time
	}{
		"a message from a late rank": {late: 0,
			text:  "rank 0\n  lane 0\n    send in to 1\nrank 1\n  lane 0\n    recv from 0 into out\n",
			ready: [2]unit.Time{10, 0}, finished: [2]unit.Time{11, 13},
			moves: [2][]Span{{{10, 11}}, {{10, 13}}}, waits: [2][]Wait{nil, {{0, 10, 0}}}},
		"a message to a late rank": {late: 1,
			text:  "rank 0\n  lane 0\n    send in to 1\nrank 1\n  lane 0\n    recv from 0 into out\n",
			ready: [2]unit.Time{0, 10}, finished: [2]unit.Time{1, 10},
			moves: [2][]Span{{{0, 1}}, nil}},
		// the request takes 2 us, the data 1 and 2; the owner's lane only sees the signal
		"a get": {late: 1,
			text: "rank 0\n  lane 0\n    wait from 1\nrank 1\n  lane 0\n    copy get 0 in into out\n" +
				"    signal to 0\n",
			ready: [2]unit.Time{0, 10}, finished: [2]unit.Time{17, 15},
			moves: [2][]Span{{{10, 17}}, {{10, 15}}}, waits: [2][]Wait{{{0, 10, 1}}, nil}},
		// the signal follows the put's last byte
		"a silent put": {late: 0,
			text: "rank 0\n  lane 0\n    put in to 1 at out silent\n    signal to 1\n" +
				"rank 1\n  lane 0\n    wait from 0\n",
			ready: [2]unit.Time{10, 0}, finished: [2]unit.Time{11, 13},
			moves: [2][]Span{{{10, 11}}, {{10, 13}}}, waits: [2][]Wait{nil, {{0, 10, 0}}}},
		// what asks for the receive waits for it to be posted; answer and data take 2 us and 3
		"a large message to a late rank": {late: 1, eager: 100,
			text:  "rank 0\n  lane 0\n    send in to 1\nrank 1\n  lane 0\n    recv from 0 into out\n",
			ready: [2]unit.Time{0, 10}, finished: [2]unit.Time{13, 15},
			moves: [2][]Span{{{10, 13}}, {{10, 15}}}, waits: [2][]Wait{{{0, 10, 1}}, nil}},
		"a large message from a late rank": {late: 0, eager: 100,
			text:  "rank 0\n  lane 0\n    send in to 1\nrank 1\n  lane 0\n    recv from 0 into out\n",
			ready: [2]unit.Time{10, 0}, finished: [2]unit.Time{15, 17},
			moves: [2][]Span{{{10, 15}}, {{10, 17}}}, waits: [2][]Wait{nil, {{0, 10, 0}}}},
		// the second has no room until the first has been received
		"one slot": {late: 1,
			text: "slots 1\nrank 0\n  lane 0\n    send in to 1\n    send in to 1\n" +
				"rank 1\n  lane 0\n    recv from 0 into out\n    recv from 0 into out\n",
			ready: [2]unit.Time{0, 10}, finished: [2]unit.Time{11, 13},
			moves: [2][]Span{{{0, 3}, {10, 11}}, {{10, 13}}}, waits: [2][]Wait{{{3, 10, 1}}, nil}},
	} {
		s, err := schedule.Parse("schedule test\ncollective all_reduce int8 sum\nranks 2\ncount 1000\n" +
			c.text)
		require.NoError(t, err, name)
		whole := laid(t, 2, []schedule.Part{
			{Schedule: computing(t, 1, 10*us, nil), Ranks: []int{c.late}},
			{Schedule: s, Stream: 1, After: []int{0}}})
		for _, sharing := range []Sharing{FIFO, Fluid} {
			env := simtest.OnSwitch(t, 2, simtest.GBs, us)
			env.Sharing, env.Device.EagerLimit = sharing, c.eager
			r, err := Run(whole, env, Options{Parts: true})
			require.NoError(t, err, name)
			require.Len(t, r.Parts, 3)
			for rank, b := range r.Parts[1:] {
				want := Busy{Part: 1, Rank: int32(rank), From: b.From, Ready: c.ready[rank] * us,
					To: c.finished[rank] * us}
				for _, m := range c.moves[rank] {
					want.Moves = append(want.Moves, Span{m.From * us, m.To * us})
				}
				for _, w := range c.waits[rank] {
					want.Waits = append(want.Waits, Wait{w.From * us, w.To * us, w.Peer})
				}
				require.Equal(t, want, b, "%s, %v", name, sharing)
			}
		}
	}
}

// TestBusyWhileItRuns: the times of parts that are noted during a run are those that its log of all
// steps and messages says, of random programs on random machines.
func TestBusyWhileItRuns(t *testing.T) {
	watched, moving, kernels, waiting := 0, 0, 0, 0
	simtest.Law(t, 6000, "as the log", func(t testing.TB, rng *rand.Rand) bool {
		s := randomParts(t, rng)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		env.Sharing, env.Segment = Fluid, 0
		if rng.IntN(4) > 0 {
			env.Device.Offload, env.Device.SendBuffer, env.Device.EagerLimit = false, 0, 0
		}
		if rng.IntN(2) == 0 {
			simtest.GPU(rng, &env)
		}
		noted, all := newPartsLog(&env), newPartsLog(&env)
		all.OfParts = false
		_, err := event.Run(s, &env, noted)
		_, other := event.Run(s, &env, all)
		if err != nil || other != nil {
			require.Equal(t, other, err)
			return true
		}
		all.Read()
		if noted.Read(); noted.Parts != nil {
			watched++
		}
		want, got := busyOf(all, env.Sharing), busyOf(noted, env.Sharing)
		require.Equal(t, want, got)
		for i := range got {
			moving, kernels = moving+len(got[i].Moves), kernels+len(got[i].Kernels)
			for _, w := range got[i].Waits {
				waiting += min(1, 1+int(w.Peer)) // for another rank
			}
		}
		return true
	})
	t.Logf("%d noted; %d moves, %d kernels, %d waits", watched, moving, kernels, waiting)
	require.Greater(t, watched, 50)
	require.Greater(t, min(moving, kernels, waiting), 500)
}

// randomParts is a random program of layers, or one or two random schedules with brackets.
func randomParts(t testing.TB, rng *rand.Rand) *schedule.Schedule {
	if rng.IntN(2) == 0 {
		return layered(t, rng, rng.IntN(2) == 0)
	}
	s := simtest.Schedule(rng, false)
	parts := []schedule.Part{{Schedule: s}}
	if rng.IntN(2) == 0 {
		parts[0].Schedule = simtest.Marked(t, rng, s)
	}
	if rng.IntN(2) == 0 {
		parts = append(parts, schedule.Part{Schedule: s, Stream: int32(rng.IntN(2))})
		if rng.IntN(2) == 0 {
			parts[1].After = []int{0}
		}
	}
	return partsOf(t, s.Spec.Ranks, parts...)
}
