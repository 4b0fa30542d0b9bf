package sweep

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// BenchmarkRing is a ring all-reduce of which every rank starts at a time of its own, and whose
// links all have latencies of their own.
func BenchmarkRing(b *testing.B) {
	for _, c := range []struct {
		preset           string
		ranks            int
		count            int64
		channels, slices int
	}{
		{"full-mesh", 1024, 1 << 24, 1, 1}, {"switch", 256, 1 << 24, 1, 1},
		{"switch", 1024, 1 << 24, 1, 1}, {"switch", 4096, 1 << 24, 1, 1},
		{"switch", 16384, 1 << 24, 1, 1}, {"switch", 1024, 1<<24 + 1, 1, 1},
		{"switch", 256, 1 << 24, 8, 4},
	} {
		for _, sharing := range []model.Sharing{model.FIFO, model.Fluid} {
			if sharing == model.Fluid && c.channels > 1 { // flows would share links
				continue
			}
			b.Run(fmt.Sprintf("%v-%s-%d-%dx%d-%d", sharing, c.preset, c.ranks, c.channels, c.slices,
				c.count), func(b *testing.B) {
				p := simtest.RingPlan(c.ranks, c.count)
				p.Channels, p.Slices = c.channels, c.slices
				s := simtest.Build(b, p)
				env := different(b, c.preset, c.ranks)
				env.Sharing = sharing
				swept(b, s, &env)
			})
		}
	}
}

// different is a network on which no two ranks are alike.
func different(t testing.TB, preset string, ranks int) model.Env {
	env := simtest.OnSwitch(t, ranks, 25*simtest.GBs/2, 500*unit.Nanosecond)
	if preset != "switch" {
		g, err := simtest.Network(preset, ranks, 25*simtest.GBs/2, 500*unit.Nanosecond)
		require.NoError(t, err)
		env.Graph = g
	}
	for i := range env.Graph.Links() {
		env.Graph.Links()[i].Latency += unit.Time(i*7919%1000) * 100
	}
	for rank := range ranks {
		env.Start = append(env.Start, unit.Time(rank*7919%4093)*unit.Nanosecond)
	}
	return env
}

func swept(b *testing.B, s *schedule.Schedule, env *model.Env) {
	b.Helper()
	b.ReportAllocs()
	sends := int64(0)
	for b.Loop() {
		r, err := Run(s, env)
		require.NoError(b, err)
		sends += r.Messages
	}
	b.ReportMetric(float64(sends)/b.Elapsed().Seconds(), "sends/s")
}
