package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/unit"
)

// layered is a random program of layers, each of a few parts on one to three streams, which wait
// for one another in all ways. In one of two programs a layer has a part of another size.
func layered(t testing.TB, rng *rand.Rand, launched bool) *schedule.Schedule {
	ranks := 2 + rng.IntN(3)
	bytes := []int64{0, 1, 100 * int64(ranks), 100*int64(ranks) + 1}
	sized := func(n int64) *schedule.Schedule {
		p := simtest.RingPlan(ranks, n)
		p.Spec.Type, p.Channels = dtype.Int8, 1+rng.IntN(3)
		return simtest.Build(t, p)
	}
	var layer []schedule.Part
	streams := 1 + rng.IntN(3)
	for i := range 1 + rng.IntN(4) {
		p := schedule.Part{Stream: int32(10 * rng.IntN(streams))}
		if launched || rng.IntN(2) == 0 {
			p.Launch = &schedule.Launch{Blocks: rng.Int32N(3), PerSM: rng.Int32N(3)}
		}
		switch rng.IntN(7) {
		case 0: // bytes are under way when its lanes have ended
			s, err := schedule.Parse(fmt.Sprintf("schedule put\ncollective all_reduce int8 sum\nranks "+
				"%d\ncount 1000\ngroup %[1]d\nrank *\n  lane 0\n    put in to 1 at out silent @0\n", ranks))
			require.NoError(t, err)
			p.Schedule = s
			if launched && p.Launch == nil {
				p.Launch = &schedule.Launch{}
			}
		case 1, 2, 3:
			p.Schedule = sized(bytes[rng.IntN(len(bytes))])
		default:
			p.Schedule = computing(t, ranks, unit.Time(rng.IntN(8))*50*unit.Nanosecond, nil)
			if launched {
				p.Launch = nil
				p.Schedule = computing(t, ranks, unit.Time(1+rng.IntN(8))*50*unit.Nanosecond,
					&schedule.Launch{Blocks: rng.Int32N(4)})
			}
		}
		for before := range i {
			if rng.IntN(2) == 0 {
				p.After = append(p.After, before)
			}
		}
		layer = append(layer, p)
	}
	layers, odd := 3+rng.IntN(6), rng.IntN(12)
	var parts []schedule.Part
	wanted := rng.IntN(6) // of each layer, by all of the next
	for n := range layers {
		first := len(parts)
		for i, p := range layer {
			p.After = nil
			for _, before := range layer[i].After {
				p.After = append(p.After, first+before)
			}
			for before := range len(layer) {
				if n > 0 && (wanted > 2 || before == wanted) {
					p.After = append(p.After, first-len(layer)+before)
				}
			}
			if n == odd && i == 0 {
				p.Schedule = sized(bytes[rng.IntN(len(bytes))])
			}
			parts = append(parts, p)
		}
	}
	return laid(t, ranks, parts)
}

// computing is a kernel on every rank that takes so long.
func computing(t testing.TB, ranks int, takes unit.Time, mark *schedule.Launch) *schedule.Schedule {
	none := make([]int64, ranks)
	return simtest.Build(t, schedule.Plan{Name: "kernel", Same: true,
		Tensors: []schedule.Tensor{{Name: "nothing", Type: dtype.Int8, Shape: collective.Shape{0},
			Role: schedule.Defined}},
		Spec: collective.Spec{Kind: collective.Custom, Type: dtype.Int8, Ranks: ranks,
			Splits: [][]int64{none, none}},
		Lane: func(l *schedule.Lane) {
			if mark != nil {
				l.Launch(*mark)
			}
			if takes > 0 {
				l.Compute(*schedule.Opaque(takes), schedule.Region{})
			}
		}})
}

