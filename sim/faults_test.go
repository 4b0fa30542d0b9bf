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

// pingPong has rank 0 send two blocks to rank 1, which answers each. At 1 GB/s and 100 ns a link, a
// block of 100 bytes takes 200 ns.
//
//	rank 0   send 0–100, receive 400, send 400–500, receive 800
//	rank 1   receive 200, send 200–300, receive 600, send 600–700
func pingPong(t testing.TB) (*schedule.Schedule, Env) {
	s := written(t, 2, `
rank 0
  lane 0
    send in[0] to 1 @0
    recv from 1 into out[0] @1
    send in[1] to 1 @2
    recv from 1 into out[1] @3
rank 1
  lane 0
    recv from 0 into out[0] @0
    send in[0] to 0 @1
    recv from 0 into out[1] @2
    send in[1] to 0 @3
`)
	return s, wires(t, "gpu0->gpu1", "gpu1->gpu0")
}

// TestFaults: what each fault does to a ping-pong, by hand.
func TestFaults(t *testing.T) {
	s, env := pingPong(t)
	clean, err := Run(s, env, Options{})
	require.NoError(t, err)
	require.Equal(t, 800*ns, clean.Time)
	for name, c := range map[string]struct {
		f     Fault
		time  unit.Time // 0: it hangs
		at    unit.Time // the fault's
		begun [2]int32
		since [2]unit.Time
	}{
		"stops before step 1": {Fault{Rank: 1, At: 200*ns + 1}, 0, 200*ns + 1,
			[2]int32{3, 2}, [2]unit.Time{500 * ns, 300 * ns}},
		"stops at step 0": {Fault{Rank: 1, At: 200 * ns}, 0, 200 * ns,
			[2]int32{1, 0}, [2]unit.Time{100 * ns, 0}},
		"dies at step 2": {Fault{Rank: 1, Does: Dies, By: ByStep, Step: 2}, 0, 600 * ns,
			[2]int32{3, 2}, [2]unit.Time{500 * ns, 300 * ns}},
		"drops from 100 ns": {Fault{Rank: 0, Does: Drops, At: 100 * ns}, 0, 400 * ns,
			[2]int32{3, 2}, [2]unit.Time{500 * ns, 300 * ns}},
		"drops its first": {Fault{Rank: 0, Does: Drops}, 0, 0,
			[2]int32{1, 0}, [2]unit.Time{100 * ns, 0}},
		"late over step 2": {Fault{Rank: 0, Does: Late, At: 350 * ns, For: 70 * ns}, 820 * ns, 350 * ns,
			[2]int32{}, [2]unit.Time{}},
		"late while it waits": {Fault{Rank: 0, Does: Late, At: 150 * ns, For: 70 * ns},
			800 * ns, 150 * ns,
			[2]int32{}, [2]unit.Time{}},
		"stops behind its end": {Fault{Rank: 0, At: 801 * ns}, 800 * ns, 801 * ns,
			[2]int32{}, [2]unit.Time{}},
		"drops what is not sent": {Fault{Rank: 0, Does: Drops, At: 401 * ns}, 800 * ns, never,
			[2]int32{}, [2]unit.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			env := env
			env.Faults = []Fault{c.f}
			r, err := Run(s, env, Options{})
			if c.time > 0 {
				require.NoError(t, err)
				require.Equal(t, c.time, r.Time)
				require.Equal(t, c.at, r.Faults[0].At)
				require.Equal(t, []bool{c.time != clean.Time}, r.Struck)
				return
			}
			var hang *Hang
			require.ErrorAs(t, err, &hang)
			require.Equal(t, c.at, hang.Faults[0].At)
			require.Equal(t, []bool{true}, hang.Struck)
			for rank, l := range hang.Lanes {
				require.Equal(t, c.begun[rank], l.Begun, "rank %d", rank)
				require.Equal(t, c.since[rank], l.Since, "rank %d", rank)
				require.Equal(t, c.f.IsEnd() && rank == int(c.f.Rank), l.Stopped)
				if !l.Stopped && !l.IsOver {
					require.Equal(t, "a message", l.Waits.For)
					require.Equal(t, 1-rank, l.Waits.OnRank)
				}
			}
		})
	}
	env.Faults = []Fault{{Rank: 1, By: ByStep, Step: 4}}
	_, err = Run(s, env, Options{})
	require.EqualError(t, err, "rank 1 has no such step; 0 to 3 is expected")
	env.Faults = []Fault{{Rank: 1, Step: 1, By: ByStep}, {Rank: 0, At: 0, Does: Late, For: ns}}
	_, err = Run(s, env, Options{})
	var hang *Hang
	require.ErrorAs(t, err, &hang)
	require.Equal(t, 201*ns, hang.Faults[0].At, "the earlier fault moves the later one")
	for _, engine := range []Engine{Fold, Sweep} {
		_, err = Run(s, env, Options{Engine: engine})
		require.ErrorContains(t, err, "a fault")
	}
}

// TestFaultLaws: a fault that comes too late, or is over at once, changes nothing, to the last
// digit; and a rank that stops has begun what it begins before in a run without the fault.
func TestFaultLaws(t *testing.T) {
	simtest.Law(t, 1500, "faults", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		s = simtest.Fused(t, simtest.Extended(t, rng, s, env.Graph))
		if rng.IntN(2) == 0 {
			simtest.GPU(rng, &env)
			s = simtest.Marked(t, rng, s)
		}
		clean, err := Run(s, env, Options{Engine: Event})
		if err != nil {
			return true
		}
		rank := int32(rng.IntN(s.Spec.Ranks))
		with := env
		with.Faults = []Fault{{Rank: rank, At: clean.Time + 1}, {Rank: rank, Does: Late, At: 1}}
		r, err := Run(s, with, Options{})
		require.NoError(t, err)
		require.Equal(t, []bool{false, false}, r.Struck)
		r.Struck = nil
		require.Equal(t, clean.Totals, r.Totals)

		begins, err := event.Begins(s, &env, rank)
		require.NoError(t, err)
		if len(begins) == 0 {
			return true
		}
		at := begins[rng.IntN(len(begins))].At
		with.Faults = []Fault{{Rank: rank, At: at}}
		before := map[int32]int32{}
		for _, b := range begins {
			if b.At < at {
				before[b.Lane]++
			}
		}
		_, err = Run(s, with, Options{})
		var hang *Hang
		require.ErrorAs(t, err, &hang)
		for _, l := range hang.Lanes {
			if l.Rank == int(rank) {
				require.Equal(t, before[int32(l.Lane)], l.Begun)
			}
		}
		return true
	})
}
