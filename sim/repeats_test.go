package sim_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/simtest"
	"collsim/trace"
	"collsim/unit"
)

// simulated are a track's steps with all that a trace of classes leaves out, in order.
func simulated(t *trace.Trace, track int32) []trace.Interval {
	list := t.On(track)
	for k := len(t.Repeats) - 1; k >= 0; k-- {
		r := t.Repeats[k]
		began := func(at unit.Time) int {
			return slices.IndexFunc(append(list[:len(list):len(list)], trace.Interval{Start: unit.Forever}),
				func(i trace.Interval) bool { return i.Start >= at })
		}
		from, to := began(r.At-r.Period), began(r.At)
		all := slices.Clone(list[:from])
		for n := int64(0); n <= r.Times; n++ {
			for x := from; x < to; x++ {
				i, later := list[x], r.Period*unit.Time(n)
				i.Ready, i.Start = i.Ready+later, i.Start+later
				// What reaches over what is left out has the end of the last repetition; the others
				// end as the one before them did.
				was := &list[max(0, x-(to-from))]
				again := func(at, was unit.Time) unit.Time {
					switch {
					case at <= r.At:
						return at + later
					case n < r.Times:
						return was + r.Period + later
					}
					return at
				}
				i.Done, i.End = again(i.Done, was.Done), again(i.End, was.End)
				all = append(all, i)
			}
		}
		list = append(all, list[to:]...)
	}
	return list
}

// TestRepeats: of random schedules whose ranks do the same, a trace of classes with all that it
// leaves out is that of sim/event, on every lane of the ranks that stand for others.
func TestRepeats(t *testing.T) {
	folded, cut := 0, 0
	runs := tier.Raced(40, 50, 2000)
	check := func(i int, s *schedule.Schedule, env sim.Env) {
		got, err := sim.Run(s, env, sim.Options{Trace: true, Engine: sim.Fold})
		var not *sim.NotFolded
		if errors.As(err, &not) {
			return
		}
		want, wanted := sim.Run(s, env, sim.Options{Trace: true, Engine: sim.Event})
		if wanted != nil {
			require.Equal(t, wanted, err)
			return
		}
		require.NoError(t, err)
		folded++
		require.NoError(t, got.Trace.Validate())
		require.NoError(t, got.Trace.Split().Validate())
		short, cuts := got.Trace.Short()
		require.NoError(t, short.Validate())
		require.Len(t, cuts, len(got.Trace.Repeats))
		cut += min(len(cuts), 1)
		left := got.Trace.End
		for _, r := range got.Trace.Repeats {
			left -= r.Takes()
		}
		require.Equal(t, left, short.End)
		for track, k := range got.Trace.Tracks {
			require.EqualValues(t, s.Spec.Ranks, int(k.Alike)*len(got.Trace.Tracks)/s.Program(0).Lanes())
			of := int32(-1)
			for n, w := range want.Trace.Tracks {
				if w.Rank == k.Rank && w.Lane == k.Lane {
					of = int32(n)
				}
			}
			mine, theirs := simulated(got.Trace, int32(track)), want.Trace.On(of)
			require.Len(t, mine, len(theirs), "%d: track %d, %v", i, track, got.Trace.Repeats)
			for n, w := range theirs {
				m := mine[n]
				require.Equal(t, []unit.Time{w.Start, w.Done, w.End}, []unit.Time{m.Start, m.Done, m.End},
					"%d: track %d step %d, %v", i, track, n, got.Trace.Repeats)
				require.Equal(t, w.Bytes, m.Bytes)
				require.Equal(t, w.Verb, m.Verb)
			}
			// What is shown does at its time what it says: but for waits, and beyond what is left
			// out.
			byStart := map[unit.Time][]trace.Interval{}
			for _, w := range theirs {
				byStart[w.Start] = append(byStart[w.Start], w)
			}
			for _, m := range got.Trace.On(int32(track)) {
				require.True(t, slices.ContainsFunc(byStart[m.Start], func(w trace.Interval) bool {
					return w.Verb == m.Verb && w.Kind == m.Kind && w.Chunk == m.Chunk && w.Slice == m.Slice &&
						w.Round == m.Round && w.Peer == m.Peer
				}), "%d: track %d: %+v, %v", i, track, m, got.Trace.Repeats)
			}
		}
	}
	drawn := func(i int) {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		s := simtest.Symmetric(t, rng, rng.IntN(4) == 0)
		check(i, s, simtest.SymmetricEnv(t, rng, s.Spec.Ranks))
	}
	for i := range runs {
		drawn(i)
	}
	drawn(4300)        // two loops meet at the very time of a state, in steps that take no time
	for i := range 8 { // long enough to be steady
		p := simtest.RingPlan(24, 24*2*3*1000)
		p.Channels, p.Slices = 1+i%2, 1+i/2%2*2
		env := simtest.OnSwitch(t, 24, simtest.GBs, unit.Microsecond)
		env.Device, env.Slots = device.Ideal(), 8
		env.Device.Overhead = 70 * unit.Nanosecond
		if i > 3 {
			env.Sharing = sim.FIFO
		}
		check(-i, simtest.Build(t, p), env)
	}
	t.Logf("%d of %d folded, %d with something left out", folded, runs, cut)
	require.Greater(t, folded, runs/4)
	require.Greater(t, cut, 8)
}
