package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestStallsAgree: sim stalls, or refuses a schedule, if and only if the untimed executor does, in
// the same words; and otherwise it counts the same steps, messages and bytes.
func TestStallsAgree(t *testing.T) {
	stalls := 0
	simtest.Law(t, 1500, "the untimed executor agrees", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, true)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		env.Device.EagerLimit = 0 // the untimed executor has another notion of rendezvous
		s = simtest.Fused(t, simtest.Extended(t, rng, s, env.Graph))
		bytes, linkBytes := unit.Bytes(0), unit.Bytes(0)
		counts, want := schedule.Execute(s, schedule.Limits{Slots: env.Slots},
			schedule.Hooks{Step: func(v *schedule.Visit) error {
				sent, carried := traffic(s, &env, v)
				bytes, linkBytes = bytes+unit.Bytes(sent), linkBytes+unit.Bytes(carried)
				return nil
			}})
		r, err := Run(s, env, Options{Trace: true})
		if want != nil {
			stalls++
			require.EqualError(t, err, want.Error())
			return true
		}
		require.NoError(t, err)
		require.NoError(t, r.Trace.Validate())
		require.Len(t, r.Trace.Intervals, int(r.Steps))
		require.Len(t, r.Trace.Messages, int(r.Messages))
		load := unit.Bytes(0)
		for _, n := range r.LinkLoad {
			load += n
		}
		return r.Steps == counts.Steps && r.Messages == counts.Messages && r.BytesSent == bytes &&
			r.LinkBytes == linkBytes && load == linkBytes && r.Time == slices.Max(r.LaneEnd)
	})
	require.Greater(t, stalls, tier.Raced(2, 8, 100), "the generator has lost its bite")
}

// traffic is what a sub-step sends, and what all links carry of it, in bytes of one an element.
func traffic(s *schedule.Schedule, env *Env, v *schedule.Visit) (sent, carried int64) {
	n, _ := s.Size(v.Spot(), v.Step)
	hops := func(from, to int32) int64 { return int64(len(env.Graph.Route(int(from), int(to), nil))) }
	figures, bySwitch := env.Device.Of(unit.Bytes(n)), env.Device.MultimemEfficiency
	if v.Step.Fused() { // on every member's link up and down
		team := int64(len(v.Step.From[0].Team))
		carried = 2 * n * team
		if bySwitch > 0 {
			carried *= int64(device.AllEfficiency / bySwitch)
		}
		return n, carried
	}
	for _, d := range v.Step.Send {
		sent += n
		links := int64(1 + len(d.Team))
		if d.Team == nil {
			links = hops(v.Rank, d.Peer.Rank)
		}
		crossing, share := d.Framing().Wire(n), figures.Efficiency
		if d.Team != nil && bySwitch > 0 {
			share = bySwitch
		}
		if share > 0 {
			crossing *= int64(device.AllEfficiency / share)
		}
		carried += crossing * links
	}
	for _, f := range v.Step.From {
		got := int64(0)
		switch f.Kind {
		case schedule.Get:
			got = s.Elements(v.Spot(), &f.Region)
			carried += got * hops(f.Peer.Rank, v.Rank)
		case schedule.Multimem:
			got = s.Elements(v.Spot(), &f.Region)
			crossing := got * int64(1+len(f.Team))
			if bySwitch > 0 {
				crossing *= int64(device.AllEfficiency / bySwitch)
			}
			carried += crossing
		}
		sent += got
	}
	return sent, carried
}

// TestScaling: k times the latencies and costs and 1/k of the bandwidths take k times as long: to
// the picosecond under FIFO, where every n/b is whole; under fluid sharing within k picoseconds a
// completion, which each rounds up.
func TestScaling(t *testing.T) {
	simtest.Law(t, 600, "time scales", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		s = simtest.Extended(t, rng, s, env.Graph)
		r, err := Run(s, env, Options{})
		require.NoError(t, err)
		k := []int64{2, 4, 5, 8, 10, 40}[rng.IntN(6)]
		s = simtest.Rewritten(t, s, func(_, _ int, step schedule.Step, add func(schedule.Step)) {
			if t := step.OpaqueTime(); t > 0 {
				step.Kernel = schedule.Opaque(t * unit.Time(k))
			}
			add(step)
		})
		slow, err := Run(s, slower(env, k), Options{})
		require.NoError(t, err)
		slack := unit.Time(0)
		if env.Sharing == Fluid {
			slack = unit.Time(k * (r.Messages + r.Steps))
		}
		for i, end := range r.LaneEnd {
			if d := slow.LaneEnd[i] - end*unit.Time(k); d > slack || -d > slack {
				t.Logf("lane %d: %v, %d times slower %v", i, end, k, slow.LaneEnd[i])
				return false
			}
		}
		return true
	})
}

// slower is the same environment with everything k times as slow.
func slower(env Env, k int64) Env {
	env.Graph = env.Graph.Clone()
	d := &env.Device
	rates := []*unit.Rate{&d.ReduceRate, &d.CopyRate, &d.LaneRate}
	for i := range env.Graph.Links() {
		rates = append(rates, &env.Graph.Links()[i].Bandwidth)
		env.Graph.Links()[i].Latency *= unit.Time(k)
	}
	for _, rate := range rates {
		if *rate != unit.Unlimited {
			*rate /= unit.Rate(k)
		}
	}
	d.Overhead *= unit.Time(k)
	d.SlotLatency *= unit.Time(k)
	d.Launch *= unit.Time(k)
	d.Own.Latency *= unit.Time(k)
	d.Ranges = slices.Clone(d.Ranges)
	for i := range d.Ranges {
		d.Ranges[i].Latency *= unit.Time(k)
	}
	env.Start = slices.Clone(env.Start)
	for i := range env.Start {
		env.Start[i] *= unit.Time(k)
	}
	return env
}
