package sim

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/perfetto"
	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/trace"
	"collsim/unit"
)

// total is a sample in nanoseconds.
type total struct {
	at    float64
	bytes unit.Bytes
}

// counts checks what each link has carried when, by its name; the others have carried nothing.
func counts(t *testing.T, s *schedule.Schedule, env Env, want map[string][]total) {
	t.Helper()
	r, err := Run(s, env, Options{Trace: true})
	require.NoError(t, err)
	got := map[string][]total{}
	for _, c := range r.Trace.Counters {
		for _, x := range c.Samples {
			got[c.Name] = append(got[c.Name], total{float64(x.At) / 1000, x.Value})
		}
	}
	require.Len(t, r.Trace.Counters, len(env.Graph.Links()))
	require.Equal(t, want, got, env.Sharing)
}

// TestCounters: the case of TestCriticalLimits. Under fluid sharing the up-link of rank 0 slows
// down at 1000, when the down-link of rank 2, half used until then, is full; that stays so at 2000,
// when one flow takes all. Under FIFO the up-link carries one message after the other, and heads
// come to the down-links 100 later: there the message of rank 1 follows on that of rank 0.
func TestCounters(t *testing.T) {
	s, env := limitsCase(t)
	counts(t, s, env, map[string][]total{
		"gpu0->switch": {{0, 0}, {1000, 1000}, {2000, 1500}},
		"gpu1->switch": {{1000, 0}, {2000, 500}, {2500, 1000}},
		"switch->gpu2": {{0, 0}, {1000, 500}, {2500, 2000}},
		"switch->gpu3": {{0, 0}, {1000, 500}},
	})
	env.Sharing = FIFO
	counts(t, s, env, map[string][]total{
		"gpu0->switch": {{0, 0}, {1500, 1500}},
		"gpu1->switch": {{1000, 0}, {2000, 1000}},
		"switch->gpu2": {{100, 0}, {2100, 2000}},
		"switch->gpu3": {{1100, 0}, {1600, 500}},
	})
}

// TestCountersIdle: a counter repeats what it had where a link has been idle.
func TestCountersIdle(t *testing.T) {
	s := script(t, 2, 1, func(l *schedule.Lane) {
		for i := range 2 {
			if l.Rank == i {
				l.Send(1-i, l.In(i))
				l.Copy(l.Out(5), l.In(5)) // 100 ns
				l.Send(1-i, l.In(i))
			} else {
				l.Recv(1-l.Rank, l.Out(i))
				l.Recv(1-l.Rank, l.Out(i))
			}
		}
	})
	env := meshOf(t, 2)
	env.Device.CopyRate = gbs
	for _, env.Sharing = range []Sharing{Fluid, FIFO} {
		counts(t, s, env, map[string][]total{
			"gpu0->gpu1": {{0, 0}, {100, 100}, {200, 100}, {300, 200}},
			"gpu1->gpu0": {{400, 0}, {500, 100}, {600, 100}, {700, 200}},
		})
	}
}

// TestCountersJump: bytes cross a link without limit at one time: when they leave, under FIFO; when
// the last has been put out, under fluid sharing.
func TestCountersJump(t *testing.T) {
	s := script(t, 2, 2, func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0).Blocks(10-5*l.Index))
		} else {
			l.Recv(0, l.Out(10*l.Index).Blocks(10-5*l.Index))
		}
	})
	env := wires(t, "gpu0->a unlimited, 30 ns", "a->gpu1 unlimited, 70 ns", "gpu1->gpu0")
	counts(t, s, env, map[string][]total{
		"gpu0->a": {{0, 0}, {0, 1500}}, "a->gpu1": {{0, 0}, {0, 1500}},
	})
	env.Device.LaneRate = gbs
	counts(t, s, env, map[string][]total{
		"gpu0->a": {{500, 0}, {500, 500}, {1000, 500}, {1000, 1500}},
		"a->gpu1": {{500, 0}, {500, 500}, {1000, 500}, {1000, 1500}},
	})
	env.Sharing = FIFO
	counts(t, s, env, map[string][]total{
		"gpu0->a": {{0, 0}, {0, 1500}}, "a->gpu1": {{30, 0}, {30, 1500}},
	})
	env = wires(t, "gpu0->a 1 GB/s, 30 ns", "a->gpu1 unlimited, 70 ns", "gpu1->gpu0")
	counts(t, s, env, map[string][]total{ // half each, then the longer one alone
		"gpu0->a": {{0, 0}, {1500, 1500}},
		"a->gpu1": {{1000, 0}, {1000, 500}, {1500, 500}, {1500, 1500}},
	})
}

// TestTraceTells: of random schedules, counters end with what the links carried, and were never
// faster; every message is sent and taken by steps that were under way at the time; and there is an
// arrow for it.
func TestTraceTells(t *testing.T) {
	simtest.Law(t, 400, "a trace tells all", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		s = simtest.Fused(t, simtest.Extended(t, rng, s, env.Graph))
		r, err := Run(s, env, Options{Trace: true})
		require.NoError(t, err)
		require.NoError(t, r.Trace.Validate())
		for i, c := range r.Trace.Counters {
			l := env.Graph.Links()[i]
			require.Equal(t, l.Name, c.Name)
			require.Equal(t, r.LinkLoad[i], c.Total())
			require.Equal(t, c.Total() > 0, len(c.Samples) > 0)
			for n, x := range c.Samples {
				if n == 0 {
					require.Zero(t, x.Value)
					continue
				}
				before := c.Samples[n-1]
				// a byte is rounded down at the beginning, and a flow ends within a picosecond
				slack := unit.Bytes(2).Over(l.Bandwidth)
				require.LessOrEqual(t, (x.Value - before.Value).Over(l.Bandwidth),
					x.At-before.At+slack)
			}
		}
		for _, m := range r.Trace.Messages {
			from, to := r.Trace.On(m.From)[m.FromStep-1], r.Trace.On(m.To)[m.ToStep-1]
			require.LessOrEqual(t, from.Done, m.Sent)
			require.LessOrEqual(t, m.Arrived, to.Start)
			require.Equal(t, from.Bytes, m.Bytes)
		}
		return arrows(t, r.Trace) == len(r.Trace.Messages)
	})
}

// arrows counts the arrows that a viewer shows.
func arrows(t testing.TB, tr *trace.Trace) int {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, perfetto.WriteJSON(&file, tr, perfetto.Options{}))
	var read struct {
		TraceEvents []struct{ Ph string }
	}
	require.NoError(t, json.Unmarshal(file.Bytes(), &read))
	begun, ended := 0, 0
	for _, v := range read.TraceEvents {
		switch v.Ph {
		case "s":
			begun++
		case "f":
			ended++
		}
	}
	require.Equal(t, begun, ended)
	return begun
}
