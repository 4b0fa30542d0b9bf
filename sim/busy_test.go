package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
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