// laid is a schedule of parts that all work on the same memory, which takes no time.
func laid(t testing.TB, ranks int, parts []schedule.Part) *schedule.Schedule {
	tensors := []schedule.Tensor{{Name: "all", Type: dtype.Int8, Shape: collective.Shape{1 << 12}}}
	for i := range parts {
		places := make([]schedule.Place, parts[i].Schedule.Buffers())
		for b := range places {
			places[b] = schedule.Place{Tensor: schedule.FirstTensor}
		}
		parts[i].Memory = places
	}
	s, err := schedule.Compose("layers", ranks, tensors, parts)
	require.NoError(t, err)
	return s
}

// TestStretchesArePlayed: a program of layers takes what it takes without looking for equal ones,
// in every figure and every part, on any machine; also where layers are almost equal.
func TestStretchesArePlayed(t *testing.T) {
	skipped, all := 0, 0
	simtest.Law(t, tier.Of(600, 8000), "in stretches", func(t testing.TB, rng *rand.Rand) bool {
		launched := rng.IntN(4) > 0
		s := layered(t, rng, launched)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		if rng.IntN(2) == 0 {
			env = simtest.OnSwitch(t, s.Spec.Ranks, simtest.GBs, unit.Time(rng.IntN(2))*unit.Microsecond)
			env.Sharing = Sharing(rng.IntN(2))
		}
		if launched || rng.IntN(2) == 0 {
			simtest.GPU(rng, &env)
			env.Device.GPU.SMs = 16 // blocks stay: they need places
		}
		all++
		got, parts := inEpochs(s, &env, true)
		if got == nil {
			return true
		}
		skipped++
		want, err := Run(s, env, Options{Engine: Event, Parts: true})
		require.NoError(t, err)
		require.Equal(t, want.Totals, *got)
		require.Equal(t, want.Parts, parts)
		return true
	})
	t.Logf("%d of %d in stretches", skipped, all)
	require.Greater(t, 6*skipped, all)
}

// TestStretchesThatLeaveSomething: where bytes are under way when all lanes have ended, or the end
// of a part is still to be seen on another stream, what follows is not simulated as if there were
// nothing.
func TestStretchesThatLeaveSomething(t *testing.T) {
	put, err := schedule.Parse("schedule put\ncollective all_reduce int8 sum\nranks 2\n" +
		"count 1000\ngroup 2\nrank *\n  lane 0\n    put in to 1 at out silent @0\n")
	require.NoError(t, err)
	ring := simtest.RingPlan(2, 200)
	ring.Spec.Type = dtype.Int8
	offloads := simtest.OnSwitch(t, 2, simtest.GBs, unit.Microsecond)
	offloads.Sharing, offloads.Device.Offload, offloads.Device.Queue = FIFO, true, 8
	streams := simtest.OnSwitch(t, 2, simtest.GBs, 0)
	streams.Device.GPU.SMs, streams.Device.GPU.EventLatency = 8, 250*unit.Nanosecond
	kernel := func(takes unit.Time) *schedule.Schedule {
		return computing(t, 2, takes*unit.Nanosecond, nil)
	}
	for _, c := range []struct {
		env    Env
		stream int32
		layer  [2]*schedule.Schedule
	}{
		// the ring's two messages of 100 bytes cross two links behind the 1000 of the put
		{offloads, 0, [2]*schedule.Schedule{put, simtest.Build(t, ring)}},
		// a layer of 1.1 us begins when the other stream's end is seen, 250 ns later
		{streams, 10, [2]*schedule.Schedule{kernel(1000), kernel(1100)}},
	} {
		var parts []schedule.Part
		for n := range 20 {
			for i, s := range c.layer {
				p := schedule.Part{Schedule: s, Stream: c.stream * int32(i),
					Launch: &schedule.Launch{Blocks: 1}}
				if n > 0 {
					p.After = []int{2*n - 2, 2*n - 1}
				}
				parts = append(parts, p)
			}
		}
		s := laid(t, 2, parts)
		want, err := Run(s, c.env, Options{Engine: Event, Parts: true})
		require.NoError(t, err)
		got, err := Run(s, c.env, Options{Parts: true})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
