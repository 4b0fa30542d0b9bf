package sim_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/random"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// randomAlgorithm is some algorithm of some kind, on some ranks.
func randomAlgorithm(rng *rand.Rand) *schedule.Schedule {
	for {
		kind := collective.Kinds()[rng.IntN(len(collective.Kinds()))]
		if s, ok := random.DrawAlgorithm(rng, specOf(kind, 2+rng.IntN(7))); ok {
			return s.Schedule
		}
	}
}

// sums checks that a critical path leads from 0 to the end without a gap, and lies within what the
// run did; and that asking for it changes nothing else.
func sums(t testing.TB, s *schedule.Schedule, env sim.Env) {
	t.Helper()
	want, err := sim.Run(s, env, sim.Options{Trace: true})
	require.NoError(t, err)
	r, err := sim.Run(s, env, sim.Options{Trace: true, Critical: true})
	require.NoError(t, err)
	at, sum := unit.Time(0), unit.Time(0)
	for _, p := range r.Critical {
		require.Equal(t, at, p.From)
		require.Greater(t, p.To, p.From)
		at = p.To
		sum += p.To - p.From
		byLink := p.What == sim.Latency || p.What == sim.Contention
		require.True(t, byLink && p.Link >= 0 || !byLink && p.Link < 0 ||
			p.What == sim.Transfer || p.What == sim.SendBuffer)
		if p.What == sim.Overhead || p.What == sim.Reduction || p.What == sim.Copy ||
			p.What == sim.Compute {
			require.True(t, within(r, p), "%v", p)
		}
	}
	require.Equal(t, r.Time, at)
	require.Equal(t, r.Time, sum)
	r.Critical = nil
	require.Equal(t, want, r)
}

// within says whether each moment of a piece lies between S and D of one of its lane's sub-steps.
func within(r *sim.Result, p sim.Piece) bool {
	at := p.From
	for _, i := range r.Trace.Intervals { // in order
		track := r.Trace.Tracks[i.Track]
		if track.Rank == p.Rank && track.Lane == p.Lane && i.Start <= at && at < i.Done {
			at = i.Done
		}
	}
	return at >= p.To
}

// TestCriticalSums: over all algorithms, and schedules without sense, and all ways of sharing and
// kinds of devices, the pieces sum to the time.
func TestCriticalSums(t *testing.T) {
	simtest.Law(t, 500, "algorithms", func(t testing.TB, rng *rand.Rand) bool {
		s := randomAlgorithm(rng)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		env.Slots = 8
		var stall *sim.StallError
		if _, err := sim.Run(s, env, sim.Options{}); errors.As(err, &stall) {
			env.Device.EagerLimit = 0 // of exchanges both sides send first
		}
		sums(t, s, env)
		return true
	})
	simtest.Law(t, 500, "random schedules", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, true)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		s = simtest.Fused(t, simtest.Extended(t, rng, s, env.Graph))
		if _, err := sim.Run(s, env, sim.Options{}); err == nil {
			sums(t, s, env)
		}
		return true
	})
}

// TestCriticalIsTight: where nothing is shared the end is the longest of all paths. A path that has
// k latencies stays one when they change: if each is d longer the end is at least k·d later, and if
// shorter, at most k·d earlier. A path that is not the longest fails this.
func TestCriticalIsTight(t *testing.T) {
	const latency, d = 700 * unit.Nanosecond, 3 * unit.Nanosecond
	simtest.Law(t, 300, "the path bounds the end", func(t testing.TB, rng *rand.Rand) bool {
		s := randomAlgorithm(rng)
		rate := unit.Rate(unit.Unlimited)
		if !shares(s) {
			rate = 3e9
		}
		env := sim.Env{Device: device.Ideal(), Sharing: sim.Sharing(rng.IntN(2)), Slots: 8}
		env.Device.Overhead, env.Device.LaneRate = 40*unit.Nanosecond, 2e9
		env.Device.Offload, env.Device.Queue = rng.IntN(2) == 0, 2
		run := func(latency unit.Time) *sim.Result {
			g, err := topology.FullMesh(s.Spec.Ranks, rate, latency)
			require.NoError(t, err)
			env.Graph = g
			r, err := sim.Run(s, env, sim.Options{Critical: true})
			require.NoError(t, err)
			return r
		}
		r, sum := run(latency), unit.Time(0)
		for _, p := range r.Critical {
			if p.What == sim.Latency {
				sum += p.To - p.From
			}
		}
		k := sum / latency
		return sum == k*latency && run(latency+d).Time >= r.Time+k*d &&
			run(latency-d).Time >= r.Time-k*d
	})
}

// TestArrows: every message of every algorithm has an arrow.
func TestArrows(t *testing.T) {
	for _, kind := range collective.Kinds() {
		for _, a := range algos.ForKind(kind) {
			s := build(t, a, specOf(kind, 4), algos.Options{Slices: 2})
			g, err := topology.Switch(4, 3e9, 700*unit.Nanosecond)
			require.NoError(t, err)
			r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal(), Slots: 8},
				sim.Options{Trace: true})
			require.NoError(t, err)
			require.Len(t, r.Trace.Messages, int(r.Messages))
			require.Equal(t, len(r.Trace.Messages), sim.Arrows(t, r.Trace), "%v %s", kind, a.Name)
		}
	}
}
