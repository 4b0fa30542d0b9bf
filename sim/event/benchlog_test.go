//go:build unix

package event

import (
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// recorded is a run of which a log is asked for.
type recorded struct {
	name     string
	schedule func(t testing.TB) *schedule.Schedule
	env      func(env *model.Env)
}

// recordedKinds is a run of every kind of which a log costs something of its own.
func recordedKinds() []recorded {
	ring := func(t testing.TB) *schedule.Schedule {
		return simtest.Build(t, simtest.RingPlan(128, 1<<24))
	}
	channels := func(t testing.TB) *schedule.Schedule {
		p := simtest.RingPlan(128, 1<<24)
		p.Channels = 2
		return simtest.Build(t, p)
	}
	uneven := func(t testing.TB) *schedule.Schedule {
		return simtest.Build(t, simtest.RingPlan(128, 1<<24+64))
	}
	parts := func(t testing.TB) *schedule.Schedule { return composed(t, ring(t), channels(t)) }
	direct := func(t testing.TB) *schedule.Schedule {
		return simtest.Build(t, simtest.DirectPlan(64, 1<<20))
	}
	fifo := func(env *model.Env) { env.Sharing = model.FIFO }
	fluid := func(env *model.Env) { env.Sharing = model.Fluid }
	gpu := func(env *model.Env) {
		env.Device, _ = device.Lookup("h100-sxm")
		env.Sharing = model.Fluid
	}
	on := func(sharing model.Sharing, set func(d *device.Device)) func(env *model.Env) {
		return func(env *model.Env) {
			env.Sharing = sharing
			set(&env.Device)
		}
	}
	offload := func(d *device.Device) { d.Offload, d.Queue, d.LaneRate = true, 4, 30*simtest.GBs }
	buffer := func(d *device.Device) { d.SendBuffer = 1 << 18 }
	asks := func(d *device.Device) { d.EagerLimit, d.ReceivesAhead = 1<<10, 2 }
	return []recorded{
		{"ring-fluid", ring, fluid},
		{"ring-fifo", ring, fifo},
		{"ring-uneven-fifo", uneven, fifo},
		{"ring-skewed-fifo", ring, func(env *model.Env) {
			fifo(env)
			env.Device.Overhead = 300 * unit.Nanosecond
			for i := range 128 {
				env.Slowdown = append(env.Slowdown, unit.Share(1_000_000+1_000*(i*37%128)))
			}
		}},
		{"gpu", ring, gpu},
		{"gpu-2-channels", channels, gpu},
		{"gpu-parts", parts, gpu},
		{"gpu-fifo", ring, func(env *model.Env) { gpu(env); fifo(env) }},
		{"segments", ring, func(env *model.Env) { fifo(env); env.Segment = 1 << 14 }},
		{"store-forward", ring, func(env *model.Env) { fifo(env); env.Switching = model.StoreForward }},
		{"fluid-2-channels", channels, fluid},
		{"fluid-direct", direct, fluid},
		{"parts-fluid", parts, fluid},
		{"parts-fifo", parts, fifo},
		{"pairwise-fifo", pairwise, fifo},
		{"pairwise-fluid", pairwise, fluid},
		{"gets-fifo", gets, fifo},
		{"offload-fifo", ring, on(model.FIFO, offload)},
		{"buffer-fifo", ring, on(model.FIFO, buffer)},
		{"rendezvous-fifo", ring, on(model.FIFO, asks)},
	}
}

// pairwise has a peer of its own in every round.
func pairwise(t testing.TB) *schedule.Schedule {
	p := simtest.DirectPlan(64, 1<<20)
	p.Name, p.Lanes, p.Lane = "pairwise", 1, func(l *schedule.Lane) {
		for i := 1; i < l.Ranks; i++ {
			l.Send(l.Rank+i, l.In(l.Rank+i))
			l.Recv(l.Rank-i, l.Out(l.Rank-i))
		}
		l.Copy(l.Out(l.Rank), l.In(l.Rank))
	}
	return simtest.Build(t, p)
}

// gets has every rank read from all others.
func gets(t testing.TB) *schedule.Schedule {
	p := simtest.DirectPlan(64, 1<<20)
	p.Name, p.Lanes, p.Lane = "gets", 1, func(l *schedule.Lane) {
		l.Copy(l.Out(l.Rank), l.In(l.Rank))
		for i := 1; i < l.Ranks; i++ {
			from := (l.Rank + i) % l.Ranks
			l.Combine([]schedule.Region{l.Out(from)}, nil, l.Get(from, l.In(l.Rank)))
		}
	}
	return simtest.Build(t, p)
}

// processorTime is what the process has had of processors, in nanoseconds.
func processorTime(t testing.TB) int64 {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkRecord is what processor time a log costs a run of every kind. Each turn is a run
// without one, one with one for a critical path, and one for a picture; what collects garbage
// meanwhile is told as well. The least time without one is told, and the median of what the others
// of a turn take more: machines that are shared are slow for longer than a turn. Logs are not read.
func BenchmarkRecord(b *testing.B) {
	for _, c := range recordedKinds() {
		b.Run(c.name, func(b *testing.B) {
			s := c.schedule(b)
			env := simtest.OnSwitch(b, s.Spec.Ranks, 25*simtest.GBs/2, 500*unit.Nanosecond)
			c.env(&env)
			least, more, steps := int64(math.MaxInt64), [2][]float64{}, int64(0)
			for b.Loop() {
				var took [3]int64
				first := len(more[0]) // in turns: what comes first may be slower
				for next := range took {
					i := (first + next) % len(took)
					var log *model.Log
					if i > 0 {
						log = model.NewLog(&env, i > 1)
					}
					runtime.GC()
					begin := processorTime(b)
					r, err := Run(s, &env, log)
					require.NoError(b, err)
					took[i] = processorTime(b) - begin
					steps = r.Steps
				}
				least = min(least, took[0])
				for i := range more {
					more[i] = append(more[i], float64(took[i+1])/float64(took[0])-1)
				}
			}
			step := float64(least) / float64(steps)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(step, "ns/step")
			for i, kind := range []string{"critical", "picture"} {
				slices.Sort(more[i])
				share := more[i][len(more[i])/2]
				b.ReportMetric(share*step, kind+"-ns")
				b.ReportMetric(100*share, kind+"-%")
			}
		})
	}
}
